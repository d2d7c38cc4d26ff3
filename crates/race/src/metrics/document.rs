//! The layout of documents in the metrics store.
//!
//! Source: `MetricsStore` in `esrally/metrics.py` (`_put_metric`, `put_doc`): the keys and their order are
//! the same.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::model::Params;

/// The values that every document of a race contains.
#[derive(Debug, Clone)]
pub(crate) struct RaceContext {
    pub race_id: String,
    pub race_timestamp: String,
    pub environment: String,
    pub track: String,
    pub challenge: String,
    pub car: String,
    pub track_params: Params,
    /// Meta information of all documents: the server's version, the user's tags (`tag_…`).
    pub cluster_meta: Params,
    /// Further meta information of documents about a node, by its name.
    pub node_meta: BTreeMap<String, Params>,
    /// When the race started, by both clocks.
    pub started: Instant,
    pub started_epoch: Duration,
}

/// What a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level<'a> {
    Cluster,
    Node(&'a str),
}

/// One value with its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metric {
    pub name: String,
    pub value: Value,
    pub unit: Option<&'static str>,
    pub meta: Params,
}

impl RaceContext {
    /// Returns the current time of both clocks.
    pub(crate) fn clocks() -> (Instant, Duration) {
        (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// Returns a document with one value that was measured at `at`.
    pub(crate) fn value(&self, at: Instant, level: Level<'_>, metric: &Metric) -> Value {
        let mut document = self.times(at);
        document.extend(self.identity());
        document.insert("name".into(), metric.name.as_str().into());
        document.insert("value".into(), metric.value.clone());
        document.insert("unit".into(), metric.unit.into());
        document.insert("sample-type".into(), "normal".into());
        document.insert("meta".into(), self.meta(level, &metric.meta).into());
        document.extend(self.track_params());
        Value::Object(document)
    }

    /// Returns a document with the device's own fields, the first of which is its name.
    pub(crate) fn document(&self, at: Instant, level: Level<'_>, fields: Params, meta: &Params) -> Value {
        let mut document = fields;
        document.extend(self.times(at));
        document.extend(self.identity());
        let meta = self.meta(level, meta);
        if !meta.is_empty() {
            document.insert("meta".into(), meta.into());
        }
        document.extend(self.track_params());
        Value::Object(document)
    }

    fn times(&self, at: Instant) -> Params {
        let relative = at.saturating_duration_since(self.started);
        let epoch_ms = u64::try_from((self.started_epoch + relative).as_millis()).unwrap_or(u64::MAX);
        let mut times = Map::new();
        times.insert("@timestamp".into(), epoch_ms.into());
        times.insert("relative-time".into(), (relative.as_secs_f64() * 1000.0).into());
        times
    }

    /// Returns the keys that identify the race of a document.
    pub(crate) fn identity(&self) -> Params {
        let identity = json!({
            "race-id": self.race_id,
            "race-timestamp": self.race_timestamp,
            "environment": self.environment,
            "track": self.track,
            "challenge": self.challenge,
            "car": self.car,
        });
        match identity {
            Value::Object(identity) => identity,
            _ => Map::new(),
        }
    }

    fn meta(&self, level: Level<'_>, own: &Params) -> Params {
        let mut meta = self.cluster_meta.clone();
        if let Level::Node(name) = level
            && let Some(of_node) = self.node_meta.get(name)
        {
            meta.extend(of_node.clone());
        }
        meta.extend(own.clone());
        meta
    }

    pub(crate) fn track_params(&self) -> Option<(String, Value)> {
        (!self.track_params.is_empty()).then(|| ("track-params".to_owned(), self.track_params.clone().into()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn context() -> RaceContext {
        let params = |value: Value| value.as_object().cloned().unwrap_or_default();
        RaceContext {
            race_id: "r".into(),
            race_timestamp: "20261121T070830Z".into(),
            environment: "local".into(),
            track: "geonames".into(),
            challenge: "append".into(),
            car: "external".into(),
            track_params: params(json!({"number_of_replicas": 0})),
            cluster_meta: params(json!({"distribution_version": "8.14.3"})),
            node_meta: [("n1".to_owned(), params(json!({"node_name": "n1"})))].into(),
            started: Instant::now(),
            started_epoch: Duration::from_millis(1_795_000_000_123),
        }
    }

    /// The keys and their order are those of the documents that esrally 2.13 wrote for the same calls.
    #[test]
    fn documents_have_rallys_layout() {
        let context = context();
        let at = context.started + Duration::from_millis(1500);
        let metric =
            Metric { name: "segments_count".into(), value: 3.into(), unit: None, meta: Params::new() };
        assert_eq!(
            context.value(at, Level::Cluster, &metric).to_string(),
            "{\"@timestamp\":1795000001623,\"relative-time\":1500.0,\"race-id\":\"r\",\"race-timestamp\":\"20261121T070830Z\",\
             \"environment\":\"local\",\"track\":\"geonames\",\"challenge\":\"append\",\"car\":\"external\",\"name\":\"segments_count\",\
             \"value\":3,\"unit\":null,\"sample-type\":\"normal\",\"meta\":{\"distribution_version\":\"8.14.3\"},\
             \"track-params\":{\"number_of_replicas\":0}}"
        );
        let fields = json!({"name": "node-stats", "x": 1}).as_object().cloned().unwrap_or_default();
        let meta = json!({"cluster": "default"}).as_object().cloned().unwrap_or_default();
        let document = context.document(at, Level::Node("n1"), fields, &meta).to_string();
        assert!(document.starts_with("{\"name\":\"node-stats\",\"x\":1,\"@timestamp\":"), "{document}");
        let expected = "\"meta\":{\"distribution_version\":\"8.14.3\",\"node_name\":\"n1\",\"cluster\":\"default\"},\"track-params\"";
        assert!(document.contains(expected), "{document}");
    }
}
