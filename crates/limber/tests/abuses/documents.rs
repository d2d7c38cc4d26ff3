//! Documents that are too deep, too wide, malformed or strange.

use serde_json::json;

use super::{Victim, list, nested};

const DEEP: usize = 100_000;

#[test]
fn depth_and_width() {
    let mut victim = Victim::start();
    victim.bad("PUT", "/i/_doc/1", nested("{\"a\":", "1", "}", DEEP));
    victim.bad("PUT", "/i/_doc/1", format!("{{\"a\":{}}}", nested("[", "1", "]", DEEP)));
    victim.bad("PUT", "/i/_doc/1", format!("{{\"a\":{}", "[".repeat(DEEP)));
    victim.bad("PUT", "/i/_doc/1", format!("{{\"{}\":1}}", vec!["a"; DEEP].join(".")));
    let keys = format!("{{{}}}", list(100_000, |n| format!("\"k{n}\":{n}")));
    victim.bad("PUT", "/i/_doc/1", &keys);
    victim.ok("PUT", "/disabled", json!({"mappings": {"enabled": false}}).to_string());
    victim.ok("PUT", "/disabled/_doc/1", &keys);
    victim.bad("PUT", "/disabled/_doc/1", format!("{{\"a\":{}}}", nested("[", "1", "]", DEEP)));
    victim.bad(
        "PUT",
        "/m",
        format!("{{\"mappings\":{}}}", nested("{\"properties\":{\"a\":", "{\"type\":\"long\"}", "}}", DEEP)),
    );
    victim.bad(
        "PUT",
        "/m",
        format!("{{\"mappings\":{}}}", nested("{\"properties\":{\"a\":", "{\"type\":\"long\"}", "}}", 40)),
    );
    victim.bad("PUT", "/s", format!("{{\"settings\":{}}}", nested("{\"a\":", "1", "}", 100)));
}

/// The copies that a script makes of each document are written in parts: a whole batch of them would be 200
/// times the limit.
#[test]
fn copies_that_grow() {
    let mut victim = Victim::with_documents(300);
    let grows = "for (int i = 0; i < 16; i++) { ctx._source.t += ctx._source.t } ctx._source.t = ctx._source.t.length()";
    let request = json!({"source": {"index": "i", "size": 300}, "dest": {"index": "copy"}, "script": {"source": grows}});
    assert_eq!(victim.ok("POST", "/_reindex?refresh=true", request.to_string())["created"], 300);
    let keeps = "for (int i = 0; i < 17; i++) { ctx._source.k += ctx._source.k }";
    let mapping = json!({"mappings": {"enabled": false}});
    victim.ok("PUT", "/large", mapping.to_string());
    let request = json!({"source": {"index": "i", "size": 300}, "max_docs": 60, "dest": {"index": "large"}, "script": {"source": keeps}});
    victim.send("POST", "/_reindex", request.to_string());
}

#[test]
fn malformed_values() {
    let mut victim = Victim::start();
    victim.ok(
        "PUT",
        "/i",
        json!({"mappings": {"properties": {"n": {"type": "long"}, "f": {"type": "double"}}}}).to_string(),
    );
    let digits = "9".repeat(100_000);
    for bad in [
        r#"{"n":1e400}"#,
        r#"{"n":NaN}"#,
        r#"{"n":"NaN"}"#,
        r#"{"f":Infinity}"#,
        r#"{"f":"Infinity"}"#,
        r#"{"n":99999999999999999999}"#,
        r#"{"n":1e99999999999999999999}"#,
        &format!("{{\"n\":{digits}}}"),
        r#"{"a":1,"a":2}"#,
        r#"{"":1}"#,
        r#"{".":1}"#,
        r#"{"a..b":1}"#,
        r#"{"a":1}{}"#,
        r#"{"a":1} x"#,
        "null",
        "[]",
        "7",
        "",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":\"",
        r#"{"a":"\u12"}"#,
        "{\"a\":\"\u{0}\"}",
    ] {
        victim.bad("PUT", "/i/_doc/1", bad);
    }
    victim.bad("PUT", "/i/_doc/1", b"{\"a\":\"\xff\xfe\"}");
    victim.bad("PUT", "/i/_doc/1", b"\xef\xbf{\"a\":1}");
    // Accepted and returned unchanged, or refused.
    for fine in [r#"{"lone":"\ud800"}"#, r#"{"nul\u0000":"\u0000"}"#, r#"{"f":1e-99999999999}"#] {
        let status = victim.send("PUT", "/i/_doc/1", fine).status;
        assert!(matches!(status, 200 | 201 | 400), "{fine}: {status}");
        victim.ok_bytes("GET", "/i/_doc/1");
    }
}

#[test]
fn long_terms_and_ids() {
    let mut victim = Victim::start();
    victim.ok(
        "PUT",
        "/i",
        json!({"mappings": {"properties": {"k": {"type": "keyword"}, "t": {"type": "text"}}}}).to_string(),
    );
    victim.ok("PUT", "/i/_doc/1", json!({"k": "x".repeat(32_766)}).to_string());
    victim.bad("PUT", "/i/_doc/1", json!({"k": "x".repeat(32_767)}).to_string());
    victim.ok("PUT", "/i/_doc/2", json!({"t": "x".repeat(1_000_000)}).to_string());
    let (longest, too_long) = ("x".repeat(512), "x".repeat(513));
    victim.ok("PUT", &format!("/i/_doc/{longest}"), "{}");
    victim.bad("PUT", &format!("/i/_doc/{too_long}"), "{}");
    victim.bad("DELETE", &format!("/i/_doc/{too_long}"), "");
    victim.bad("POST", &format!("/i/_update/{too_long}"), r#"{"doc":{}}"#);
    let lines =
        format!("{{\"index\":{{\"_id\":\"{too_long}\"}}}}\n{{}}\n{{\"index\":{{\"_id\":\"\"}}}}\n{{}}\n");
    // As in Elasticsearch, ids that no index could take refuse the whole request.
    victim.bad("POST", "/i/_bulk", lines);
}
