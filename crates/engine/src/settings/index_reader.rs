//! Reads the flat settings of one index value by value: "what is this key set to?"

use std::time::Duration;

use limber_mapping::{Keep, RequestError, SourceMode};
use serde_json::Value;

use crate::api::{ActiveCopies, Result};
use crate::notation::value;
use crate::settings::flat::FlatSettings;
use crate::settings::index::{Blocks, Durability, LifecycleSettings, MergeSettings};
use crate::settings::mode;
use crate::settings::slow_log::{LEVELS, SlowLog, Thresholds};

/// Returns the default of `routing_num_shards`, which leaves room for up to ten doublings.
///
/// Source: `MetadataCreateIndexService#calculateNumRoutingShards`.
pub(super) fn default_routing_num_shards(number_of_shards: u32) -> u32 {
    let log2_max = 10;
    let log2_shards = 32 - (number_of_shards - 1).leading_zeros();
    let splits = (log2_max - log2_shards as i32).max(1);
    number_of_shards << splits
}

/// Flat settings of an index, read by key. A value that does not parse is an error that names its key.
pub(super) struct Reader<'a>(pub(super) &'a FlatSettings);

impl Reader<'_> {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    pub(super) fn integer(&self, key: &str, default: i64) -> Result<i64> {
        self.text(key).map_or(Ok(default), |text| value::parse_integer(key, text, i64::MIN, i64::MAX))
    }

    pub(super) fn float(&self, key: &str, default: f64) -> Result<f64> {
        self.text(key).map_or(Ok(default), |text| value::parse_float(key, text, f64::MIN, f64::MAX))
    }

    pub(super) fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        self.text(key).map_or(Ok(default), |text| value::parse_bool(key, text))
    }

    pub(super) fn time_ms(&self, key: &str, default: i64) -> Result<i64> {
        self.text(key).map_or(Ok(default), |text| value::parse_time_ms(key, text))
    }

    pub(super) fn bytes(&self, key: &str, default: i64) -> Result<i64> {
        self.text(key).map_or(Ok(default), |text| value::parse_bytes(key, text))
    }

    pub(super) fn durability(&self) -> Durability {
        match self.text("index.translog.durability").map(str::to_ascii_lowercase).as_deref() {
            Some("async") => Durability::Async,
            _ => Durability::Request,
        }
    }

    pub(super) fn source_mode(&self) -> Result<SourceMode> {
        if self.boolean("index.derived_source.enabled", false)? {
            return Ok(SourceMode::Synthetic);
        }
        match self.text("index.mapping.source.mode") {
            Some(text) => SourceMode::parse(text),
            None if mode::mode(self.0).has_series() => Ok(SourceMode::Synthetic),
            None => Ok(SourceMode::default()),
        }
    }

    /// Reads `{prefix}.warn` and so on.
    pub(super) fn thresholds(&self, prefix: &str) -> Result<Thresholds> {
        let mut thresholds = Thresholds::default();
        for (threshold, level) in thresholds.0.iter_mut().zip(LEVELS) {
            let ms = self.time_ms(&format!("{prefix}.{level}"), -1)?;
            *threshold = u64::try_from(ms).ok().map(Duration::from_millis);
        }
        Ok(thresholds)
    }

    pub(super) fn slow_log(&self) -> Result<SlowLog> {
        let source = self.text("index.indexing.slowlog.source").unwrap_or("1000");
        let source_chars_max = match source {
            "true" => Ok(usize::MAX),
            "false" => Ok(0),
            number => number.parse(),
        };
        Ok(SlowLog {
            query: self.thresholds("index.search.slowlog.threshold.query")?,
            fetch: self.thresholds("index.search.slowlog.threshold.fetch")?,
            indexing: self.thresholds("index.indexing.slowlog.threshold.index")?,
            reformats: self.boolean("index.indexing.slowlog.reformat", true)?,
            names_searchers: self.boolean("index.search.slowlog.include.user", false)?,
            names_writers: self.boolean("index.indexing.slowlog.include.user", false)?,
            source_chars_max: source_chars_max.map_err(|_| {
                let reason =
                    format!("Failed to parse value [{source}] for setting [index.indexing.slowlog.source]");
                RequestError::illegal_argument(reason)
            })?,
        })
    }

    pub(super) fn pipeline(&self, key: &str) -> Option<String> {
        self.text(key).filter(|name| *name != "_none").map(str::to_owned)
    }

    /// Reads the number of shards, of routing shards, and of shards that one routing is spread over.
    ///
    /// # Errors
    /// Fails when the numbers do not fit together.
    pub(super) fn routing(&self) -> Result<(u32, u32, u32)> {
        let number_of_shards = self.integer("index.number_of_shards", 1)?.clamp(1, 1024) as u32;
        let routing_num_shards = match self.text("index.number_of_routing_shards") {
            None => default_routing_num_shards(number_of_shards),
            Some(_) => self.integer("index.number_of_routing_shards", 0)?.clamp(1, 1 << 20) as u32,
        };
        if routing_num_shards < number_of_shards {
            return Err(RequestError::illegal_argument(format!(
                "index.number_of_routing_shards [{routing_num_shards}] must be >= index.number_of_shards [{number_of_shards}]"
            )));
        }
        if routing_num_shards % number_of_shards != 0 {
            return Err(RequestError::illegal_argument(format!(
                "the number of source shards [{number_of_shards}] must be a factor of [{routing_num_shards}]"
            )));
        }
        let routing_partition_size =
            self.integer("index.routing_partition_size", 1)?.clamp(1, i32::MAX as i64) as u32;
        if routing_partition_size != 1 && routing_partition_size >= routing_num_shards {
            return Err(RequestError::illegal_argument(format!(
                "routing partition size [{routing_partition_size}] should be a positive number less than the number of routing shards [{routing_num_shards}] for [index.routing_partition_size]"
            )));
        }
        Ok((number_of_shards, routing_num_shards, routing_partition_size))
    }

    /// Reads `index.lifecycle.*`.
    pub(super) fn lifecycle(&self) -> Result<LifecycleSettings> {
        Ok(LifecycleSettings {
            name: self.text("index.lifecycle.name").filter(|name| !name.is_empty()).map(str::to_owned),
            rollover_alias: self.text("index.lifecycle.rollover_alias").map(str::to_owned),
            indexing_complete: self.boolean("index.lifecycle.indexing_complete", false)?,
            origination_date_ms: u64::try_from(self.integer("index.lifecycle.origination_date", -1)?).ok(),
            prefer_ilm: self.boolean("index.lifecycle.prefer_ilm", true)?,
        })
    }

    /// Reads `index.blocks.*`.
    pub(super) fn blocks(&self) -> Result<Blocks> {
        Ok(Blocks {
            read_only: self.boolean("index.blocks.read_only", false)?,
            read: self.boolean("index.blocks.read", false)?,
            write: self.boolean("index.blocks.write", false)?,
            metadata: self.boolean("index.blocks.metadata", false)?,
            read_only_allow_delete: self.boolean("index.blocks.read_only_allow_delete", false)?,
        })
    }

    /// Reads `index.merge.*`. A `max_thread_count` of 0 leaves the number to the node.
    pub(super) fn merge(&self, max_thread_count: i64) -> Result<MergeSettings> {
        let default = MergeSettings::default();
        let bytes = |key, default: u64| -> Result<u64> { Ok(self.bytes(key, default as i64)? as u64) };
        let at_once =
            self.integer("index.merge.policy.max_merge_at_once", default.max_merge_at_once as i64)?;
        let per_tier = self.float("index.merge.policy.segments_per_tier", default.segments_per_tier)?;
        let allowed = "index.merge.policy.deletes_pct_allowed";
        let expunged = "index.merge.policy.expunge_deletes_allowed";
        Ok(MergeSettings {
            floor_segment_bytes: bytes("index.merge.policy.floor_segment", default.floor_segment_bytes)?,
            max_merge_at_once: at_once.max(2) as usize,
            max_merged_segment_bytes: bytes(
                "index.merge.policy.max_merged_segment",
                default.max_merged_segment_bytes,
            )?,
            segments_per_tier: per_tier.max(2.0),
            deletes_pct_allowed: self.float(allowed, default.deletes_pct_allowed)?,
            expunge_deletes_allowed: self.float(expunged, default.expunge_deletes_allowed)?,
            max_thread_count: (max_thread_count > 0).then_some(max_thread_count as usize),
            auto_throttle: self.boolean("index.merge.scheduler.auto_throttle", default.auto_throttle)?,
        })
    }

    /// Reads the default of `ignore_above`; `None` is no limit.
    pub(super) fn ignore_above(&self) -> Result<Option<u32>> {
        const KEY: &str = "index.mapping.ignore_above";
        match self.text(KEY) {
            Some(_) => Ok(u32::try_from(self.integer(KEY, 0)?).ok()),
            None => Ok(None),
        }
    }

    /// Source: Elasticsearch's `Mapper.SYNTHETIC_SOURCE_KEEP_INDEX_SETTING`.
    pub(super) fn synthetic_source_keep(&self) -> Result<Keep> {
        const KEY: &str = "index.mapping.synthetic_source_keep";
        let Some(text) = self.text(KEY) else { return Ok(Keep::None) };
        match text.to_ascii_lowercase().as_str() {
            "none" => Ok(Keep::None),
            "arrays" => Ok(Keep::Arrays),
            "all" => Err(RequestError::illegal_argument(format!("{KEY} can't be set to [{text}]"))),
            _ => Err(RequestError::illegal_argument(format!(
                "No enum constant org.elasticsearch.index.mapper.Mapper.SourceKeepMode.{}",
                text.to_ascii_uppercase()
            ))),
        }
    }

    /// Reads how many active copies a write waits for, which is at most the number of copies of a shard.
    pub(super) fn write_copies(&self) -> Result<ActiveCopies> {
        const KEY: &str = "index.write.wait_for_active_shards";
        let wanted = self.text(KEY).map_or(Ok(ActiveCopies::Number(1)), ActiveCopies::parse)?;
        let copies = 1 + self.effective_replicas()?;
        match wanted {
            ActiveCopies::Number(number) if number > copies => Err(RequestError::illegal_argument(format!(
                "invalid {KEY}[{number}]: cannot be greater than number of shard copies [{copies}]"
            ))),
            wanted => Ok(wanted),
        }
    }

    /// Reads the number of replicas. On a single node, `auto_expand_replicas` with `0-all` or `0-1` expands
    /// to no replica, with `1-x` to one.
    pub(super) fn effective_replicas(&self) -> Result<u32> {
        let explicit = self.integer("index.number_of_replicas", 1)?.clamp(0, i32::MAX as i64) as u32;
        match self.text("index.auto_expand_replicas") {
            None | Some("false") => Ok(explicit),
            Some(range) => {
                let bad = || {
                    RequestError::illegal_argument(format!(
                        "failed to parse [index.auto_expand_replicas] from value: [{range}] at index -1"
                    ))
                };
                let (min, max) = range.split_once('-').ok_or_else(bad)?;
                let min: u32 = min.parse().map_err(|_| bad())?;
                if max != "all" {
                    let max: u32 = max.parse().map_err(|_| bad())?;
                    if min > max {
                        return Err(RequestError::illegal_argument(format!(
                            "[index.auto_expand_replicas] minReplicas must be =< maxReplicas but wasn't {min} > {max}"
                        )));
                    }
                }
                Ok(min)
            }
        }
    }
}
