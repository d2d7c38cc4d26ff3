//! The class of an error. Only the crate `limber` converts it to an HTTP status.

/// The class of a [`RequestError`](crate::RequestError): whose fault it is, and whether a retry may help.
///
/// The variants are ordered by severity, from mistakes in the request to failures of the server. If several
/// shards fail, the most severe class is that of the whole search. Source:
/// `SearchPhaseExecutionException#status`, which compares statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// The request itself is wrong.
    BadRequest,
    /// The caller is not authenticated.
    Unauthenticated,
    /// The caller lacks the privilege, or a block of an index or of the cluster forbids the request.
    Forbidden,
    /// What the request names does not exist.
    NotFound,
    /// The path exists, but not for this method.
    MethodNotAllowed,
    /// The requested response format does not exist.
    NotAcceptable,
    /// The caller, or the event that the request waited for, took too long.
    RequestTimeout,
    /// What the request names has changed in the meantime, or exists already.
    Conflict,
    /// The body is too long.
    TooLarge,
    /// The format of the body is not supported.
    UnsupportedMediaType,
    /// There is not enough capacity at the moment, in memory, in a queue or on the disk; a retry may succeed.
    TooManyRequests,
    /// The server's fault: its code, its files or its disk.
    Internal,
    /// What would answer is not available at the moment: a shard, or a node that is closing.
    Unavailable,
    /// The server took too long.
    Timeout,
    /// Another server refused a request of this one; its HTTP status is passed on. Only created by code that
    /// talks to that server, and never by a shard.
    Remote(u16),
}

impl ErrorClass {
    /// Returns the name that responses show for the status. Source: the names of `RestStatus`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::BadRequest => "BAD_REQUEST",
            ErrorClass::Unauthenticated => "UNAUTHORIZED",
            ErrorClass::Forbidden => "FORBIDDEN",
            ErrorClass::NotFound => "NOT_FOUND",
            ErrorClass::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            ErrorClass::NotAcceptable => "NOT_ACCEPTABLE",
            ErrorClass::RequestTimeout => "REQUEST_TIMEOUT",
            ErrorClass::Conflict => "CONFLICT",
            ErrorClass::TooLarge => "REQUEST_ENTITY_TOO_LARGE",
            ErrorClass::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            ErrorClass::TooManyRequests => "TOO_MANY_REQUESTS",
            ErrorClass::Internal | ErrorClass::Remote(_) => "INTERNAL_SERVER_ERROR",
            ErrorClass::Unavailable => "SERVICE_UNAVAILABLE",
            ErrorClass::Timeout => "GATEWAY_TIMEOUT",
        }
    }

    /// Whether the server worked correctly and refused the request; otherwise it failed.
    pub fn is_refusal(self) -> bool {
        match self {
            ErrorClass::Internal | ErrorClass::Unavailable | ErrorClass::Timeout => false,
            ErrorClass::Remote(status) => status < 500,
            _ => true,
        }
    }
}
