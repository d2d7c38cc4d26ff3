//! Which write made the state of a document.

/// Path of the field whose terms are the documents' ids.
pub const ID_PATH: &str = "_id";

/// The numbers that identify a write: what a shard gives it, what its log and its segments keep, what answers
/// show.
///
/// Source: Elasticsearch's `Engine.Operation` and [optimistic concurrency
/// control](https://www.elastic.co/docs/reference/elasticsearch/rest-apis/optimistic-concurrency-control).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteIdentity {
    /// `_seq_no`: the number of the write within its shard.
    pub seq_no: u64,
    /// `_primary_term`: the life of the shard that made the write.
    pub primary_term: u64,
    /// `_version`: the version of the document after the write.
    pub version: u64,
}
