//! `index.mode` and the settings that belong to it: "what are the documents of an index, and which times may
//! they have?"
//!
//! Source: Elasticsearch's `IndexMode`, `IndexSettings`, `DataStreamIndexSettingsProvider`,
//! `LogsdbIndexModeSettingsProvider`.

use limber_mapping::date::DateFormat;
use limber_mapping::{IndexMode, RequestError};
use limber_segment::SortField;
use serde_json::{Map, Value};

use crate::api::Result;
use crate::environment::format_utc_millis;
use crate::notation::value;
use crate::settings::flat::FlatSettings;
use crate::settings::index_sort::list;

/// `index.mode`.
const MODE: &str = "index.mode";
/// Patterns of the dimensions that choose a document's shard.
const ROUTING_PATH: &str = "index.routing_path";
/// The earliest timestamp of an index of time series.
const START_TIME: &str = "index.time_series.start_time";
/// The first timestamp that is too late for an index of time series.
pub(crate) const END_TIME: &str = "index.time_series.end_time";
/// How far after now the newest index of a data stream accepts timestamps.
const LOOK_AHEAD_TIME: &str = "index.look_ahead_time";
/// How far before now the first index of a data stream accepts timestamps.
const LOOK_BACK_TIME: &str = "index.look_back_time";
/// Whether an index of log lines is sorted by the host first.
const SORT_ON_HOST_NAME: &str = "index.logsdb.sort_on_host_name";
/// How often Elasticsearch moves the end of the newest index (`time_series.poll_interval`).
const POLL_INTERVAL_MS: u64 = 5 * 60_000;

/// The timestamps that an index of time series accepts, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBounds {
    /// The first one.
    pub start_ms: i64,
    /// The first one that is too late.
    pub end_ms: i64,
}

impl TimeBounds {
    /// Whether the index accepts this timestamp.
    pub fn contains(self, timestamp_ms: i64) -> bool {
        (self.start_ms..self.end_ms).contains(&timestamp_ms)
    }
}

fn text<'a>(flat: &'a FlatSettings, key: &str) -> Option<&'a str> {
    flat.get(key).and_then(Value::as_str)
}

/// Reads the mode of an index.
pub(super) fn mode(flat: &FlatSettings) -> IndexMode {
    match text(flat, MODE).map(str::to_ascii_lowercase).as_deref() {
        Some("time_series") => IndexMode::TimeSeries { routing_path: list(flat, ROUTING_PATH).into() },
        Some("logsdb") => IndexMode::LogsDb,
        Some("lookup") => IndexMode::Lookup,
        _ => IndexMode::Standard,
    }
}

/// Whether the documents of an index with these settings form time series.
pub(crate) fn has_series(flat: &FlatSettings) -> bool {
    mode(flat).has_series()
}

/// Reads the bounds of the timestamps of an index of time series.
///
/// # Errors
/// A bound is no date, or the end is not after the start.
pub(super) fn time_bounds(flat: &FlatSettings) -> Result<Option<TimeBounds>> {
    if !mode(flat).has_series() {
        return Ok(None);
    }
    let read = |key: &str, default: i64| match text(flat, key) {
        None => Ok(default),
        Some(text) => DateFormat::shared("strict_date_optional_time")?.parse_millis(text),
    };
    let bounds = TimeBounds { start_ms: read(START_TIME, i64::MIN)?, end_ms: read(END_TIME, i64::MAX)? };
    match bounds.start_ms < bounds.end_ms {
        true => Ok(Some(bounds)),
        false => Err(RequestError::illegal_argument(format!("{END_TIME} must be larger than {START_TIME}"))),
    }
}

/// Lets an index of time series begin at `end_ms`, where the index before it ends, unless its settings begin
/// it later. Other settings are left as they are.
///
/// # Errors
/// The start that is set is no date.
pub(crate) fn start_from(flat: &mut FlatSettings, end_ms: i64) -> Result<()> {
    if !has_series(flat) {
        return Ok(());
    }
    let given = text(flat, START_TIME);
    let given = given.map(|text| DateFormat::shared("strict_date_optional_time")?.parse_millis(text));
    if given.transpose()?.is_none_or(|start_ms| start_ms < end_ms) {
        flat.insert(START_TIME.into(), format_utc_millis(end_ms.max(0) as u64).into());
    }
    Ok(())
}

/// Returns the order of documents that a mode prescribes; `None` if `index.sort.*` decides.
pub(super) fn sort_of(flat: &FlatSettings) -> Option<Vec<SortField>> {
    let field = |path: &str, descending: bool| SortField {
        path: path.into(),
        descending,
        takes_max: descending,
        missing_first: false,
    };
    match mode(flat) {
        IndexMode::TimeSeries { .. } => {
            Some(vec![field(limber_mapping::TSID, false), field("@timestamp", true)])
        }
        IndexMode::LogsDb if list(flat, "index.sort.field").is_empty() => {
            let by_host = text(flat, SORT_ON_HOST_NAME) == Some("true");
            let host = by_host.then(|| field("host.name", false));
            Some(host.into_iter().chain([field("@timestamp", true)]).collect())
        }
        _ => None,
    }
}

/// Completes the settings and mappings of a new index by what its mode implies, and refuses settings that do
/// not go with it. `is_backing` says whether the index is one of a data stream.
pub(crate) fn settle(
    settings: &mut FlatSettings,
    mappings: &mut Map<String, Value>,
    is_backing: bool,
    now_ms: u64,
) -> Result<()> {
    let mode = mode(settings);
    if !mode.has_series() {
        for key in [ROUTING_PATH, START_TIME, END_TIME] {
            if settings.contains_key(key) {
                return Err(RequestError::illegal_argument(format!(
                    "[{key}] requires [index.mode=time_series]"
                )));
            }
        }
    }
    if mode.has_timestamp() {
        let ignores_malformed = text(settings, "index.mapping.ignore_malformed") == Some("true");
        limber_mapping::add_timestamp(mappings, ignores_malformed);
    }
    match mode {
        IndexMode::Standard => Ok(()),
        IndexMode::TimeSeries { .. } => settle_series(settings, mappings, is_backing, now_ms),
        IndexMode::LogsDb => {
            if list(settings, "index.sort.field").is_empty() && add_host_name(mappings) {
                settings.insert(SORT_ON_HOST_NAME.into(), "true".into());
            }
            Ok(())
        }
        IndexMode::Lookup => match text(settings, "index.number_of_shards") {
            None | Some("1") => Ok(()),
            Some(shards) => Err(RequestError::illegal_argument(format!(
                "index with [lookup] mode must have [index.number_of_shards] set to 1 or unset; provided {shards}"
            ))),
        },
    }
}

fn settle_series(
    settings: &mut FlatSettings,
    mappings: &Map<String, Value>,
    is_backing: bool,
    now_ms: u64,
) -> Result<()> {
    let others = ["routing_partition_size", "sort.field", "sort.mode", "sort.missing", "sort.order"];
    for key in others.map(|key| format!("index.{key}")) {
        if settings.contains_key(&key) {
            return Err(RequestError::illegal_argument(format!(
                "[index.mode=time_series] is incompatible with [{key}]"
            )));
        }
    }
    if list(settings, ROUTING_PATH).is_empty() {
        let mut paths = Vec::new();
        if is_backing {
            add_dimensions(mappings, "", &mut paths);
        }
        if paths.is_empty() {
            return Err(RequestError::illegal_argument(
                "[index.mode=time_series] requires a non-empty [index.routing_path]",
            ));
        }
        settings.insert(ROUTING_PATH.into(), paths.into());
    }
    if is_backing {
        let time = |settings: &FlatSettings, key: &str, default_ms: i64| match text(settings, key) {
            None => Ok(default_ms),
            Some(text) => value::parse_time_ms(key, text),
        };
        let back_ms = time(settings, LOOK_BACK_TIME, 2 * 3_600_000)?.max(0) as u64;
        let ahead_ms = time(settings, LOOK_AHEAD_TIME, 30 * 60_000)?.max(0) as u64;
        let whole = |ms: u64| format_utc_millis(ms / 1000 * 1000);
        if !settings.contains_key(START_TIME) {
            settings.insert(START_TIME.into(), whole(now_ms.saturating_sub(back_ms)).into());
        }
        if !settings.contains_key(END_TIME) {
            let start_ms = time_bounds(settings)?.map_or(0, |bounds| bounds.start_ms).max(0) as u64;
            settings.insert(END_TIME.into(), whole(now_ms.max(start_ms) + ahead_ms).into());
        }
    }
    Ok(())
}

/// Returns the end that the newest index of a data stream should have now, so that it accepts this timestamp;
/// `None` if the timestamp is too far in the future.
pub(crate) fn later_end(flat: &FlatSettings, timestamp_ms: i64, now_ms: u64) -> Option<String> {
    let ahead_ms = match text(flat, LOOK_AHEAD_TIME) {
        None => 30 * 60_000,
        Some(text) => value::parse_time_ms(LOOK_AHEAD_TIME, text).ok()?,
    };
    let end_ms = now_ms + ahead_ms.max(0) as u64 + POLL_INTERVAL_MS;
    (timestamp_ms < end_ms as i64).then(|| format_utc_millis(end_ms / 1000 * 1000 + 1000))
}

/// Adds the paths of the dimensions that mappings declare, and the patterns of templates that make some.
fn add_dimensions(mappings: &Map<String, Value>, path: &str, paths: &mut Vec<Value>) {
    let joined = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let is_true = |value: &Value| *value == Value::Bool(true) || value.as_str() == Some("true");
    for (name, field) in mappings.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let Some(field) = field.as_object() else { continue };
        if field.get("time_series_dimension").is_some_and(is_true) {
            paths.push(joined(name).into());
        }
        for key in field.get("time_series_dimensions").and_then(Value::as_array).into_iter().flatten() {
            paths.extend(key.as_str().map(|key| format!("{}.{key}", joined(name)).into()));
        }
        add_dimensions(field, &joined(name), paths);
    }
    for template in mappings.get("dynamic_templates").and_then(Value::as_array).into_iter().flatten() {
        for body in template.as_object().into_iter().flat_map(Map::values) {
            if !is_true(&body["mapping"]["time_series_dimension"]) {
                continue;
            }
            match &body["path_match"] {
                Value::String(pattern) => paths.push(pattern.as_str().into()),
                Value::Array(patterns) => paths.extend(patterns.iter().cloned()),
                _ => {}
            }
        }
    }
}

/// Adds the keyword `host.name` if the mappings have no field `host`. Returns whether documents can be sorted
/// by it.
fn add_host_name(mappings: &mut Map<String, Value>) -> bool {
    let properties = mappings.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Some(properties) = properties.as_object_mut() else { return false };
    let declared = match (properties.get("host.name"), properties.get("host")) {
        (Some(name), _) => name.clone(),
        (None, Some(host)) => host["properties"]["name"].clone(),
        (None, None) => {
            properties.insert("host.name".into(), serde_json::json!({"type": "keyword"}));
            return true;
        }
    };
    declared["type"] == "keyword" && declared["doc_values"] != Value::Bool(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::flat::{flatten, normalize_index_keys};

    const NOW_MS: u64 = 1_714_557_600_500;

    fn settled(settings: Value, mappings: Value, is_backing: bool) -> Result<(FlatSettings, Value)> {
        let mut flat = normalize_index_keys(flatten(&settings).expect("flat"));
        let mut mappings = mappings.as_object().cloned().expect("an object");
        settle(&mut flat, &mut mappings, is_backing, NOW_MS)?;
        Ok((flat, mappings.into()))
    }

    #[test]
    fn an_index_of_a_data_stream_gets_bounds_and_a_routing_path() {
        let mappings = json!({
            "properties": {"host": {"properties": {"id": {"type": "keyword", "time_series_dimension": true}}}},
            "dynamic_templates": [{"labels": {"path_match": "labels.*", "mapping": {"type": "keyword", "time_series_dimension": true}}}],
        });
        let (flat, mappings) = settled(json!({"mode": "time_series"}), mappings, true).expect("settled");
        assert_eq!(flat["index.routing_path"], json!(["host.id", "labels.*"]));
        assert_eq!(flat[START_TIME], "2024-05-01T08:00:00.000Z");
        assert_eq!(flat[END_TIME], "2024-05-01T10:30:00.000Z");
        assert_eq!(mappings["properties"]["@timestamp"], json!({"type": "date"}));
        let bounds = time_bounds(&flat).expect("bounds").expect("time series");
        assert!(bounds.contains(NOW_MS as i64) && !bounds.contains(bounds.end_ms));
        let later = later_end(&flat, bounds.end_ms, NOW_MS);
        assert_eq!(later.as_deref(), Some("2024-05-01T10:35:01.000Z"));
        assert_eq!(later_end(&flat, NOW_MS as i64 + 86_400_000, NOW_MS), None);
    }

    #[test]
    fn settings_that_do_not_go_with_the_mode_are_refused() {
        let check = |settings: Value, reason: &str| {
            assert_eq!(settled(settings, json!({}), false).expect_err("refused").reason, reason);
        };
        check(
            json!({"mode": "time_series"}),
            "[index.mode=time_series] requires a non-empty [index.routing_path]",
        );
        check(
            json!({"mode": "time_series", "routing_path": "a", "sort.field": "a"}),
            "[index.mode=time_series] is incompatible with [index.sort.field]",
        );
        check(json!({"routing_path": ["a"]}), "[index.routing_path] requires [index.mode=time_series]");
        check(
            json!({"mode": "lookup", "number_of_shards": "2"}),
            "index with [lookup] mode must have [index.number_of_shards] set to 1 or unset; provided 2",
        );
        let flat = normalize_index_keys(
            flatten(
                &json!({"mode": "time_series", "time_series": {"start_time": "2024", "end_time": "2023"}}),
            )
            .expect("flat"),
        );
        assert!(time_bounds(&flat).expect_err("refused").reason.contains("must be larger than"));
    }

    #[test]
    fn log_lines_are_sorted_by_host_and_time() {
        let sorted_by = |mappings: Value| -> Vec<String> {
            let (flat, _) = settled(json!({"mode": "logsdb"}), mappings, false).expect("settled");
            sort_of(&flat).expect("a sort").iter().map(|field| field.path.to_string()).collect()
        };
        assert_eq!(sorted_by(json!({})), ["host.name", "@timestamp"]);
        assert_eq!(sorted_by(json!({"properties": {"host": {"type": "keyword"}}})), ["@timestamp"]);
    }
}
