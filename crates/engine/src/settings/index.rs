//! The typed settings of one index.

use std::sync::Arc;

use limber_mapping::analysis::{AnalysisLimits, AnalysisResources, Analyzers};
use limber_mapping::{
    IndexMode, Keep, Limits, MappingSettings, RequestError, Similarities, SourceMode, plain_text,
};
use limber_segment::SortField;
use serde_json::Value;

use crate::api::{ActiveCopies, Result};
use crate::settings::definition::{self, Change, Definition, Kind};
use crate::settings::flat::{FlatSettings, nest};
use crate::settings::index_reader::Reader;
use crate::settings::index_sort;
use crate::settings::index_table::INDEX_SETTINGS;
use crate::settings::mode::{self, TimeBounds};
use crate::settings::slow_log::SlowLog;

/// `index.translog.durability`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Fsync before each response.
    Request,
    /// Fsync every `sync_interval`.
    Async,
}

/// `index.blocks.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocks {
    /// `read_only`: neither documents nor metadata change.
    pub read_only: bool,
    /// `read`: nothing can be read.
    pub read: bool,
    /// `write`: no documents can be written.
    pub write: bool,
    /// `metadata`: metadata can be neither read nor changed.
    pub metadata: bool,
    /// `read_only_allow_delete`: only the whole index can be deleted. Set and removed by the disk's flood
    /// stage.
    pub read_only_allow_delete: bool,
}

/// `index.merge.*`.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeSettings {
    /// `policy.floor_segment`: smaller segments are treated as this large.
    pub floor_segment_bytes: u64,
    /// `policy.max_merge_at_once`.
    pub max_merge_at_once: usize,
    /// `policy.max_merged_segment`: a merge makes no segment larger than this.
    pub max_merged_segment_bytes: u64,
    /// `policy.segments_per_tier`.
    pub segments_per_tier: f64,
    /// `policy.deletes_pct_allowed`, from 0 to 100.
    pub deletes_pct_allowed: f64,
    /// `policy.expunge_deletes_allowed`, from 0 to 100: `only_expunge_deletes` merges segments with a larger
    /// percentage of deleted documents.
    pub expunge_deletes_allowed: f64,
    /// `scheduler.max_thread_count`; `None` means `max(1, min(4, processors / 2))`.
    pub max_thread_count: Option<usize>,
    /// `scheduler.auto_throttle`.
    pub auto_throttle: bool,
}

impl Default for MergeSettings {
    fn default() -> MergeSettings {
        MergeSettings {
            floor_segment_bytes: 2 << 20,
            max_merge_at_once: 10,
            max_merged_segment_bytes: 5 << 30,
            segments_per_tier: 10.0,
            deletes_pct_allowed: 20.0,
            expunge_deletes_allowed: 10.0,
            max_thread_count: None,
            auto_throttle: true,
        }
    }
}

/// `index.lifecycle.*`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LifecycleSettings {
    /// The lifecycle policy of the index.
    pub name: Option<String>,
    /// The alias that is rolled over, if the index belongs to no data stream.
    pub rollover_alias: Option<String>,
    /// Whether the index was rolled over or need not be.
    pub indexing_complete: bool,
    /// The time from which ages count; `None` means the creation of the index.
    pub origination_date_ms: Option<u64>,
    /// Whether the policy takes precedence over the lifecycle of the data stream.
    pub prefer_ilm: bool,
}

/// The typed settings that the engine uses, built from validated flat settings.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexSettings {
    /// `number_of_shards`.
    pub number_of_shards: u32,
    /// `number_of_replicas`; included in shard counts but never started.
    pub number_of_replicas: u32,
    /// `write.wait_for_active_shards`: how many active copies a write waits for.
    pub write_copies: ActiveCopies,
    /// `number_of_routing_shards`: the hash of a routing is taken modulo this number, and the result is then
    /// mapped to a shard.
    pub routing_num_shards: u32,
    /// `routing_partition_size`: how many shards the documents of one routing are spread over.
    pub routing_partition_size: u32,
    /// `refresh_interval`; `None` (-1) means that there are no scheduled refreshes.
    pub refresh_interval_ms: Option<u64>,
    /// Whether the interval was set explicitly, so that it also applies to shards that are not searched.
    pub has_refresh_interval: bool,
    /// `search.idle.after`: a shard that was not searched for this long stops refreshing.
    pub search_idle_after_ms: u64,
    /// Whether `codec` is `best_compression` (zstd instead of LZ4).
    pub best_compression: bool,
    /// `translog.durability`.
    pub durability: Durability,
    /// `translog.sync_interval`.
    pub sync_interval_ms: u64,
    /// `translog.flush_threshold_size`.
    pub flush_threshold_bytes: u64,
    /// `translog.flush_threshold_age`.
    pub flush_threshold_age_ms: u64,
    /// `max_result_window`: largest sum of `from` and `size`.
    pub max_result_window: u64,
    /// `max_docvalue_fields_search`.
    pub max_docvalue_fields_search: u64,
    /// `max_script_fields`.
    pub max_script_fields: u64,
    /// `max_terms_count`: most terms in one `terms` query.
    pub max_terms_count: u64,
    /// `max_regex_length`, in characters.
    pub max_regex_length: u64,
    /// `index.highlight.max_analyzed_offset`.
    pub highlight_offset_max: u64,
    /// `max_inner_result_window`.
    pub max_inner_result_window: u64,
    /// `max_rescore_window`.
    pub max_rescore_window: u64,
    /// `top_metrics_max_size`.
    pub top_metrics_max_size: u64,
    /// `max_slices_per_scroll`.
    pub max_slices_per_scroll: u64,
    /// `index.requests.cache.enable`.
    pub requests_cache: bool,
    /// `index.queries.cache.enabled`.
    pub queries_cache: bool,
    /// `mapping.total_fields.limit`.
    pub total_fields_limit: usize,
    /// `mapping.depth.limit`.
    pub depth_limit: usize,
    /// `mapping.field_name_length.limit`, in characters.
    pub field_name_length_limit: usize,
    /// `mapping.nested_fields.limit`.
    pub nested_fields_limit: usize,
    /// `mapping.nested_parents.limit`.
    pub nested_parents_limit: usize,
    /// `mapping.dimension_fields.limit`.
    pub dimension_fields_limit: usize,
    /// `mapping.nested_objects.limit`, per document.
    pub nested_objects_limit: usize,
    /// `mapping.coerce`.
    pub coerce: bool,
    /// The same setting as the default for shapes, which is off unless the index sets it.
    pub coerce_shapes: bool,
    /// `mapping.ignore_malformed`.
    pub ignore_malformed: bool,
    /// `index.mapping.source.mode`.
    pub source_mode: SourceMode,
    /// `mapping.total_fields.ignore_dynamic_beyond_limit`.
    pub ignores_fields_beyond_limit: bool,
    /// `mapping.ignore_above`: the default of fields; `None` is no limit.
    pub ignore_above: Option<u32>,
    /// `query.default_field`: the fields of queries that name none.
    pub default_fields: Vec<String>,
    /// `query_string.lenient`.
    pub query_string_lenient: bool,
    /// `mapping.synthetic_source_keep`.
    pub synthetic_source_keep: Keep,
    /// `default_pipeline`: for requests that name no pipeline.
    pub default_pipeline: Option<String>,
    /// `final_pipeline`: runs after all other pipelines.
    pub final_pipeline: Option<String>,
    /// `search.default_pipeline`: for searches that name no pipeline.
    pub search_pipeline: Option<String>,
    /// `hidden`: wildcards skip the index.
    pub hidden: bool,
    /// `lifecycle.*`.
    pub lifecycle: LifecycleSettings,
    /// `gc_deletes`: how long versions of deleted documents are remembered.
    pub gc_deletes_ms: u64,
    /// `blocks.*`.
    pub blocks: Blocks,
    /// `merge.*`.
    pub merge: MergeSettings,
    /// Thresholds of the slow logs.
    pub slow_log: SlowLog,
    /// `shard.check_on_startup`: verify every byte when a shard opens.
    pub check_on_startup: bool,
    /// `index.mode`.
    pub mode: IndexMode,
    /// The timestamps that the index accepts; `Some` in an index of time series.
    pub time_bounds: Option<TimeBounds>,
    /// `index.sort.*`; when empty, documents are kept in the order in which they arrive.
    pub sort: Arc<[SortField]>,
}

impl IndexSettings {
    /// Parses flat settings (with `index.` prefixes). Invalid values are refused here too, so that metadata
    /// read from disk is as safe as a request.
    pub fn from_flat(flat: &FlatSettings) -> Result<IndexSettings> {
        let read = Reader(flat);
        let (number_of_shards, routing_num_shards, routing_partition_size) = read.routing()?;
        let refresh_interval_ms = read.time_ms("index.refresh_interval", 1000)?;
        Ok(IndexSettings {
            number_of_shards,
            number_of_replicas: read.effective_replicas()?,
            write_copies: read.write_copies()?,
            routing_num_shards,
            routing_partition_size,
            refresh_interval_ms: u64::try_from(refresh_interval_ms).ok(),
            has_refresh_interval: read.text("index.refresh_interval").is_some(),
            search_idle_after_ms: u64::try_from(read.time_ms("index.search.idle.after", 30_000)?)
                .unwrap_or(0),
            best_compression: read
                .text("index.codec")
                .is_some_and(|codec| codec.ends_with("best_compression")),
            durability: read.durability(),
            sync_interval_ms: read.time_ms("index.translog.sync_interval", 5000)?.max(100) as u64,
            flush_threshold_age_ms: read.time_ms("index.translog.flush_threshold_age", 60_000)?.max(1) as u64,
            flush_threshold_bytes: read.bytes("index.translog.flush_threshold_size", 10 << 30)?.max(128)
                as u64,
            max_result_window: read.integer("index.max_result_window", 10_000)? as u64,
            max_docvalue_fields_search: read.integer("index.max_docvalue_fields_search", 100)? as u64,
            max_script_fields: read.integer("index.max_script_fields", 32)? as u64,
            max_terms_count: read.integer("index.max_terms_count", 65_536)? as u64,
            max_regex_length: read.integer("index.max_regex_length", 1000)? as u64,
            default_fields: match flat.contains_key("index.query.default_field") {
                true => index_sort::list(flat, "index.query.default_field"),
                false => vec!["*".to_owned()],
            },
            query_string_lenient: read.boolean("index.query_string.lenient", false)?,
            highlight_offset_max: read.integer("index.highlight.max_analyzed_offset", 1_000_000)? as u64,
            max_inner_result_window: read.integer("index.max_inner_result_window", 100)? as u64,
            max_rescore_window: read.integer("index.max_rescore_window", 10_000)? as u64,
            top_metrics_max_size: read.integer("index.top_metrics_max_size", 10)? as u64,
            max_slices_per_scroll: read.integer("index.max_slices_per_scroll", 1024)? as u64,
            total_fields_limit: read.integer("index.mapping.total_fields.limit", 1000)? as usize,
            ignores_fields_beyond_limit: read
                .boolean("index.mapping.total_fields.ignore_dynamic_beyond_limit", false)?,
            depth_limit: read.integer("index.mapping.depth.limit", 20)? as usize,
            nested_fields_limit: read.integer("index.mapping.nested_fields.limit", 50)? as usize,
            nested_parents_limit: read.integer("index.mapping.nested_parents.limit", 50)? as usize,
            dimension_fields_limit: read.integer("index.mapping.dimension_fields.limit", 32_768)? as usize,
            nested_objects_limit: read.integer("index.mapping.nested_objects.limit", 10_000)? as usize,
            field_name_length_limit: read.integer("index.mapping.field_name_length.limit", i64::MAX)?
                as usize,
            requests_cache: read.boolean("index.requests.cache.enable", true)?,
            queries_cache: read.boolean("index.queries.cache.enabled", true)?,
            coerce: read.boolean("index.mapping.coerce", true)?,
            coerce_shapes: read.boolean("index.mapping.coerce", false)?,
            ignore_malformed: read.boolean("index.mapping.ignore_malformed", false)?,
            source_mode: read.source_mode()?,
            ignore_above: read.ignore_above()?,
            synthetic_source_keep: read.synthetic_source_keep()?,
            default_pipeline: read.pipeline("index.default_pipeline"),
            final_pipeline: read.pipeline("index.final_pipeline"),
            search_pipeline: read.pipeline("index.search.default_pipeline"),
            hidden: read.boolean("index.hidden", false)?,
            lifecycle: read.lifecycle()?,
            gc_deletes_ms: read.time_ms("index.gc_deletes", 60_000)?.max(0) as u64,
            blocks: read.blocks()?,
            merge: read.merge(read.integer("index.merge.scheduler.max_thread_count", 0)?)?,
            mode: mode::mode(flat),
            time_bounds: mode::time_bounds(flat)?,
            sort: index_sort::parse(flat)?,
            slow_log: read.slow_log()?,
            check_on_startup: read.text("index.shard.check_on_startup").is_some_and(|text| text != "false"),
        })
    }

    fn analysis_limits(flat: &FlatSettings) -> AnalysisLimits {
        let limit = |key: &str, default: i32| {
            let text = flat.get(key).map(plain_text);
            text.and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        let default = AnalysisLimits::default();
        AnalysisLimits {
            ngram_diff: limit("index.max_ngram_diff", default.ngram_diff),
            shingle_diff: limit("index.max_shingle_diff", default.shingle_diff),
        }
    }

    /// Returns the settings that concern the mapping; `flat` contains the analysis settings.
    pub(crate) fn mapping_settings(
        &self,
        flat: &FlatSettings,
        resources: &Arc<dyn AnalysisResources>,
    ) -> Result<MappingSettings> {
        let analyzers = match nest(flat)["index"].get("analysis") {
            Some(analysis) => Analyzers::parse_shared(analysis, Self::analysis_limits(flat), resources)?,
            None => Arc::new(Analyzers::built_in_of(resources)),
        };
        let similarities = Similarities::parse(&nest(flat)["index"]["similarity"])?;
        let limits = Limits {
            total_fields: self.total_fields_limit,
            ignores_beyond: self.ignores_fields_beyond_limit,
            depth: self.depth_limit,
            nested_fields: self.nested_fields_limit,
            nested_parents: self.nested_parents_limit,
            dimension_fields: self.dimension_fields_limit,
            nested_objects: self.nested_objects_limit,
            field_name_length: self.field_name_length_limit,
            ..Limits::default()
        };
        Ok(MappingSettings {
            limits,
            coerce: self.coerce,
            coerce_shapes: self.coerce_shapes,
            ignore_malformed: self.ignore_malformed,
            analyzers,
            similarities: Arc::new(similarities),
            source_mode: self.source_mode,
            keep: self.synthetic_source_keep,
            ignore_above: self.ignore_above,
            mode: self.mode.clone(),
        })
    }

    /// Returns how many routing shards belong to each shard: `routing_num_shards / number_of_shards`.
    pub fn routing_factor(&self) -> u32 {
        self.routing_num_shards / self.number_of_shards
    }
}

/// Checks settings given at creation or in a template: they must be known, within bounds and not private.
pub(crate) fn check_new(flat: &FlatSettings) -> Result<()> {
    for (key, given) in flat {
        known(key)?.check(key, given)?;
        if let Some(name) = key.strip_prefix("index.analysis.analyzer.").filter(|name| name.starts_with('_'))
        {
            let name = name.split('.').next().unwrap_or(name);
            let reason = format!("analyzer name must not start with '_'. got \"{name}\"");
            return Err(RequestError::illegal_argument(reason));
        }
    }
    let set: FlatSettings =
        flat.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect();
    IndexSettings::from_flat(&set).map(drop)
}

fn known(key: &str) -> Result<&'static Definition> {
    definition::find(INDEX_SETTINGS, key).ok_or_else(|| definition::unknown_setting("", INDEX_SETTINGS, key))
}

/// A validated update of settings, which can be applied to several indices.
#[derive(Debug)]
pub struct SettingsUpdate {
    changes: FlatSettings,
    /// Keys that may change only while the index is closed, or never.
    static_keys: Vec<String>,
}

impl SettingsUpdate {
    /// Validates an update. `flat` has `index.` prefixes; `null` resets a setting.
    pub fn check(flat: FlatSettings) -> Result<SettingsUpdate> {
        let mut static_keys = Vec::new();
        for (key, given) in &flat {
            // `null` for a pattern such as `index.blocks.*` resets all matching settings.
            if given.is_null() && key.ends_with('*') {
                continue;
            }
            let row = known(key)?;
            match row.change {
                Change::Final if matches!(row.kind, Kind::Private) => {
                    return Err(RequestError::illegal_argument(format!(
                        "can not update private setting [{key}]; this setting is managed by Elasticsearch"
                    )));
                }
                Change::Final | Change::Static => static_keys.push(key.clone()),
                Change::Dynamic => {}
            }
            row.check(key, given)?;
        }
        Ok(SettingsUpdate { changes: flat, static_keys })
    }

    /// Returns the settings after the update. `index` is `name/uuid`, for messages.
    pub fn apply(
        &self,
        current: &FlatSettings,
        open: bool,
        preserve_existing: bool,
        index: &str,
    ) -> Result<FlatSettings> {
        if open {
            let changed: Vec<&str> = self
                .static_keys
                .iter()
                .filter(|key| !(preserve_existing && current.contains_key(*key)))
                .map(String::as_str)
                .collect();
            if !changed.is_empty() {
                return Err(RequestError::illegal_argument(format!(
                    "Can't update non dynamic settings [[{}]] for open indices [[{index}]]",
                    changed.join(", ")
                )));
            }
        } else if let Some(key) =
            self.static_keys.iter().find(|key| known(key).is_ok_and(|row| row.change == Change::Final))
        {
            let name = index.split('/').next().unwrap_or(index);
            return Err(RequestError::illegal_argument(format!(
                "final {name} setting [{key}], not updateable"
            )));
        }
        let mut updated = current.clone();
        for (key, given) in &self.changes {
            if given.is_null() {
                match key.strip_suffix('*') {
                    Some(prefix) => updated.retain(|existing, _| {
                        // An open index keeps what only a closed one may change.
                        let may_go = |row: &Definition| match row.change {
                            Change::Final => false,
                            Change::Dynamic => true,
                            Change::Static => !open,
                        };
                        !existing.starts_with(prefix) || !known(existing).is_ok_and(may_go)
                    }),
                    None => drop(updated.shift_remove(key)),
                }
            } else if !(preserve_existing && updated.contains_key(key)) {
                updated.insert(key.clone(), given.clone());
            }
        }
        IndexSettings::from_flat(&updated)?;
        Ok(updated)
    }
}

/// Returns the defaults of all supported settings that are not in `flat`.
pub(crate) fn defaults(flat: &FlatSettings) -> FlatSettings {
    INDEX_SETTINGS
        .iter()
        .filter(|row| !row.key.ends_with('*') && !matches!(row.kind, Kind::Private | Kind::Unsupported))
        .filter(|row| !flat.contains_key(row.key))
        .map(|row| {
            let default = match (row.kind, row.default) {
                (Kind::List, "[]") => Value::Array(Vec::new()),
                (Kind::List, list) => Value::Array(list.split(',').map(Value::from).collect()),
                (_, "") => {
                    Value::from(derived(row.key, flat).map(|number| number.to_string()).unwrap_or_default())
                }
                (_, text) => Value::from(text),
            };
            (row.key.to_owned(), default)
        })
        .collect()
}

/// Returns the default of a number that follows from another setting or from the machine.
///
/// Source: `MergeSchedulerConfig`, `IndexMetadata#INDEX_NUMBER_OF_ROUTING_SHARDS_SETTING`.
fn derived(key: &str, flat: &FlatSettings) -> Option<usize> {
    let given = |key: &str| flat.get(key)?.as_str()?.parse().ok();
    let threads =
        || std::thread::available_parallelism().map_or(1, |processors| (processors.get() / 2).clamp(1, 4));
    match key {
        "index.number_of_routing_shards" => Some(given("index.number_of_shards").unwrap_or(1)),
        "index.merge.scheduler.max_thread_count" => Some(threads()),
        "index.merge.scheduler.max_merge_count" => {
            Some(given("index.merge.scheduler.max_thread_count").unwrap_or_else(threads) + 5)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::flat::{flatten, normalize_index_keys};
    use crate::settings::index_reader::default_routing_num_shards;
    use serde_json::json;

    fn flat(body: Value) -> FlatSettings {
        normalize_index_keys(flatten(&body).expect("flat"))
    }

    #[test]
    fn creation_is_checked_in_elasticsearchs_words() {
        let check = |body: Value, expected: &str| match check_new(&flat(body)) {
            Ok(()) => assert_eq!(expected, "ok"),
            Err(error) => assert_eq!(error.reason, expected),
        };
        check(
            json!({"number_of_shards": 5, "index.codec": "best_compression", "refresh_interval": "-1"}),
            "ok",
        );
        check(
            json!({"foo": 1}),
            "unknown setting [index.foo] please check that any required plugins are installed, or check the breaking changes documentation for removed settings",
        );
        check(
            json!({"numbr_of_shards": 1}),
            "unknown setting [index.numbr_of_shards] did you mean [index.number_of_shards]?",
        );
        check(
            json!({"number_of_shards": 0}),
            "Failed to parse value [0] for setting [index.number_of_shards] must be >= 1",
        );
        check(
            json!({"number_of_shards": 1025}),
            "Failed to parse value [1025] for setting [index.number_of_shards] must be <= 1024",
        );
        check(
            json!({"number_of_shards": "x"}),
            "Failed to parse value [x] for setting [index.number_of_shards]",
        );
        check(
            json!({"hidden": "yes"}),
            "Failed to parse value [yes] for setting [index.hidden] as only [true] or [false] are allowed.",
        );
        check(
            json!({"refresh_interval": "10"}),
            "failed to parse setting [index.refresh_interval] with value [10] as a time value: unit is missing or unrecognized",
        );
        check(
            json!({"uuid": "a"}),
            "Validation Failed: 1: private index setting [index.uuid] can not be set explicitly;",
        );
        check(
            json!({"number_of_shards": 3, "number_of_routing_shards": 10}),
            "the number of source shards [3] must be a factor of [10]",
        );
        check(json!({"auto_expand_replicas": "0-all"}), "ok");
        check(
            json!({"auto_expand_replicas": "x"}),
            "failed to parse [index.auto_expand_replicas] from value: [x] at index -1",
        );
    }

    #[test]
    fn defaults_that_follow_from_other_settings_are_numbers() {
        let flat = flat(json!({"number_of_shards": "3", "merge": {"scheduler": {"max_thread_count": "2"}}}));
        let shown = defaults(&flat);
        assert_eq!(shown["index.number_of_routing_shards"], "3");
        assert_eq!(shown["index.merge.scheduler.max_merge_count"], "7");
        assert!(!shown.contains_key("index.merge.scheduler.max_thread_count"));
    }

    #[test]
    fn routing_shards_leave_room_for_splits() {
        let check = |shards, expected| assert_eq!(default_routing_num_shards(shards), expected, "{shards}");
        check(1, 1024);
        check(2, 1024);
        check(3, 768);
        check(5, 640);
        check(512, 1024);
        check(1000, 2000);
        check(1024, 2048);
    }

    #[test]
    fn updates_know_what_may_change() {
        let current = flat(json!({"number_of_shards": "1", "refresh_interval": "10s"}));
        let check = |body: Value, open: bool, expected: std::result::Result<Value, &str>| {
            let updated = SettingsUpdate::check(flat(body))
                .and_then(|update| update.apply(&current, open, false, "t/u"));
            match (updated, expected) {
                (Ok(updated), Ok(expected)) => assert_eq!(Value::Object(updated), expected),
                (Err(error), Err(expected)) => assert_eq!(error.reason, expected),
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        };
        check(json!({"refresh_interval": null}), true, Ok(json!({"index.number_of_shards": "1"})));
        check(
            json!({"number_of_replicas": 2}),
            true,
            Ok(
                json!({"index.number_of_shards": "1", "index.refresh_interval": "10s", "index.number_of_replicas": "2"}),
            ),
        );
        check(
            json!({"number_of_shards": 2}),
            true,
            Err("Can't update non dynamic settings [[index.number_of_shards]] for open indices [[t/u]]"),
        );
        check(
            json!({"number_of_shards": 2}),
            false,
            Err("final t setting [index.number_of_shards], not updateable"),
        );
        check(
            json!({"codec": "default"}),
            true,
            Err("Can't update non dynamic settings [[index.codec]] for open indices [[t/u]]"),
        );
        check(
            json!({"codec": "default"}),
            false,
            Ok(
                json!({"index.number_of_shards": "1", "index.refresh_interval": "10s", "index.codec": "default"}),
            ),
        );
    }
}
