//! Writes and reads of documents: one by one, and in bulk.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::RequestError;
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
    /// The key of the item in a bulk response.
    pub fn as_str(self) -> &'static str {
        match self {
            OperationKind::Index => "index",
            OperationKind::Create => "create",
            OperationKind::Update => "update",
            OperationKind::Delete => "delete",
        }
    }
}

/// How the version in a request relates to the document's (`version_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VersionType {
    /// The node counts versions; a version in a request must be the document's.
    #[default]
    Internal,
    /// The client gives versions; a write's must be greater than the document's.
    External,
    /// The client gives versions; a write's must not be less than the document's.
    ExternalGte,
}

impl VersionType {
    /// Reads the parameter; another word is an error.
    pub fn parse(text: &str) -> Result<VersionType> {
        match text {
            "internal" => Ok(VersionType::Internal),
            "external" | "external_gt" => Ok(VersionType::External),
            "external_gte" => Ok(VersionType::ExternalGte),
            other => Err(RequestError::illegal_argument(format!("No version type match [{other}]"))),
        }
    }
}

/// One write, borrowed from the request's body. All optional parts default to absent.
#[derive(Debug, Clone)]
pub struct BulkOperation<'a> {
    /// What is to be done.
    pub kind: OperationKind,
    /// Index, alias (with a write index) or a name that is to be created.
    pub index: Cow<'a, str>,
    /// `None` lets the engine generate one (`index` and `create` only).
    pub id: Option<Cow<'a, str>>,
    /// Decides the shard instead of the id.
    pub routing: Option<Cow<'a, str>>,
    /// The document as it came; for `update` the body `{"doc": ..., "upsert": ...}`; empty for `delete`.
    pub source: &'a [u8],
    /// The write fails unless the document's last write had this number; given together with
    /// `if_primary_term`.
    pub if_seq_no: Option<u64>,
    /// See `if_seq_no`.
    pub if_primary_term: Option<u64>,
    /// The version, with the meaning that `version_type` gives it.
    pub version: Option<u64>,
    /// What `version` means.
    pub version_type: VersionType,
    /// `None`: the request's default, then the index's `default_pipeline`. `_none` switches both off.
    pub pipeline: Option<Cow<'a, str>>,
    /// The write fails unless `index` is an alias.
    pub require_alias: bool,
    /// The write fails unless `index` is a data stream, or matches the template of one.
    pub require_data_stream: bool,
    /// Full paths of new fields, and the dynamic templates that they get whatever these match.
    pub dynamic_templates: Option<Arc<HashMap<String, String>>>,
    /// `update` only.
    pub retry_on_conflict: u32,
    /// `update` only: the response carries the new `_source` (rendered by the caller, filtered).
    pub wants_source: bool,
}

impl<'a> BulkOperation<'a> {
    /// A write without optional parts, whose id the node generates.
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
        }
    }
}

/// The `refresh` parameter of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefreshPolicy {
    /// Searches see the write after the next refresh.
    #[default]
    None,
    /// The shard is refreshed before the answer.
    Immediate,
    /// The answer waits until a refresh has made the write visible.
    WaitFor,
}

impl RefreshPolicy {
    /// `""` and `true` refresh at once.
    pub fn parse(text: &str) -> Result<RefreshPolicy> {
        match text {
            "false" => Ok(RefreshPolicy::None),
            "" | "true" => Ok(RefreshPolicy::Immediate),
            "wait_for" => Ok(RefreshPolicy::WaitFor),
            other => Err(RequestError::illegal_argument(format!("Unknown value for refresh: [{other}]."))),
        }
    }
}

/// Writes of one request.
#[derive(Debug)]
pub struct BulkRequest<'a> {
    /// In the body's order.
    pub operations: &'a [BulkOperation<'a>],
    /// `?pipeline=`: for operations that name none.
    pub pipeline: Option<&'a str>,
    /// When searches see the writes.
    pub refresh: RefreshPolicy,
}

/// What became of the writes of one request.
#[derive(Debug)]
pub struct BulkResponse<'a> {
    /// Time of the request without its pipelines.
    pub took_ms: u64,
    /// Present when at least one operation went through a pipeline.
    pub ingest_took_ms: Option<u64>,
    /// Whether any item failed.
    pub errors: bool,
    /// What items call their index: the concrete one (aliases resolved) when known, else the name in the
    /// request.
    pub indices: Vec<Arc<str>>,
    /// In the order of the request.
    pub items: Vec<BulkItem<'a>>,
}

/// What became of one write.
#[derive(Debug)]
pub struct BulkItem<'a> {
    /// What was asked for.
    pub kind: OperationKind,
    /// Place in [`BulkResponse::indices`].
    pub index: usize,
    /// Empty only when the operation failed before an id was generated: `_id` is then rendered `null`.
    pub id: ItemId<'a>,
    /// The write, or why it failed.
    pub outcome: Result<WriteOutcome>,
}

/// The id of a written document, borrowed from the request or held in place: a bulk of generated ids
/// allocates none of them.
#[derive(Debug, Clone)]
pub enum ItemId<'a> {
    /// The request named it.
    Given(Cow<'a, str>),
    /// ASCII.
    Generated([u8; 20]),
}

impl ItemId<'_> {
    /// UTF-8.
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
    /// There was no document of this id.
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
    /// As answers write it.
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

/// A write that was carried out; a delete of a missing document is one.
#[derive(Debug, Clone)]
pub struct WriteOutcome {
    /// What became of the document.
    pub result: WriteResult,
    /// The write's numbers; those of the document where nothing was changed.
    pub identity: WriteIdentity,
    /// `_shards`: `total` copies (1 + replicas), of which the primary was written.
    pub shards_total: u32,
    /// Copies that were written: 1, or 0 for an update that changed nothing.
    pub shards_successful: u32,
    /// `refresh=true` was carried out; rendered only when true.
    pub forced_refresh: bool,
    /// `update` with `wants_source`: the document after the update.
    pub source: Option<Arc<[u8]>>,
}

impl WriteOutcome {
    /// An outcome of which no copies are counted yet.
    pub fn new(result: WriteResult, identity: WriteIdentity) -> WriteOutcome {
        WriteOutcome {
            result,
            identity,
            shards_total: 0,
            shards_successful: 0,
            forced_refresh: false,
            source: None,
        }
    }
}

/// Answer of the single-document writes.
#[derive(Debug)]
pub struct WriteResponse {
    /// The concrete index that was written.
    pub index: Arc<str>,
    /// The document's id.
    pub id: Box<str>,
    /// What became of the write.
    pub outcome: WriteOutcome,
}

/// Asks for one document by its id.
#[derive(Debug, Clone)]
pub struct GetRequest<'a> {
    /// Index or alias of one index.
    pub index: &'a str,
    /// The document's id.
    pub id: &'a str,
    /// Decides the shard instead of the id.
    pub routing: Option<&'a str>,
    /// `false` answers from what a search sees.
    pub realtime: bool,
    /// Refresh the shard first.
    pub refresh: bool,
    /// The request fails unless the document has this version.
    pub version: Option<u64>,
    /// What `version` means.
    pub version_type: VersionType,
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
            version: None,
            version_type: VersionType::Internal,
        }
    }
}

/// The answer to a [`GetRequest`].
#[derive(Debug)]
pub struct GetResponse {
    /// The concrete index.
    pub index: Arc<str>,
    /// The id that was asked for.
    pub id: Box<str>,
    /// `None`: `"found": false`.
    pub found: Option<FoundDocument>,
}

/// A document that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// Its last write.
    pub identity: WriteIdentity,
    /// The routing that it was written with.
    pub routing: Option<String>,
    /// The document as it was indexed; empty where the index keeps no source.
    pub source: Vec<u8>,
    /// What stored fields are read from, where that is not the source; else empty.
    pub stored: Vec<u8>,
}
