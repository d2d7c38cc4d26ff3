//! Asks the running server for its health report.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

use super::offline::{Finding, Level};
use crate::told::in_one_line;

const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a response that is read. A health report has a few kilobytes.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// Returns findings from the health report of a server that listens at the address and asks for no
/// credentials. `None` if there is no such server.
pub fn health(address: &str) -> Option<Vec<Finding>> {
    let reachable = address.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
    let address = reachable.to_socket_addrs().ok()?.next()?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.write_all(b"GET /_health_report HTTP/1.1\r\nHost: limber\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).ok()?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 200") {
        return None;
    }
    Some(findings(&serde_json::from_str(body).ok()?))
}

/// Returns one finding for each indicator that is not green.
fn findings(report: &Value) -> Vec<Finding> {
    let indicators = report["indicators"].as_object().into_iter().flatten();
    indicators
        .filter_map(|(name, indicator)| {
            let level = match indicator["status"].as_str()? {
                "red" => Level::Problem,
                "yellow" => Level::Warning,
                _ => return None,
            };
            let symptom = indicator["symptom"].as_str().unwrap_or_default();
            let actions: Vec<String> = indicator["diagnosis"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|diagnosis| diagnosis["action"].as_str().map(in_one_line))
                .collect();
            let action = match actions.is_empty() {
                true => "see GET _health_report, and limber advise for what slows the server".to_owned(),
                false => actions.join(" "),
            };
            let what = format!("[{}] {}", in_one_line(name), in_one_line(symptom));
            Some(Finding::new(level, what, action))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn indicators_that_are_not_green_are_findings() {
        let report = json!({"status": "red", "indicators": {
            "disk": {"status": "red", "symptom": "the disk is full", "diagnosis": [{"action": "Make room."}]},
            "shards": {"status": "yellow", "symptom": "a shard is not there"},
            "slm": {"status": "green", "symptom": "fine"}}});
        let found = findings(&report);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Finding::new(Level::Problem, "[disk] the disk is full", "Make room."));
        assert_eq!(found[1].level, Level::Warning);
    }

    #[test]
    fn nobody_listens() {
        assert_eq!(health("127.0.0.1:1"), None);
    }
}
