//! Statistics: the shards' counters, summed up, in Elasticsearch's sections.
//!
//! Each section is built once per shard as JSON with numbers. Indices, primaries and totals are sums of
//! those.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use limber_store::DiskSpace;
use serde_json::{Map, Value, json};

use super::segment_memory::{of_fields_json, of_shard};
use super::stat_sections::{empty_sections, resting_sections, sections};
use crate::api::*;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::node::index::live::{LiveIndex, shard_folder};
use crate::shard::{Commit, ShardStats};

/// Estimated memory of a field besides its data. Source: Elasticsearch's `NodeMappingStats`.
const FIELD_BYTES: u64 = 1024;

/// Members that are a maximum instead of a sum.
const MAXIMA: &[&str] = &["earliest_last_modified_age", "max_unsafe_auto_id_timestamp", "is_throttled"];

impl Node {
    /// Returns the body of `GET /{index}/_stats`.
    pub fn stats(&self, expression: &str, options: IndicesOptions, request: &StatsRequest) -> Result<Value> {
        let mut all = Value::Object(Map::new());
        let mut indices = Map::new();
        let mut response = BroadcastResponse::default();
        let figures = request.wants("segment_memory").then(|| self.term_index_figures());
        // This section is long with many indices, so it is shown only if the request names it.
        let shows_fields = request.level != StatsLevel::Cluster
            && request.sections.iter().any(|section| section == "segment_memory");
        for (metadata, live) in self.live_of(expression, options)? {
            let copies = 1 + live.core.settings.load().number_of_replicas;
            let mut of_index = Value::Object(Map::new());
            let mut shards = Map::new();
            for shard in &live.shards {
                response.total += copies;
                response.successful += u32::from(shard.is_started());
                let mut stats = shard.stats();
                if let Some(figures) = &figures {
                    stats.segment_memory = of_shard(shard, figures);
                }
                let sections = sections(shard, &stats, request, self.now_millis());
                add(&mut of_index, &sections);
                if request.level == StatsLevel::Shards {
                    let entry =
                        self.shard_entry(shard.directory.path(), shard.is_started(), &stats, sections);
                    shards.insert(shard.number.to_string(), json!([entry]));
                }
            }
            add(&mut all, &of_index);
            if let Some(figures) = figures.as_ref().filter(|_| shows_fields) {
                of_index["segment_memory"]["fields"] = of_fields_json(&live.shards, figures)?;
            }
            if request.level != StatsLevel::Cluster {
                let health = health_of(&metadata, &live);
                let entry = index_entry(&metadata, health, of_index, shards, request);
                indices.insert(metadata.name.to_string(), entry);
            }
        }
        for metadata in self.catalog.load().resolve(expression, options)?.iter().filter(|index| !index.open) {
            let shard_count = metadata.typed.number_of_shards;
            response.total += shard_count * (1 + metadata.typed.number_of_replicas);
            response.successful += shard_count;
            let (of_index, shards) = self.closed_index(metadata, request);
            add(&mut all, &of_index);
            if request.level != StatsLevel::Cluster {
                let health = self.status_of(metadata);
                let entry = index_entry(metadata, health, of_index, shards, request);
                indices.insert(metadata.name.to_string(), entry);
            }
        }
        if indices.is_empty() && all.as_object().is_some_and(Map::is_empty) {
            // Without indices, every section is present with zeros.
            all = json!({});
        }
        let mut body = json!({
            "_shards": response.to_json(),
            "_all": {"primaries": all, "total": all},
        });
        if request.level != StatsLevel::Cluster {
            body["indices"] = Value::Object(indices);
        }
        Ok(body)
    }

    /// Returns the statistics of a closed index: summed up, and by shard if they are requested.
    fn closed_index(&self, metadata: &IndexMetadata, request: &StatsRequest) -> (Value, Map<String, Value>) {
        let mut of_index = Value::Object(Map::new());
        let mut shards = Map::new();
        for number in 0..metadata.typed.number_of_shards {
            let (path, stats) = self.closed_shard(metadata, number, request);
            let sections = resting_sections(&stats, request, self.now_millis());
            add(&mut of_index, &sections);
            if request.level == StatsLevel::Shards {
                let entry = self.shard_entry(&path, true, &stats, sections);
                shards.insert(number.to_string(), json!([entry]));
            }
        }
        (of_index, shards)
    }

    /// Returns the folder of a shard of a closed index, and its statistics as far as its commit has them: the
    /// commit does not count nested documents. Segments count if they are requested, because none is loaded.
    fn closed_shard(
        &self,
        metadata: &IndexMetadata,
        number: u32,
        request: &StatsRequest,
    ) -> (PathBuf, ShardStats) {
        let mut stats = ShardStats { max_seq_no: -1, local_checkpoint: -1, ..ShardStats::default() };
        let Ok(directory) = self.environment.folder(&shard_folder(&metadata.uuid, number)) else {
            return (PathBuf::new(), stats);
        };
        if let Ok(commit) = Commit::read(&*directory) {
            for segment in &commit.segments {
                let live = segment.live_doc_count.unwrap_or(segment.meta.doc_count);
                stats.docs += u64::from(live);
                stats.deleted_docs += u64::from(segment.meta.doc_count.saturating_sub(live));
                stats.commit_docs += u64::from(segment.meta.doc_count);
                stats.store_bytes += segment.meta.bytes;
            }
            if request.include_unloaded_segments {
                stats.segment_count = commit.segments.len() as u64;
            }
            stats.max_seq_no = commit.max_seq_no.map_or(-1, |seq_no| seq_no as i64);
            stats.local_checkpoint = stats.max_seq_no;
            stats.primary_term = commit.primary_term;
            stats.commit_generation = commit.generation;
            stats.history_uuid = commit.history;
        }
        (directory.path().to_path_buf(), stats)
    }

    /// Returns the entry of a shard, whose files are in the folder `path`.
    fn shard_entry(&self, path: &Path, is_started: bool, stats: &ShardStats, sections: Value) -> Value {
        let mut entry = json!({
            "routing": {
                "state": if is_started { "STARTED" } else { "UNASSIGNED" },
                "primary": true,
                "node": self.node_id(),
                "relocating_node": null,
            },
        });
        if let (Some(entry), Value::Object(sections)) = (entry.as_object_mut(), sections) {
            entry.extend(sections);
        }
        entry["commit"] = json!({
            "id": format!("{}-{}", stats.history_uuid, stats.commit_generation),
            "generation": stats.commit_generation,
            "user_data": {
                "history_uuid": stats.history_uuid,
                "max_seq_no": stats.max_seq_no.to_string(),
                "local_checkpoint": stats.local_checkpoint.to_string(),
            },
            "num_docs": stats.commit_docs,
        });
        entry["seq_no"] = json!({
            "max_seq_no": stats.max_seq_no,
            "local_checkpoint": stats.local_checkpoint,
            "global_checkpoint": stats.local_checkpoint,
        });
        entry["retention_leases"] = json!({"primary_term": stats.primary_term, "version": 0, "leases": []});
        entry["shard_path"] = json!({
            "state_path": path.display().to_string(),
            "data_path": path.display().to_string(),
            "is_custom_data_path": false,
        });
        entry["search_idle"] = stats.is_search_idle.into();
        entry["search_idle_time"] = stats.search_idle_ms.into();
        entry
    }

    /// Returns the section `indices` of `_nodes/stats`.
    pub fn node_indices_stats(&self, request: &StatsRequest) -> Result<Value> {
        let level = request.level;
        let flat = match level {
            StatsLevel::Cluster => request.clone(),
            _ => StatsRequest { level: StatsLevel::Shards, ..request.clone() },
        };
        let body = self.stats("_all", IndicesOptions::LENIENT, &flat)?;
        let mut sum = body["_all"]["total"].clone();
        if sum.as_object().is_some_and(Map::is_empty) {
            sum = empty_sections(request, self.now_millis());
        }
        if request.wants("segment_memory") {
            sum["segment_memory"]["cache"] = self.term_index_stats_json();
        }
        if request.wants("mappings") {
            sum["mappings"] = self.mapping_stats();
        }
        let indices = body["indices"].as_object().into_iter().flatten();
        match level {
            StatsLevel::Cluster => {}
            StatsLevel::Indices => {
                let of_indices: Map<String, Value> =
                    indices.map(|(name, index)| (name.clone(), index["total"].clone())).collect();
                sum["indices"] = Value::Object(of_indices);
            }
            StatsLevel::Shards => {
                let of_shards: Map<String, Value> = indices
                    .map(|(name, index)| {
                        let shards = index["shards"].as_object().into_iter().flatten();
                        let list =
                            shards.map(|(number, copies)| json!({number.as_str(): copies[0]})).collect();
                        (name.clone(), Value::Array(list))
                    })
                    .collect();
                sum["shards"] = Value::Object(of_shards);
            }
        }
        Ok(sum)
    }

    /// Returns the number of answers in the request cache.
    pub fn request_cache_len(&self) -> usize {
        self.caches.requests.len()
    }

    /// Returns the section `mappings` of `_nodes/stats`.
    fn mapping_stats(&self) -> Value {
        let live = self.live.load();
        let fields = |live: &Arc<LiveIndex>| live.core.mapping.load().fields().len() as u64;
        let total: u64 = live.values().map(fields).sum();
        let shards = live.values().flat_map(|live| &live.shards);
        let of_segments = shards.map(|shard| shard.segment_and_field_counts());
        let (segments, segment_fields) = of_segments.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        json!({
            "total_count": total,
            "total_estimated_overhead_in_bytes": total * FIELD_BYTES,
            "total_segments": segments,
            "total_segment_fields": segment_fields,
            "average_fields_per_segment": u64::checked_div(segment_fields, segments).unwrap_or(0),
        })
    }

    /// Returns the data folders that cannot be used, each with the reason.
    pub fn missing_folders(&self) -> Vec<(PathBuf, String)> {
        let parts = self.environment.disk.parts().into_iter();
        parts.filter_map(|part| part.missing.map(|why| (part.root, why))).collect()
    }

    /// Returns the section `fs` of `_nodes/stats`.
    pub fn fs_stats(&self) -> Value {
        let room = |space: DiskSpace| {
            json!({
                "total_in_bytes": space.total_bytes,
                "free_in_bytes": space.available_bytes,
                "available_in_bytes": space.available_bytes,
            })
        };
        let disk = &self.environment.disk;
        let data = disk.parts().into_iter().map(|part| {
            let mut data = room(part.space.unwrap_or_default());
            data["path"] = part.root.display().to_string().into();
            if let Some(why) = part.missing {
                data["missing"] = why.into();
            }
            data
        });
        json!({
            "timestamp": self.now_millis(),
            "total": room(disk.space().unwrap_or_default()),
            "data": data.collect::<Vec<_>>(),
        })
    }
}

/// Returns the health of an open index.
fn health_of(metadata: &IndexMetadata, live: &LiveIndex) -> HealthStatus {
    let is_red = live.shards.iter().any(|shard| !shard.is_started());
    match (is_red, metadata.typed.number_of_replicas) {
        (true, _) => HealthStatus::Red,
        (false, 0) => HealthStatus::Green,
        (false, _) => HealthStatus::Yellow,
    }
}

/// Returns the entry of an index. Its replicas are never assigned, so primaries and total are the same.
fn index_entry(
    metadata: &IndexMetadata,
    health: HealthStatus,
    stats: Value,
    shards: Map<String, Value>,
    request: &StatsRequest,
) -> Value {
    let mut entry = json!({
        "uuid": &*metadata.uuid,
        "health": health.as_str(),
        "status": if metadata.open { "open" } else { "close" },
        "primaries": stats,
        "total": stats,
    });
    if request.level == StatsLevel::Shards {
        entry["shards"] = Value::Object(shards);
    }
    entry
}

/// Adds numbers member by member. Members that only `more` has are copied.
fn add(sum: &mut Value, more: &Value) {
    match (sum, more) {
        (Value::Object(sum), Value::Object(more)) => {
            for (key, value) in more {
                match sum.get_mut(key) {
                    Some(existing) if MAXIMA.contains(&key.as_str()) => {
                        if value.as_u64() > existing.as_u64() {
                            *existing = value.clone();
                        }
                    }
                    Some(existing) => add(existing, value),
                    None => drop(sum.insert(key.clone(), value.clone())),
                }
            }
        }
        (sum @ Value::Number(_), Value::Number(more)) => {
            *sum = match (sum.as_u64(), more.as_u64()) {
                (Some(a), Some(b)) => (a + b).into(),
                _ => (sum.as_f64().unwrap_or(0.0) + more.as_f64().unwrap_or(0.0)).into(),
            };
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_add_up() {
        let mut sum = json!({"docs": {"count": 1}, "x": {"max_unsafe_auto_id_timestamp": -1}});
        add(
            &mut sum,
            &json!({"docs": {"count": 2, "deleted": 3}, "x": {"max_unsafe_auto_id_timestamp": -1}}),
        );
        assert_eq!(
            sum,
            json!({"docs": {"count": 3, "deleted": 3}, "x": {"max_unsafe_auto_id_timestamp": -1}})
        );
    }
}
