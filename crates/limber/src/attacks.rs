//! A user with rights on `a*` tries to reach `b` through every endpoint. The requests are generated from the
//! table of routes, so that new routes are attacked too.

mod later;
mod limits;
mod names;
mod words;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::config::{Config, Overrides};
use crate::http::request::Method;
use crate::machine::Reserved;
use crate::rest::{ROUTES, Route, action_of};
use crate::serve::Server;

/// A secret in the documents and the mapping of the index; only superusers may see it.
const SECRET: &str = "sesame-of-b";
const SECRET_FIELD: &str = "field_of_b";
/// The index under attack.
const B: &str = "bobs-index";
const PASSWORD: &str = "correct-horse";

struct Answer {
    status: u16,
    text: String,
}

struct Attacked {
    server: Option<Server>,
    _folder: tempfile::TempDir,
}

impl Attacked {
    fn start() -> Attacked {
        let folder = tempfile::tempdir().expect("a folder");
        let overrides = Overrides {
            data: vec![folder.path().to_owned()],
            http: Some("127.0.0.1:0".into()),
            memory_limit: Some("256mb".into()),
            settings: [
                "xpack.security.enabled=true",
                "cluster.routing.allocation.disk.threshold_enabled=false",
                &format!("path.repo={}", folder.path().join("repositories").display()),
            ]
            .map(str::to_owned)
            .to_vec(),
            ..Overrides::default()
        };
        let config = Config::load(&overrides).expect("valid");
        let reserved = Reserved::take(&config.http_address).expect("a free port");
        let server = Server::start(&config, reserved).expect("started");
        let password = json!(PASSWORD);
        server
            .node()
            .change_security(|store| store.set_password("elastic", "password", &password))
            .expect("kept");
        Attacked { server: Some(server), _folder: folder }
    }

    fn address(&self) -> SocketAddr {
        self.server.as_ref().expect("running").address
    }

    fn send(&self, user: Option<&str>, method: &str, path: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address()).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let authorization = user.map_or(String::new(), |user| {
            format!("authorization: Basic {}\r\n", STANDARD.encode(format!("{user}:{PASSWORD}")))
        });
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: t\r\nconnection: close\r\ncontent-type: application/json\r\n{authorization}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("answered");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.get(9..12).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        Answer { status, text }
    }

    fn elastic(&self, method: &str, path: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.send(Some("elastic"), method, path, &body);
        assert!(answer.status < 300, "{method} {path}: {}", answer.text);
        answer
    }

    /// Returns the state that no attack may change.
    fn state_of_b(&self) -> String {
        [
            "/bobs-index/_search?filter_path=hits",
            "/bobs-index",
            "/bobs-index/_count?filter_path=count",
            "/_data_stream/bs?filter_path=**.name,**.index_name",
        ]
        .map(|path| {
            let text = self.elastic("GET", path, Value::Null).text;
            text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
        })
        .join("\n")
    }

    fn prepare(&self) {
        let document = json!({"name": SECRET, SECRET_FIELD: 1});
        self.elastic("PUT", "/bobs-index/_doc/1?refresh", document.clone());
        self.elastic("PUT", "/a1/_doc/1?refresh", json!({"name": "open"}));
        self.elastic("POST", "/_aliases", json!({"actions": [{"add": {"index": B, "alias": "balias"}}]}));
        self.elastic("PUT", "/_index_template/t", json!({"index_patterns": ["bs"], "data_stream": {}}));
        self.elastic("POST", "/bs/_doc?refresh", json!({"@timestamp": 1, "name": SECRET}));
        self.elastic(
            "PUT",
            "/_security/role/on_a",
            json!({"indices": [{"names": ["a*"], "privileges": ["all"]}]}),
        );
        self.elastic("PUT", "/_security/user/mallory", json!({"password": PASSWORD, "roles": ["on_a"]}));
    }
}

impl Drop for Attacked {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

/// Names that mean the index under attack, or that may include it.
const TARGETS: [&str; 6] = [B, "balias", "bs", "a1,bobs-index", "*", "%3Cbobs-index%3E"];

fn bodies(path: &str) -> Vec<String> {
    if path.ends_with("_bulk") {
        let operations = ["index", "create", "update", "delete"].map(|kind| {
            let line = json!({kind: {"_index": B, "_id": "1"}}).to_string();
            let document = if kind == "update" { json!({"doc": {"x": 1}}) } else { json!({"x": 1}) };
            if kind == "delete" { format!("{line}\n") } else { format!("{line}\n{document}\n") }
        });
        return vec![operations.concat()];
    }
    if path.ends_with("_msearch") {
        return vec!["{\"index\":\"bobs-index\"}\n{}\n{\"index\":\"*\"}\n{}\n".to_owned()];
    }
    let named = [
        Value::Null,
        json!({}),
        json!({"query": {"match_all": {}}}),
        json!({"docs": [{"_index": B, "_id": "1"}]}),
        json!({"source": {"index": B}, "dest": {"index": "a2"}}),
        json!({"source": {"index": "a1"}, "dest": {"index": B}}),
        json!({"actions": [{"add": {"index": B, "alias": "a9"}}, {"remove_index": {"index": B}}]}),
        json!({"query": {"terms": {"name": {"index": B, "id": "1", "path": "name"}}}}),
        json!({"query": {"more_like_this": {"fields": ["name"], "like": [{"_index": B, "_id": "1"}], "min_term_freq": 1, "min_doc_freq": 1}}}),
        json!({"requests": [{"id": "q", "request": {"query": {"match_all": {}}}, "ratings": []}], "metric": {"precision": {}}}),
        json!({"field": "name", "string": "s"}),
        json!({"doc": {"x": 1}}),
        json!({"properties": {"y": {"type": "long"}}}),
        json!({"index": {"number_of_replicas": 0}}),
        json!({"text": "x", "field": "name"}),
    ];
    named.iter().map(|body| if body.is_null() { String::new() } else { body.to_string() }).collect()
}

/// Returns the path with `target` in place of the index names.
fn aimed(path: &str, target: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{index}" | "{name}" => target,
        "{id}" => "1",
        "{new_index}" | "{target}" => "b2",
        "{fields}" | "{field}" => "name",
        "{block}" => "write",
        "{metric}" | "{metrics}" | "{index_metric}" => "_all",
        part if part.starts_with('{') => "x",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Whether the route takes an index name from the caller at this path.
fn names_index(path: &str) -> bool {
    path.starts_with("/{index}")
}

/// A user with every privilege on the cluster, but on no index that holds the secret, calls every route whose
/// action is about the cluster. None of them may show or change documents.
#[test]
fn no_action_of_the_cluster_reaches_documents() {
    let attacked = Attacked::start();
    attacked.prepare();
    let role = json!({"cluster": ["all"], "indices": [{"names": ["a*"], "privileges": ["all"]}]});
    attacked.elastic("PUT", "/_security/role/on_cluster", role);
    attacked.elastic(
        "PUT",
        "/_security/user/mallory",
        json!({"password": PASSWORD, "roles": ["on_cluster"]}),
    );
    // The paths of the attack name a transform `1` and a policy with the name of the index.
    let latest = json!({"source": {"index": B}, "dest": {"index": "b-latest"},
        "latest": {"unique_key": ["name.keyword"], "sort": SECRET_FIELD}});
    attacked.elastic("PUT", "/_transform/1", latest.clone());
    let policy = json!({"match": {"indices": B, "match_field": SECRET_FIELD, "enrich_fields": ["name"]}});
    attacked.elastic("PUT", "/_enrich/policy/bobs-index", policy.clone());
    let before = attacked.state_of_b();
    let mut more = bodies("/");
    more.push(latest.to_string());
    more.push(policy.to_string());
    more.push(
        json!({"script": {"source": "doc['name.keyword'].value"}, "context": "filter",
        "context_setup": {"index": B, "document": {"name": "x"}}})
        .to_string(),
    );
    let mut wrong = Vec::new();
    for route in ROUTES.iter().flat_map(|table| table.iter()) {
        for method in route.methods {
            let action = action_of(route, *method);
            // Who manages users may become anybody.
            if !limber_access::is_cluster_action(action) || action.contains("/xpack/security/") {
                continue;
            }
            let path = aimed(route.path, B);
            for body in if *method == Method::Head { &more[..1] } else { &more[..] } {
                let answer = attacked.send(Some("mallory"), method.name(), &path, body);
                if answer.text.contains(SECRET) || answer.text.contains("failed unexpectedly") {
                    wrong.push(format!("{} {path} {body}: {}", method.name(), answer.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} attacks:\n{}", wrong.len(), wrong.join("\n---\n"));
    assert_eq!(attacked.state_of_b(), before);
}

/// Tries all bodies for one method and target. Adds to `wrong` each request that was let in or whose response
/// revealed too much.
fn attack(attacked: &Attacked, route: &Route, method: Method, target: &str, wrong: &mut Vec<String>) {
    let path = aimed(route.path, target);
    let mut bodies = if method == Method::Head { vec![String::new()] } else { bodies(route.path) };
    if ![B, "*"].contains(&target) {
        bodies.truncate(3);
    }
    let is_about_indices = !limber_access::is_cluster_action(action_of(route, method));
    for (number, body) in bodies.into_iter().enumerate() {
        let answer = attacked.send(Some("mallory"), method.name(), &path, &body);
        let shown = || format!("{} {path} {body}: {}", method.name(), answer.text);
        if answer.text.contains(SECRET) || answer.text.contains(SECRET_FIELD) {
            wrong.push(format!("shows what it hides: {}", shown()));
        }
        if answer.text.contains("failed unexpectedly") {
            wrong.push(format!("fails: {}", shown()));
        }
        // The request does not name the index, so the response must not mention it.
        let is_unnamed = number < 3 && !body.contains(B) && (target == "*" || !route.path.contains('{'));
        if is_unnamed && is_about_indices && answer.status < 300 && answer.text.contains(B) {
            wrong.push(format!("lists what it hides: {}", shown()));
        }
        let is_named = names_index(route.path) && [B, "balias", "bs"].contains(&target);
        let has_items = ["_bulk", "_msearch", "_mget", "_mtermvectors", "_rank_eval"]
            .iter()
            .any(|end| route.path.ends_with(end));
        if is_named && !has_items && answer.status < 300 && answer.text.contains(B) {
            wrong.push(format!("lets him in: {}", shown()));
        }
    }
}

#[test]
fn nobody_reaches_what_he_has_no_right_to_by_any_route() {
    let attacked = Attacked::start();
    attacked.prepare();
    let before = attacked.state_of_b();
    assert!(before.contains(SECRET) && before.contains(SECRET_FIELD));
    let mut wrong = Vec::new();
    for route in ROUTES.iter().flat_map(|table| table.iter()) {
        let targets: &[&str] = if route.path.contains('{') { &TARGETS } else { &TARGETS[..1] };
        for method in route.methods {
            let nobody = attacked.send(None, method.name(), &aimed(route.path, B), "");
            if nobody.status != 401 {
                wrong.push(format!("lets nobody in: {} {}: {}", method.name(), route.path, nobody.text));
            }
            for target in targets {
                attack(&attacked, route, *method, target, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{} attacks:\n{}", wrong.len(), wrong.join("\n---\n"));
    assert_eq!(attacked.state_of_b(), before);
}
