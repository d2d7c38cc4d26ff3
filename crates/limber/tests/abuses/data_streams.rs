//! Data streams, rollovers and lifecycles with absurd names, bodies and numbers.

use serde_json::json;

use super::{Victim, list, nested};

#[test]
fn of_streams_and_rollovers() {
    let mut victim = Victim::start();
    let template = |data_stream| json!({"index_patterns": ["s*"], "data_stream": data_stream, "template": {"settings": {"number_of_replicas": 0}}});
    for options in [json!([]), json!(1), json!({"hidden": 5}), json!({"hidden": {}}), json!({"x": 1})] {
        victim.bad("PUT", "/_index_template/s", template(options).to_string());
    }
    victim.ok("PUT", "/_index_template/s", template(json!({})).to_string());
    for name in ["S", "-s", "_s", "s%20s", "s%2A", ".ds-s", "s%23", "s%3Ac", &"s".repeat(300)] {
        victim.bad("PUT", &format!("/_data_stream/{name}"), "");
    }
    victim.ok("PUT", "/_data_stream/s", "");
    for conditions in [
        json!([]),
        json!({"max_docs": -1}),
        json!({"max_docs": 1e30}),
        json!({"max_docs": "x"}),
        json!({"max_age": 5}),
        json!({"max_age": "99999999999999999d"}),
        json!({"max_size": "1e400pb"}),
        json!({"max_size": {}}),
        json!({"min_docs": 1}),
    ] {
        victim.bad("POST", "/s/_rollover", json!({"conditions": conditions}).to_string());
    }
    victim.bad("POST", "/s/_rollover", nested("{\"conditions\":", "1", "}", 400));
    victim.bad("POST", "/s/_rollover?lazy=true", json!({"conditions": {"max_docs": 1}}).to_string());
    for actions in [
        json!([]),
        json!([1]),
        json!([{}]),
        json!([{"add_backing_index": []}]),
        json!([{"add_backing_index": {"index": 1, "data_stream": "s"}}]),
    ] {
        victim.bad("POST", "/_data_stream/_modify", json!({"actions": actions}).to_string());
    }
    let many =
        list(2_000, |n| format!("{{\"add_backing_index\":{{\"data_stream\":\"s\",\"index\":\"i{n}\"}}}}"));
    victim.bad("POST", "/_data_stream/_modify", format!("{{\"actions\":[{many}]}}"));
    // Rolls over until the shard limit is reached.
    victim.ok(
        "PUT",
        "/_cluster/settings",
        json!({"transient": {"cluster.max_shards_per_node": 5}}).to_string(),
    );
    for _ in 0..4 {
        victim.ok("POST", "/s/_rollover", "");
    }
    victim.bad("POST", "/s/_rollover", "");
    victim.ok("DELETE", "/_data_stream/s", "");
}

#[test]
fn of_lifecycles() {
    let mut victim = Victim::start();
    let rollover = |conditions| json!({"hot": {"actions": {"rollover": conditions}}});
    for phases in [
        json!([]),
        json!({"x": {}}),
        json!({"hot": []}),
        json!({"hot": {"min_age": "-5d"}}),
        json!({"hot": {"min_age": {}}}),
        json!({"hot": {"actions": []}}),
        json!({"hot": {"actions": {"x": {}}}}),
        json!({"hot": {"actions": {"set_priority": {"priority": -1}}}}),
        json!({"hot": {"actions": {"set_priority": {"priority": 1e30}}}}),
        rollover(json!({})),
        rollover(json!({"max_docs": {}})),
        json!({"warm": {"actions": {"forcemerge": {"max_num_segments": 0}}}}),
        json!({"warm": {"actions": {"allocate": {}}}}),
        json!({"warm": {"actions": {"allocate": {"number_of_replicas": "x"}}}}),
        json!({"delete": {"actions": {"delete": {"delete_searchable_snapshot": 5}}}}),
    ] {
        victim.bad("PUT", "/_ilm/policy/p", json!({"policy": {"phases": phases}}).to_string());
    }
    victim.bad("PUT", "/_ilm/policy/p", nested("{\"policy\":", "1", "}", 400));
    victim.bad(
        "PUT",
        &format!("/_ilm/policy/{}", "p".repeat(300)),
        json!({"policy": {"phases": {}}}).to_string(),
    );
    for lifecycle in [
        json!([]),
        json!({"x": 1}),
        json!({"enabled": "maybe"}),
        json!({"data_retention": 5}),
        json!({"data_retention": "-1"}),
    ] {
        victim.bad("PUT", "/_data_stream/*/_lifecycle", lifecycle.to_string());
    }
    for setting in ["", "max_docs", "x=1", "max_docs=x", "min_docs=1"] {
        let body = json!({"transient": {"cluster.lifecycle.default.rollover": setting}});
        victim.bad("PUT", "/_cluster/settings", body.to_string());
    }
}
