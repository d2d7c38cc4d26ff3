//! How far the followers of cross-cluster replication lag (`CcrStats`).

use serde_json::json;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;

pub(super) const DEVICE: Device = Device {
    name: "ccr-stats",
    help: "Regularly samples Cross Cluster Replication (CCR) related stats",
    params: &["ccr-stats-indices", "ccr-stats-sample-interval"],
    is_default: false,
    is_on_serverless: false,
    plan,
};

const PATH: &str = "/_ccr/stats?human=false&filter_path=follow_stats";

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("ccr-stats-sample-interval", 1)?;
    let indices = params.by_cluster("ccr-stats-indices", surroundings.clusters, false)?;
    let planned = |(cluster, indices): (usize, Option<Vec<String>>)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(CcrStats { cluster: surroundings.clusters[cluster].name.clone(), indices }),
    };
    Ok(indices.into_iter().map(planned).collect())
}

struct CcrStats {
    cluster: String,
    /// Indices that are recorded; `None` for all.
    indices: Option<Vec<String>>,
}

impl Recorder for CcrStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch(PATH)?;
        for followed in stats["follow_stats"]["indices"].as_array().into_iter().flatten() {
            let Some(index) = followed["index"].as_str() else { continue };
            if self.indices.as_ref().is_some_and(|wanted| !wanted.iter().any(|name| name == index)) {
                continue;
            }
            let meta = json!({"cluster": self.cluster, "index": index});
            let meta = meta.as_object().cloned().unwrap_or_default();
            let shards = followed["shards"].as_array().into_iter().flatten();
            for shard in shards.filter(|shard| shard.get("shard_id").is_some()) {
                output.document(Level::Cluster, DEVICE.of_shard(shard), &meta);
            }
        }
        Ok(())
    }
}
