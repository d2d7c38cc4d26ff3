//! What each ingest pipeline and each of its processors did (`IngestPipelineStats`). The sums over the
//! cluster are always measured.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings, nodes};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::{Level, Metric};
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "ingest-pipeline-stats",
    help: "Reports ingest pipeline stats by node, pipeline and processor at the end of the benchmark",
    params: &[],
    is_default: false,
    is_on_serverless: false,
    plan,
};

const PATH: &str = "/_nodes/stats/ingest";
/// For each counter: the suffix of the metric's name, the server's name, and the unit.
const COUNTERS: [(&str, &str, Option<&str>); 3] =
    [("count", "count", None), ("time", "time_in_millis", Some("ms")), ("failed", "failed", None)];

fn plan(_params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let planned = |(cluster, watched): (usize, &super::Watched)| Planned {
        cluster,
        interval: None,
        recorder: Box::new(IngestPipelineStats { cluster: watched.name.clone(), before: Counters::new() }),
    };
    Ok(surroundings.clusters.iter().enumerate().map(planned).collect())
}

/// The owner of counters: node, prefix of the metrics' names, meta information.
type Owner = (String, &'static str, String);
/// Counters in the order of [`COUNTERS`].
type Counters = BTreeMap<Owner, [i64; 3]>;

struct IngestPipelineStats {
    cluster: String,
    before: Counters,
}

impl Recorder for IngestPipelineStats {
    fn start(&mut self, cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        self.before = counters(&cluster.fetch(PATH)?, &self.cluster);
        Ok(())
    }

    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        for (owner, after) in counters(&cluster.fetch(PATH)?, &self.cluster) {
            let before = self.before.get(&owner).copied().unwrap_or_default();
            let (node, start, meta) = &owner;
            let meta: Params = serde_json::from_str(meta).unwrap_or_default();
            for (place, (end, _, unit)) in COUNTERS.into_iter().enumerate() {
                let value = Value::from(after[place] - before[place]);
                let name = format!("ingest_pipeline_{start}_{end}");
                output.value(Level::Node(node), Metric { name, value, unit, meta: meta.clone() });
            }
        }
        Ok(())
    }
}

fn counters(stats: &Value, cluster: &str) -> Counters {
    let read = |counters: &Value| COUNTERS.map(|(_, key, _)| counters[key].as_i64().unwrap_or(0));
    let cluster = stats["cluster_name"].as_str().unwrap_or(cluster);
    let mut found = Counters::new();
    for (node, body) in nodes(stats) {
        let ingest = &body["ingest"];
        let mut add = |start: &'static str, meta: Value, counters: &Value| {
            found.insert((node.to_owned(), start, meta.to_string()), read(counters));
        };
        add("node", json!({"cluster_name": cluster}), &ingest["total"]);
        for (pipeline, body) in ingest["pipelines"].as_object().into_iter().flatten() {
            add("pipeline", json!({"pipeline_name": pipeline, "cluster_name": cluster}), body);
            let processors = body["processors"].as_array().into_iter().flatten();
            for (place, processor) in processors.enumerate() {
                for (name, body) in processor.as_object().into_iter().flatten() {
                    // Rally numbers processors from 1, since a pipeline may contain the same type twice.
                    let meta = json!({"processor_name": format!("{name}_{}", place + 1), "type": body["type"],
                        "pipeline_name": pipeline, "cluster_name": cluster});
                    add("processor", meta, &body["stats"]);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_node_pipeline_and_processor() {
        let stats = json!({"nodes": {"x": {"name": "n1", "ingest": {
            "total": {"count": 7, "time_in_millis": 3, "failed": 0},
            "pipelines": {"p": {"count": 5, "time_in_millis": 2, "failed": 1, "processors": [
                {"set": {"type": "set", "stats": {"count": 5, "time_in_millis": 1, "failed": 0}}}]}},
        }}}});
        let found: Vec<(Owner, [i64; 3])> = counters(&stats, "default").into_iter().collect();
        assert_eq!(found.len(), 3);
        let (pipeline, processor) = (&found[1], &found[2]);
        assert_eq!((pipeline.0.1, pipeline.1), ("pipeline", [5, 2, 1]));
        assert!(processor.0.2.contains("\"processor_name\":\"set_1\""), "{processor:?}");
    }
}
