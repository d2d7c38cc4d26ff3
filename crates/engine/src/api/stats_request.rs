//! Requests for statistics.

/// The level of detail of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatsLevel {
    /// Only totals.
    Cluster,
    /// Totals and each index.
    #[default]
    Indices,
    /// Totals, each index and each shard.
    Shards,
}

/// Parameters of `_stats` and `_nodes/stats/indices`.
#[derive(Debug, Clone, Default)]
pub struct StatsRequest {
    /// Section names such as `docs` or `search`; empty means all. The caller checks them against
    /// [`STATS_SECTIONS`].
    pub sections: Vec<String>,
    /// The level of detail of the response.
    pub level: StatsLevel,
    /// Names of `search.groups` to show (with wildcards).
    pub groups: Vec<String>,
    /// Whether `segments` lists bytes by kind of file.
    pub include_segment_file_sizes: bool,
    /// `include_unloaded_segments`: whether to include the segments of closed indices.
    pub include_unloaded_segments: bool,
    /// Patterns of the `completion` fields to show individually.
    pub completion_fields: Vec<String>,
    /// Patterns of the fields to show individually in `fielddata`.
    pub fielddata_fields: Vec<String>,
}

impl StatsRequest {
    /// Whether the response has this section.
    pub fn wants(&self, section: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|s| s == "_all" || s == section)
    }
}

/// The names of the sections in the URL, as in Elasticsearch. A section has the same key in the response,
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
    "dense_vector",
    "sparse_vector",
    "segment_memory",
    "shard_stats",
    "mappings",
    "suggest",
];
