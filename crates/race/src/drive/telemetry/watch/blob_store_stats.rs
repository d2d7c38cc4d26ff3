//! A serverless cluster's requests to its object store (`BlobStoreStats`).

use serde_json::Value;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::flatten::flatten_into;
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "blob-store-stats",
    help: "Regularly samples blob store stats, only applicable to serverless Elasticsearch",
    params: &["blob-store-stats-sample-interval"],
    is_default: false,
    is_on_serverless: true,
    plan,
};

const PATH: &str = "/_internal/blob_store/stats";

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("blob-store-stats-sample-interval", 1)?;
    let is_serverless = |(_, watched): &(usize, &super::Watched)| watched.is_serverless();
    let planned = |(cluster, watched): (usize, &super::Watched)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(BlobStoreStats { cluster: watched.name.clone() }),
    };
    let planned: Vec<Planned> =
        surroundings.clusters.iter().enumerate().filter(is_serverless).map(planned).collect();
    match planned.is_empty() {
        true => Err(Error::Unsupported("it is only supported with serverless Elasticsearch".into())),
        false => Ok(planned),
    }
}

struct BlobStoreStats {
    cluster: String,
}

impl Recorder for BlobStoreStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch(PATH)?;
        let mut meta = Params::new();
        meta.insert("cluster".into(), stats["cluster_name"].as_str().unwrap_or(&self.cluster).into());
        if let Some(nodes) = stats.get("_nodes") {
            meta.insert("_nodes".into(), nodes.clone());
        }
        if let Some(fields) = fields("_all", &stats["_all"]) {
            output.document(Level::Cluster, fields, &meta);
        }
        for (node, body) in stats["nodes"].as_object().into_iter().flatten() {
            if let Some(fields) = fields(node, body) {
                output.document(Level::Node(node), fields, &meta);
            }
        }
        Ok(())
    }
}

fn fields(node: &str, stats: &Value) -> Option<Params> {
    let mut numbers = Params::new();
    flatten_into(&mut numbers, "object_store", &stats["object_store_stats"]);
    flatten_into(&mut numbers, "operational_backup", &stats["operational_backup_service_stats"]);
    if numbers.is_empty() {
        return None;
    }
    let mut fields = Params::new();
    fields.insert("name".into(), DEVICE.name.into());
    fields.insert("node".into(), node.into());
    fields.extend(numbers);
    Some(fields)
}
