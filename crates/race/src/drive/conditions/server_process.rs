//! What the server itself used.
//!
//! Its processor time comes from its own statistics (`_nodes/stats/process`, all nodes together). Its memory
//! comes from the system, by the process id that the server reports, if it runs on this machine: no statistic
//! of Elasticsearch has the peak of resident memory.

use serde_json::Value;

use super::proc_files;
use crate::http::Address;
use crate::http::cluster::Cluster;

/// The server's use at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ServerReading {
    /// Processor time since its start, over all nodes.
    pub cpu_s: Option<f64>,
    /// Resident memory now and its peak since the server's start, over all nodes; `None` when a node is on
    /// another machine.
    pub resident_bytes: Option<u64>,
    pub peak_resident_bytes: Option<u64>,
    pub is_local: bool,
}

impl ServerReading {
    /// Reads the values. A value that the server does not report is `None`; nothing here can fail a race.
    pub(crate) fn now(cluster: &mut Cluster, hosts: &[Address]) -> ServerReading {
        let mut answer = |path: &str| cluster.fetch(path).ok();
        let is_local = !hosts.is_empty()
            && hosts.iter().flat_map(|host| &host.sockets).all(|socket| socket.ip().is_loopback());
        let cpu_s = answer("/_nodes/stats/process").and_then(|stats| {
            let ms = |node: &Value| node.pointer("/process/cpu/total_in_millis")?.as_f64();
            sum_over_nodes(&stats, ms).map(|ms| ms / 1e3)
        });
        let info = if is_local { answer("/_nodes/process") } else { None };
        let memory = |field: &str| {
            let bytes = |node: &Value| resident(node.pointer("/process/id")?.as_u64()?, field);
            info.as_ref().and_then(|info| sum_over_nodes(info, bytes)).map(|bytes| bytes as u64)
        };
        ServerReading {
            cpu_s,
            resident_bytes: memory("VmRSS"),
            peak_resident_bytes: memory("VmHWM"),
            is_local,
        }
    }
}

/// Sums a value over all nodes; `None` when a node does not have it, or there are no nodes.
fn sum_over_nodes(answer: &Value, value: impl Fn(&Value) -> Option<f64>) -> Option<f64> {
    let nodes = answer["nodes"].as_object().filter(|nodes| !nodes.is_empty())?;
    nodes.values().map(value).sum()
}

/// Reads a field of `/proc/<id>/status` in bytes. The process must look like a search server, because an id
/// from inside a container may be another process's id out here.
fn resident(id: u64, field: &str) -> Option<f64> {
    let command = std::fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
    if !["limber", "elasticsearch", "opensearch"].iter().any(|name| command.contains(name)) {
        return None;
    }
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    proc_files::bytes(&status, field).map(|bytes| bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sums_need_every_node() {
        let cpu = |node: &Value| node.pointer("/process/cpu/total_in_millis")?.as_f64();
        let node = |ms: u64| json!({"process": {"cpu": {"total_in_millis": ms}}});
        assert_eq!(sum_over_nodes(&json!({"nodes": {"a": node(5), "b": node(7)}}), cpu), Some(12.0));
        assert_eq!(sum_over_nodes(&json!({"nodes": {"a": node(5), "b": {}}}), cpu), None);
        assert_eq!(sum_over_nodes(&json!({"nodes": {}}), cpu), None);
        assert_eq!(sum_over_nodes(&Value::Null, cpu), None);
    }

    #[test]
    fn other_processes_are_not_looked_at() {
        // The process of this test is not a search server.
        assert_eq!(resident(u64::MAX, "VmRSS"), None);
    }
}
