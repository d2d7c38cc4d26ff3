//! Cluster settings: persistent ones, transient ones, and those of the configuration file.
//!
//! The effective value of a key is the transient one, else the persistent one, else that of the configuration
//! file, else the default.

use std::collections::HashSet;

use limber_mapping::{ObjectParser, RequestError};
use limber_script::{AllowedScripts, ScriptLimits};
use limber_work as work;
use serde_json::{Map, Value};

use crate::api::Result;
use crate::notation::value;
use crate::settings::definition::{
    self,
    Change::{self, Dynamic},
    Definition,
    Kind::{self, Boolean, Bytes, BytesOrPercent, Choice, Float, Integer, List, LogLevel, Text, Time},
};
use crate::settings::flat::{FlatSettings, flatten};

const INT_MAX: i64 = i32::MAX as i64;
/// The beginning of the settings that give a logger a level of its own.
const LOGGER: &str = "logger.";
/// How many loggers may have a level of their own: each part of the server that logs is compared with all of
/// them.
const LOGGERS_MAX: usize = 1_000;

const fn row(key: &'static str, kind: Kind, default: &'static str, change: Change) -> Definition {
    Definition::new(key, kind, default, change)
}

/// Which shards may be allocated.
pub(crate) const ALLOCATION: &str = "cluster.routing.allocation.enable";

/// `cluster.lifecycle.default.rollover`. Source: Elasticsearch's `DataStreamLifecycle`.
const DEFAULT_ROLLOVER: &str =
    "max_age=auto,max_primary_shard_size=50gb,min_docs=1,max_primary_shard_docs=200000000";

/// All cluster and node settings that the engine uses. The REST layer checks those that it needs itself
/// (`http.*`, `path.*`).
const CLUSTER_SETTINGS: &[Definition] = &[
    row("action.auto_create_index", Text, "true", Dynamic),
    row("action.destructive_requires_name", Boolean, "true", Dynamic),
    row("action.search.shard_count.limit", Integer { min: 1, max: i64::MAX }, "9223372036854775807", Dynamic),
    row("data_streams.lifecycle.poll_interval", Time { min_ms: 1000, minus_one: false }, "5m", Dynamic),
    row("cluster.lifecycle.default.rollover", Text, DEFAULT_ROLLOVER, Dynamic),
    row("cluster.blocks.read_only", Boolean, "false", Dynamic),
    row("cluster.indices.close.enable", Boolean, "true", Dynamic),
    row("cluster.blocks.read_only_allow_delete", Boolean, "false", Dynamic),
    row("cluster.max_shards_per_node", Integer { min: 1, max: INT_MAX }, "1000", Dynamic),
    // Replicas are never placed on this node.
    row(ALLOCATION, Choice(&["all", "primaries", "new_primaries", "none"]), "all", Dynamic),
    // A single node has only one location, whatever its attributes are.
    row("cluster.routing.allocation.awareness.attributes", List, "[]", Dynamic),
    // Reserved for the users' own metadata.
    row("cluster.metadata.*", Text, "", Dynamic),
    row(
        "cluster.routing.rebalance.enable",
        Choice(&["all", "primaries", "replicas", "none"]),
        "all",
        Dynamic,
    ),
    // There is only one copy of each shard, so this has no effect.
    row("cluster.routing.use_adaptive_replica_selection", Boolean, "true", Dynamic),
    row("cluster.routing.allocation.disk.threshold_enabled", Boolean, "true", Dynamic),
    row("cluster.routing.allocation.disk.watermark.low", Text, "85%", Dynamic),
    row("cluster.routing.allocation.disk.watermark.high", Text, "90%", Dynamic),
    row("cluster.routing.allocation.disk.watermark.low.max_headroom", Text, "200GB", Dynamic),
    row("cluster.routing.allocation.disk.watermark.high.max_headroom", Text, "150GB", Dynamic),
    row("cluster.routing.allocation.disk.watermark.flood_stage", Text, "95%", Dynamic),
    row("cluster.routing.allocation.disk.watermark.flood_stage.max_headroom", Text, "100GB", Dynamic),
    row("cluster.info.update.interval", Time { min_ms: 10_000, minus_one: false }, "30s", Dynamic),
    row("indexing_pressure.memory.limit", BytesOrPercent, "10%", Change::Static),
    row("indices.memory.index_buffer_size", BytesOrPercent, "20%", Dynamic),
    row("indices.queries.cache.size", BytesOrPercent, "10%", Dynamic),
    row("indices.requests.cache.size", BytesOrPercent, "1%", Dynamic),
    row("indices.stored_blocks.cache.size", BytesOrPercent, "1%", Dynamic),
    row("indices.scrub.max_bytes_per_sec", Bytes { min: 0, max: i64::MAX }, "20mb", Dynamic),
    row("indices.scrub.interval", Time { min_ms: 1000, minus_one: false }, "24h", Dynamic),
    row("indices.segment_memory.off_heap.enable", Boolean, "true", Dynamic),
    row("indices.segment_memory.off_heap.size", BytesOrPercent, "10%", Dynamic),
    row("indices.lifecycle.poll_interval", Time { min_ms: 1000, minus_one: false }, "10m", Dynamic),
    row("indices.lifecycle.rollover.only_if_has_documents", Boolean, "true", Dynamic),
    row("indices.breaker.request.limit", BytesOrPercent, "60%", Dynamic),
    row("indices.breaker.total.limit", BytesOrPercent, "70%", Dynamic),
    row("network.breaker.inflight_requests.limit", BytesOrPercent, "100%", Dynamic),
    row("logger.*", LogLevel, "", Dynamic),
    row("path.repo", List, "[]", Change::Static),
    row("slm.minimum_interval", Time { min_ms: 0, minus_one: false }, "15m", Dynamic),
    row("slm.retention_schedule", Text, "0 30 1 * * ?", Dynamic),
    row("snapshot.max_concurrent_operations", Integer { min: 1, max: INT_MAX }, "1000", Dynamic),
    row("script.max_compilations_rate", Text, "150/5m", Dynamic),
    row("script.max_size_in_bytes", Integer { min: 0, max: INT_MAX }, "65535", Dynamic),
    row("script.cache.max_size", Integer { min: 0, max: INT_MAX }, "3000", Change::Static),
    row("script.painless.regex.enabled", Choice(&["limited", "true", "false"]), "limited", Change::Static),
    row("search.aggs.allowed_inline_metric_scripts", List, "[]", Dynamic),
    row("search.aggs.allowed_stored_metric_scripts", List, "[]", Dynamic),
    row("search.aggs.only_allowed_metric_scripts", Boolean, "false", Dynamic),
    row("search_backpressure.mode", Choice(&["enforced", "monitor_only", "disabled"]), "enforced", Dynamic),
    row("search.max_buckets", Integer { min: 0, max: INT_MAX }, "65536", Dynamic),
    row("search.default_search_timeout", Time { min_ms: 0, minus_one: true }, "-1", Dynamic),
    row("search.default_keep_alive", Time { min_ms: 0, minus_one: false }, "5m", Dynamic),
    row("search.max_keep_alive", Time { min_ms: 0, minus_one: false }, "24h", Dynamic),
    row("search.max_open_scroll_context", Integer { min: 0, max: INT_MAX }, "500", Dynamic),
    row("search.allow_expensive_queries", Boolean, "true", Dynamic),
    row("search.default_allow_partial_results", Boolean, "true", Dynamic),
    // What follows steers work between several nodes, which there is none of, or work that is planned without
    // settings: which threads share a search, when a search looks whether it was cancelled, and how long
    // changes of a mapping wait.
    row("cluster.auto_shrink_voting_configuration", Boolean, "true", Dynamic),
    row("cluster.max_shards_per_node.frozen", Integer { min: 0, max: INT_MAX }, "3000", Dynamic),
    row("cluster.no_master_block", Choice(&["all", "write", "metadata_write"]), "write", Dynamic),
    row("cluster.persistent_tasks.allocation.enable", Choice(&["all", "none"]), "all", Dynamic),
    row(
        "cluster.routing.allocation.allow_rebalance",
        Choice(&["always", "indices_primaries_active", "indices_all_active"]),
        "indices_all_active",
        Dynamic,
    ),
    row("cluster.routing.allocation.awareness.force.*", List, "[]", Dynamic),
    row("cluster.routing.allocation.awareness.balance", Boolean, "false", Dynamic),
    row("cluster.routing.allocation.balance.prefer_primary", Boolean, "false", Dynamic),
    row("cluster.routing.search_replica.strict", Boolean, "true", Dynamic),
    row("cluster_manager.throttling.thresholds.*", Integer { min: -1, max: INT_MAX }, "", Dynamic),
    row("segrep.pressure.enabled", Boolean, "false", Dynamic),
    // Processors of search pipelines that plugins of OpenSearch add by themselves; none does here.
    row("cluster.search.enabled_system_generated_factories", List, "[]", Dynamic),
    row("cluster.routing.allocation.balance.index", Float { min: 0.0, max: f64::MAX }, "0.55", Dynamic),
    row("cluster.routing.allocation.balance.shard", Float { min: 0.0, max: f64::MAX }, "0.45", Dynamic),
    row("cluster.routing.allocation.balance.threshold", Float { min: 0.0, max: f64::MAX }, "1.0", Dynamic),
    row(
        "cluster.routing.allocation.balance.disk_usage",
        Float { min: 0.0, max: f64::MAX },
        "2.0E-11",
        Dynamic,
    ),
    row("cluster.routing.allocation.balance.write_load", Float { min: 0.0, max: f64::MAX }, "10.0", Dynamic),
    row(
        "cluster.routing.allocation.cluster_concurrent_rebalance",
        Integer { min: -1, max: INT_MAX },
        "2",
        Dynamic,
    ),
    row(
        "cluster.routing.allocation.node_concurrent_incoming_recoveries",
        Integer { min: 0, max: INT_MAX },
        "2",
        Dynamic,
    ),
    row(
        "cluster.routing.allocation.node_concurrent_outgoing_recoveries",
        Integer { min: 0, max: INT_MAX },
        "2",
        Dynamic,
    ),
    row(
        "cluster.routing.allocation.node_concurrent_recoveries",
        Integer { min: 0, max: INT_MAX },
        "2",
        Dynamic,
    ),
    row(
        "cluster.routing.allocation.node_initial_primaries_recoveries",
        Integer { min: 0, max: INT_MAX },
        "4",
        Dynamic,
    ),
    row("cluster.routing.allocation.same_shard.host", Boolean, "false", Dynamic),
    row("cluster.routing.allocation.total_shards_per_node", Integer { min: -1, max: INT_MAX }, "-1", Dynamic),
    row(
        "cluster.service.slow_master_task_logging_threshold",
        Time { min_ms: 0, minus_one: false },
        "10s",
        Dynamic,
    ),
    row("cluster.service.slow_task_logging_threshold", Time { min_ms: 0, minus_one: false }, "30s", Dynamic),
    row("indices.id_field_data.enabled", Choice(&["true"]), "true", Dynamic),
    row("indices.mapping.dynamic_timeout", Time { min_ms: 0, minus_one: false }, "30s", Dynamic),
    row("indices.mapping.max_in_flight_updates", Integer { min: 1, max: 1000 }, "10", Dynamic),
    row(
        "indices.recovery.internal_action_long_timeout",
        Time { min_ms: 0, minus_one: false },
        "30m",
        Dynamic,
    ),
    row(
        "indices.recovery.internal_action_retry_timeout",
        Time { min_ms: 0, minus_one: false },
        "1m",
        Dynamic,
    ),
    row("indices.recovery.internal_action_timeout", Time { min_ms: 0, minus_one: false }, "15m", Dynamic),
    row("indices.recovery.max_bytes_per_sec", Bytes { min: -1, max: i64::MAX }, "40mb", Dynamic),
    row("indices.recovery.max_concurrent_file_chunks", Integer { min: 1, max: 8 }, "2", Dynamic),
    row("indices.recovery.max_concurrent_operations", Integer { min: 1, max: 4 }, "1", Dynamic),
    row("indices.recovery.max_concurrent_snapshot_file_downloads", Integer { min: 1, max: 20 }, "5", Dynamic),
    row(
        "indices.recovery.max_concurrent_snapshot_file_downloads_per_node",
        Integer { min: 1, max: 25 },
        "25",
        Dynamic,
    ),
    row("indices.recovery.recovery_activity_timeout", Time { min_ms: 0, minus_one: false }, "30m", Dynamic),
    row("indices.recovery.retry_delay_network", Time { min_ms: 0, minus_one: false }, "5s", Dynamic),
    row("indices.recovery.retry_delay_state_sync", Time { min_ms: 0, minus_one: false }, "500ms", Dynamic),
    row("indices.recovery.use_snapshots", Boolean, "true", Dynamic),
    row("monitor.fs.health.enabled", Boolean, "true", Dynamic),
    row("search.concurrent.max_slice_count", Integer { min: 0, max: INT_MAX }, "0", Dynamic),
    row("search.concurrent_segment_search.enabled", Boolean, "true", Dynamic),
    row("search.concurrent_segment_search.mode", Choice(&["auto", "all", "none"]), "auto", Dynamic),
    row("search.low_level_cancellation", Boolean, "true", Dynamic),
];

/// When writes stop because the disk is nearly full: `cluster.routing.allocation.disk.watermark.flood_stage`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FloodStage {
    /// More than this share is used, and less than `max_headroom_bytes` is free.
    UsedRatio {
        /// The used share, from 0 to 1.
        ratio: f64,
        /// Free bytes that are enough whatever the share is.
        max_headroom_bytes: u64,
    },
    /// Less than this is free.
    FreeBytes(u64),
}

impl FloodStage {
    /// Whether a file system with this size and free space has reached the stage.
    pub fn is_exceeded(self, total_bytes: u64, available_bytes: u64) -> bool {
        match self {
            FloodStage::UsedRatio { ratio, max_headroom_bytes } => {
                let free_needed = ((total_bytes as f64 * (1.0 - ratio)) as u64).min(max_headroom_bytes);
                available_bytes < free_needed
            }
            FloodStage::FreeBytes(bytes) => available_bytes < bytes,
        }
    }
}

/// The cluster's settings. Immutable; an update makes a new value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterSettings {
    /// Set by `persistent` in `PUT _cluster/settings`. They survive a restart.
    pub persistent: FlatSettings,
    /// Set by `transient`. They take precedence over the others and are lost at a restart.
    pub transient: FlatSettings,
    /// Set in the configuration file and by `-E`.
    pub node: FlatSettings,
}

impl ClusterSettings {
    /// Validates the settings of the configuration file.
    pub fn new(node: FlatSettings, persistent: FlatSettings) -> Result<ClusterSettings> {
        for (key, given) in &node {
            known("", key)?.check(key, given)?;
        }
        Ok(ClusterSettings { persistent, transient: Map::new(), node })
    }

    /// Returns all settings that the engine uses.
    pub fn definitions() -> &'static [Definition] {
        CLUSTER_SETTINGS
    }

    /// Whether `key` is one of the settings in this table (the REST layer handles the others).
    pub fn knows(key: &str) -> bool {
        definition::find(CLUSTER_SETTINGS, key).is_some()
    }

    /// Applies `{"persistent": .., "transient": ..}`. Returns the new settings, and what was set in each
    /// part.
    pub fn update(&self, body: &Value) -> Result<(ClusterSettings, FlatSettings, FlatSettings)> {
        let object = body.as_object().ok_or_else(|| {
            RequestError::parsing("Expected [START_OBJECT] but found a value that is not an object")
        })?;
        if let Some(unknown) = object.keys().find(|key| !matches!(key.as_str(), "persistent" | "transient")) {
            return Err(ObjectParser::new("cluster_update_settings_request").unknown(unknown));
        }
        let part = |name: &str| object.get(name).map_or(Ok(Map::new()), flatten);
        let (persistent, transient) = (part("persistent")?, part("transient")?);
        if persistent.is_empty() && transient.is_empty() {
            return Err(RequestError::validation(["no settings to update"]));
        }
        let mut updated = self.clone();
        let set_persistent = apply(&mut updated.persistent, "persistent", &persistent)?;
        let set_transient = apply(&mut updated.transient, "transient", &transient)?;
        let loggers = updated.logger_count();
        if loggers > LOGGERS_MAX && loggers > self.logger_count() {
            let reason = format!("more than [{LOGGERS_MAX}] loggers would have a level of their own");
            return Err(RequestError::illegal_argument(reason));
        }
        updated.flood_stage()?;
        updated.script_limits()?;
        crate::notation::cron::Schedule::parse(updated.text("slm.retention_schedule"))?;
        crate::lifecycle::StreamLifecycle::parse(&Value::Null)?
            .rollover(updated.text("cluster.lifecycle.default.rollover"))?;
        Ok((updated, set_persistent, set_transient))
    }

    /// Whether a body of `PUT _cluster/settings` does nothing but lift blocks of the cluster, which must be
    /// possible while it takes no changes.
    ///
    /// Source: `TransportClusterUpdateSettingsAction#checkClearedBlockAndArchivedSettings`.
    pub(crate) fn only_lifts_blocks(body: &Value) -> Result<bool> {
        const BLOCKS: [&str; 2] = ["cluster.blocks.read_only", "cluster.blocks.read_only_allow_delete"];
        let parts = ["persistent", "transient"].into_iter().filter_map(|name| body.get(name));
        for (key, value) in parts.map(flatten).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            let is_lifted = matches!(&value, Value::Null | Value::Bool(false)) || value == "false";
            if !BLOCKS.contains(&key.as_str()) || !is_lifted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the defaults of the keys that are not set.
    pub fn defaults(&self) -> FlatSettings {
        CLUSTER_SETTINGS
            .iter()
            .filter(|row| !row.key.ends_with('*'))
            .filter(|row| !self.persistent.contains_key(row.key) && !self.transient.contains_key(row.key))
            .map(|row| {
                (row.key.to_owned(), self.node.get(row.key).cloned().unwrap_or_else(|| row.default.into()))
            })
            .collect()
    }

    /// Returns the value that is set for a key.
    fn value(&self, key: &str) -> Option<&Value> {
        [&self.transient, &self.persistent, &self.node].into_iter().find_map(|map| map.get(key))
    }

    fn logger_count(&self) -> usize {
        let keys = [&self.node, &self.persistent, &self.transient].into_iter().flat_map(|map| map.keys());
        keys.filter(|key| key.starts_with(LOGGER)).count()
    }

    /// Returns the loggers that have their own level, each with its level.
    pub fn loggers(&self) -> Vec<(String, String)> {
        let of = |map: &FlatSettings| -> Vec<(String, String)> {
            map.iter()
                .filter_map(|(key, value)| {
                    Some((key.strip_prefix(LOGGER)?.to_owned(), value.as_str()?.to_owned()))
                })
                .collect()
        };
        // Later entries win.
        [&self.node, &self.persistent, &self.transient].into_iter().flat_map(of).collect()
    }

    /// Returns the effective strings of a known list setting. One string may contain several, separated by
    /// commas.
    pub fn list(&self, key: &'static str) -> Vec<String> {
        match self.value(key) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => text.split(',').map(|item| item.trim().to_owned()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the effective string of a known key.
    pub fn text(&self, key: &'static str) -> &str {
        match self.value(key).and_then(Value::as_str) {
            Some(text) => text,
            None => definition::find(CLUSTER_SETTINGS, key).map_or("", |row| row.default),
        }
    }

    /// Returns the effective boolean of a known key. All values were checked when they were set, so one that
    /// does not parse can only come from a state file that was edited by hand; the default is used then.
    pub fn boolean(&self, key: &'static str) -> bool {
        value::parse_bool(key, self.text(key)).unwrap_or(false)
    }

    /// Returns the effective whole number of a known key.
    pub fn integer(&self, key: &'static str) -> i64 {
        value::parse_integer(key, self.text(key), i64::MIN, i64::MAX).unwrap_or(0)
    }

    /// Returns the effective time in milliseconds; `None` for -1.
    pub fn time_ms(&self, key: &'static str) -> Option<u64> {
        value::parse_time_ms(key, self.text(key)).ok().and_then(|ms| u64::try_from(ms).ok())
    }

    /// Returns the effective size, which may be a percentage of `whole_bytes`.
    pub fn bytes_of(&self, key: &'static str, whole_bytes: u64) -> u64 {
        value::parse_bytes_or_percent(key, self.text(key), whole_bytes).unwrap_or(whole_bytes / 10)
    }

    /// Returns the effective size of a known key.
    pub fn bytes(&self, key: &'static str) -> u64 {
        value::parse_bytes(key, self.text(key)).ok().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
    }

    /// Returns the limits in `script.*`.
    pub fn script_limits(&self) -> Result<ScriptLimits> {
        Ok(ScriptLimits {
            source_bytes_max: self.integer("script.max_size_in_bytes").max(0) as usize,
            cache_size: self.integer("script.cache.max_size").max(0) as usize,
            rate: ScriptLimits::parse_rate(self.text("script.max_compilations_rate"))?,
            allows_regex: self.text("script.painless.regex.enabled") != "false",
            metric_scripts: self.boolean("search.aggs.only_allowed_metric_scripts").then(|| AllowedScripts {
                inline: self.list("search.aggs.allowed_inline_metric_scripts"),
                stored: self.list("search.aggs.allowed_stored_metric_scripts"),
            }),
        })
    }

    /// Returns `cluster.routing.allocation.disk.watermark.flood_stage` with its headroom. Fails if it does
    /// not parse.
    pub fn flood_stage(&self) -> Result<FloodStage> {
        let key = "cluster.routing.allocation.disk.watermark.flood_stage";
        let text = self.text(key).trim();
        let ratio = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
            None => text.parse::<f64>().ok(),
        };
        match ratio {
            Some(ratio) if (0.0..=1.0).contains(&ratio) => {
                let headroom_key = "cluster.routing.allocation.disk.watermark.flood_stage.max_headroom";
                let max_headroom_bytes = match value::parse_bytes(headroom_key, self.text(headroom_key))? {
                    -1 => u64::MAX,
                    bytes => bytes as u64,
                };
                Ok(FloodStage::UsedRatio { ratio, max_headroom_bytes })
            }
            Some(_) => {
                Err(RequestError::illegal_argument(format!("unable to parse [{key}] with value [{text}]")))
            }
            None => Ok(FloodStage::FreeBytes(value::parse_bytes(key, text)?.max(0) as u64)),
        }
    }
}

fn known(kind: &str, key: &str) -> Result<&'static Definition> {
    match definition::find(CLUSTER_SETTINGS, key) {
        Some(row) => Ok(row),
        None if kind.is_empty() => Err(definition::unknown_setting("", CLUSTER_SETTINGS, key)),
        None => Err(RequestError::illegal_argument(format!("{kind} setting [{key}], not recognized"))),
    }
}

/// Applies one part of an update to `current`. Returns what was set, without resets.
fn apply(current: &mut FlatSettings, kind: &str, given: &FlatSettings) -> Result<FlatSettings> {
    let mut set = Map::new();
    // Removed together, because each removal moves all that follows.
    let mut reset = HashSet::new();
    for (key, value) in given {
        work::check_beyond_deadline()?;
        if value.is_null() {
            match key.strip_suffix('*') {
                Some(prefix) => current.retain(|existing, _| !existing.starts_with(prefix)),
                // Like Elasticsearch, this allows resetting an unknown key that is set, and refuses one that
                // is not set.
                None if !current.contains_key(key) => drop(known(kind, key)?),
                None => drop(reset.insert(key.as_str())),
            }
            continue;
        }
        let row = known(kind, key)?;
        if row.change != Dynamic {
            return Err(RequestError::illegal_argument(format!(
                "{kind} setting [{key}], not dynamically updateable"
            )));
        }
        row.check(key, value)?;
        current.insert(key.clone(), value.clone());
        set.insert(key.clone(), value.clone());
    }
    current.retain(|key, _| !reset.contains(key.as_str()));
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn transient_wins_over_persistent_and_null_resets() {
        let settings = ClusterSettings::default();
        assert_eq!(settings.integer("search.max_buckets"), 65_536);
        let (settings, ..) =
            settings.update(&json!({"persistent": {"search": {"max_buckets": 10}}, "transient": {"search.max_buckets": 5}})).expect("ok");
        assert_eq!(settings.integer("search.max_buckets"), 5);
        let (settings, ..) =
            settings.update(&json!({"transient": {"search.max_buckets": null}})).expect("ok");
        assert_eq!(settings.integer("search.max_buckets"), 10);
        let (settings, ..) = settings.update(&json!({"persistent": {"search.*": null}})).expect("ok");
        assert_eq!(settings.integer("search.max_buckets"), 65_536);
    }

    #[test]
    fn wrong_updates_are_refused() {
        let check = |body: Value, expected: &str| {
            assert_eq!(ClusterSettings::default().update(&body).expect_err("refused").reason, expected);
        };
        check(json!({"transient": {"foo": 1}}), "transient setting [foo], not recognized");
        check(json!({"persistent": {}}), "Validation Failed: 1: no settings to update;");
        check(
            json!({"persistent": {"indices.segment_memory.off_heap.enable": "maybe"}}),
            "Failed to parse value [maybe] for setting [indices.segment_memory.off_heap.enable] as only [true] or [false] are allowed.",
        );
        check(
            json!({"persistent": {"search.max_buckets": "x"}}),
            "Failed to parse value [x] for setting [search.max_buckets]",
        );
    }

    #[test]
    fn few_loggers_have_levels_of_their_own_and_all_of_them_can_be_reset() {
        let loggers = |count: usize, level: Value| -> Value {
            let keys = (0..count).map(|n| (format!("logger.a{n}"), level.clone()));
            json!({"transient": Map::<String, Value>::from_iter(keys)})
        };
        let (full, ..) =
            ClusterSettings::default().update(&loggers(LOGGERS_MAX, "info".into())).expect("room");
        let refused = full.update(&json!({"persistent": {"logger.b": "info"}})).expect_err("one too many");
        assert_eq!(refused.reason, "more than [1000] loggers would have a level of their own");
        let (kept, ..) = full.update(&json!({"transient": {"logger.a0": "warn"}})).expect("not one more");
        let (none, ..) = kept.update(&loggers(LOGGERS_MAX - 1, Value::Null)).expect("resets");
        assert_eq!(none.loggers(), [(format!("a{}", LOGGERS_MAX - 1), "info".to_owned())]);
    }

    #[test]
    fn flood_stage_as_share_or_size() {
        let stage = |text: &str| {
            let body = json!({"transient": {"cluster.routing.allocation.disk.watermark.flood_stage": text}});
            ClusterSettings::default().update(&body).and_then(|(settings, ..)| settings.flood_stage())
        };
        assert!(stage("95%").expect("share").is_exceeded(100_000, 4_999));
        assert!(!stage("95%").expect("share").is_exceeded(100_000, 5_001));
        assert!(stage("1gb").expect("size").is_exceeded(100 << 30, 1 << 29));
        assert!(!stage("95%").expect("headroom").is_exceeded(100 << 40, 101 << 30));
        assert!(stage("110%").is_err());
    }
}
