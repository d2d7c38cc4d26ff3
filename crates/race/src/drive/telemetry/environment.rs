//! Which server is raced, and on which machine (`ExternalEnvironmentInfo`, `ClusterEnvironmentInfo`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::devices::stats;
use crate::http::cluster::Cluster;
use crate::model::Params;

#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// `version.number`, or the build flavor where there is none (serverless).
    pub version: Option<String>,
    pub flavor: String,
    pub revision: String,
    /// Meta information for documents about a node, by the node's name.
    pub node_meta: BTreeMap<String, Params>,
}

impl Environment {
    /// Returns the plugins and attributes that are the same on all nodes. Documents about the cluster contain
    /// them too.
    pub(crate) fn shared_meta(&self) -> Params {
        let is_shared = |key: &str| key == "plugins" || key.starts_with("attribute_");
        let Some(first) = self.node_meta.values().next() else { return Params::new() };
        let alike = |(key, value): &(&String, &Value)| {
            is_shared(key) && self.node_meta.values().all(|meta| meta.get(key.as_str()) == Some(*value))
        };
        first.iter().filter(alike).map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

pub(super) fn describe(cluster: &mut Cluster, info: &Value, warnings: &mut Vec<String>) -> Environment {
    let version = &info["version"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let flavor = text(&version["build_flavor"]).unwrap_or_else(|| "oss".to_owned());
    let nodes = stats(cluster, "/_nodes/_all", warnings);
    let nodes = nodes.iter().filter_map(|nodes| nodes["nodes"].as_object()).flat_map(|nodes| nodes.values());
    Environment {
        version: text(&version["number"]).or_else(|| Some(flavor.clone())),
        revision: text(&version["build_hash"]).unwrap_or_else(|| flavor.clone()),
        flavor,
        node_meta: nodes.filter_map(node_meta).collect(),
    }
}

/// Returns the meta information about a node, under Rally's names (`ExternalEnvironmentInfo`).
fn node_meta(node: &Value) -> Option<(String, Params)> {
    let name = node["name"].as_str()?;
    let mut meta = Params::new();
    meta.insert("node_name".into(), name.into());
    for (key, path) in [
        ("host_name", "/host"),
        ("os_name", "/os/name"),
        ("os_version", "/os/version"),
        ("cpu_logical_cores", "/os/available_processors"),
        ("jvm_vendor", "/jvm/vm_vendor"),
        ("jvm_version", "/jvm/version"),
    ] {
        meta.insert(key.into(), node.pointer(path).cloned().unwrap_or_else(|| "unknown".into()));
    }
    let plugins = node["plugins"].as_array().into_iter().flatten();
    let plugins: Vec<Value> = plugins.filter_map(|plugin| plugin.get("name").cloned()).collect();
    if !plugins.is_empty() {
        meta.insert("plugins".into(), plugins.into());
    }
    for (key, value) in node["attributes"].as_object().into_iter().flatten() {
        meta.insert(format!("attribute_{key}"), value.clone());
    }
    Some((name.to_owned(), meta))
}
