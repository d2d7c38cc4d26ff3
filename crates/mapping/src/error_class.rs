//! What kind of fault an error is. The crate `limber` makes an HTTP status of it, and nobody else.

/// What kind of fault a [`RequestError`](crate::RequestError) is: whose it is, and whether trying again
/// helps.
///
/// The order is that of gravity, from what a request has wrong to what the server has: of several shards that
/// failed, the gravest class is that of the whole search. Source: `SearchPhaseExecutionException#status`,
/// which compares statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// The request is wrong in itself.
    BadRequest,
    /// Nobody knows who asks.
    Unauthenticated,
    /// Whoever asks may not, or a block of an index or of the cluster forbids it.
    Forbidden,
    /// What the request names is not there.
    NotFound,
    /// The path is there, but not for this method.
    MethodNotAllowed,
    /// There is no such format of an answer.
    NotAcceptable,
    /// The caller, or what was waited for, took too long.
    RequestTimeout,
    /// What the request names has changed meanwhile, or is there already.
    Conflict,
    /// The body has too many bytes.
    TooLarge,
    /// There is no such format of a body.
    UnsupportedMediaType,
    /// There is no room for it now, in memory, in a queue or on the disk; later there may be.
    TooManyRequests,
    /// The server's fault: its code, its files or its disk.
    Internal,
    /// What would answer is not there now: a shard, or a node that closes.
    Unavailable,
    /// The server took too long.
    Timeout,
    /// Another server refused what this one asked of it, and its HTTP status is passed on as it came. Made by
    /// whoever talks to that server, and never a shard's.
    Remote(u16),
}

impl ErrorClass {
    /// The name that answers show in place of a number. Source: the names of `RestStatus`.
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

    /// Whether the server did as it should, and refused the request; otherwise it failed.
    pub fn is_refusal(self) -> bool {
        match self {
            ErrorClass::Internal | ErrorClass::Unavailable | ErrorClass::Timeout => false,
            ErrorClass::Remote(status) => status < 500,
            _ => true,
        }
    }
}
