//! Settings for request bodies and responses.

use super::cors::Cors;

/// When responses are compressed for clients that accept it (`http.compression`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    Always,
    Never,
    /// Not for clients on the loopback interface, where it costs both sides time and saves nothing.
    ExceptLoopback,
}

/// Settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    pub max_content_bytes: usize,
    pub compression: Compression,
    /// `http.cors.*`; `None` if requests are treated alike whatever their origin.
    pub cors: Option<Cors>,
}
