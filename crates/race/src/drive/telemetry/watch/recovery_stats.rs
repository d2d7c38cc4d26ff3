//! Which shards are being recovered (`RecoveryStats`).

use serde_json::json;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;

pub(super) const DEVICE: Device = Device {
    name: "recovery-stats",
    help: "Regularly samples shard recovery stats",
    params: &["recovery-stats-indices", "recovery-stats-sample-interval"],
    is_default: false,
    is_on_serverless: false,
    plan,
};

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("recovery-stats-sample-interval", 1)?;
    let indices = params.by_cluster("recovery-stats-indices", surroundings.clusters, true)?;
    let planned = |(cluster, indices): (usize, Option<Vec<String>>)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(RecoveryStats {
            cluster: surroundings.clusters[cluster].name.clone(),
            path: match indices {
                None => "/_recovery?active_only=true&detailed=false".to_owned(),
                Some(indices) => format!("/{}/_recovery?active_only=true&detailed=false", indices.join(",")),
            },
        }),
    };
    Ok(indices.into_iter().map(planned).collect())
}

struct RecoveryStats {
    cluster: String,
    path: String,
}

impl Recorder for RecoveryStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch(&self.path)?;
        for (index, body) in stats.as_object().into_iter().flatten() {
            for shard in body["shards"].as_array().into_iter().flatten() {
                let meta = json!({"cluster": self.cluster, "index": index, "shard": shard["id"]});
                output.document(
                    Level::Cluster,
                    DEVICE.of_shard(shard),
                    &meta.as_object().cloned().unwrap_or_default(),
                );
            }
        }
        Ok(())
    }
}
