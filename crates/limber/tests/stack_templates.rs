//! An empty node has Elasticsearch's templates, and changes to them persist.

mod support;

use serde_json::Value;
use support::{Client, ServerProcess};

fn ask(client: &mut Client, method: &str, path: &str, body: &str) -> (u16, Value) {
    let answer = client.send(method, path, body);
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
}

#[test]
fn logs_are_data_streams_from_the_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = Client::connect(server.address);
    let (status, shown) = ask(&mut client, "GET", "/_index_template/logs", "");
    assert_eq!(status, 200, "{shown}");
    let template = &shown["index_templates"][0]["index_template"];
    assert_eq!(template["priority"], 100);
    assert_eq!(
        template["composed_of"],
        serde_json::json!(["logs@mappings", "logs@settings", "logs@custom", "ecs@mappings"])
    );
    for name in
        ["ecs@mappings", "data-streams@mappings", "logs@settings", "metrics@mappings", "synthetics@settings"]
    {
        assert_eq!(ask(&mut client, "GET", &format!("/_component_template/{name}"), "").0, 200, "{name}");
    }
    let document =
        r#"{"message": "x", "source": {"ip": "1.2.3.4"}, "user": {"name": "a"}, "host": {"id": "b"}}"#;
    let (status, made) = ask(&mut client, "POST", "/logs-app-default/_doc?refresh", document);
    assert_eq!(status, 201, "{made}");
    let (_, mapping) = ask(&mut client, "GET", "/logs-app-default/_mapping", "");
    let index = mapping.as_object().and_then(|all| all.values().next()).expect("an index");
    let properties = &index["mappings"]["properties"];
    assert_eq!(properties["@timestamp"]["type"], "date", "{properties}");
    assert_eq!(properties["message"]["type"], "match_only_text");
    assert_eq!(properties["source"]["properties"]["ip"]["type"], "ip");
    assert_eq!(properties["user"]["properties"]["name"]["type"], "keyword");
    assert_eq!(properties["host"]["properties"]["id"]["type"], "keyword");
    assert_eq!(ask(&mut client, "PUT", "/logs-app-x", "").0, 400, "an index of that name is refused");
    assert_eq!(ask(&mut client, "DELETE", "/_index_template/synthetics", "").0, 200);
    drop((client, server));
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = Client::connect(server.address);
    assert_eq!(ask(&mut client, "GET", "/_index_template/synthetics", "").0, 404);
    assert_eq!(ask(&mut client, "GET", "/_index_template/metrics", "").0, 200);
}

#[test]
fn they_can_be_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &["-E", "stack.templates.enabled=false"]);
    let mut client = Client::connect(server.address);
    assert_eq!(ask(&mut client, "GET", "/_index_template/logs", "").0, 404);
}
