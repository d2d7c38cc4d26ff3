//! How well the geoip cache works (`GeoIpStats`).

use serde_json::Value;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::{Level, Metric};
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "geoip-stats",
    help: "Writes geo ip stats to the metrics store at the end of the benchmark",
    params: &[],
    is_default: false,
    is_on_serverless: false,
    plan,
};

const PATH: &str = "/_ingest/geoip/stats";
const KEYS: [&str; 6] =
    ["count", "hits", "misses", "evictions", "hits_time_in_millis", "misses_time_in_millis"];

fn plan(_params: &Parameters<'_>, _surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    Ok(vec![Planned { cluster: 0, interval: None, recorder: Box::new(GeoIpStats) }])
}

struct GeoIpStats;

impl Recorder for GeoIpStats {
    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        // These statistics have only node ids, so the names come from here.
        let info = cluster.fetch("/_nodes/_all")?;
        let stats = cluster.fetch(PATH)?;
        for (id, node) in stats["nodes"].as_object().into_iter().flatten() {
            let name = info["nodes"][id.as_str()]["name"].as_str().unwrap_or(id);
            for key in KEYS {
                let value = node["cache_stats"][key].clone();
                if value != Value::Null {
                    let name_of_value = format!("geoip_cache_{key}");
                    let metric = Metric { name: name_of_value, value, unit: None, meta: Params::new() };
                    output.value(Level::Node(name), metric);
                }
            }
        }
        Ok(())
    }
}
