//! Requests and answers for writing and reading documents, one by one and in bulk.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_search::VersionType;
use limber_segment::WriteIdentity;

use super::Result;

/// A bulk action or the single-document API that equals it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// Writes a document, replacing the one with the same id.
    Index,
    /// Writes a document whose id must not exist.
    Create,
    /// Changes a document by a partial document or a script.
    Update,
    /// Deletes a document by its id.
    Delete,
}

impl OperationKind {
    /// Returns the key of the item in a bulk response.
    pub fn as_str(self) -> &'static str {
        match self {
            OperationKind::Index => "index",
            OperationKind::Create => "create",
            OperationKind::Update => "update",
            OperationKind::Delete => "delete",
        }
    }
}

/// The members that the body of an update may have.
pub const UPDATE_MEMBERS: [&str; 9] = [
    "script",
    "scripted_upsert",
    "upsert",
    "doc",
    "doc_as_upsert",
    "detect_noop",
    "_source",
    "if_seq_no",
    "if_primary_term",
];

/// One write, borrowed from the request's body. All optional parts default to absent.
#[derive(Debug, Clone)]
pub struct BulkOperation<'a> {
    /// Which operation this is.
    pub kind: OperationKind,
    /// The name of an index, of an alias with a write index, or of an index to be created.
    pub index: Cow<'a, str>,
    /// `None` lets the engine generate one (`index` and `create` only).
    pub id: Option<Cow<'a, str>>,
    /// Selects the shard instead of the id.
    pub routing: Option<Cow<'a, str>>,
    /// The document as it was received; for `update` the body `{"doc": ..., "upsert": ...}`; empty for
    /// `delete`.
    pub source: &'a [u8],
    /// The write fails unless the document's last write had this sequence number. Needs `if_primary_term`
    /// too.
    pub if_seq_no: Option<u64>,
    /// The write fails unless the document's last write had this primary term. Needs `if_seq_no` too.
    pub if_primary_term: Option<u64>,
    /// The version, which `version_type` interprets.
    pub version: Option<u64>,
    /// How `version` is interpreted.
    pub version_type: VersionType,
    /// The pipeline. `None` uses the request's, then the index's `default_pipeline`; `_none` switches both
    /// off.
    pub pipeline: Option<Cow<'a, str>>,
    /// The write fails unless `index` is an alias.
    pub require_alias: bool,
    /// The write fails unless `index` is a data stream or matches the template of one.
    pub require_data_stream: bool,
    /// Full paths of new fields, and the dynamic templates that they get whatever these match.
    pub dynamic_templates: Option<Arc<HashMap<String, String>>>,
    /// How often an `update` is tried again after a version conflict.
    pub retry_on_conflict: u32,
    /// For `update` only: the response carries the new `_source` (which the caller renders and filters).
    pub wants_source: bool,
    /// The response names the pipelines that ran on the document, for `index` and `create`.
    pub lists_pipelines: bool,
}

impl<'a> BulkOperation<'a> {
    /// Makes a write without optional parts, whose id the node generates.
    pub fn new(kind: OperationKind, index: impl Into<Cow<'a, str>>, source: &'a [u8]) -> BulkOperation<'a> {
        BulkOperation {
            kind,
            index: index.into(),
            id: None,
            routing: None,
            source,
            if_seq_no: None,
            if_primary_term: None,
            version: None,
            version_type: VersionType::Internal,
            pipeline: None,
            require_alias: false,
            require_data_stream: false,
            dynamic_templates: None,
            retry_on_conflict: 0,
            wants_source: false,
            lists_pipelines: false,
        }
    }

    /// Returns what is wrong with the operation, whatever index it goes to. Elasticsearch refuses a whole
    /// `_bulk` for these faults.
    ///
    /// Source: the methods `validate` of `IndexRequest`, `UpdateRequest` and `DeleteRequest`.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        faults.extend(self.id.as_deref().and_then(fault_of_id));
        if let (None, Some(term)) = (self.if_seq_no, self.if_primary_term) {
            faults.push(format!("ifSeqNo is unassigned, but primary term is [{term}]"));
        }
        let mut add = |fault: &str| faults.push(fault.to_owned());
        match (self.if_seq_no, self.if_primary_term) {
            (Some(_), None | Some(0)) => add("ifSeqNo is set, but primary term is [0]"),
            (Some(_), Some(_)) if self.kind == OperationKind::Update && self.retry_on_conflict > 0 => {
                add("compare and write operations can not be retried");
            }
            (Some(_), Some(_)) if self.kind == OperationKind::Create => {
                add("create operations do not support compare and set. use index instead");
            }
            _ => {}
        }
        match self.version_type {
            VersionType::Internal if self.version.is_some() && self.kind == OperationKind::Create => {
                add("create operations do not support explicit versions. use index instead");
            }
            VersionType::Internal if self.version.is_some() => add(
                "internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and \
                 `if_primary_term` instead",
            ),
            VersionType::Internal => {}
            _ if self.if_seq_no.is_some() => add("compare and write operations can not use versioning"),
            kind if self.version.is_none() => {
                let kind = if kind == VersionType::External { "EXTERNAL" } else { "EXTERNAL_GTE" };
                add(&format!("illegal version value [-3] for version type [{kind}]"));
            }
            _ if self.kind == OperationKind::Create => {
                add("create operations only support internal versioning. use index instead");
            }
            _ => {}
        }
        faults
    }
}

/// Longest `_id` in bytes.
const ID_BYTES_MAX: usize = 512;

/// Returns what is wrong with an id that is too long.
pub(crate) fn fault_of_id(id: &str) -> Option<String> {
    (id.len() > ID_BYTES_MAX).then(|| {
        format!("id [{id}] is too long, must be no longer than {ID_BYTES_MAX} bytes but was: {}", id.len())
    })
}

/// The `refresh` parameter of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefreshPolicy {
    /// Searches see the write after the next scheduled refresh.
    #[default]
    None,
    /// The shard is refreshed before the response.
    Immediate,
    /// The response waits until a refresh has made the write visible.
    WaitFor,
}

impl RefreshPolicy {
    /// Parses the parameter; `""` and `true` mean an immediate refresh.
    pub fn parse(text: &str) -> Result<RefreshPolicy> {
        match text {
            "false" => Ok(RefreshPolicy::None),
            "" | "true" => Ok(RefreshPolicy::Immediate),
            "wait_for" => Ok(RefreshPolicy::WaitFor),
            other => Err(RequestError::illegal_argument(format!("Unknown value for refresh: [{other}]."))),
        }
    }
}

/// The writes of one request.
#[derive(Debug)]
pub struct BulkRequest<'a> {
    /// In the order of the body.
    pub operations: &'a [BulkOperation<'a>],
    /// `?pipeline=`: for operations that name no pipeline.
    pub pipeline: Option<&'a str>,
    /// When searches see the writes.
    pub refresh: RefreshPolicy,
}

/// The outcomes of the writes of one request.
#[derive(Debug)]
pub struct BulkResponse<'a> {
    /// How long the request took, without its pipelines.
    pub took_ms: u64,
    /// Present when at least one operation went through a pipeline.
    pub ingest_took_ms: Option<u64>,
    /// Whether any item failed.
    pub errors: bool,
    /// The index names that items refer to: the concrete index (aliases resolved) when known, else the name
    /// in the request.
    pub indices: Vec<Arc<str>>,
    /// In the order of the request.
    pub items: Vec<BulkItem<'a>>,
}

/// The outcome of one write.
#[derive(Debug)]
pub struct BulkItem<'a> {
    /// Which operation was requested.
    pub kind: OperationKind,
    /// Position in [`BulkResponse::indices`].
    pub index: usize,
    /// Empty only when the operation failed before an id was generated; `_id` is then rendered as `null`.
    pub id: ItemId<'a>,
    /// What the write did, or why it failed.
    pub outcome: Result<WriteOutcome>,
}

/// The id of a written document, borrowed from the request or stored inline, so that a bulk with generated
/// ids allocates none of them.
#[derive(Debug, Clone)]
pub enum ItemId<'a> {
    /// The request gave the id.
    Given(Cow<'a, str>),
    /// The node generated the id, which is ASCII.
    Generated([u8; 20]),
}

impl ItemId<'_> {
    /// Returns the id as UTF-8.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            ItemId::Given(id) => id.as_bytes(),
            ItemId::Generated(id) => id,
        }
    }
}

impl std::ops::Deref for ItemId<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            ItemId::Given(id) => id,
            ItemId::Generated(id) => std::str::from_utf8(id).expect("base64 is ASCII"),
        }
    }
}

/// The `result` of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteResult {
    /// There was no document with this id.
    Created,
    /// A document was replaced or changed.
    Updated,
    /// A document was deleted.
    Deleted,
    /// There was no document to delete.
    NotFound,
    /// The update changed nothing.
    Noop,
}

impl WriteResult {
    /// Returns the name that responses use.
    pub fn as_str(self) -> &'static str {
        match self {
            WriteResult::Created => "created",
            WriteResult::Updated => "updated",
            WriteResult::Deleted => "deleted",
            WriteResult::NotFound => "not_found",
            WriteResult::Noop => "noop",
        }
    }
}

/// A write that was carried out. The delete of a missing document counts as carried out.
#[derive(Debug, Clone)]
pub struct WriteOutcome {
    /// What happened to the document.
    pub result: WriteResult,
    /// The write's sequence number, primary term and version; where nothing was changed, those of the
    /// document.
    pub identity: WriteIdentity,
    /// `total` in `_shards`: 1 plus the replicas. Only the primary is written.
    pub shards_total: u32,
    /// `successful` in `_shards`: 1, or 0 for a document that a pipeline dropped.
    pub shards_successful: u32,
    /// Whether `refresh=true` was carried out; rendered only when true.
    pub forced_refresh: bool,
    /// The document after the update; for `update` with `wants_source`.
    pub source: Option<Arc<[u8]>>,
    /// The pipelines that ran on the document, in order; for `lists_pipelines`.
    pub pipelines: Option<Vec<String>>,
}

impl WriteOutcome {
    /// Makes an outcome whose copies are not counted yet.
    pub fn new(result: WriteResult, identity: WriteIdentity) -> WriteOutcome {
        WriteOutcome {
            result,
            identity,
            shards_total: 0,
            shards_successful: 0,
            forced_refresh: false,
            source: None,
            pipelines: None,
        }
    }
}

/// Response of the single-document writes.
#[derive(Debug)]
pub struct WriteResponse {
    /// The concrete index that was written to.
    pub index: Arc<str>,
    /// The document's id.
    pub id: Box<str>,
    /// What the write did.
    pub outcome: WriteOutcome,
}

/// A request for one document by its id.
#[derive(Debug, Clone)]
pub struct GetRequest<'a> {
    /// An index, or an alias of one index.
    pub index: &'a str,
    /// The document's id.
    pub id: &'a str,
    /// Selects the shard instead of the id.
    pub routing: Option<&'a str>,
    /// `false` reads only what a search sees.
    pub realtime: bool,
    /// Whether the shard is refreshed first.
    pub refresh: bool,
    /// Whether a stored source is shown as a synthetic one.
    pub forces_source: bool,
    /// The request fails unless the document has this version.
    pub version: Option<u64>,
    /// How `version` is interpreted.
    pub version_type: VersionType,
    /// Whether the statistics count a get.
    pub is_counted: bool,
}

impl<'a> GetRequest<'a> {
    /// Asks for the newest state of a document, whatever its version.
    pub fn new(index: &'a str, id: &'a str) -> GetRequest<'a> {
        GetRequest {
            index,
            id,
            routing: None,
            realtime: true,
            refresh: false,
            forces_source: false,
            version: None,
            version_type: VersionType::Internal,
            is_counted: true,
        }
    }
}

/// The answer to a [`GetRequest`].
#[derive(Debug)]
pub struct GetResponse {
    /// The concrete index.
    pub index: Arc<str>,
    /// The UUID of the index. Its name may be that of another index by now.
    pub uuid: Arc<str>,
    /// The requested id.
    pub id: Box<str>,
    /// The document; `None` renders `"found": false`.
    pub found: Option<FoundDocument>,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// Sequence number, primary term and version of its last write.
    pub identity: WriteIdentity,
    /// The routing with which it was written.
    pub routing: Option<String>,
    /// The document as it was indexed; empty where the index keeps no source.
    pub source: Vec<u8>,
    /// What stored fields are read from when that is not the source; else empty.
    pub stored: Vec<u8>,
}
