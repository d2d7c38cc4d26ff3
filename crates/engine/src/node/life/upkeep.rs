//! Refresh, flush, force merge, segments.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::*;
use crate::catalog::IndexMetadata;
use crate::node::Node;
use crate::node::index::indices::limits_of;
use crate::node::index::live::LiveIndex;
use crate::settings::describe_sort;
use crate::shard::Shard;

impl Node {
    pub(in crate::node) fn live_of(
        &self,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<(Arc<IndexMetadata>, Arc<LiveIndex>)>> {
        let found = self.catalog.load().resolve(expression, options)?;
        Ok(found
            .into_iter()
            .filter_map(|metadata| self.live(&metadata).ok().map(|live| (metadata, live)))
            .collect())
    }

    fn broadcast(
        &self,
        expression: &str,
        options: IndicesOptions,
        mut run: impl FnMut(&Shard) -> Result<()>,
    ) -> Result<BroadcastResponse> {
        let mut response = BroadcastResponse::default();
        for (metadata, live) in self.live_of(expression, options)? {
            let copies = 1 + live.core.settings.load().number_of_replicas;
            for shard in &live.shards {
                response.total += copies;
                match run(shard) {
                    Ok(()) => response.successful += 1,
                    Err(error) => {
                        response.failed += 1;
                        response.failures.push(ShardFailure {
                            index: metadata.name.clone(),
                            shard: shard.number,
                            error,
                        });
                    }
                }
            }
        }
        Ok(response)
    }

    /// Carries out `POST {index}/_refresh`: searches then see everything that was written before.
    pub fn refresh(&self, expression: &str, options: IndicesOptions) -> Result<BroadcastResponse> {
        let response = self.broadcast(expression, options, |shard| shard.refresh());
        self.note_refresh();
        response
    }

    /// Flushes shards. `force` commits even when nothing has changed.
    pub fn flush(&self, expression: &str, options: IndicesOptions, force: bool) -> Result<BroadcastResponse> {
        self.broadcast(expression, options, |shard| shard.flush(force))
    }

    /// Merges segments and returns when the merges are done.
    pub fn force_merge(
        &self,
        expression: &str,
        options: IndicesOptions,
        request: &ForceMergeRequest,
    ) -> Result<BroadcastResponse> {
        if request.only_expunge_deletes && request.max_num_segments.is_some() {
            return Err(limber_mapping::RequestError::validation([
                "cannot set only_expunge_deletes and max_num_segments at the same time, those two parameters are \
                 mutually exclusive",
            ]));
        }
        let description =
            format!("Force-merge indices [{expression}], maxSegments[{:?}]", request.max_num_segments);
        let _task = self.tasks.register("indices:admin/forcemerge", description, false);
        self.broadcast(expression, options, |shard| shard.force_merge(request))
    }

    /// Drops the shards' entries in the request cache and in the query cache, as requested.
    pub fn clear_cache(
        &self,
        expression: &str,
        options: IndicesOptions,
        requests: bool,
        queries: bool,
        fielddata: bool,
    ) -> Result<BroadcastResponse> {
        self.broadcast(expression, options, |shard| {
            let (cleared, _) = shard.core()?.cached_as();
            if fielddata {
                shard.forget_fielddata();
            }
            if requests {
                self.caches.requests.retain(|uid, _| uid != cleared);
            }
            if queries {
                self.caches.queries.retain(|uid, _| uid != cleared);
            }
            Ok(())
        })
    }

    /// Drops cache entries for index states and segments that are gone. A point in time that still uses them
    /// fills the caches again.
    pub(in crate::node) fn sweep_caches(&self) {
        if self.caches.requests.is_empty() && self.caches.queries.is_empty() {
            return;
        }
        let (mut states, mut segments) = (HashSet::new(), HashSet::new());
        for shard in self.shards() {
            if let Ok(core) = shard.core() {
                let (uid, version) = core.cached_as();
                states.insert((uid, version));
                segments.extend(core.published_segments().iter().map(|segment| (uid, segment.meta().id)));
            }
        }
        self.caches.requests.retain(|uid, version| states.contains(&(uid, version)));
        self.caches.queries.retain(|uid, segment| segments.contains(&(uid, segment)));
    }

    /// Returns the body of `GET /{index}/_field_usage_stats` for the fields that one of `patterns` matches
    /// and that the user may see.
    pub fn field_usage(
        &self,
        expression: &str,
        options: IndicesOptions,
        patterns: &[String],
    ) -> Result<Value> {
        let mut indices = Map::new();
        let mut response = BroadcastResponse::default();
        for (metadata, live) in self.live_of(expression, options)? {
            let limits = limits_of(&metadata)?;
            let is_seen = |path: &str| limits.as_ref().is_none_or(|limits| limits.allows_field(path));
            let shown = |shard: &Arc<Shard>| {
                let since_ms = shard.counters.field_usage.since_ms();
                json!({
                    "tracking_id": format!("{}-{}-{since_ms}", metadata.uuid, shard.number),
                    "tracking_started_at_millis": since_ms,
                    "routing": {
                        "state": "STARTED",
                        "primary": true,
                        "node": self.node_id(),
                        "relocating_node": null,
                    },
                    "stats": shard.counters.field_usage.to_json(patterns, &is_seen),
                })
            };
            let count = live.shards.len() as u32;
            response.total += count;
            response.successful += count;
            let shards: Vec<Value> = live.shards.iter().map(shown).collect();
            indices.insert(metadata.name.to_string(), json!({"shards": shards}));
        }
        let mut body = Map::from_iter([("_shards".to_owned(), response.to_json())]);
        body.extend(indices);
        Ok(Value::Object(body))
    }

    /// Returns the body of `GET /{index}/_segments`.
    pub fn segments(&self, expression: &str, options: IndicesOptions) -> Result<Value> {
        let mut indices = Map::new();
        let mut response = BroadcastResponse::default();
        for (metadata, live) in self.live_of(expression, options)? {
            let copies = 1 + live.core.settings.load().number_of_replicas;
            let sort = describe_sort(&live.core.settings.load().sort, &live.core.mapping.load());
            let mut shards = Map::new();
            for shard in &live.shards {
                response.total += copies;
                let Ok(core) = shard.core() else {
                    response.failed += 1;
                    continue;
                };
                response.successful += 1;
                let segments: Map<String, Value> = core.describe_segments(&sort).into_iter().collect();
                let committed = segments.values().filter(|segment| segment["committed"] == true).count();
                let entry = json!([{
                    "routing": {"state": "STARTED", "primary": true, "node": self.node_id()},
                    "num_committed_segments": committed,
                    "num_search_segments": segments.len(),
                    "segments": segments,
                }]);
                shards.insert(shard.number.to_string(), entry);
            }
            indices.insert(metadata.name.to_string(), json!({"shards": shards}));
        }
        Ok(json!({"_shards": response.to_json(), "indices": indices}))
    }
}
