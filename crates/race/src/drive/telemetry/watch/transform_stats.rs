//! What transforms cost (`TransformStats`).

use serde_json::Value;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::{Level, Metric};
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "transform-stats",
    help: "Regularly samples transform stats",
    params: &["transform-stats-transforms", "transform-stats-sample-interval"],
    is_default: false,
    is_on_serverless: true,
    plan,
};

const PATH: &str = "/_transform/_all/_stats";
/// Counters: the name after `transform_`, the server's name, the unit.
const COUNTERS: [(&str, &str, Option<&str>); 11] = [
    ("pages_processed", "pages_processed", None),
    ("documents_processed", "documents_processed", None),
    ("documents_indexed", "documents_indexed", None),
    ("index_total", "index_total", None),
    ("index_failures", "index_failures", None),
    ("search_total", "search_total", None),
    ("search_failures", "search_failures", None),
    ("processing_total", "processing_total", None),
    ("search_time", "search_time_in_ms", Some("ms")),
    ("index_time", "index_time_in_ms", Some("ms")),
    ("processing_time", "processing_time_in_ms", Some("ms")),
];

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("transform-stats-sample-interval", 1)?;
    let transforms = params.by_cluster("transform-stats-transforms", surroundings.clusters, false)?;
    let planned = |(cluster, transforms): (usize, Option<Vec<String>>)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(TransformStats { transforms }),
    };
    Ok(transforms.into_iter().map(planned).collect())
}

struct TransformStats {
    /// Transforms that are recorded; `None` for all.
    transforms: Option<Vec<String>>,
}

impl TransformStats {
    fn ask(&self, cluster: &mut Cluster, prefix: &str, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch(PATH)?;
        for transform in stats["transforms"].as_array().into_iter().flatten() {
            let Some(id) = transform["id"].as_str() else { continue };
            if self.transforms.as_ref().is_some_and(|wanted| !wanted.iter().any(|name| name == id)) {
                continue;
            }
            for metric in metrics(prefix, id, &transform["stats"]) {
                output.value(Level::Cluster, metric);
            }
        }
        Ok(())
    }
}

impl Recorder for TransformStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        self.ask(cluster, "", output)
    }

    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        self.ask(cluster, "total_", output)
    }
}

fn metrics(prefix: &str, id: &str, stats: &Value) -> Vec<Metric> {
    let mut meta = Params::new();
    meta.insert("transform_id".into(), id.into());
    let metric = |name: &str, value: Value, unit: Option<&'static str>| Metric {
        name: format!("{prefix}transform_{name}"),
        value,
        unit,
        meta: meta.clone(),
    };
    let counter = |key: &str| stats.get(key).cloned().unwrap_or_else(|| 0.into());
    let mut found: Vec<Metric> =
        COUNTERS.into_iter().map(|(name, key, unit)| metric(name, counter(key), unit)).collect();
    let number = |key: &str| counter(key).as_f64().unwrap_or(0.0);
    let busy_ms = number("search_time_in_ms") + number("processing_time_in_ms") + number("index_time_in_ms");
    if busy_ms > 0.0 {
        let throughput = number("documents_processed") / busy_ms * 1000.0;
        found.push(metric("throughput", throughput.into(), Some("docs/s")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn throughput_is_documents_over_all_times() {
        let stats = json!({"documents_processed": 600, "search_time_in_ms": 100, "index_time_in_ms": 150,
            "processing_time_in_ms": 50});
        let found = metrics("total_", "t", &stats);
        assert_eq!(found.len(), 12);
        assert_eq!(
            (found[11].name.as_str(), &found[11].value),
            ("total_transform_throughput", &json!(2000.0))
        );
        assert_eq!((found[8].name.as_str(), found[8].unit), ("total_transform_search_time", Some("ms")));
        assert_eq!(metrics("", "t", &json!({})).len(), 11);
    }
}
