//! Memory, merges and caches of the nodes during the race. Rally does not have this device; it is always on.
//!
//! There is one document per node before the race, every two seconds, and after it, with the numbers that
//! explain figures most often: heap by pool and collections, documents, store, segments, merges, refreshes,
//! flushes, translog, hits and misses of the caches, the process's CPU time and, for Limber, memory by pool
//! and its cache of the term index (`limber_…`). Names are those of the nodes' statistics, joined by `_`. One
//! request reads all nodes, and its filter leaves out the rest of the statistics.

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings, nodes};
use super::flatten::flatten_into;
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "server-stats",
    help: "Samples memory, merges and caches of every node (on by default)",
    params: &["server-stats-sample-interval"],
    is_default: true,
    is_on_serverless: false,
    plan,
};

/// Elasticsearch and OpenSearch reject the metric `limber`, which only Limber has.
const PATHS: [&str; 2] = ["/_nodes/stats/indices,jvm,process,limber", "/_nodes/stats/indices,jvm,process"];
const FILTER: &str = "filter_path=nodes.*.name,nodes.*.indices.docs,nodes.*.indices.store,nodes.*.indices.indexing.index_total,\
                      nodes.*.indices.search.query_total,nodes.*.indices.merges,nodes.*.indices.refresh.total*,\
                      nodes.*.indices.flush.total*,nodes.*.indices.segments.count,nodes.*.indices.segments.memory_in_bytes,\
                      nodes.*.indices.translog,nodes.*.indices.query_cache,nodes.*.indices.request_cache,nodes.*.jvm.mem,\
                      nodes.*.jvm.gc,nodes.*.process.cpu,nodes.*.limber";
/// Prefix of the fields, and path in the answer.
const SECTIONS: [(&str, &str); 5] = [
    ("indices", "/indices"),
    ("jvm_mem", "/jvm/mem"),
    ("jvm_gc", "/jvm/gc"),
    ("process_cpu", "/process/cpu"),
    ("limber", "/limber"),
];

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("server-stats-sample-interval", 2)?;
    let planned = |(cluster, watched): (usize, &super::Watched)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(ServerStats { cluster: watched.name.clone(), path: 0 }),
    };
    Ok(surroundings.clusters.iter().enumerate().map(planned).collect())
}

struct ServerStats {
    cluster: String,
    /// Index into [`PATHS`] of the path to try next; the server may turn out not to understand it.
    path: usize,
}

impl ServerStats {
    fn ask(&mut self, cluster: &mut Cluster) -> Result<Value, Error> {
        loop {
            let path = format!("{}?{FILTER}", PATHS[self.path]);
            let answer =
                cluster.get(&path).map_err(Error::no_answer(format_args!("GET {}", PATHS[self.path])))?;
            match answer.status {
                200 => return Ok(answer.body),
                400 if self.path + 1 < PATHS.len() => self.path += 1,
                status => {
                    let call = format!("GET {}", PATHS[self.path]);
                    return Err(Error::Refused { call, status, body: String::new() });
                }
            }
        }
    }
}

impl Recorder for ServerStats {
    fn start(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        self.record(cluster, output)
    }

    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = self.ask(cluster)?;
        for (name, node) in nodes(&stats) {
            let mut fields = Params::new();
            fields.insert("name".into(), DEVICE.name.into());
            for (prefix, place) in SECTIONS {
                flatten_into(&mut fields, prefix, node.pointer(place).unwrap_or(&Value::Null));
            }
            let meta = json!({"cluster": self.cluster, "node_name": name});
            output.document(Level::Node(name), fields, &meta.as_object().cloned().unwrap_or_default());
        }
        Ok(())
    }

    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        self.record(cluster, output)
    }
}
