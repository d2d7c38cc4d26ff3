//! Requests and responses in CBOR and SMILE, over HTTP.

mod support;

use serde_json::{Value, json};
use support::{Answer, Client, ServerProcess};

/// Sends a body of `content_type`, and asks for the response in `accept`.
fn send(client: &mut Client, request: (&str, &str), content_type: &str, accept: &str, body: &[u8]) -> Answer {
    let headers = [("content-type", content_type), ("accept", accept)];
    client.try_send(request.0, request.1, &headers, body).expect("a response")
}

fn smile(value: &Value) -> Vec<u8> {
    serde_smile::to_vec(value).expect("a value")
}

/// Each value followed by the separator of a stream.
fn stream(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| [smile(value), vec![0xff]].concat()).collect()
}

#[test]
fn smile_streams_documents_and_responses() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    let bulk = [
        json!({"index": {"_id": "1"}}),
        json!({"a": [1, 2], "b": 0.5, "t": "x"}),
        json!({"delete": {"_id": "2"}}),
    ];
    let answer = send(
        &mut client,
        ("POST", "/i/_bulk?refresh"),
        "application/smile",
        "application/json",
        &stream(&bulk),
    );
    assert_eq!((answer.status, &answer.json()["errors"]), (200, &json!(false)), "{}", answer.text());
    let answer = send(&mut client, ("GET", "/i/_source/1"), "application/json", "application/smile", b"");
    assert_eq!(answer.header("content-type"), Some("application/smile"));
    assert_eq!(serde_smile::from_slice::<Value>(&answer.body).expect("smile"), bulk[1]);

    // A search in SMILE is answered in SMILE, and so is a list of searches.
    let search = json!({"query": {"term": {"a": 1}}, "_source": false});
    let answer = send(&mut client, ("POST", "/i/_search"), "application/smile", "*/*", &smile(&search));
    let found: Value = serde_smile::from_slice(&answer.body).expect("smile");
    assert_eq!(found["hits"]["total"]["value"], 1);
    let searches = stream(&[json!({}), search]);
    let answer =
        send(&mut client, ("POST", "/i/_msearch"), "application/smile", "application/json", &searches);
    assert_eq!(answer.json()["responses"][0]["hits"]["total"]["value"], 1, "{}", answer.text());
    let answer =
        send(&mut client, ("GET", "/_cat/indices?format=smile&h=index"), "application/json", "*/*", b"");
    assert_eq!(serde_smile::from_slice::<Value>(&answer.body).expect("smile"), json!([{"index": "i"}]));

    let answer =
        send(&mut client, ("POST", "/i/_bulk"), "application/smile", "application/json", b":)\n\x01\xfa\xff");
    assert_eq!(answer.status, 400, "{}", answer.text());
    let unended = smile(&json!({"index": {}}));
    let answer = send(&mut client, ("POST", "/i/_bulk"), "application/smile", "application/json", &unended);
    assert_eq!(answer.status, 400, "{}", answer.text());
}

#[test]
fn cbor_has_bytes_but_no_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::start(folder.path(), &[]);
    let mut client = server.client();
    client.expect(200, "PUT", "/i", json!({"mappings": {"properties": {"b": {"type": "binary"}}}}));
    // {"b": h'0102'}
    let answer = send(
        &mut client,
        ("PUT", "/i/_doc/1"),
        "application/cbor",
        "application/json",
        b"\xa1\x61b\x42\x01\x02",
    );
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(client.expect(200, "GET", "/i/_source/1", Value::Null), json!({"b": "AQI="}));
    for format in ["cbor", "yaml"] {
        let content_type = format!("application/{format}");
        let answer = send(&mut client, ("POST", "/i/_bulk"), &content_type, "application/json", b"\xa0");
        let name = format.to_uppercase();
        let reason =
            format!("Content-Type [{name}] does not support stream parsing. Use JSON or SMILE instead");
        assert_eq!((answer.status, answer.json()), (406, json!({"error": reason, "status": 406})));
    }
}
