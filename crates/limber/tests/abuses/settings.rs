//! Settings with absurd values.

use serde_json::{Value, json};

use super::{Victim, check_refusal, list};

#[test]
fn of_an_index() {
    let mut victim = Victim::start();
    for (name, value) in [
        ("number_of_shards", json!(0)),
        ("number_of_shards", json!(-1)),
        ("number_of_shards", json!(1_000_000_000)),
        ("number_of_shards", json!("x")),
        ("number_of_shards", json!([1])),
        ("number_of_replicas", json!(-1)),
        ("number_of_replicas", json!(1e30)),
        ("refresh_interval", json!(-5)),
        ("refresh_interval", json!("99999999999999d")),
        ("refresh_interval", json!("")),
        ("max_result_window", json!(0)),
        ("max_result_window", json!(2_147_483_648u64)),
        ("mapping.total_fields.limit", json!(-1)),
        ("mapping.depth.limit", json!(0)),
        ("translog.flush_threshold_size", json!("99999999999pb")),
        ("translog.durability", json!("x")),
        ("number_of_routing_shards", json!(0)),
        ("codec", json!("zzz")),
        ("uuid", json!("../x")),
        ("no_such", json!(1)),
    ] {
        victim.bad("PUT", "/s", json!({"settings": {name: value}}).to_string());
    }
    victim.bad("PUT", "/s", format!("{{\"settings\":{{{}}}}}", list(50_000, |n| format!("\"x{n}\":1"))));
    // Even with the limits raised out of the way, requests are bounded.
    victim.ok("PUT", "/s", json!({"settings": {"max_result_window": i32::MAX, "mapping.depth.limit": 1_000_000, "mapping.total_fields.limit": i32::MAX}}).to_string());
    victim.ok("PUT", "/s/_doc/1?refresh=true", r#"{"n":1}"#);
    victim.ok("POST", "/s/_search", json!({"size": i32::MAX, "sort": ["n"]}).to_string());
    victim.bad("PUT", "/s/_doc/2", super::nested("{\"a\":", "1", "}", 900));
}

/// A breaker limit that is too low must not prevent its own correction.
#[test]
fn of_the_breakers() {
    let mut victim = Victim::start();
    let key = "network.breaker.inflight_requests.limit";
    let set = |value: Value| json!({"persistent": {key: value}}).to_string();
    victim.ok("PUT", "/_cluster/settings", set(json!("1b")));
    assert_eq!(victim.refused(&[429], "PUT", "/i/_doc/1", "{\"a\":1}"), "circuit_breaking_exception");
    victim.ok("PUT", "/_cluster/settings", set(Value::Null));
    victim.ok("PUT", "/i/_doc/1", "{\"a\":1}");
    for (name, value) in [
        ("search.max_buckets", json!(-1)),
        ("cluster.max_shards_per_node", json!(0)),
        ("indices.breaker.request.limit", json!("-5%")),
    ] {
        victim.bad("PUT", "/_cluster/settings", json!({"persistent": {name: value}}).to_string());
    }
}

/// What the cluster's settings take is charged like everything else: the values of a body, and what stays
/// until it is reset.
#[test]
fn of_the_cluster() {
    let mut victim = Victim::start();
    let key = "cluster.routing.allocation.awareness.force.zone.values";
    let list = format!("{{\"transient\":{{\"{key}\":[{}0]}}}}", "0,".repeat(4 << 20));
    assert_eq!(victim.refused(&[429], "PUT", "/_cluster/settings", list), "circuit_breaking_exception");
    let (values, aliases) = (vec!["1"; 100_000].join(","), vec!["*a"; 95].join(","));
    let yaml = format!("a: &a [{values}]\nb: [{aliases}]\n");
    let headers = [("content-type", "application/yaml"), ("accept", "application/json")];
    let answer = victim.send_with("PUT", "/_cluster/settings", &headers, yaml);
    check_refusal(&answer, &[400, 429], "aliases");
    let text = "x".repeat(8 << 20);
    let is_refused = (0..30).any(|n| {
        let name = format!("cluster.metadata.a{n}");
        victim.send("PUT", "/_cluster/settings", json!({"transient": {name: text}}).to_string()).status == 429
    });
    assert!(is_refused, "transient settings are charged");
    victim.ok("PUT", "/_cluster/settings", json!({"transient": {"cluster.metadata.*": null}}).to_string());
}
