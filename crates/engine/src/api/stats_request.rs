//! What a statistics call asks for.
//!
//! The REST layer calls these methods of [`Node`](crate::Node) beside those of `node.rs`:
//!
//! - `stats(&self, expression: &str, options: IndicesOptions, request: &StatsRequest) -> Result<Value>`: the
//!   body of `GET /{index}/_stats` (`_shards`, `_all` with `primaries` and `total`, `indices` with `uuid`,
//!   `health`, `status`, `primaries`, `total`, and `shards` at level shards);
//! - `node_indices_stats(&self, request: &StatsRequest) -> Result<Value>`: the section `indices` of
//!   `_nodes/stats` (sections of all shards added up; with `indices` or `shards` below it at those levels);
//! - `fs_stats(&self) -> Value`: the section `fs` (`timestamp`, `total` {total_in_bytes, free_in_bytes,
//!   available_in_bytes}, `data` [..]);
//! - `ingest_stats(&self) -> Value`: the section `ingest` (`total`, `pipelines`);
//! - `put_pipeline(&self, id, &Value) -> Result<()>`,
//!   `get_pipelines(&self, ids: &str) -> Result<Map<String, Value>>`,
//!   `delete_pipeline(&self, ids: &str) -> Result<()>`,
//!   `simulate_pipeline(&self, id: Option<&str>, body: &Value, verbose: bool) -> Result<Value>`;
//! - `clear_cache(&self, expression, options) -> Result<BroadcastResponse>`;
//! - `tasks(&self) -> &Tasks` with `list() -> Vec<Arc<Task>>`,
//!   `get(id, timeout_ms, node_id) -> Option<Value>` (body of `GET _tasks/{id}`), `spawn(action: &'static
//!   str, description: String, work: impl FnOnce() -> Result<Value> + Send + 'static) ->
//!   Result<String>` ("node:id"); `Task` has `id: u64`, `action: &'static str`, `to_json(node_id, detailed)
//!   -> Value`, `cancel() -> bool`;
//! - `search(&self, expression, options, &SearchRequest, scroll_keep_alive_ms: Option<u64>, cancelled:
//!   Arc<AtomicBool>) -> Result<SearchResponse>`, `count(..)`, `scroll(id,
//!   keep_alive_ms)`, `clear_scroll(ids)`.

/// How deep statistics go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatsLevel {
    /// Totals alone.
    Cluster,
    /// Totals, and each index.
    #[default]
    Indices,
    /// Totals, each index and each shard.
    Shards,
}

/// Parameters of `_stats` and `_nodes/stats/indices`.
#[derive(Debug, Clone, Default)]
pub struct StatsRequest {
    /// Section names such as `docs` or `search`; empty: all. Checked against [`STATS_SECTIONS`] by the
    /// caller.
    pub sections: Vec<String>,
    /// How deep the answer goes.
    pub level: StatsLevel,
    /// Statistics groups of searches to show under `search.groups` (wildcards).
    pub groups: Vec<String>,
    /// Whether `segments` lists bytes by kind of file.
    pub include_segment_file_sizes: bool,
    /// `include_unloaded_segments`: those of closed indices.
    pub include_unloaded_segments: bool,
    /// Patterns of the `completion` fields to show one by one.
    pub completion_fields: Vec<String>,
}

impl StatsRequest {
    /// Whether the answer has this section.
    pub fn wants(&self, section: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|s| s == "_all" || s == section)
    }
}

/// The names of the sections, as Elasticsearch has them in the URL. A section has the same key in the answer,
/// except `query_cache`, `merge` (which becomes `merges`) and `segments`.
pub const STATS_SECTIONS: &[&str] = &[
    "docs",
    "store",
    "indexing",
    "get",
    "search",
    "merge",
    "refresh",
    "flush",
    "warmer",
    "query_cache",
    "fielddata",
    "completion",
    "segments",
    "translog",
    "request_cache",
    "recovery",
    "bulk",
    "segment_memory",
    "shard_stats",
    "mappings",
    "suggest",
];
