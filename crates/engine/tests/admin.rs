//! Tests indices, aliases, templates, settings, scrolls and upkeep on a whole node.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::*;
use limber_engine::environment::ManualClock;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_search::{SearchRequest, UrlParameters};
use limber_store::CrashDisk;
use serde_json::{Value, json};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("tempdir")
}

fn names(node: &Node, expression: &str) -> String {
    let found = node.resolve(expression, IndicesOptions::METADATA_OPEN_CLOSED).expect("resolves");
    found.iter().map(|index| index.name.to_string()).collect::<Vec<_>>().join(",")
}

fn refused(error: RequestErrorOf, class: ErrorClass, kind: &str, reason: &str) {
    assert_eq!((error.class, error.kind, error.reason.as_str()), (class, kind, reason));
}

type RequestErrorOf = limber_mapping::RequestError;

#[test]
fn indices_come_and_go_and_survive_restarts() {
    let folder = folder();
    let node = open(folder.path());
    let body = json!({
        "settings": {"index": {"number_of_shards": 2, "refresh_interval": "-1"}, "number_of_replicas": 0},
        "mappings": {"dynamic": "strict", "properties": {"a": {"type": "keyword"}}},
        "aliases": {"al": {"routing": "r"}},
    });
    node.create_index("one", &body).expect("created");
    node.create_index("two", &json!({})).expect("created");
    let error = node.create_index("one", &json!({})).expect_err("exists");
    assert!(error.reason.starts_with("index [one/") && error.kind == "resource_already_exists_exception");
    refused(
        node.create_index("al", &json!({})).expect_err("alias"),
        ErrorClass::BadRequest,
        "invalid_index_name_exception",
        "Invalid index name [al], already exists as alias",
    );
    refused(
        node.create_index("x", &json!({"setings": {}})).expect_err("key"),
        ErrorClass::BadRequest,
        "parse_exception",
        "unknown key [setings] for create index",
    );
    let info = &node.get_index("one", IndicesOptions::METADATA).expect("there")[0];
    assert_eq!(info.settings["index.number_of_shards"], "2");
    assert_eq!(info.settings["index.provided_name"], "one");
    assert_eq!(info.settings["index.version.created"], "8505000");
    assert_eq!(info.mappings, json!({"dynamic": "strict", "properties": {"a": {"type": "keyword"}}}));
    assert_eq!(
        Value::Object(info.aliases.clone()),
        json!({"al": {"index_routing": "r", "search_routing": "r"}})
    );
    let uuid = info.uuid.clone();
    let strict = write(&node, index("one", "1", br#"{"b": 1}"#)).expect_err("strict");
    assert_eq!(strict.kind, "strict_dynamic_mapping_exception");

    let health = node.cluster_health(&HealthRequest::default()).expect("healthy");
    assert_eq!((health.status, health.active_shards, health.unassigned_shards), (HealthStatus::Yellow, 3, 1));
    drop(node);
    let node = open(folder.path());
    assert_eq!(names(&node, "*"), "one,two");
    assert_eq!(node.get_index("one", IndicesOptions::METADATA).expect("there")[0].uuid, uuid);
    node.delete_index("two", IndicesOptions::DELETE).expect("deleted");
    refused(
        node.delete_index("two", IndicesOptions::DELETE).expect_err("gone"),
        ErrorClass::NotFound,
        "index_not_found_exception",
        "no such index [two]",
    );
    drop(node);
    let node = open(folder.path());
    assert_eq!(names(&node, "*"), "one");
    assert_eq!(std::fs::read_dir(folder.path().join("indices")).expect("lists").count(), 1);
    node.put_cluster_settings(&json!({"persistent": {"action.destructive_requires_name": true}}))
        .expect("set");
    refused(
        node.delete_index("*", IndicesOptions::DELETE).expect_err("broad"),
        ErrorClass::BadRequest,
        "illegal_argument_exception",
        "Wildcard expressions or all indices are not allowed",
    );
    drop(node);
    let node = open(folder.path());
    assert_eq!(
        node.cluster_settings(false).expect("shown")["persistent"]["action.destructive_requires_name"],
        "true"
    );
}

#[test]
fn closed_indices_keep_their_documents() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("t", "1", b"{}")).expect("written");
    assert_eq!(node.close_index("t", IndicesOptions::METADATA).expect("closed").len(), 1);
    assert_eq!(write(&node, index("t", "2", b"{}")).expect_err("closed").kind, "index_closed_exception");
    assert!(node.resolve("t", IndicesOptions::SEARCH).is_err());
    node.put_settings(
        "t",
        IndicesOptions::METADATA_OPEN_CLOSED,
        &json!({"codec": "best_compression"}),
        false,
    )
    .expect("static");
    drop(node);
    let node = open(folder.path());
    assert!(node.open_index("t", IndicesOptions::METADATA_OPEN_CLOSED).expect("opens"));
    assert_eq!(search(&node, "t", json!({"match_all": {}})).len(), 1);
    let error = node
        .put_settings("t", IndicesOptions::METADATA, &json!({"codec": "default"}), false)
        .expect_err("static");
    assert!(
        error.reason.starts_with("Can't update non dynamic settings [[index.codec]] for open indices [[t/")
    );
}

#[test]
fn blocks_refuse_and_are_lifted() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("t", "1", b"{}")).expect("written");
    node.add_block("t", IndicesOptions::METADATA, "write").expect("blocked");
    refused(
        write(&node, index("t", "1", b"{}")).expect_err("blocked"),
        ErrorClass::Forbidden,
        "cluster_block_exception",
        "index [t] blocked by: [FORBIDDEN/8/index write (api)];",
    );
    node.put_settings("t", IndicesOptions::METADATA, &json!({"index.blocks.write": null}), false)
        .expect("lifted");
    write(&node, index("t", "1", b"{}")).expect("written");
    node.put_cluster_settings(&json!({"transient": {"cluster.blocks.read_only": true}})).expect("set");
    refused(
        node.create_index("u", &json!({})).expect_err("read only"),
        ErrorClass::Forbidden,
        "cluster_block_exception",
        "blocked by: [FORBIDDEN/6/cluster read-only (api)];",
    );
}

#[test]
fn an_index_is_opened_again_with_the_block_that_it_was_closed_for() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("t", "1", b"{}")).expect("written");
    let settings = json!({"index.codec": "best_compression", "index.blocks.read_only": true});
    node.put_settings_reopening("t", IndicesOptions::METADATA, &settings, false).expect("changed");
    assert_eq!(get(&node, "t", "1"), Some((1, json!({}))), "it is open");
    let blocked = "index [t] blocked by: [FORBIDDEN/5/index read-only (api)];";
    let error = node.close_index("t", IndicesOptions::METADATA).expect_err("read-only");
    refused(error, ErrorClass::Forbidden, "cluster_block_exception", blocked);
    let error = node.open_index("t", IndicesOptions::METADATA).expect_err("read-only");
    refused(error, ErrorClass::Forbidden, "cluster_block_exception", blocked);
}

#[test]
fn a_document_that_was_read_belongs_to_its_index_and_not_to_the_next_one_of_that_name() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("t", "1", br#"{"a": "x"}"#)).expect("written");
    let read = node.get(&GetRequest::new("t", "1")).expect("read");
    assert!(node.mapping_of(&read).expect("there").field("a").is_some());
    node.delete_index("t", IndicesOptions::DELETE).expect("deleted");
    write(&node, index("t", "1", br#"{"b": "x"}"#)).expect("written");
    assert_eq!(node.mapping_of(&read).expect_err("another index").kind, "index_not_found_exception");
    let now = node.get(&GetRequest::new("t", "1")).expect("read");
    assert_ne!(now.uuid, read.uuid);
    assert!(node.mapping_of(&now).expect("there").field("b").is_some());
}

#[test]
fn an_enrich_policy_goes_with_its_indices_or_not_at_all() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("users", "1", br#"{"k": "a", "v": 1}"#)).expect("written");
    node.refresh("users", IndicesOptions::BROADCAST).expect("refreshed");
    let policy = json!({"match": {"indices": "users", "match_field": "k", "enrich_fields": ["v"]}});
    node.put_enrich_policy("p", &policy).expect("put");
    node.execute_enrich_policy("p", true).expect("executed");
    let made = node.get_index(".enrich-p", IndicesOptions::METADATA).expect("there")[0].name.to_string();
    let there = |node: &Node| {
        let policies = node.get_enrich_policies("p").expect("an answer");
        let index = node.index_exists(&made, IndicesOptions::METADATA).expect("an answer");
        (policies["policies"].as_array().map_or(0, Vec::len), index)
    };
    node.add_block(&made, IndicesOptions::METADATA, "read_only").expect("blocked");
    let error = node.delete_enrich_policy("p").expect_err("its index is read-only");
    assert_eq!((error.kind, there(&node)), ("cluster_block_exception", (1, true)));
    node.remove_block(&made, IndicesOptions::METADATA, "read_only").expect("lifted");
    node.delete_enrich_policy("p").expect("deleted");
    assert_eq!(there(&node), (0, false));
    node.put_enrich_policy("p", &policy).expect("put");
    node.delete_enrich_policy("p").expect("deleted without an index");
    drop(node);
    assert_eq!(there(&open(folder.path())), (0, false));
}

#[test]
fn voting_exclusions_survive_restarts() {
    let folder = folder();
    let node = open(folder.path());
    let shown = |node: &Node| {
        let state = node.cluster_state("metadata", "_all", IndicesOptions::LENIENT).expect("a state");
        state["metadata"]["cluster_coordination"]["voting_config_exclusions"].clone()
    };
    let texts = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    node.add_voting_exclusions(&texts(&["id"]), &[]).expect("added");
    node.add_voting_exclusions(&[], &texts(&["b", "a", "b"])).expect("added");
    drop(node);
    let node = open(folder.path());
    let named = |name: &str| json!({"node_id": "_absent_", "node_name": name});
    assert_eq!(shown(&node), json!([named("a"), named("b"), {"node_id": "id", "node_name": "_absent_"}]));
    let many: Vec<String> = (0..8).map(|number| format!("n{number}")).collect();
    let error = node.add_voting_exclusions(&[], &many).expect_err("too many");
    assert_eq!(error.reason, "there may be at most [10] voting config exclusions");
    node.clear_voting_exclusions().expect("cleared");
    drop(node);
    assert_eq!(shown(&open(folder.path())), json!([]));
}

#[test]
fn aliases_lead_to_indices() {
    let folder = folder();
    let node = open(folder.path());
    for name in ["a-1", "a-2"] {
        node.create_index(name, &json!({})).expect("created");
    }
    let actions = json!({"actions": [
        {"add": {"index": "a-*", "alias": "all"}},
        {"add": {"index": "a-2", "alias": "current", "is_write_index": true}},
        {"add": {"index": "a-1", "alias": "current"}},
        {"add": {"index": "a-1", "alias": "red", "filter": {"term": {"color.keyword": "red"}}}},
    ]});
    node.update_aliases(&actions).expect("added");
    write(&node, index("current", "1", br#"{"color": "red"}"#)).expect("to a-2");
    write(&node, index("a-1", "2", br#"{"color": "red"}"#)).expect("written");
    write(&node, index("a-1", "3", br#"{"color": "blue"}"#)).expect("written");
    node.refresh("all", IndicesOptions::BROADCAST).expect("refreshed");
    assert_eq!(search(&node, "a-2", json!({"match_all": {}})).len(), 1);
    assert_eq!(search(&node, "all", json!({"match_all": {}})).len(), 3);
    assert_eq!(search(&node, "red", json!({"match_all": {}})).len(), 1);
    let missing =
        |aliases| node.get_alias("_all", aliases, IndicesOptions::METADATA).expect("answers").missing;
    assert!(missing("red").is_empty());
    assert_eq!(missing("red,none"), ["none"]);
    node.delete_alias("_all", "red").expect("removed");
    assert_eq!(node.delete_alias("_all", "red").expect_err("gone").kind, "aliases_not_found_exception");
    node.update_aliases(&json!({"actions": [{"remove_index": {"index": "a-1"}}]})).expect("removed");
    assert_eq!(names(&node, "*"), "a-2");
}

#[test]
fn templates_shape_what_is_created_by_writing() {
    let folder = folder();
    let node = open(folder.path());
    node.put_template(
        "old",
        &json!({"index_patterns": ["logs-*"], "settings": {"number_of_shards": 3}}),
        false,
    )
    .expect("put");
    let body = json!({
        "index_patterns": ["logs-*"],
        "template": {"settings": {"number_of_replicas": 0, "default_pipeline": "p"}, "mappings": {"properties": {"a": {"type": "keyword"}}}, "aliases": {"logs": {}}},
    });
    node.put_index_template("new", &body, true).expect("put");
    node.put_pipeline("p", &json!({"processors": [{"uppercase": {"field": "a"}}]})).expect("put");
    let search_pipeline = json!({"response_processors": [{"truncate_hits": {"target_size": 1}}]});
    node.put_search_pipeline("s", &search_pipeline).expect("put");
    drop(node);
    let node = open(folder.path());
    assert_eq!(node.get_search_pipelines("*")["s"], search_pipeline);
    write(&node, index("logs-1", "1", br#"{"a": "x"}"#)).expect("written");
    assert_eq!(get(&node, "logs", "1"), Some((1, json!({"a": "X"}))));
    let info = &node.get_index("logs-1", IndicesOptions::METADATA).expect("there")[0];
    assert_eq!(info.settings["index.number_of_shards"], "1");
    let bad = json!({"index_patterns": ["q*"], "template": {"mappings": {"properties": {"a": {"type": "nonsense"}}}}});
    assert!(node.put_index_template("bad", &bad, false).is_err());
    assert_eq!(node.ingest_stats()["total"]["count"], 1);
    node.put_cluster_settings(&json!({"transient": {"action.auto_create_index": "-secret*,+*"}}))
        .expect("set");
    assert_eq!(
        write(&node, index("secret-1", "1", b"{}")).expect_err("forbidden").class,
        ErrorClass::NotFound
    );
}

#[test]
fn scrolls_page_through_a_frozen_index() {
    let folder = folder();
    let node = open(folder.path());
    for number in 0..25 {
        write(&node, index("t", &format!("{number}"), format!(r#"{{"n": {number}}}"#).as_bytes()))
            .expect("written");
    }
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshed");
    let body = json!({"size": 10, "sort": [{"n": "asc"}]});
    let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("valid");
    let flag = || Arc::new(AtomicBool::new(false));
    let first = |keep_alive| {
        node.search("t", IndicesOptions::SEARCH, Placement::default(), &request, Some(keep_alive), flag())
    };
    let (page, id) = first(60_000).expect("first page");
    let id = id.expect("an id");
    let mut seen: Vec<String> = page.hits.iter().filter_map(|hit| hit.id.clone()).collect();
    write(&node, delete("t", "24")).expect("deleted");
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshed");
    loop {
        let page = node.scroll(&id, Some(60_000), flag()).expect("a page");
        assert_eq!(page.total.map(|total| total.value), Some(25));
        if page.hits.is_empty() {
            break;
        }
        seen.extend(page.hits.iter().filter_map(|hit| hit.id.clone()));
    }
    assert_eq!(seen, (0..25).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(node.clear_scroll(&[&id]), Ok(1));
    let gone = node.scroll(&id, None, flag()).expect_err("gone");
    let reason = format!("No search context found for id [{id}]");
    let cause = json!({"type": "search_context_missing_exception", "reason": reason});
    assert_eq!(gone.class(), ErrorClass::NotFound);
    assert_eq!(gone.root_causes(), std::slice::from_ref(&cause));
    assert_eq!(
        gone.to_request_error().to_json(),
        json!({
            "type": "search_phase_execution_exception", "reason": "all shards failed", "phase": "query", "grouped": true,
            "failed_shards": [{"shard": -1, "index": null, "reason": cause}], "caused_by": cause,
        })
    );
    let forged = node.scroll("forged", None, flag()).expect_err("forged");
    assert_eq!(forged.to_request_error().reason, "Cannot parse scroll id");
    assert_eq!(node.scroll(&"A".repeat(43), None, flag()).expect_err("forged").class(), ErrorClass::NotFound);
    assert!(first(90_000_000).is_err(), "more than a day");
    node.put_cluster_settings(&json!({"transient": {"search.max_open_scroll_context": 1}})).expect("set");
    first(60_000).expect("one fits");
    assert_eq!(first(60_000).expect_err("two do not").class(), ErrorClass::TooManyRequests);
}

#[test]
fn statistics_count_what_was_done() {
    let folder = folder();
    let node = open(folder.path());
    node.create_index("t", &json!({"settings": {"number_of_replicas": 0}})).expect("created");
    for number in 0..5 {
        write(&node, index("t", &number.to_string(), b"{}")).expect("written");
    }
    write(&node, delete("t", "0")).expect("deleted");
    node.flush("t", IndicesOptions::BROADCAST, false).expect("flushed");
    search(&node, "t", json!({"match_all": {}}));
    get(&node, "t", "1");
    let request = StatsRequest { level: StatsLevel::Shards, ..StatsRequest::default() };
    let stats = node.stats("_all", IndicesOptions::BROADCAST, &request).expect("stats");
    let primaries = &stats["_all"]["primaries"];
    assert_eq!(primaries["docs"]["count"], 4);
    assert_eq!(primaries["indexing"]["index_total"], 5);
    assert_eq!(primaries["indexing"]["delete_total"], 1);
    assert_eq!(primaries["flush"]["total"], 1);
    assert_eq!(primaries["search"]["query_total"], 1);
    assert_eq!(primaries["get"]["exists_total"], 1);
    assert_eq!(primaries["translog"]["operations"], 0);
    assert!(primaries["store"]["size_in_bytes"].as_u64().is_some_and(|bytes| bytes > 100));
    assert_eq!(stats["indices"]["t"]["shards"]["0"][0]["seq_no"]["max_seq_no"], 5);
    assert_eq!(stats["indices"]["t"]["shards"]["0"][0]["routing"]["primary"], true);
    let segments = node.segments("t", IndicesOptions::BROADCAST).expect("segments");
    assert_eq!(segments["indices"]["t"]["shards"]["0"][0]["num_committed_segments"], 1);
    let state = node.cluster_state("_all", "_all", IndicesOptions::LENIENT).expect("state");
    assert_eq!(state["metadata"]["indices"]["t"]["state"], "open");
    // As in Elasticsearch, a part that does not exist is left out.
    let state = node.cluster_state("nonsense", "_all", IndicesOptions::LENIENT).expect("state");
    assert!(state["metadata"].is_null() && state["nodes"].is_null(), "{state}");
}

#[test]
fn the_memory_of_term_indices_is_told_by_index_and_field() {
    let folder = folder();
    let node = open(folder.path());
    write(&node, index("a", "1", b"{\"k\": \"x\"}")).expect("written");
    write(&node, index("b", "1", b"{\"n\": \"y\"}")).expect("written");
    node.refresh("_all", IndicesOptions::BROADCAST).expect("refreshed");
    let asked = |sections: &[&str]| {
        let sections = sections.iter().map(|section| (*section).to_owned()).collect();
        let request = StatsRequest { sections, level: StatsLevel::Indices, ..StatsRequest::default() };
        node.node_indices_stats(&request).expect("stats")
    };
    let named = asked(&["segment_memory"]);
    let names = |pointer: &str| -> Vec<String> {
        named.pointer(pointer).and_then(Value::as_object).expect("fields").keys().cloned().collect()
    };
    assert_eq!(names("/indices/a/segment_memory/fields"), ["_id", "k", "k.keyword"]);
    assert_eq!(names("/indices/b/segment_memory/fields"), ["_id", "n", "n.keyword"]);
    assert_eq!(named["indices"]["a"]["segment_memory"]["fields"]["k"]["segment_count"], 1);
    // Statistics of all sections stay short, so they leave out the fields.
    assert_eq!(asked(&[])["indices"]["a"]["segment_memory"].get("fields"), None);
}

#[test]
fn refreshes_come_by_themselves_and_can_be_waited_for() {
    let folder = folder();
    let node = Node::open(NodeConfig { background_threads: true, ..config(folder.path()) }).expect("opens");
    node.create_index("t", &json!({"settings": {"refresh_interval": "100ms"}})).expect("created");
    let waited = node.write(index("t", "1", b"{}"), RefreshPolicy::WaitFor, None).expect("written");
    assert!(!waited.outcome.forced_refresh);
    assert_eq!(search(&node, "t", json!({"match_all": {}})).len(), 1);
    write(&node, index("t", "2", b"{}")).expect("written");
    let deadline = Instant::now() + Duration::from_secs(10);
    while search(&node, "t", json!({"match_all": {}})).len() < 2 {
        assert!(Instant::now() < deadline, "no refresh");
        std::thread::sleep(Duration::from_millis(20));
    }
    node.close();
}

#[test]
fn a_shard_that_nobody_searches_is_refreshed_when_the_writing_pauses_or_a_search_comes() {
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let environment = environment(clock.clone(), Arc::new(CrashDisk::new(7)), 7);
    let node = Node::open_with(config(Path::new("/rests")), environment).expect("opens");
    for (name, settings) in [("t", json!({})), ("explicit", json!({"refresh_interval": "1s"}))] {
        node.create_index(name, &json!({"settings": settings})).expect("created");
    }
    let docs = |name: &str| {
        let request = StatsRequest::default();
        let stats = node.stats(name, IndicesOptions::BROADCAST, &request).expect("stats");
        stats["_all"]["primaries"]["docs"]["count"].as_u64().expect("count")
    };
    for second in 0..3 {
        for name in ["t", "explicit"] {
            write(&node, index(name, &second.to_string(), b"{}")).expect("written");
        }
        clock.advance_ms(1_000);
        node.maintain();
        assert_eq!((docs("t"), docs("explicit")), (0, second + 1));
    }
    // The search refreshes first and keeps the shard from becoming idle.
    assert_eq!(search(&node, "t", json!({"match_all": {}})).len(), 3);
    write(&node, index("t", "4", b"{}")).expect("written");
    clock.advance_ms(1_000);
    node.maintain();
    assert_eq!(docs("t"), 4);
    // After half a minute the shard is idle again, until the writing pauses.
    clock.advance_ms(30_000);
    write(&node, index("t", "5", b"{}")).expect("written");
    node.maintain();
    assert_eq!(docs("t"), 4);
    clock.advance_ms(1_000);
    node.maintain();
    assert_eq!(docs("t"), 5);
    node.close();
}

#[test]
fn health_waits_for_what_it_is_asked() {
    let folder = folder();
    let node = open(folder.path());
    node.create_index("t", &json!({})).expect("created");
    let ask =
        |status| HealthRequest { wait_for_status: Some(status), timeout_ms: 50, ..HealthRequest::default() };
    assert!(!node.cluster_health(&ask(HealthStatus::Yellow)).expect("answers").timed_out);
    assert!(node.cluster_health(&ask(HealthStatus::Green)).expect("answers").timed_out);
    let missing = HealthRequest { index: Some("none".into()), timeout_ms: 10, ..HealthRequest::default() };
    let health = node.cluster_health(&missing).expect("answers");
    assert!(health.timed_out && health.status == HealthStatus::Red);
}

#[test]
fn the_indices_of_an_alias_agree_on_whether_it_is_hidden() {
    let folder = folder();
    let node = open(folder.path());
    node.create_index("one", &json!({"aliases": {"al": {"is_hidden": true}}})).expect("created");
    node.create_index("two", &json!({})).expect("created");
    // Elasticsearch has this reason too, but answers 500.
    refused(
        node.put_alias("two", "al", &json!({})).expect_err("hidden for one of them"),
        ErrorClass::BadRequest,
        "illegal_state_exception",
        "alias [al] has is_hidden set to true on indices [one] but does not have is_hidden set to true on indices [two]; alias must \
         have the same is_hidden setting on all indices",
    );
    assert!(node.create_index("three", &json!({"aliases": {"al": {}}})).is_err());
    let both = json!({"actions": [{"add": {"indices": ["one", "two"], "alias": "al", "is_hidden": false}}]});
    node.update_aliases(&both).expect("both are changed");
}
