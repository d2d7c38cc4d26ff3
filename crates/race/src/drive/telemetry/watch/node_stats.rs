//! What every node says about itself over time (`NodeStats`).

use serde_json::Value;

use super::device::{Device, Output, Planned, Recorder, Surroundings, nodes};
use super::flatten::flatten_into;
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "node-stats",
    help: "Regularly samples node stats",
    params: &[
        "node-stats-sample-interval",
        "node-stats-include-indices",
        "node-stats-include-indices-metrics",
        "node-stats-include-thread-pools",
        "node-stats-include-buffer-pools",
        "node-stats-include-breakers",
        "node-stats-include-network",
        "node-stats-include-process",
        "node-stats-include-mem",
        "node-stats-include-cgroup",
        "node-stats-include-gc",
        "node-stats-include-indexing-pressure",
        "node-stats-include-fs",
    ],
    is_default: false,
    is_on_serverless: false,
    plan,
};

/// Sections of a node's statistics: prefix of the fields, path, and the parameter that turns the section off.
/// They are in the order of the documents.
const SECTIONS: [(&str, &str, &str); 12] = [
    ("thread_pool", "/thread_pool", "node-stats-include-thread-pools"),
    ("breakers", "/breakers", "node-stats-include-breakers"),
    ("jvm_buffer_pools", "/jvm/buffer_pools", "node-stats-include-buffer-pools"),
    ("jvm_mem", "/jvm/mem", "node-stats-include-mem"),
    ("os_mem", "/os/mem", "node-stats-include-mem"),
    ("os_cgroup", "/os/cgroup", "node-stats-include-cgroup"),
    ("jvm_gc", "/jvm/gc", "node-stats-include-gc"),
    ("transport", "/transport", "node-stats-include-network"),
    ("process_cpu", "/process/cpu", "node-stats-include-process"),
    ("indexing_pressure", "/indexing_pressure", "node-stats-include-indexing-pressure"),
    ("fs", "/fs", "node-stats-include-fs"),
    // Not in Rally: Limber's memory by pool, and its cache of the term index.
    ("limber", "/limber", "node-stats-include-mem"),
];

const INDICES_METRICS: [&str; 12] = [
    "docs",
    "store",
    "indexing",
    "search",
    "merges",
    "refresh",
    "flush",
    "query_cache",
    "fielddata",
    "segments",
    "translog",
    "request_cache",
];

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("node-stats-sample-interval", 1)?;
    let listed = params.list("node-stats-include-indices-metrics")?;
    let indices = match listed {
        Some(listed) => listed,
        None if params.flag("node-stats-include-indices", false)? => {
            INDICES_METRICS.map(str::to_owned).to_vec()
        }
        None => Vec::new(),
    };
    let mut sections = Vec::new();
    for section in SECTIONS {
        if params.flag(section.2, true)? {
            sections.push(section);
        }
    }
    let planned = |(cluster, watched): (usize, &super::Watched)| Planned {
        cluster,
        interval: Some(interval),
        recorder: Box::new(NodeStats {
            cluster: watched.name.clone(),
            indices: indices.clone(),
            sections: sections.clone(),
        }),
    };
    Ok(surroundings.clusters.iter().enumerate().map(planned).collect())
}

struct NodeStats {
    cluster: String,
    /// Sections of the indices' statistics.
    indices: Vec<String>,
    sections: Vec<(&'static str, &'static str, &'static str)>,
}

impl Recorder for NodeStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch("/_nodes/stats/_all")?;
        for (name, node) in nodes(&stats) {
            let mut meta = Params::new();
            meta.insert("cluster".into(), self.cluster.as_str().into());
            meta.insert("node_name".into(), name.into());
            meta.insert("roles".into(), node["roles"].clone());
            output.document(Level::Node(name), self.fields(node), &meta);
        }
        Ok(())
    }
}

impl NodeStats {
    fn fields(&self, node: &Value) -> Params {
        let mut fields = Params::new();
        fields.insert("name".into(), DEVICE.name.into());
        for metric in &self.indices {
            flatten_into(&mut fields, &format!("indices_{metric}"), &node["indices"][metric.as_str()]);
        }
        for (prefix, path, _) in &self.sections {
            flatten_into(&mut fields, prefix, node.pointer(path).unwrap_or(&Value::Null));
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sections_can_be_left_out() {
        let all = NodeStats {
            cluster: "default".into(),
            indices: vec!["docs".into()],
            sections: SECTIONS[..2].to_vec(),
        };
        let node = json!({"indices": {"docs": {"count": 4}}, "thread_pool": {"get": {"queue": 1}},
            "breakers": {"parent": {"tripped": 0}}, "fs": {"x": 1}});
        let expected = json!({"name": "node-stats", "indices_docs_count": 4, "thread_pool_get_queue": 1,
            "breakers_parent_tripped": 0});
        assert_eq!(Value::from(all.fields(&node)), expected);
    }
}
