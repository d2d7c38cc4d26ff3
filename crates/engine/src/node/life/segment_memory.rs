//! The memory of the term index: its scheme, its budget, and how much of each index and field is in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::term_index::{FieldFigures, Scheme, TermIndexStats};
use serde_json::{Value, json};

use crate::api::{IndicesOptions, Result};
use crate::node::Node;
use crate::settings::ClusterSettings;
use crate::shard::{SegmentMemory, Shard};

const ENABLE: &str = "indices.segment_memory.off_heap.enable";
pub(in crate::node) const SIZE: &str = "indices.segment_memory.off_heap.size";

/// Name of an index, and path of one of its fields.
pub type IndexAndField = (Arc<str>, Arc<str>);

/// The cache's figures by segment and field. A field that was never read is missing.
pub(in crate::node) type Figures = HashMap<(u64, u32), FieldFigures>;

/// Returns the scheme that the settings select.
pub(in crate::node) fn scheme_of(settings: &ClusterSettings) -> Scheme {
    if settings.boolean(ENABLE) { Scheme::Cached } else { Scheme::Native }
}

/// Refuses a budget larger than the memory limit.
pub(in crate::node) fn check_budget(settings: &ClusterSettings, memory_limit_bytes: u64) -> Result<()> {
    if settings.bytes_of(SIZE, memory_limit_bytes) <= memory_limit_bytes {
        return Ok(());
    }
    let text = settings.text(SIZE);
    Err(RequestError::illegal_argument(format!(
        "failed to parse value [{text}] for setting [{SIZE}], must be <= [{memory_limit_bytes}b], the [memory.limit]"
    )))
}

/// Returns the budget from the settings when a node opens. A budget that was stored under a larger memory
/// limit is reduced, so that the node starts; one from the configuration file is refused.
pub(in crate::node) fn budget_at_open(settings: &ClusterSettings, memory_limit_bytes: u64) -> Result<u64> {
    if let Err(error) = check_budget(settings, memory_limit_bytes) {
        if !settings.persistent.contains_key(SIZE) {
            return Err(error);
        }
        tracing::warn!("{}; all of the limit is used", error.reason);
    }
    Ok(budget_of(settings, memory_limit_bytes))
}

fn budget_of(settings: &ClusterSettings, memory_limit_bytes: u64) -> u64 {
    settings.bytes_of(SIZE, memory_limit_bytes).min(memory_limit_bytes)
}

impl Node {
    /// Returns the statistics of the cache of term index pages.
    pub fn term_index_stats(&self) -> TermIndexStats {
        self.term_index.stats()
    }

    /// Returns the statistics as `_nodes/stats` prints them.
    pub fn term_index_stats_json(&self) -> Value {
        cache_to_json(&self.term_index_stats())
    }

    /// Returns the memory of each field's term index, by index and field.
    pub fn segment_memory(
        &self,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<BTreeMap<IndexAndField, SegmentMemory>> {
        let figures = self.term_index_figures();
        let mut rows = BTreeMap::new();
        for (metadata, live) in self.live_of(expression, options)? {
            let of_fields = of_fields(&live.shards, &figures)?;
            rows.extend(of_fields.into_iter().map(|(path, row)| ((metadata.name.clone(), path), row)));
        }
        Ok(rows)
    }

    pub(in crate::node) fn term_index_figures(&self) -> Figures {
        let mut figures = Figures::new();
        self.term_index.enumerate(|field| {
            figures.insert((field.segment_core, field.field), field);
        });
        figures
    }

    /// Applies the budget and the scheme of the settings. When this returns, the native scheme has all pages
    /// in memory, and the cached scheme no more than the budget. Lookups continue meanwhile.
    pub(in crate::node) fn apply_segment_memory(&self, settings: &ClusterSettings) {
        self.term_index.set_budget(budget_of(settings, self.ledger.limit_bytes));
        let scheme = scheme_of(settings);
        if scheme == self.term_index.scheme() {
            return;
        }
        tracing::info!(?scheme, "the scheme of the term index changes");
        self.term_index.set_scheme(scheme);
        if scheme == Scheme::Native {
            self.load_term_index();
        }
    }

    /// Loads the term indices of all segments. Segments that are opened meanwhile load theirs themselves.
    fn load_term_index(&self) {
        for index in self.live.load().values() {
            for shard in &index.shards {
                let Ok(core) = shard.core() else { continue };
                for segment in core.all_segments() {
                    if let Err(error) = segment.load_term_index() {
                        tracing::warn!(index = %index.core.name, shard = shard.number, %error, "a term index does not load");
                    }
                }
            }
        }
    }
}

/// Returns the memory of the shards of one index, by each field that the user may see.
fn of_fields(shards: &[Arc<Shard>], figures: &Figures) -> Result<BTreeMap<Arc<str>, SegmentMemory>> {
    let limits = shards.first().map(|shard| shard.limits()).transpose()?.flatten();
    let mut rows: BTreeMap<_, SegmentMemory> = BTreeMap::new();
    for shard in shards {
        each_field(shard, figures, |path, index_bytes, figures| {
            rows.entry(path.clone()).or_default().add(index_bytes, figures);
        });
    }
    if let Some(limits) = limits {
        rows.retain(|path, _| limits.allows_field(path));
    }
    Ok(rows)
}

/// Returns the memory by field as statistics print it: one object per field.
pub(in crate::node) fn of_fields_json(shards: &[Arc<Shard>], figures: &Figures) -> Result<Value> {
    let entry = |(path, row): (Arc<str>, SegmentMemory)| {
        let mut entry = row.to_json();
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("segment_count".to_owned(), row.segment_count.into());
            // Known only for whole shards.
            entry.shift_remove("directory_size_in_bytes");
        }
        (path.to_string(), entry)
    };
    Ok(Value::Object(of_fields(shards, figures)?.into_iter().map(entry).collect()))
}

/// Returns the memory of one shard's segments.
pub(in crate::node) fn of_shard(shard: &Shard, figures: &Figures) -> SegmentMemory {
    let mut sum = SegmentMemory::default();
    each_field(shard, figures, |_, index_bytes, figures| sum.add(index_bytes, figures));
    if let Ok(core) = shard.core() {
        sum.directory_bytes =
            core.published_segments().iter().map(|one| one.term_index_directory_bytes()).sum();
    }
    sum
}

/// Returns the cache's own statistics, for those of the node.
fn cache_to_json(stats: &TermIndexStats) -> Value {
    json!({
        "scheme": match stats.scheme {
            Scheme::Cached => "off_heap",
            Scheme::Native => "native",
        },
        "budget_in_bytes": stats.budget_bytes,
        "resident_size_in_bytes": stats.resident_bytes,
        "page_count": stats.page_count,
        "hit_count": stats.hit_count,
        "first_level_hit_count": stats.first_level_hit_count,
        "miss_count": stats.miss_count,
        "load_count": stats.load_count,
        "load_failure_count": stats.load_failure_count,
        "load_time_in_nanos": stats.load_nanos,
        "eviction_count": stats.eviction_count,
        "admission_refused_count": stats.refused_count,
        "transient_count": stats.transient_count,
        "transient_size_in_bytes": stats.transient_bytes,
        "bypass_count": stats.bypass_count,
        "policy_size_in_bytes": stats.overhead_bytes,
    })
}

/// Calls `each` with the path, the bytes on disk and the figures of every inverted field, for every segment
/// that searches see.
fn each_field(shard: &Shard, figures: &Figures, mut each: impl FnMut(&Arc<str>, u64, Option<&FieldFigures>)) {
    let Ok(core) = shard.core() else { return };
    for segment in core.published_segments() {
        for (number, path, index_bytes) in segment.term_index_sizes() {
            each(&path, index_bytes, figures.get(&(segment.core(), number)));
        }
    }
}
