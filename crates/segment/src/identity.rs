//! Identifies the write that produced the current state of a document.

/// Path of the field whose terms are the documents' ids.
pub const ID_PATH: &str = "_id";

/// The numbers that identify a write. The shard assigns them, the translog and the segments keep them, and
/// responses show them.
///
/// Source: Elasticsearch's `Engine.Operation` and [optimistic concurrency
/// control](https://www.elastic.co/docs/reference/elasticsearch/rest-apis/optimistic-concurrency-control).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteIdentity {
    /// `_seq_no`: the sequence number of the write within its shard.
    pub seq_no: u64,
    /// `_primary_term`: the primary term of the shard that made the write.
    pub primary_term: u64,
    /// `_version`: the version of the document after the write.
    pub version: u64,
}
