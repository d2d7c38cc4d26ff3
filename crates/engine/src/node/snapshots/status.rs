//! `_snapshot/_status`: "how far is each shard, and how much was copied?"
//!
//! Source: Elasticsearch's `SnapshotStatus`, `SnapshotStats`, `SnapshotIndexStatus`.

use std::collections::BTreeMap;

use limber_mapping::ErrorClass;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::node::Node;
use crate::snapshot::errors::snapshot_missing;
use crate::snapshot::format::{Entry, ShardFigures, SnapshotBody, snapshot_name};
use crate::snapshot::names::Chosen;
use crate::snapshot::running::{Running, ShardProgress, Stage};

impl Node {
    /// Returns the body of `GET /_snapshot/{repository}/{snapshots}/_status`. Without snapshots it shows
    /// those in progress, without a repository those of all repositories.
    pub fn snapshot_status(
        &self,
        repositories: &str,
        snapshots: Option<&str>,
        ignore_unavailable: bool,
    ) -> Result<Value> {
        let mut shown = Vec::new();
        let names = match self.repository_names(repositories) {
            // A repository that does not exist has no snapshots in progress.
            Err(error) if snapshots.is_none() && error.class == ErrorClass::NotFound => Vec::new(),
            names => names?,
        };
        for name in names {
            let running = self.snapshots.running_in(&name);
            let Some(snapshots) = snapshots else {
                for one in &running {
                    shown.push(status_of_running(one, self.now_millis())?);
                }
                continue;
            };
            let repository = self.repository(&name)?;
            let chosen = Chosen::parse(snapshots);
            let root = repository.root()?;
            let exists = |wanted: &str| {
                running.iter().any(|one| one.name == wanted)
                    || root.snapshots.iter().any(|one| one.name == wanted)
            };
            let missing = chosen.concrete().find(|wanted| *wanted != "_current" && !exists(wanted));
            if let Some(missing) = missing.filter(|_| !ignore_unavailable) {
                return Err(snapshot_missing(&name, missing));
            }
            let wants_current = chosen.parts().iter().any(|part| part == "_current");
            let of_running = running.iter().filter(|one| wants_current || chosen.takes(&one.name));
            for one in of_running {
                shown.push(status_of_running(one, self.now_millis())?);
            }
            let is_running = |entry: &&Entry| running.iter().any(|one| one.uuid == entry.uuid);
            for entry in root.snapshots.iter().filter(|one| chosen.takes(&one.name) && !is_running(one)) {
                let body: SnapshotBody = repository.read(&snapshot_name(&entry.uuid))?;
                shown.push(status_of(&name, entry, &body)?);
            }
        }
        // The macro would copy them.
        Ok(Value::Object(Map::from_iter([("snapshots".to_owned(), Value::Array(shown))])))
    }
}

fn status_of_running(running: &Running, now_ms: u64) -> Result<Value> {
    let head = json!({
        "snapshot": running.name,
        "repository": &*running.repository.name,
        "uuid": running.uuid,
        "state": "STARTED",
        "include_global_state": running.include_global_state,
    });
    let times = (running.start_ms, now_ms.saturating_sub(running.start_ms));
    // The snapshot goes on while its state is shown.
    let shards = running.shards.lock().clone();
    whole(head, &shards, times)
}

fn status_of(repository: &str, entry: &Entry, body: &SnapshotBody) -> Result<Value> {
    let head = json!({
        "snapshot": entry.name,
        "repository": repository,
        "uuid": entry.uuid,
        "state": entry.state.name(),
        "include_global_state": body.include_global_state,
    });
    let shards = entry.indices.iter().map(|(name, index)| {
        let figures = body.shards.get(name);
        let shards = index.shards.iter().enumerate().map(|(number, manifest)| {
            let figures = figures.and_then(|figures| figures.get(number)).copied().unwrap_or_default();
            ShardProgress {
                stage: if manifest.is_some() { Stage::Done } else { Stage::Failed },
                figures,
                copied_file_count: figures.new_file_count,
                copied_bytes: figures.new_bytes,
            }
        });
        (name.clone(), shards.collect())
    });
    whole(head, &shards.collect(), (entry.start_ms, entry.end_ms.saturating_sub(entry.start_ms)))
}

/// Returns the state of a snapshot. Each shard takes about fifty times as much as its figures, and is
/// measured as it is made.
fn whole(mut head: Value, shards: &BTreeMap<String, Vec<ShardProgress>>, times: (u64, u64)) -> Result<Value> {
    let all: Vec<ShardProgress> = shards.values().flatten().copied().collect();
    head["shards_stats"] = stages(&all);
    head["stats"] = stats(&all, times);
    let mut indices = Map::new();
    for (name, shards) in shards {
        let mut each = Map::new();
        for (number, shard) in shards.iter().enumerate() {
            work::check_beyond_deadline()?;
            let times = (shard.figures.start_ms, shard.figures.time_ms);
            let shown = json!({"stage": shard.stage.name(), "stats": stats(&[*shard], times)});
            each.insert(number.to_string(), shown);
        }
        let start_ms = shards.iter().map(|shard| shard.figures.start_ms).min().unwrap_or(0);
        let time_ms = shards.iter().map(|shard| shard.figures.time_ms).sum();
        let mut body = json!({
            "shards_stats": stages(shards),
            "stats": stats(shards, (start_ms, time_ms)),
        });
        // The macro would copy it.
        body["shards"] = Value::Object(each);
        indices.insert(name.clone(), body);
    }
    head["indices"] = Value::Object(indices);
    Ok(head)
}

fn stages(shards: &[ShardProgress]) -> Value {
    let count = |stage: Stage| shards.iter().filter(|shard| shard.stage == stage).count();
    json!({
        "initializing": count(Stage::Waits),
        "started": count(Stage::Runs),
        "finalizing": 0,
        "done": count(Stage::Done),
        "failed": count(Stage::Failed),
        "total": shards.len(),
    })
}

fn stats(shards: &[ShardProgress], (start_ms, time_ms): (u64, u64)) -> Value {
    let sum = |of: fn(&ShardFigures) -> u64| shards.iter().map(|shard| of(&shard.figures)).sum::<u64>();
    let mut stats = json!({
        "incremental": {
            "file_count": sum(|figures| figures.new_file_count),
            "size_in_bytes": sum(|figures| figures.new_bytes),
        },
        "total": {"file_count": sum(|figures| figures.file_count), "size_in_bytes": sum(|figures| figures.bytes)},
        "start_time_in_millis": start_ms,
        "time_in_millis": time_ms,
    });
    if shards.iter().any(|shard| matches!(shard.stage, Stage::Waits | Stage::Runs)) {
        stats["processed"] = json!({
            "file_count": shards.iter().map(|shard| shard.copied_file_count).sum::<u64>(),
            "size_in_bytes": shards.iter().map(|shard| shard.copied_bytes).sum::<u64>(),
        });
    }
    stats
}
