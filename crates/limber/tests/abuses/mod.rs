//! The node under abuse, and the checks after each abuse.

mod aggregations;
mod analysis;
mod bodies;
mod data_streams;
mod documents;
mod geo;
mod names;
mod nested_documents;
mod pieces;
mod pipelines;
mod queries;
mod races;
mod settings;
mod sockets;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Answer, Client, ServerProcess};

/// `--memory-limit` of the servers under test, plus an allowance for memory outside of the ledger.
const MEMORY_MIB_MAX: u64 = 512 + 256;

/// A server, its folder and a client.
pub struct Victim {
    pub server: ServerProcess,
    client: Client,
    _folder: TempDir,
}

impl Victim {
    pub fn start() -> Victim {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let server = ServerProcess::start(folder.path(), &[]);
        let client = server.client();
        Victim { server, client, _folder: folder }
    }

    /// Starts a server with the index `i` of `count` documents, each with a text, a keyword, a long and a
    /// date; the dates are four days apart.
    pub fn with_documents(count: u64) -> Victim {
        let mut victim = Victim::start();
        let mapping = json!({"settings": {"number_of_shards": 1, "number_of_replicas": 0},
            "mappings": {"properties": {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}}}});
        victim.client.expect(200, "PUT", "/i", mapping);
        let mut lines = String::new();
        for n in 0..count {
            let source = json!({"t": format!("hello world {n}"), "k": format!("key{n}"), "n": n, "d": n * 345_600_000});
            lines.push_str(&format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{source}\n"));
        }
        victim.ok("POST", "/i/_bulk?refresh=true", &lines);
        victim
    }

    /// Sends a request and checks that the node is alive, responds and stays within its memory.
    pub fn send(&mut self, method: &str, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.send_with(method, path, &[], body)
    }

    pub fn send_with(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let shown: String = format!("{method} {path}").chars().take(100).collect();
        // The server may have closed the connection because of the previous abuse.
        let answer = match self.client.try_send(method, path, headers, body.as_ref()) {
            Ok(answer) => answer,
            Err(_) => {
                self.client = self.server.client();
                self.client
                    .try_send(method, path, headers, body.as_ref())
                    .unwrap_or_else(|error| panic!("{shown}: {error}"))
            }
        };
        self.check_health(&shown);
        answer
    }

    pub fn ok(&mut self, method: &str, path: &str, body: impl AsRef<[u8]>) -> Value {
        let answer = self.send(method, path, body);
        assert!(answer.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    pub fn ok_bytes(&mut self, method: &str, path: &str) -> Vec<u8> {
        let answer = self.send(method, path, "");
        assert_eq!(answer.status, 200, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
        answer.body
    }

    /// Expects a refusal with one of these statuses in Elasticsearch's shape. Returns its `error.type`.
    pub fn refused(&mut self, statuses: &[u16], method: &str, path: &str, body: impl AsRef<[u8]>) -> String {
        let answer = self.send(method, path, body);
        check_refusal(&answer, statuses, &format!("{method} {path}"))
    }

    /// Expects 400.
    pub fn bad(&mut self, method: &str, path: &str, body: impl AsRef<[u8]>) -> String {
        self.refused(&[400], method, path, body)
    }

    pub fn check_health(&mut self, after: &str) {
        assert!(self.server.is_running(), "the node died of {after}");
        let (now, highest) = self.memory_mib();
        assert!(
            now <= MEMORY_MIB_MAX && highest <= MEMORY_MIB_MAX,
            "{after}: {now} MiB, at most {highest} MiB"
        );
    }

    /// Returns the current and the maximum resident memory.
    fn memory_mib(&self) -> (u64, u64) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.process_id()))
            .expect("the process has a status");
        let of = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
        };
        (of("VmRSS:"), of("VmHWM:"))
    }
}

/// Checks that the response is an error in Elasticsearch's shape with one of `statuses`. Returns its type.
pub fn check_refusal(answer: &Answer, statuses: &[u16], what: &str) -> String {
    let what: String = what.chars().take(100).collect();
    let body: String = String::from_utf8_lossy(&answer.body).chars().take(500).collect();
    assert!(statuses.contains(&answer.status), "{what}: {} instead of {statuses:?}: {body}", answer.status);
    let error = answer.json();
    assert_eq!(error["status"], answer.status, "{what}: {body}");
    assert!(error["error"]["reason"].is_string(), "{what}: {body}");
    // As in Elasticsearch, a failure while shard results are reduced has no root cause, but a cause.
    let error_body = &error["error"];
    let (roots, cause) = (&error_body["root_cause"], &error_body["caused_by"]);
    assert!(
        roots[0]["type"].is_string() || (roots.is_array() && cause["type"].is_string()),
        "{what}: {body}"
    );
    error["error"]["type"].as_str().unwrap_or_else(|| panic!("{what}: {body}")).to_owned()
}

/// Returns `open` and `close` repeated around `middle`.
pub fn nested(open: &str, middle: &str, close: &str, depth: usize) -> String {
    format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
}

/// Returns `count` elements made by `element`, joined by commas.
pub fn list(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}
