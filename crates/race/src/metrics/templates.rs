//! The mappings of the metrics store's indices.
//!
//! Fields that Rally's dashboards sort and aggregate by have Rally's types
//! (`esrally/resources/*-template.json`, so that both tools can write to the same store). Other strings are
//! keywords.

use serde_json::{Map, Value, json};

use super::reporting::DatastoreConfig;

/// Names of the templates. Their indices are `<name>-YYYY-MM`.
pub(super) const METRICS: &str = "rally-metrics";
pub(super) const RACES: &str = "rally-races";
pub(super) const RESULTS: &str = "rally-results";

/// Largest number of fields; the nodes' statistics have many.
const METRICS_FIELDS_MAX: u32 = 2000;
/// Longer strings are stored but not indexed: a Lucene term has at most 32,766 bytes, and a character at most
/// four bytes in UTF-8.
const KEYWORD_CHARS_MAX: u32 = 8191;

/// Returns the body of `PUT _index_template/<name>`.
pub(super) fn template(name: &str, config: &DatastoreConfig) -> Value {
    let mut index = Map::new();
    let mut keyword = json!({ "type": "keyword" });
    if name == METRICS {
        index.insert("mapping.total_fields.limit".into(), METRICS_FIELDS_MAX.into());
        keyword["ignore_above"] = KEYWORD_CHARS_MAX.into();
    }
    if let Some(shards) = config.number_of_shards {
        index.insert("number_of_shards".into(), shards.into());
    }
    if let Some(replicas) = config.number_of_replicas {
        index.insert("number_of_replicas".into(), replicas.into());
    }
    let strings = json!({ "strings": { "match": "*", "match_mapping_type": "string", "mapping": keyword } });
    json!({
        "index_patterns": [format!("{name}-*")],
        "template": {
            "settings": { "index": index },
            "mappings": {
                "date_detection": false,
                "dynamic_templates": [strings],
                "_source": { "enabled": true },
                "properties": properties(name),
            },
        },
    })
}

fn properties(name: &str) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut add = |kind: &str, fields: &[&str]| {
        for field in fields {
            properties.insert((*field).to_owned(), json!({ "type": kind }));
        }
    };
    add("keyword", &["race-id", "environment", "track", "challenge", "car"]);
    match name {
        METRICS => {
            add("keyword", &["name", "unit", "task", "operation", "operation-type", "sample-type", "job"]);
            add("float", &["value", "relative-time", "min", "mean", "median", "max"]);
            properties.insert("@timestamp".into(), json!({ "type": "date", "format": "epoch_millis" }));
            properties.insert(
                "meta".into(),
                json!({ "properties": { "error-description": { "type": "wildcard" } } }),
            );
        }
        RACES => {
            add("keyword", &["rally-version", "rally-revision", "pipeline", "plugins"]);
            add("short", &["node-count"]);
            properties
                .insert("results".into(), json!({ "properties": { "op_metrics": { "type": "nested" } } }));
        }
        _ => {
            add(
                "keyword",
                &[
                    "rally-version",
                    "rally-revision",
                    "plugins",
                    "distribution-flavor",
                    "distribution-version",
                ],
            );
            add("keyword", &["task", "operation", "job", "name"]);
            add("short", &["node-count", "distribution-major-version"]);
            add("boolean", &["active"]);
            let figures = ["single", "min", "mean", "median", "max"];
            let doubles: Map<String, Value> =
                figures.into_iter().map(|figure| (figure.to_owned(), json!({ "type": "double" }))).collect();
            properties.insert("value".into(), json!({ "type": "object", "properties": doubles }));
        }
    }
    let raw = json!({ "raw": { "type": "keyword" } });
    properties.insert(
        "race-timestamp".into(),
        json!({ "type": "date", "format": "basic_date_time_no_millis", "fields": raw }),
    );
    properties
}
