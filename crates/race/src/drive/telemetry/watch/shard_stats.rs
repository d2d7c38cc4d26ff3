//! The size of every shard over time (`ShardStats`).

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings, nodes};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "shard-stats",
    help: "Regularly samples nodes stats at shard level",
    params: &["shard-stats-sample-interval"],
    is_default: false,
    is_on_serverless: false,
    plan,
};

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("shard-stats-sample-interval", 60)?;
    let planned = |(cluster, watched): (usize, &super::Watched)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(ShardStats { cluster: watched.name.clone() }),
    };
    Ok(surroundings.clusters.iter().enumerate().map(planned).collect())
}

struct ShardStats {
    cluster: String,
}

impl Recorder for ShardStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch("/_nodes/stats/_all?level=shards")?;
        let mut meta = Params::new();
        meta.insert("cluster".into(), self.cluster.as_str().into());
        for (node, body) in nodes(&stats) {
            for (index, shards) in body["indices"]["shards"].as_object().into_iter().flatten() {
                for (id, shard) in
                    shards.as_array().into_iter().flatten().filter_map(Value::as_object).flatten()
                {
                    output.document(Level::Cluster, fields(node, index, id, shard), &meta);
                }
            }
        }
        Ok(())
    }
}

fn fields(node: &str, index: &str, id: &str, shard: &Value) -> Params {
    let count = |path: &str| shard.pointer(path).and_then(Value::as_i64).unwrap_or(-1);
    let fields = json!({
        "name": DEVICE.name,
        "shard-id": id,
        "index": index,
        "primary": shard["routing"]["primary"],
        "docs": count("/docs/count"),
        "store": count("/store/size_in_bytes"),
        "segments-count": count("/segments/count"),
        "node": node,
    });
    fields.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_minus_one() {
        let shard = json!({"routing": {"primary": true}, "docs": {"count": 3}});
        let expected = json!({"name": "shard-stats", "shard-id": "0", "index": "logs", "primary": true, "docs": 3,
            "store": -1, "segments-count": -1, "node": "n1"});
        assert_eq!(Value::from(fields("n1", "logs", "0", &shard)), expected);
    }
}
