//! Which server, on which machine? (`ExternalEnvironmentInfo`, `ClusterEnvironmentInfo`)

use serde_json::Value;

use super::devices::stats;
use crate::drive::cluster::Cluster;

#[derive(Debug, Clone, Default)]
pub struct Environment {
    pub cluster_name: Option<String>,
    /// `version.number`, or the build flavor where there is none (serverless).
    pub version: Option<String>,
    pub flavor: String,
    pub revision: String,
    /// `elasticsearch`, `opensearch`, ...
    pub distribution: String,
    /// One line a node: name, processors, operating system, Java.
    pub nodes: Vec<String>,
}

pub(super) fn describe(cluster: &mut Cluster, info: &Value, warnings: &mut Vec<String>) -> Environment {
    let version = &info["version"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let flavor = text(&version["build_flavor"]).unwrap_or_else(|| "oss".to_owned());
    let nodes = stats(cluster, "/_nodes/_all", warnings);
    let lines = nodes.iter().filter_map(|nodes| nodes["nodes"].as_object()).flat_map(|nodes| nodes.values());
    Environment {
        cluster_name: text(&info["cluster_name"]),
        version: text(&version["number"]).or_else(|| Some(flavor.clone())),
        revision: text(&version["build_hash"]).unwrap_or_else(|| flavor.clone()),
        distribution: text(&version["distribution"]).unwrap_or_else(|| "elasticsearch".to_owned()),
        flavor,
        nodes: lines.map(node_line).collect(),
    }
}

fn node_line(node: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".to_owned(),
        other => other.to_string(),
    };
    format!(
        "{}: {} processors, {} {}, JVM {} {}",
        text(&node["name"]),
        text(&node["os"]["available_processors"]),
        text(&node["os"]["name"]),
        text(&node["os"]["version"]),
        text(&node["jvm"]["vm_vendor"]),
        text(&node["jvm"]["version"]),
    )
}
