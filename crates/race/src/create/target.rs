//! The parts of a server's data that become a track.

use super::documents::Written;

/// An index or data stream that the track indexes into.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// Its name on the server.
    pub(super) name: String,
    pub(super) is_data_stream: bool,
    /// Body of the index or of the data stream's template, as a Jinja template.
    pub(super) body: String,
    /// `None` if it is empty.
    pub(super) documents: Option<Written>,
}

/// Which indices or data streams become a track; names may be patterns.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub names: Vec<String>,
    pub are_data_streams: bool,
    /// Number of documents per request.
    pub batch_size: u64,
}
