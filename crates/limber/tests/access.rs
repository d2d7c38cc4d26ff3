//! Users, roles, keys and TLS from the outside: whole sequences of requests with credentials.

mod support;

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use support::{Answer, Client, ServerProcess, program};

const SECURE: [&str; 2] = ["-E", "xpack.security.enabled=true"];

/// Starts a server once to create a node, and gives `elastic` a password.
fn password_of_elastic(data: &Path) -> String {
    drop(ServerProcess::start(data, &[]));
    let reset = Command::new(program())
        .args(["reset-password", "-u", "elastic", "--data"])
        .arg(data)
        .output()
        .expect("it runs");
    assert!(reset.status.success(), "{}", String::from_utf8_lossy(&reset.stderr));
    String::from_utf8(reset.stdout).expect("text").trim().to_owned()
}

/// A client with credentials.
struct Somebody {
    client: Client,
    headers: Vec<(&'static str, String)>,
}

impl Somebody {
    fn with(server: &ServerProcess, scheme: &str, value: &str) -> Somebody {
        Somebody { client: server.client(), headers: vec![("authorization", format!("{scheme} {value}"))] }
    }

    fn user(server: &ServerProcess, name: &str, password: &str) -> Somebody {
        Somebody::with(server, "Basic", &STANDARD.encode(format!("{name}:{password}")))
    }

    fn acting_as(mut self, name: &str) -> Somebody {
        self.headers.push(("es-security-runas-user", name.to_owned()));
        self
    }

    fn ask(&mut self, method: &str, path: &str, body: Value) -> Answer {
        let body = match body {
            Value::Null => String::new(),
            Value::String(lines) => lines,
            other => other.to_string(),
        };
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.client.try_send(method, path, &headers, body.as_bytes()).expect("an answer")
    }

    fn expect(&mut self, status: u16, method: &str, path: &str, body: Value) -> Value {
        let answer = self.ask(method, path, body);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }

    /// Expects 403 with this text in the message.
    fn denied(&mut self, method: &str, path: &str, body: Value, words: &str) {
        let answer = self.expect(403, method, path, body);
        let reason = answer["error"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(words), "{method} {path}: {reason} lacks {words}");
        assert_eq!(answer["error"]["type"], "security_exception");
    }
}

#[test]
fn who_is_let_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let nobody = server.client().try_send("GET", "/_search", &[], b"").expect("an answer");
    assert_eq!(nobody.status, 401);
    assert_eq!(
        nobody.json(),
        json!({"error": {
            "root_cause": [{"type": "security_exception", "reason": "missing authentication credentials for REST request [/_search]",
                "header": {"WWW-Authenticate": ["Basic realm=\"security\", charset=\"UTF-8\"", "ApiKey"]}}],
            "type": "security_exception", "reason": "missing authentication credentials for REST request [/_search]",
            "header": {"WWW-Authenticate": ["Basic realm=\"security\", charset=\"UTF-8\"", "ApiKey"]}}, "status": 401})
    );
    let challenges: Vec<&str> = nobody
        .headers
        .iter()
        .filter(|(name, _)| name == "www-authenticate")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(challenges, ["Basic realm=\"security\", charset=\"UTF-8\"", "ApiKey"]);
    for (name, wrong) in [("elastic", "wrong"), ("nobody", &*password), ("kibana_system", "")] {
        let answer = Somebody::user(&server, name, wrong).expect(401, "GET", "/", Value::Null);
        let reason = format!("unable to authenticate user [{name}] for REST request [/]");
        assert_eq!(answer["error"]["reason"], reason.as_str());
    }
    let mut elastic = Somebody::user(&server, "elastic", &password);
    let who = elastic.expect(200, "GET", "/_security/_authenticate", Value::Null);
    assert_eq!(
        who,
        json!({"username": "elastic", "roles": ["superuser"], "full_name": null, "email": null, "metadata": {"_reserved": true},
            "enabled": true, "authentication_realm": {"name": "reserved", "type": "reserved"},
            "lookup_realm": {"name": "reserved", "type": "reserved"}, "authentication_type": "realm"})
    );
    elastic.expect(200, "POST", "/_security/user/elastic/_password", json!({"password": "another-one"}));
    elastic.expect(401, "GET", "/", Value::Null);
    let mut elastic = Somebody::user(&server, "elastic", "another-one");
    let user = json!({"password": "secret-of-u", "roles": ["viewer"], "metadata": {"team": 1}});
    assert_eq!(elastic.expect(200, "PUT", "/_security/user/u", user), json!({"created": true}));
    assert_eq!(
        elastic.expect(200, "PUT", "/_security/user/u", json!({"roles": ["editor"]})),
        json!({"created": false})
    );
    let shown = elastic.expect(200, "GET", "/_security/user/u", Value::Null);
    assert_eq!(shown["u"]["roles"], json!(["editor"]));
    let mut u = Somebody::user(&server, "u", "secret-of-u");
    u.expect(200, "GET", "/_security/_authenticate", Value::Null);
    elastic.expect(200, "PUT", "/_security/user/u/_disable", Value::Null);
    u.expect(401, "GET", "/_security/_authenticate", Value::Null);
    elastic.expect(200, "PUT", "/_security/user/u/_enable", Value::Null);
    u.expect(200, "PUT", "/_security/user/_password", json!({"password": "second-secret"}));
    u.expect(401, "GET", "/_security/_authenticate", Value::Null);
    let mut u = Somebody::user(&server, "u", "second-secret");
    u.denied(
        "PUT",
        "/_security/user/elastic/_password",
        json!({"password": "taken-over"}),
        "user/change_password",
    );
    u.denied(
        "GET",
        "/_security/user",
        Value::Null,
        "this action is granted by the cluster privileges [read_security,manage_security,all]",
    );
    assert_eq!(elastic.expect(200, "DELETE", "/_security/user/u", Value::Null), json!({"found": true}));
    u.expect(401, "GET", "/_security/_authenticate", Value::Null);
    elastic.expect(400, "DELETE", "/_security/user/elastic", Value::Null);
    // Secrets are not stored in readable form.
    let (mut stored, mut folders) = (String::new(), vec![folder.path().join("security")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("there").map(|entry| entry.expect("lists").path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false => stored += &std::fs::read_to_string(entry).expect("text"),
            }
        }
    }
    assert!(
        stored.contains("argon2") && !stored.contains("another-one") && !stored.contains("second-secret")
    );
    let shown = elastic.ask("GET", "/_cluster/state", Value::Null).text();
    assert!(!shown.contains("argon2"));
}

#[test]
fn roles_decide_by_the_names_that_are_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    for index in ["a1", "a2", "b"] {
        elastic.expect(201, "PUT", &format!("/{index}/_doc/1?refresh"), json!({"x": index}));
    }
    elastic.expect(
        200,
        "PUT",
        "/_alias_none".replace("_alias_none", "b/_alias/a_alias").as_str(),
        Value::Null,
    );
    let role = json!({"indices": [{"names": ["a1", "a2", "a_*"], "privileges": ["read", "index"]}], "run_as": ["other"]});
    assert_eq!(elastic.expect(200, "PUT", "/_security/role/on_a", role), json!({"role": {"created": true}}));
    elastic.expect(200, "PUT", "/_security/user/u", json!({"password": "secret-of-u", "roles": ["on_a"]}));
    elastic.expect(
        200,
        "PUT",
        "/_security/user/other",
        json!({"password": "secret-of-o", "roles": ["superuser"]}),
    );
    let mut u = Somebody::user(&server, "u", "secret-of-u");
    let found = |answer: &Value| -> Vec<String> {
        let hits = answer["hits"]["hits"].as_array().cloned().unwrap_or_default();
        let mut names: Vec<String> =
            hits.iter().map(|hit| hit["_index"].as_str().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(found(&u.expect(200, "GET", "/a1,a2/_search", Value::Null)), ["a1", "a2"]);
    // The user may access the alias, and through it the index; the index under its own name is not allowed.
    assert_eq!(found(&u.expect(200, "GET", "/a_alias/_search", Value::Null)), ["b"]);
    assert_eq!(found(&u.expect(200, "GET", "/_search", Value::Null)), ["a1", "a2", "b"]);
    u.denied(
        "GET",
        "/b/_search",
        Value::Null,
        "action [indices:data/read/search] is unauthorized for user [u] with effective roles [on_a] on indices [b], this action is granted by \
         the index privileges [read,all]",
    );
    u.denied("GET", "/none/_search", Value::Null, "on indices [none]");
    assert_eq!(
        found(&u.expect(200, "GET", "/a1,b,none/_search?ignore_unavailable=true", Value::Null)),
        ["a1"]
    );
    u.denied("GET", "/b/_doc/1", Value::Null, "[indices:data/read/get]");
    u.denied(
        "DELETE",
        "/a1/_doc/1",
        Value::Null,
        "this action is granted by the index privileges [delete,write,all]",
    );
    u.denied(
        "PUT",
        "/a3",
        Value::Null,
        "this action is granted by the index privileges [create_index,manage,all]",
    );
    u.denied(
        "GET",
        "/_cluster/health",
        Value::Null,
        "this action is granted by the cluster privileges [monitor,manage,all]",
    );
    // Each item is authorized separately.
    let lines = "{\"index\":{\"_index\":\"a1\",\"_id\":\"2\"}}\n{}\n{\"index\":{\"_index\":\"b\",\"_id\":\"2\"}}\n{}\n{\"delete\":{\"_index\":\"a1\",\"_id\":\"1\"}}\n";
    let bulk = u.expect(200, "POST", "/_bulk?refresh", json!(lines));
    let statuses: Vec<u64> = bulk["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            item.as_object()
                .and_then(|item| item.values().next())
                .and_then(|item| item["status"].as_u64())
                .unwrap_or(0)
        })
        .collect();
    assert_eq!(statuses, [201, 403, 403], "{bulk}");
    let both = u.expect(
        200,
        "GET",
        "/_mget",
        json!({"docs": [{"_index": "a1", "_id": "1"}, {"_index": "b", "_id": "1"}]}),
    );
    assert_eq!(
        (&both["docs"][0]["found"], &both["docs"][1]["error"]["type"]),
        (&json!(true), &json!("security_exception"))
    );
    let searches =
        u.expect(200, "GET", "/_msearch", json!("{\"index\":\"a1\"}\n{}\n{\"index\":\"b\"}\n{}\n"));
    assert_eq!(searches["responses"][1]["status"], 403);
    let lookup = json!({"query": {"terms": {"x": {"index": "b", "id": "1", "path": "x"}}}});
    u.denied("GET", "/a1/_search", lookup, "on indices [b]");
    u.denied("POST", "/_reindex", json!({"source": {"index": "b"}, "dest": {"index": "a1"}}), "");
    // Only the user who opened a scroll may continue it.
    let page = u.expect(200, "GET", "/a1/_search?scroll=1m&size=1", Value::Null);
    let next = json!({"scroll_id": page["_scroll_id"]});
    elastic.expect(404, "POST", "/_search/scroll", next.clone());
    u.expect(200, "POST", "/_search/scroll", next);
    // The user impersonates another one.
    let who = Somebody::user(&server, "u", "secret-of-u").acting_as("other").expect(
        200,
        "GET",
        "/_security/_authenticate",
        Value::Null,
    );
    assert_eq!(who["username"], "other");
    Somebody::user(&server, "u", "secret-of-u").acting_as("elastic").denied(
        "GET",
        "/_search",
        Value::Null,
        "because user [u] is unauthorized to run as [elastic]",
    );
    // A header that names nobody is not a missing one.
    for (name, status) in [("", 401), ("\u{fc}ser", 403), ("other2", 403)] {
        let mut acting = Somebody::user(&server, "u", "secret-of-u").acting_as(name);
        acting.expect(status, "GET", "/_security/_authenticate", Value::Null);
    }
    let mut twice = Somebody::user(&server, "u", "secret-of-u").acting_as("other").acting_as("other2");
    twice.expect(400, "GET", "/_security/_authenticate", Value::Null);
    let mut same = Somebody::user(&server, "u", "secret-of-u").acting_as("other").acting_as("other");
    assert_eq!(same.expect(200, "GET", "/_security/_authenticate", Value::Null)["username"], "other");
    let mut both = Somebody::user(&server, "u", "secret-of-u");
    both.headers.push(("authorization", format!("Basic {}", STANDARD.encode("elastic:wrong"))));
    both.expect(400, "GET", "/_security/_authenticate", Value::Null);
    let asked =
        json!({"cluster": ["monitor"], "index": [{"names": ["a1", "b"], "privileges": ["read", "delete"]}]});
    let has = u.expect(200, "POST", "/_security/user/_has_privileges", asked);
    assert_eq!(
        has,
        json!({"username": "u", "has_all_requested": false, "cluster": {"monitor": false},
            "index": {"a1": {"read": true, "delete": false}, "b": {"read": false, "delete": false}}, "application": {}})
    );
}

#[test]
fn roles_hide_documents_and_fields() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    let mappings = json!({"mappings": {"properties": {
        "owner": {"type": "keyword"}, "n": {"type": "long"}, "pay": {"type": "long"}, "note": {"type": "text"}}}});
    elastic.expect(200, "PUT", "/docs", mappings);
    for (id, owner, n) in [(1, "u", 1), (2, "v", 2), (3, "u", 3)] {
        let document = json!({"owner": owner, "n": n, "pay": 100 * n, "note": format!("note of {owner}")});
        elastic.expect(201, "PUT", &format!("/docs/_doc/{id}?refresh"), document);
    }
    let role = json!({"indices": [{"names": ["docs", "copy"], "privileges": ["read", "manage", "write"],
        "field_security": {"grant": ["*"], "except": ["pay"]},
        "query": {"template": {"source": {"term": {"owner": "{{_user.username}}"}}}}}]});
    elastic.expect(200, "PUT", "/_security/role/own", role);
    elastic.expect(200, "PUT", "/_security/user/u", json!({"password": "secret-of-u", "roles": ["own"]}));
    let mut u = Somebody::user(&server, "u", "secret-of-u");
    let all = u.expect(200, "GET", "/docs/_search?sort=n", Value::Null);
    assert_eq!(all["hits"]["total"]["value"], 2);
    assert_eq!(all["hits"]["hits"][0]["_source"], json!({"owner": "u", "n": 1, "note": "note of u"}));
    assert_eq!(u.expect(200, "GET", "/docs/_count", Value::Null)["count"], 2);
    assert_eq!(
        u.expect(200, "GET", "/docs/_doc/1", Value::Null)["_source"],
        json!({"owner": "u", "n": 1, "note": "note of u"})
    );
    assert_eq!(u.expect(404, "GET", "/docs/_doc/2", Value::Null)["found"], false);
    // The document is not searchable yet, but it belongs to another user all the same.
    elastic.expect(201, "PUT", "/docs/_doc/4", json!({"owner": "v", "n": 4}));
    u.expect(404, "GET", "/docs/_doc/4", Value::Null);
    u.expect(404, "GET", "/docs/_explain/2", json!({"query": {"match_all": {}}}));
    assert_eq!(u.expect(200, "GET", "/docs/_termvectors/2", Value::Null)["found"], false);
    let aggregated = u.expect(200, "POST", "/docs/_search", json!({"size": 0, "query": {"term": {"n": 1}}, "aggs": {
        "g": {"global": {}, "aggs": {"n": {"sum": {"field": "n"}}, "pay": {"sum": {"field": "pay"}}, "o": {"terms": {"field": "owner"}}}}}}));
    assert_eq!(aggregated["aggregations"]["g"]["doc_count"], 2);
    assert_eq!(aggregated["aggregations"]["g"]["n"]["value"], 4.0);
    assert_eq!(aggregated["aggregations"]["g"]["pay"]["value"], 0.0);
    assert_eq!(aggregated["aggregations"]["g"]["o"]["buckets"], json!([{"key": "u", "doc_count": 2}]));
    for body in [
        json!({"query": {"range": {"pay": {"gte": 0}}}}),
        json!({"query": {"exists": {"field": "pay"}}}),
        json!({"query": {"query_string": {"query": "pay:100"}}}),
    ] {
        assert_eq!(
            u.expect(200, "POST", "/docs/_search", body.clone())["hits"]["total"]["value"],
            0,
            "{body}"
        );
    }
    let hits = u.expect(
        200,
        "POST",
        "/docs/_search",
        json!({"docvalue_fields": ["pay", "n"], "fields": ["*"], "_source": false}),
    );
    assert!(!hits.to_string().contains("pay"), "{hits}");
    let mapping = u.expect(200, "GET", "/docs/_mapping", Value::Null);
    assert!(
        mapping["docs"]["mappings"]["properties"]["n"].is_object() && !mapping.to_string().contains("pay"),
        "{mapping}"
    );
    assert!(!u.expect(200, "GET", "/docs/_field_caps?fields=*", Value::Null).to_string().contains("pay"));
    let terms = u.expect(200, "POST", "/docs/_terms_enum", json!({"field": "owner", "string": ""}));
    assert_eq!(terms["terms"], json!([]));
    let script =
        json!({"script_fields": {"p": {"script": "doc.containsKey('pay') ? doc['pay'].value : -1"}}});
    let scripted = u.ask("POST", "/docs/_search", script).text();
    assert!(!scripted.contains("100") && !scripted.contains("300"), "{scripted}");
    for (path, body) in [("/docs/_update/1", json!({"doc": {"n": 5}})), ("/docs/_update_by_query", json!({}))]
    {
        let refused = u.expect(400, "POST", path, body);
        assert_eq!(
            refused["error"]["reason"],
            "Can't execute an update request if field or document level security is enabled"
        );
    }
    let usage = u.expect(200, "POST", "/docs/_disk_usage?run_expensive_tasks=true", Value::Null).to_string();
    assert!(usage.contains("owner") && !usage.contains("pay"), "{usage}");
    u.expect(200, "PUT", "/docs/_settings", json!({"index.blocks.write": true}));
    assert_eq!(
        u.expect(400, "PUT", "/docs/_clone/copy", Value::Null)["error"]["reason"],
        "Resize requests are not allowed for users when field or document level security is enabled on the source index"
    );
    u.expect(200, "PUT", "/docs/_settings", json!({"index.blocks.write": null}));
    // A user without restrictions sees everything, alongside the restricted user and afterwards.
    assert_eq!(elastic.expect(200, "GET", "/docs/_count", Value::Null)["count"], 4);
    let deleted =
        u.expect(200, "POST", "/docs/_delete_by_query?refresh", json!({"query": {"match_all": {}}}));
    assert_eq!(deleted["deleted"], 2);
}

#[test]
fn api_keys_and_tokens() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let audited = [&SECURE[..], &["-E", "xpack.security.audit.enabled=true"]].concat();
    let server = ServerProcess::start(folder.path(), &audited);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    elastic.expect(201, "PUT", "/a1/_doc/1?refresh", json!({}));
    elastic.expect(201, "PUT", "/b/_doc/1?refresh", json!({}));
    let draft = json!({"name": "k", "expiration": "1d", "metadata": {"env": "test"},
        "role_descriptors": {"r": {"cluster": ["manage_own_api_key"], "indices": [{"names": ["a*"], "privileges": ["read"]}]}}});
    let made = elastic.expect(200, "POST", "/_security/api_key", draft);
    let encoded = made["encoded"].as_str().expect("text").to_owned();
    let id = made["id"].as_str().expect("text").to_owned();
    let mut key = Somebody::with(&server, "ApiKey", &encoded);
    key.expect(200, "GET", "/a1/_search", Value::Null);
    key.denied(
        "GET",
        "/b/_search",
        Value::Null,
        &format!("unauthorized for API key id [{id}] of user [elastic] on indices [b]"),
    );
    let who = key.expect(200, "GET", "/_security/_authenticate", Value::Null);
    assert_eq!((&who["authentication_type"], &who["api_key"]["name"]), (&json!("api_key"), &json!("k")));
    let own = key.expect(200, "GET", "/_security/api_key?owner=true", Value::Null);
    assert_eq!(own["api_keys"][0]["id"], id.as_str());
    let many = elastic.expect(
        200,
        "POST",
        "/_security/api_key/_bulk_update",
        json!({"ids": [id.as_str(), "nosuch"], "metadata": {"of": "many"}}),
    );
    assert_eq!((&many["updated"], &many["noops"]), (&json!([id.as_str()]), &json!([])));
    assert_eq!(many["errors"]["count"], 1);
    assert_eq!(many["errors"]["details"]["nosuch"]["type"], "resource_not_found_exception");
    key.expect(400, "POST", "/_security/api_key/_bulk_update", json!({"ids": [id.as_str()]}));
    for ids in [json!([id.as_str(), null]), json!([{"id": "x"}]), json!([["x"]]), json!(1), json!([])] {
        elastic.expect(400, "POST", "/_security/api_key/_bulk_update", json!({"ids": ids}));
    }
    elastic.expect(400, "POST", "/_security/api_key/_bulk_update", json!({"metadata": {}}));
    let numbered = elastic.expect(200, "POST", "/_security/api_key/_bulk_update", json!({"ids": [7]}));
    assert_eq!(numbered["errors"]["details"]["7"]["type"], "resource_not_found_exception");
    let path = "/_security/service/elastic/kibana/credential/token/t/_clear_cache";
    elastic.expect(200, "POST", path, Value::Null);
    key.expect(403, "GET", "/_security/api_key", Value::Null);
    key.expect(400, "POST", "/_security/api_key", json!({"name": "derived"}));
    let found = elastic.expect(
        200,
        "POST",
        "/_security/_query/api_key",
        json!({"query": {"term": {"metadata.of": "many"}}}),
    );
    assert_eq!((&found["total"], &found["api_keys"][0]["name"]), (&json!(1), &json!("k")));
    assert!(!found.to_string().contains("digest"));
    let wrong = Somebody::with(&server, "ApiKey", &STANDARD.encode(format!("{id}:nonsense"))).expect(
        401,
        "GET",
        "/",
        Value::Null,
    );
    assert_eq!(
        wrong["error"]["reason"],
        "unable to authenticate with provided credentials and anonymous access is not allowed for this request"
    );
    let changed = json!({"role_descriptors": {"r": {"indices": [{"names": ["b"], "privileges": ["read"]}]}}});
    assert_eq!(
        elastic.expect(200, "PUT", &format!("/_security/api_key/{id}"), changed),
        json!({"updated": true})
    );
    key.expect(200, "GET", "/b/_search", Value::Null);
    key.expect(403, "GET", "/a1/_search", Value::Null);
    let gone = elastic.expect(200, "DELETE", "/_security/api_key", json!({"ids": [id]}));
    assert_eq!(gone["invalidated_api_keys"], json!([id]));
    elastic.expect(200, "DELETE", "/_security/api_key", json!({"owner": "true"}));
    elastic.expect(400, "DELETE", "/_security/api_key", json!({"owner": "yes"}));
    key.expect(401, "GET", "/b/_search", Value::Null);
    let token = elastic.expect(
        200,
        "POST",
        "/_security/service/elastic/fleet-server/credential/token/t1",
        Value::Null,
    );
    let value = token["token"]["value"].as_str().expect("text").to_owned();
    let mut fleet = Somebody::with(&server, "Bearer", &value);
    let who = fleet.expect(200, "GET", "/_security/_authenticate", Value::Null);
    assert_eq!(who["username"], "elastic/fleet-server");
    fleet.expect(403, "GET", "/b/_search", Value::Null);
    assert_eq!(
        elastic.expect(
            200,
            "DELETE",
            "/_security/service/elastic/fleet-server/credential/token/t1",
            Value::Null
        )["found"],
        true
    );
    fleet.expect(401, "GET", "/", Value::Null);
    let refused = elastic.expect(400, "POST", "/_security/oauth2/token", json!({}));
    assert!(refused.to_string().contains("oauth2/token"));
    let audit = std::fs::read_to_string(folder.path().join("audit.json")).expect("there");
    for event in ["access_granted", "access_denied", "authentication_failed"] {
        assert!(audit.contains(event), "{event}");
    }
    assert!(!audit.contains(&password) && !audit.contains(&encoded) && !audit.contains(&value));
}

#[test]
fn anonymous_requests_and_start_refusals() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let settings = [&SECURE[..], &["-E", "xpack.security.authc.anonymous.roles=monitoring_user"]].concat();
    let server = ServerProcess::start(folder.path(), &settings);
    let who =
        server.client().try_send("GET", "/_security/_authenticate", &[], b"").expect("an answer").json();
    assert_eq!((&who["username"], &who["authentication_type"]), (&json!("_anonymous"), &json!("anonymous")));
    assert_eq!(server.client().try_send("GET", "/", &[], b"").expect("an answer").status, 200);
    assert_eq!(server.client().try_send("GET", "/nothing/_search", &[], b"").expect("an answer").status, 403);
    Somebody::user(&server, "elastic", &password).expect(200, "GET", "/_search", Value::Null);
    drop(server);
    let refused = |arguments: &[&str], part: &str| {
        let output = Command::new(program())
            .args(["serve", "--memory-limit", "256mb", "--data"])
            .arg(folder.path())
            .args(arguments)
            .output()
            .expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{error} lacks {part}");
    };
    refused(&["--http", "0.0.0.0:0"], "refusing to listen");
    refused(&["--http", "0.0.0.0:0", "-E", "xpack.security.enabled=true"], "TLS is off");
    let tls = [
        "-E",
        "http.ssl.enabled=true",
        "-E",
        "http.ssl.certificate=/no/such.crt",
        "-E",
        "http.ssl.key=/no/such.key",
    ];
    refused(&[&["--http", "127.0.0.1:0"], &tls[..]].concat(), "[http.ssl.certificate] /no/such.crt");
}

#[test]
fn roles_in_one_request_and_questions_for_roles_and_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    let readers = json!({"indices": [{"names": ["a"], "privileges": ["read"]}], "description": "reads", "metadata": {"team": "one"}});
    let roles = json!({"roles": {"reader": readers, "writer": {"cluster": ["monitor"]}, "bad": {"cluster": ["nothing_like_it"]}, "superuser": {}}});
    let put = elastic.expect(200, "POST", "/_security/role", roles);
    assert_eq!(put["created"], json!(["reader", "writer"]));
    assert_eq!(put["errors"]["count"], 2, "{put}");
    assert_eq!(put["errors"]["details"]["bad"]["type"], "action_request_validation_exception", "{put}");
    let again = json!({"roles": {"reader": readers, "writer": {"cluster": ["all"]}}});
    let put = elastic.expect(200, "POST", "/_security/role", again);
    assert_eq!(put, json!({"noop": ["reader"], "updated": ["writer"]}));
    elastic.expect(400, "POST", "/_security/role", json!({"roles": {}}));
    let query = json!({"query": {"term": {"metadata.team": "one"}}});
    let found = elastic.expect(200, "POST", "/_security/_query/role", query);
    assert_eq!((&found["total"], &found["roles"][0]["name"]), (&json!(1), &json!("reader")), "{found}");
    let sorted = json!({"sort": [{"name": {"order": "desc"}}], "size": 1});
    let found = elastic.expect(200, "POST", "/_security/_query/role", sorted);
    assert_eq!((&found["total"], &found["roles"][0]["name"]), (&json!(2), &json!("writer")), "{found}");
    elastic.expect(400, "POST", "/_security/_query/role", json!({"query": {"term": {"cluster": "all"}}}));
    for name in ["ada", "bob"] {
        let user =
            json!({"password": "secret-of-all", "roles": ["reader", name], "email": format!("{name}@x.org")});
        elastic.expect(200, "PUT", &format!("/_security/user/{name}"), user);
    }
    let query =
        json!({"query": {"bool": {"filter": [{"term": {"roles": "reader"}}, {"prefix": {"email": "bo"}}]}}});
    // There are no profiles, so no user has the id of one.
    let found = elastic.expect(200, "GET", "/_security/_query/user?with_profile_uid=true", query);
    assert_eq!((&found["total"], &found["users"][0]["username"]), (&json!(1), &json!("bob")), "{found}");
    assert!(found["users"][0]["profile_uid"].is_null(), "{found}");
    let privileges = elastic.expect(200, "GET", "/_security/privilege/_builtin", Value::Null);
    assert_eq!(privileges["remote_cluster"], json!([]));
    let usage = elastic.expect(200, "GET", "/_xpack/usage", Value::Null);
    assert_eq!(usage["security"]["enabled"], true, "{usage}");
    assert_eq!(usage["security"]["ssl"]["http"]["enabled"], false, "{usage}");
    assert_eq!(usage["security"]["roles"]["native"]["size"], 2);
    let deleted = json!({"names": ["reader", "nobody", "superuser"]});
    let deleted = elastic.expect(200, "DELETE", "/_security/role", deleted);
    assert_eq!((&deleted["deleted"], &deleted["not_found"]), (&json!(["reader"]), &json!(["nobody"])));
    assert_eq!(deleted["errors"]["count"], 1);
    Somebody::user(&server, "ada", "secret-of-all").expect(403, "GET", "/_security/_query/user", Value::Null);
}

/// `set_security_user` writes who indexes a document.
#[test]
fn pipelines_name_the_user_who_indexes() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    let writes =
        json!({"cluster": ["manage_own_api_key"], "indices": [{"names": ["i"], "privileges": ["all"]}]});
    elastic.expect(200, "PUT", "/_security/role/writes", writes);
    let user = json!({"password": "a-long-password", "roles": ["writes"], "full_name": "A B", "metadata": {"team": 1}});
    elastic.expect(200, "PUT", "/_security/user/writer", user);
    let pipeline = json!({"processors": [{"set_security_user": {"field": "user"}}]});
    elastic.expect(200, "PUT", "/_ingest/pipeline/whose", pipeline);
    let some =
        json!({"processors": [{"set_security_user": {"field": "u", "properties": ["username", "REALM"]}}]});
    elastic.expect(200, "PUT", "/_ingest/pipeline/some", some);
    let mut writer = Somebody::user(&server, "writer", "a-long-password");
    writer.expect(201, "PUT", "/i/_doc/1?pipeline=whose", json!({"user": "gone"}));
    let by_user = writer.expect(200, "GET", "/i/_source/1", Value::Null);
    let realm = json!({"name": "default_native", "type": "native"});
    let expected = json!({"username": "writer", "full_name": "A B", "roles": ["writes"], "metadata": {"team": 1},
        "realm": realm, "authentication_type": "REALM"});
    assert_eq!(by_user, json!({"user": expected}));
    writer.expect(201, "PUT", "/i/_doc/2?pipeline=some", json!({"u": {"kept": true}}));
    let some = writer.expect(200, "GET", "/i/_source/2", Value::Null);
    assert_eq!(some, json!({"u": {"kept": true, "username": "writer", "realm": realm}}));
    let key = writer.expect(200, "POST", "/_security/api_key", json!({"name": "k"}));
    let mut keyed = Somebody::with(&server, "ApiKey", key["encoded"].as_str().expect("a key"));
    keyed.expect(201, "PUT", "/i/_doc/3?pipeline=whose", json!({}));
    let by_key = keyed.expect(200, "GET", "/i/_source/3", Value::Null);
    assert_eq!(by_key["user"]["api_key"], json!({"name": "k", "id": key["id"]}));
    assert_eq!(by_key["user"]["authentication_type"], "API_KEY");
    assert_eq!(by_key["user"]["username"], "writer");
}

#[test]
fn the_first_password_is_in_a_file_that_only_its_owner_reads() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let (data, secrets) = (folder.path().join("data"), folder.path().join("secrets.yml"));
    std::fs::write(&secrets, "bootstrap.password: the first one\n").expect("written");
    let allow = |mode: u32| {
        std::fs::set_permissions(&secrets, std::fs::Permissions::from_mode(mode)).expect("changed");
    };
    let setting = format!("path.secrets={}", secrets.display());
    let arguments = [SECURE[0], SECURE[1], "-E", &setting];
    allow(0o644);
    let refused = Command::new(program())
        .args(["serve", "--http", "127.0.0.1:0", "--data"])
        .arg(&data)
        .args(arguments)
        .output();
    let refused = refused.expect("it runs");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod 600"));
    allow(0o600);
    let server = ServerProcess::start(&data, &arguments);
    let mut elastic = Somebody::user(&server, "elastic", "the first one");
    elastic.expect(200, "GET", "/_security/_authenticate", Value::Null);
    let reload =
        |elastic: &mut Somebody| elastic.expect(200, "POST", "/_nodes/reload_secure_settings", Value::Null);
    assert!(!reload(&mut elastic).to_string().contains("reload_exception"));
    elastic.expect(200, "PUT", "/_security/user/elastic/_password", json!({"password": "the second one"}));
    // A file that has become readable for others is not read again, and says so.
    allow(0o644);
    let mut elastic = Somebody::user(&server, "elastic", "the second one");
    assert!(reload(&mut elastic).to_string().contains("chmod 600"));
    allow(0o600);
    drop(server);
    let server = ServerProcess::start(&data, &arguments);
    assert_eq!(Somebody::user(&server, "elastic", "the first one").ask("GET", "/", Value::Null).status, 401);
    Somebody::user(&server, "elastic", "the second one").expect(200, "GET", "/", Value::Null);
}

/// A key with the right to manage its own keys is not its owner, and a key that is updated has what its owner
/// is now.
#[test]
fn keys_own_only_themselves() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    let by_team = json!({"template": {"source": {"term": {"team": "{{_user.metadata.team}}"}}}});
    let role = json!({"cluster": ["manage_own_api_key", "grant_api_key"],
        "indices": [{"names": ["docs"], "privileges": ["read"], "query": by_team}], "run_as": ["gone"]});
    elastic.expect(200, "PUT", "/_security/role/own", role);
    let user = |team: &str| json!({"password": "secret-of-u", "roles": ["own"], "metadata": {"team": team}});
    elastic.expect(200, "PUT", "/_security/user/u", user("red"));
    elastic.expect(
        200,
        "PUT",
        "/_security/user/gone",
        json!({"password": "secret-of-u", "roles": ["superuser"]}),
    );
    elastic.expect(200, "PUT", "/_security/user/gone/_disable", Value::Null);
    for team in ["red", "blue"] {
        elastic.expect(201, "PUT", &format!("/docs/_doc/{team}?refresh"), json!({"team": team}));
    }
    let mut u = Somebody::user(&server, "u", "secret-of-u");
    let made = u.expect(200, "POST", "/_security/api_key", json!({"name": "one"}));
    let other = u.expect(200, "POST", "/_security/api_key", json!({"name": "other"}));
    let mut key = Somebody::with(&server, "ApiKey", made["encoded"].as_str().expect("text"));
    for query in
        ["username=u", "username=u&realm_name=default_native", "name=o*", "realm_name=default_native"]
    {
        key.denied("GET", &format!("/_security/api_key?{query}"), Value::Null, "api_key/get");
    }
    for body in [json!({"username": "u"}), json!({"username": "u", "realm_name": "default_native"})] {
        key.denied("DELETE", "/_security/api_key", body, "api_key/invalidate");
    }
    key.denied("DELETE", "/_security/api_key", json!({"ids": [other["id"]]}), "api_key/invalidate");
    let own = key.expect(200, "DELETE", "/_security/api_key", json!({"owner": true, "ids": [other["id"]]}));
    assert_eq!(own["invalidated_api_keys"], json!([]));
    let owned = u.expect(200, "GET", "/_security/api_key?username=u&realm_name=default_native", Value::Null);
    assert_eq!(owned["api_keys"].as_array().map(Vec::len), Some(2), "{owned}");
    // Nobody acts as a user who is disabled, nor for a key.
    let grant = json!({"grant_type": "password", "username": "u", "password": "secret-of-u", "run_as": "gone", "api_key": {"name": "k"}});
    u.expect(400, "POST", "/_security/api_key/grant", grant);
    let seen = key.expect(200, "GET", "/docs/_search", Value::Null);
    assert_eq!(seen["hits"]["hits"][0]["_id"], "red", "{seen}");
    elastic.expect(200, "PUT", "/_security/user/u", user("blue"));
    let id = made["id"].as_str().expect("text");
    let updated = u.expect(200, "PUT", &format!("/_security/api_key/{id}"), Value::Null);
    assert_eq!(updated, json!({"updated": true}));
    let seen = key.expect(200, "GET", "/docs/_search", Value::Null);
    assert_eq!(
        (&seen["hits"]["total"]["value"], &seen["hits"]["hits"][0]["_id"]),
        (&json!(1), &json!("blue"))
    );
}

/// A data stream gets new fields from those who may configure it automatically, an index from everybody who
/// writes.
#[test]
fn who_only_adds_documents_adds_no_fields_to_a_data_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = password_of_elastic(folder.path());
    let server = ServerProcess::start(folder.path(), &SECURE);
    let mut elastic = Somebody::user(&server, "elastic", &password);
    elastic.expect(
        200,
        "PUT",
        "/_index_template/t",
        json!({"index_patterns": ["events"], "data_stream": {}}),
    );
    elastic.expect(201, "POST", "/events/_doc", json!({"@timestamp": 1, "known": 1}));
    elastic.expect(200, "PUT", "/plain", Value::Null);
    let role =
        |privileges: Value| json!({"indices": [{"names": ["events", "plain"], "privileges": privileges}]});
    elastic.expect(200, "PUT", "/_security/role/adds", role(json!(["create_doc"])));
    elastic.expect(200, "PUT", "/_security/user/u", json!({"password": "secret-of-u", "roles": ["adds"]}));
    let mut u = Somebody::user(&server, "u", "secret-of-u");
    u.expect(201, "POST", "/events/_doc", json!({"@timestamp": 2, "known": 2}));
    u.expect(201, "POST", "/plain/_doc", json!({"new": 1}));
    let new = || json!({"@timestamp": 3, "new": 1});
    u.denied("POST", "/events/_doc", new(), "action [indices:admin/mapping/auto_put] is unauthorized");
    let lines = "{\"create\":{}}\n{\"@timestamp\":4,\"new\":1}\n{\"create\":{}}\n{\"@timestamp\":4}\n";
    let bulk = u.expect(200, "POST", "/events/_bulk", json!(lines));
    let status = |number: usize| bulk["items"][number]["create"]["status"].clone();
    assert_eq!((status(0), status(1)), (json!(403), json!(201)), "{bulk}");
    elastic.expect(200, "PUT", "/_security/role/adds", role(json!(["create_doc", "auto_configure"])));
    u.expect(201, "POST", "/events/_doc", new());
}
