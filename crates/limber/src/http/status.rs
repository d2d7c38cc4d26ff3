//! Maps outcomes to HTTP status codes. No crate below `limber` knows them.

use limber_engine::WriteResult;
use limber_mapping::ErrorClass;

/// Returns the status of an error. Source: `ExceptionsHelper#status` and the `RestStatus` of each exception.
pub fn of_error(class: ErrorClass) -> u16 {
    match class {
        ErrorClass::BadRequest => 400,
        ErrorClass::Unauthenticated => 401,
        ErrorClass::Forbidden => 403,
        ErrorClass::NotFound => 404,
        ErrorClass::MethodNotAllowed => 405,
        ErrorClass::NotAcceptable => 406,
        ErrorClass::RequestTimeout => 408,
        ErrorClass::Conflict => 409,
        ErrorClass::TooLarge => 413,
        ErrorClass::UnsupportedMediaType => 415,
        ErrorClass::TooManyRequests => 429,
        ErrorClass::Internal => 500,
        ErrorClass::Unavailable => 503,
        ErrorClass::Timeout => 504,
        ErrorClass::Remote(status) => status,
    }
}

/// Returns the status of a successful write. Source: `DocWriteResponse#status`.
pub fn of_write(result: WriteResult) -> u16 {
    match result {
        WriteResult::Created => 201,
        WriteResult::Updated | WriteResult::Deleted | WriteResult::Noop => 200,
        WriteResult::NotFound => 404,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For failed shards Elasticsearch compares the statuses, but `search` compares the error classes, so
    /// their orders must agree.
    #[test]
    fn a_graver_class_has_a_higher_status() {
        let mut ascending = [
            ErrorClass::BadRequest,
            ErrorClass::Unauthenticated,
            ErrorClass::Forbidden,
            ErrorClass::NotFound,
            ErrorClass::MethodNotAllowed,
            ErrorClass::NotAcceptable,
            ErrorClass::RequestTimeout,
            ErrorClass::Conflict,
            ErrorClass::TooLarge,
            ErrorClass::UnsupportedMediaType,
            ErrorClass::TooManyRequests,
            ErrorClass::Internal,
            ErrorClass::Unavailable,
            ErrorClass::Timeout,
        ];
        let by_status = ascending.map(of_error);
        ascending.sort();
        assert_eq!(ascending.map(of_error), by_status);
        assert!(by_status.is_sorted());
        for class in ascending {
            assert_eq!(class.is_refusal(), of_error(class) < 500, "{class:?}");
        }
    }
}
