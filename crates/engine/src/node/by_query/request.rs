//! A request by query: what is read, and what is done to each document.

use std::sync::Arc;

use limber_script::Script;
use limber_search::SearchRequest;

use super::source::BatchSource;
use crate::api::*;
use crate::tasks::progress::Counted;

/// What is done to each document.
#[derive(Debug, Clone)]
pub enum Change {
    /// Deletes it.
    Delete,
    /// Writes it again unchanged, through the pipeline if one is named.
    Update,
    /// Writes it to another index.
    Copy(CopyDestination),
}

/// The destination of `_reindex`, and how it writes there.
#[derive(Debug, Clone)]
pub struct CopyDestination {
    /// Index, alias or data stream.
    pub index: String,
    /// `Index` or `Create`.
    pub kind: OperationKind,
    /// How versions are checked. With any type but `Internal`, a copy has the version of its source.
    pub version_type: VersionType,
    /// Routing of the copies.
    pub routing: CopyRouting,
    /// Whether `index` must be an alias.
    pub require_alias: bool,
    /// Whether the server writes to an index of its own, for which the user needs no privilege. The copies
    /// have generated ids.
    pub is_own: bool,
    /// The UUID of an unfinished index. Copies go to this index or nowhere.
    pub made: Option<Arc<str>>,
}

/// `dest.routing` of `_reindex`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CopyRouting {
    /// Copies have the routing of their source (`keep`).
    #[default]
    Keep,
    /// Copies have no routing (`discard`).
    Discard,
    /// All copies have this routing (`=value`).
    Set(String),
}

/// Into how many parts a request is divided, each with its own thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slices {
    /// One part per shard, at most [`SLICES_AUTO_MAX`].
    Auto,
    /// This many parts.
    Number(u32),
}

/// Source: `BulkByScrollParallelizationHelper#AUTO_SLICE_CEILING`.
pub(super) const SLICES_AUTO_MAX: usize = 20;

/// A `_delete_by_query`, `_update_by_query` or `_reindex` request.
#[derive(Debug, Clone)]
pub struct ByQueryRequest {
    /// Index expression of the source indices, on this server or on `remote`.
    pub source: String,
    /// Another server whose documents are copied, in one slice. It has its own query and order; of `search`
    /// only the size applies.
    pub remote: Option<Arc<dyn BatchSource>>,
    /// How `source` is resolved.
    pub options: IndicesOptions,
    /// Reads only the shards that these routings select.
    pub routing: Option<String>,
    /// See [`Placement::preference`](crate::node::Placement::preference).
    pub preference: Option<String>,
    /// Query, order and source filter. Its size is the batch size.
    pub search: SearchRequest,
    /// What is done to each document.
    pub change: Change,
    /// A script that decides for each document what is done; never present with [`Change::Delete`].
    pub script: Option<Script>,
    /// The ingest pipeline for documents that are written.
    pub pipeline: Option<String>,
    /// The request ends after this many documents.
    pub max_docs: Option<u64>,
    /// Whether version conflicts are only counted. Otherwise the request ends after the first batch with a
    /// conflict.
    pub proceeds_on_conflicts: bool,
    /// Whether the indices that were written are refreshed at the end.
    pub refresh: bool,
    /// How many active copies each batch waits for.
    pub copies: ActiveCopies,
    /// How long a batch waits for them, in milliseconds.
    pub timeout_ms: u64,
    /// Maximum speed in documents per second; infinite for no limit.
    pub requests_per_second: f32,
    /// How many parts the request has.
    pub slices: Slices,
}

impl ByQueryRequest {
    pub(super) fn action(&self) -> &'static str {
        match self.change {
            Change::Delete => "indices:data/write/delete/byquery",
            Change::Update => "indices:data/write/update/byquery",
            Change::Copy(_) => "indices:data/write/reindex",
        }
    }

    /// Runs `work`, which writes documents, with the right to that: the user's, or the server's own.
    pub(super) fn writing<T>(&self, work: impl FnOnce() -> T) -> T {
        if matches!(&self.change, Change::Copy(to) if to.is_own) {
            return limber_access::aside(work);
        }
        let _acting = limber_access::acting("indices:data/write/bulk");
        work()
    }

    /// Whether documents keep their ids. In an index of the server's own they get new ones, because documents
    /// of several sources may have the same.
    pub(super) fn keeps_ids(&self) -> bool {
        !matches!(&self.change, Change::Copy(to) if to.is_own)
    }

    /// Returns the UUID of the unfinished index that is filled.
    pub(super) fn made(&self) -> Option<&str> {
        match &self.change {
            Change::Copy(to) => to.made.as_deref(),
            Change::Delete | Change::Update => None,
        }
    }

    pub(super) fn counted(&self) -> Counted {
        match self.change {
            Change::Delete => Counted::Deletes,
            Change::Update => Counted::Updates,
            Change::Copy(_) => Counted::Copies,
        }
    }

    /// Describes the request as `GET _tasks?detailed` shows it.
    pub(super) fn description(&self) -> String {
        match &self.change {
            Change::Delete => format!("delete-by-query [{}]", self.source),
            Change::Update => format!("update-by-query [{}]", self.source),
            Change::Copy(to) => {
                let remote = self.remote.as_ref().map(|remote| format!("[{}]", remote.description()));
                format!("reindex from {}[{}] to [{}]", remote.unwrap_or_default(), self.source, to.index)
            }
        }
    }
}
