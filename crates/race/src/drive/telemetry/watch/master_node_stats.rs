//! Which node is the master (`MasterNodeStats`, which is always on in Rally and has no row there either).

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "master-node-stats",
    help: "Regularly samples master node name",
    params: &["master-node-stats-sample-interval"],
    is_default: false,
    is_on_serverless: false,
    plan,
};

fn plan(params: &Parameters<'_>, _surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("master-node-stats-sample-interval", 30)?;
    Ok(vec![Planned { cluster: 0, interval: Some(interval), recorder: Box::new(MasterNodeStats) }])
}

struct MasterNodeStats;

impl Recorder for MasterNodeStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let state = cluster.fetch("/_cluster/state/master_node")?;
        let id = state["master_node"]
            .as_str()
            .ok_or_else(|| Error::Answer("the cluster state names no master node".into()))?;
        let info = cluster.fetch(&format!("/_nodes/{id}/os"))?;
        let mut fields = Params::new();
        fields.insert("name".into(), DEVICE.name.into());
        fields.insert("node".into(), info["nodes"][id]["name"].clone());
        output.document(Level::Cluster, fields, &Params::new());
        Ok(())
    }
}
