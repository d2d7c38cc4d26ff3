//! Stores, shows, deletes and explains lifecycles of data streams, and carries them out.
//!
//! Source: Elasticsearch's `DataStreamLifecycleService`, `ExplainIndexDataStreamLifecycle`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use crate::api::*;
use crate::catalog::{Catalog, DataStream, IndexMetadata};
use crate::lifecycle::StreamLifecycle;
use crate::node::Node;
use crate::node::policy::lifecycle::human_time;

/// What rolls an index over and deletes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::node) enum ManagedBy {
    Policy,
    Stream,
    Nothing,
}

impl ManagedBy {
    /// Decides which applies. A policy takes precedence over the data stream's lifecycle, unless
    /// `index.lifecycle.prefer_ilm` is false.
    pub(in crate::node) fn of(
        policy: Option<&str>,
        prefers_policy: bool,
        lifecycle: Option<&StreamLifecycle>,
    ) -> ManagedBy {
        let has_lifecycle = lifecycle.is_some_and(|lifecycle| lifecycle.enabled);
        match (policy.is_some(), has_lifecycle) {
            (true, true) if !prefers_policy => ManagedBy::Stream,
            (true, _) => ManagedBy::Policy,
            (false, true) => ManagedBy::Stream,
            (false, false) => ManagedBy::Nothing,
        }
    }

    pub(in crate::node) fn name(self) -> &'static str {
        match self {
            ManagedBy::Policy => "Index Lifecycle Management",
            ManagedBy::Stream => "Data stream lifecycle",
            ManagedBy::Nothing => "Unmanaged",
        }
    }
}

impl Catalog {
    /// Returns the policy that applies to an index; `None` if the lifecycle of its data stream takes
    /// precedence.
    pub(in crate::node) fn policy_of<'a>(&self, index: &'a IndexMetadata) -> Option<&'a str> {
        let is_of_stream = |stream: &Arc<DataStream>| index.managed_by(stream) == ManagedBy::Stream;
        match self.stream_of(&index.name).is_some_and(is_of_stream) {
            true => None,
            false => index.typed.lifecycle.name.as_deref(),
        }
    }
}

impl IndexMetadata {
    /// Returns what manages an index of a data stream.
    pub(in crate::node) fn managed_by(&self, stream: &DataStream) -> ManagedBy {
        let settings = &self.typed.lifecycle;
        ManagedBy::of(settings.name.as_deref(), settings.prefer_ilm, stream.lifecycle.as_ref())
    }

    /// Returns when a backing index was rolled over; `None` for the write index.
    fn rolled_over_ms(&self, catalog: &Catalog) -> Option<u64> {
        let stream = catalog.stream_of(&self.name)?;
        let next = stream.indices.iter().skip_while(|name| **name != self.name).nth(1)?;
        let noted = self.rollover_info.get(&*stream.name).and_then(|info| info["time"].as_u64());
        noted.or_else(|| Some(catalog.indices.get(next)?.creation_date_ms))
    }
}

impl Node {
    /// Carries out `PUT /_data_stream/{name}/_lifecycle`.
    pub fn put_stream_lifecycle(
        &self,
        expression: &str,
        options: IndicesOptions,
        body: &Value,
    ) -> Result<()> {
        let lifecycle = StreamLifecycle::parse(body)?;
        self.change_stream_lifecycles(expression, options, Some(&lifecycle))
    }

    /// Carries out `DELETE /_data_stream/{name}/_lifecycle`.
    pub fn delete_stream_lifecycle(&self, expression: &str, options: IndicesOptions) -> Result<()> {
        self.change_stream_lifecycles(expression, options, None)
    }

    fn change_stream_lifecycles(
        &self,
        expression: &str,
        options: IndicesOptions,
        lifecycle: Option<&StreamLifecycle>,
    ) -> Result<()> {
        self.change_catalog(|catalog| {
            self.check_metadata_write_block()?;
            let mut next = catalog.clone();
            for stream in catalog.resolve_data_streams(expression, options)? {
                let changed = DataStream { lifecycle: lifecycle.cloned(), ..(*stream).clone() };
                next.data_streams.insert(stream.name.clone(), Arc::new(changed));
            }
            Ok((next, ()))
        })
    }

    /// Returns the body of `GET /_data_stream/{name}/_lifecycle`. `with_rollover` adds the rollover
    /// conditions.
    pub fn get_stream_lifecycles(
        &self,
        expression: &str,
        options: IndicesOptions,
        with_rollover: bool,
    ) -> Result<Value> {
        let mut shown = Vec::new();
        for stream in self.catalog.load().resolve_data_streams(expression, options)? {
            let mut entry = json!({"name": &*stream.name});
            if let Some(lifecycle) = &stream.lifecycle {
                entry["lifecycle"] = self.show_lifecycle(lifecycle, with_rollover)?;
            }
            shown.push(entry);
        }
        // There are no retentions for the whole cluster.
        Ok(json!({"data_streams": shown, "global_retention": {}}))
    }

    pub(in crate::node) fn show_lifecycle(
        &self,
        lifecycle: &StreamLifecycle,
        with_rollover: bool,
    ) -> Result<Value> {
        let mut body = lifecycle.to_json();
        if with_rollover {
            let settings = self.settings.load();
            body["rollover"] =
                lifecycle.rollover(settings.text("cluster.lifecycle.default.rollover"))?.to_json();
        }
        Ok(body)
    }

    /// Returns the body of `GET /{index}/_lifecycle/explain`.
    pub fn explain_stream_lifecycles(
        &self,
        expression: &str,
        options: IndicesOptions,
        with_rollover: bool,
    ) -> Result<Value> {
        let catalog = self.catalog.load();
        let mut shown = Map::new();
        for index in catalog.resolve(expression, options)? {
            let managing = catalog.stream_of(&index.name).and_then(|stream| {
                let lifecycle = stream.lifecycle.as_ref()?;
                (index.managed_by(stream) == ManagedBy::Stream).then_some(lifecycle)
            });
            let mut body = json!({"index": &*index.name, "managed_by_lifecycle": managing.is_some()});
            if let Some(lifecycle) = managing {
                let age = |since_ms: u64| human_time(self.now_millis().saturating_sub(since_ms));
                body["index_creation_date_millis"] = index.creation_date_ms.into();
                body["time_since_index_creation"] = age(index.creation_date_ms).into();
                if let Some(rolled_ms) = index.rolled_over_ms(&catalog) {
                    body["rollover_date_millis"] = rolled_ms.into();
                    body["time_since_rollover"] = age(rolled_ms).into();
                    body["generation_time"] = age(rolled_ms).into();
                }
                body["lifecycle"] = self.show_lifecycle(lifecycle, with_rollover)?;
            }
            shown.insert(index.name.to_string(), body);
        }
        Ok(json!({"indices": shown}))
    }

    /// Runs a round if `data_streams.lifecycle.poll_interval` has passed.
    pub(in crate::node) fn stream_lifecycle_tick(&self) {
        let interval_ms =
            self.settings.load().time_ms("data_streams.lifecycle.poll_interval").unwrap_or(300_000);
        if self.lifecycles.last_stream_round.is_due(&*self.environment.clock, interval_ms) {
            self.stream_lifecycle_round();
        }
    }

    /// Rolls over, merges and deletes indices as the lifecycles of data streams require. Tests without
    /// threads call it too.
    pub fn stream_lifecycle_round(&self) {
        self.lifecycles.last_stream_round.note(&*self.environment.clock);
        let started_ms = self.environment.clock.monotonic_millis();
        let mut failed = Vec::new();
        let catalog = self.catalog.load_full();
        let is_there = |uuid: &Arc<str>| catalog.indices.values().any(|index| index.uuid == *uuid);
        self.lifecycles.merged.lock().retain(is_there);
        for stream in catalog.data_streams.values() {
            if self.closed.load(Ordering::Acquire) {
                return;
            }
            let Some(lifecycle) = stream.lifecycle.as_ref().filter(|lifecycle| lifecycle.enabled) else {
                continue;
            };
            failed.extend(self.run_stream_lifecycle(stream, lifecycle));
        }
        let now_ms = self.now_millis();
        let mut rounds = self.lifecycles.stream_rounds.lock();
        let before = std::mem::take(&mut rounds.failed);
        let counted = failed.into_iter().map(|name| {
            let (since_ms, failures) = before.get(&name).copied().unwrap_or((now_ms, 0));
            (name, (since_ms, failures + 1))
        });
        rounds.between_ms = rounds.started_ms.map(|before_ms| started_ms.saturating_sub(before_ms));
        rounds.took_ms = Some(self.environment.clock.monotonic_millis().saturating_sub(started_ms));
        rounds.started_ms = Some(started_ms);
        rounds.failed = counted.collect();
    }

    /// Returns the backing indices that failed in the last round, as the health report shows them. `None`
    /// before the first round.
    pub fn failing_backing_indices(&self) -> Option<Vec<Value>> {
        let rounds = self.lifecycles.stream_rounds.lock();
        rounds.started_ms?;
        let mut failed: Vec<_> = rounds.failed.iter().collect();
        failed.sort_unstable();
        let shown = failed.into_iter().map(|(name, (since_ms, failures))| {
            json!({
                "index_name": &**name,
                "first_occurrence_timestamp": since_ms,
                "retry_count": failures - 1,
            })
        });
        Some(shown.collect())
    }

    /// Returns the body of `GET _lifecycle/stats`; times are included only after a round.
    pub fn stream_lifecycle_stats(&self, is_human: bool) -> Value {
        let catalog = self.catalog.load_full();
        let rounds = self.lifecycles.stream_rounds.lock();
        let streams = catalog.data_streams.values().filter_map(|stream| {
            let own = stream.indices.iter().filter_map(|name| catalog.indices.get(name));
            let managed = own.filter(|index| index.managed_by(stream) == ManagedBy::Stream).count();
            let in_error = stream.indices.iter().filter(|name| rounds.failed.contains_key(*name)).count();
            (managed > 0).then(|| {
                json!({
                    "name": &*stream.name,
                    "backing_indices_in_total": managed,
                    "backing_indices_in_error": in_error,
                })
            })
        });
        let streams: Vec<Value> = streams.collect();
        let mut body = json!({});
        let times = [("last_run_duration", rounds.took_ms), ("time_between_starts", rounds.between_ms)];
        for (name, time_ms) in times {
            let Some(time_ms) = time_ms else { continue };
            body[format!("{name}_in_millis")] = time_ms.into();
            if is_human {
                body[name] = human_time(time_ms).into();
            }
        }
        body["data_stream_count"] = streams.len().into();
        body["data_streams"] = streams.into();
        body
    }

    /// Carries out what a lifecycle requires now. Returns the indices that failed.
    fn run_stream_lifecycle(&self, stream: &DataStream, lifecycle: &StreamLifecycle) -> Vec<Arc<str>> {
        let catalog = self.catalog.load_full();
        let own = stream.indices.iter().filter_map(|name| catalog.indices.get(name));
        let own: Vec<&Arc<IndexMetadata>> =
            own.filter(|index| index.managed_by(stream) == ManagedBy::Stream).collect();
        let mut failed = Vec::new();
        for index in own {
            let done = match index.rolled_over_ms(&catalog) {
                None => self.roll_if_ready(stream, lifecycle, index),
                Some(rolled_ms) => {
                    let age_ms = self.now_millis().saturating_sub(rolled_ms);
                    match lifecycle.retention_ms() {
                        Some(retention_ms) if age_ms >= retention_ms && self.trusts_ages() => {
                            self.delete_retained(stream, index)
                        }
                        _ => self.merge_tail(index),
                    }
                }
            };
            // An index that fails does not keep the others from their retention.
            if let Err(error) = done {
                tracing::warn!(index = %index.name, %error, "the lifecycle of a data stream does not go on");
                failed.push(index.name.clone());
            }
        }
        failed
    }

    /// Deletes an index whose retention is over, unless it is another one now, or the lifecycle of its data
    /// stream has changed or manages it no longer. Blocks that were set since it was read count.
    fn delete_retained(&self, stream: &DataStream, index: &IndexMetadata) -> Result<()> {
        self.change_catalog(|catalog| {
            let is_retained = |now: &&Arc<IndexMetadata>| {
                now.uuid == index.uuid
                    && catalog.stream_of(&now.name).is_some_and(|of| {
                        of.name == stream.name
                            && of.lifecycle == stream.lifecycle
                            && *of.write_index() != now.name
                            && now.managed_by(of) == ManagedBy::Stream
                    })
            };
            let Some(now) = catalog.indices.get(&index.name).filter(is_retained) else {
                return Ok((catalog.clone(), ()));
            };
            self.check_delete_block(now)?;
            Ok((catalog.without_index(&now.name), ()))
        })
    }

    fn roll_if_ready(
        &self,
        stream: &DataStream,
        lifecycle: &StreamLifecycle,
        index: &IndexMetadata,
    ) -> Result<()> {
        let conditions =
            lifecycle.rollover(self.settings.load().text("cluster.lifecycle.default.rollover"))?;
        if self.is_ready_to_roll(index, &conditions, false) {
            self.rollover_from(&stream.name, index)?;
        }
        Ok(())
    }

    /// Merges an index that is no longer written to, once, as the merge policy decides.
    fn merge_tail(&self, index: &IndexMetadata) -> Result<()> {
        if self.lifecycles.merged.lock().contains(&index.uuid) {
            return Ok(());
        }
        let merged =
            self.force_merge(&index.name, IndicesOptions::BROADCAST, &ForceMergeRequest::default())?;
        if let Some(failure) = merged.failures.into_iter().next() {
            return Err(failure.error);
        }
        self.lifecycles.merged.lock().insert(index.uuid.clone());
        Ok(())
    }
}
