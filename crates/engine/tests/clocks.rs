//! Sets the wall clock an hour back or a day forward: intervals and deadlines must not be affected.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::*;
use limber_engine::environment::{Environment, ManualClock, SystemRandomness};
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_search::{SearchRequest, UrlParameters};
use limber_store::{Disk, FsDisk};
use serde_json::{Value, json};

const START_MS: u64 = 1_700_000_000_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The amount by which the wall clock is set.
const JUMPS_MS: [i64; 2] = [-HOUR_MS, DAY_MS];

fn open_at(path: &Path, clock: &Arc<ManualClock>, background_threads: bool) -> Arc<Node> {
    let disk: Arc<dyn Disk> = Arc::new(FsDisk::open(path).expect("a folder"));
    let environment = Environment { clock: clock.clone(), randomness: Arc::new(SystemRandomness), disk };
    Node::open_with(NodeConfig { background_threads, ..config(path) }, environment).expect("opens")
}

fn fill(node: &Node, name: &str) {
    node.create_index(name, &json!({"settings": {"number_of_replicas": 0}})).expect("created");
    for number in 0..3 {
        write(node, index(name, &number.to_string(), br#"{"n": 1}"#)).expect("written");
    }
    node.refresh(name, IndicesOptions::BROADCAST).expect("refreshed");
}

fn page_size_1() -> SearchRequest {
    SearchRequest::parse(&json!({"size": 1}), &UrlParameters::default()).expect("valid")
}

#[test]
fn search_contexts_live_as_long_as_they_were_asked_to() {
    for jump_ms in JUMPS_MS {
        let folder = tempfile::tempdir().expect("tempdir");
        let clock = Arc::new(ManualClock::at(START_MS));
        let node = open_at(folder.path(), &clock, false);
        fill(&node, "i");
        let open = || {
            let stats = node.stats("i", IndicesOptions::BROADCAST, &StatsRequest::default()).expect("stats");
            stats["_all"]["total"]["search"]["open_contexts"].as_u64().expect("a count")
        };
        let (options, placement) = (IndicesOptions::SEARCH, Placement::default());
        let (_, scroll) = node
            .search("i", options, placement, &page_size_1(), Some(60_000), Arc::default())
            .expect("a scroll");
        let scroll = scroll.expect("an id");
        clock.shift_wall_ms(jump_ms);
        clock.advance_ms(59_999);
        node.maintain();
        assert_eq!(open(), 1, "{jump_ms}");
        node.scroll(&scroll, None, Arc::default()).expect("it lives");
        clock.shift_wall_ms(jump_ms);
        clock.advance_ms(60_000);
        assert_eq!(
            node.scroll(&scroll, None, Arc::default()).expect_err("expired").class(),
            ErrorClass::NotFound
        );
        node.maintain();
        assert_eq!(open(), 0, "{jump_ms}");
    }
}

#[test]
fn async_searches_are_kept_as_long_as_they_were_asked_to() {
    for jump_ms in JUMPS_MS {
        let folder = tempfile::tempdir().expect("tempdir");
        let clock = Arc::new(ManualClock::at(START_MS));
        let node = open_at(folder.path(), &clock, false);
        fill(&node, "i");
        let (options, placement) = (IndicesOptions::SEARCH, Placement::default());
        let found = node
            .submit_async_search("i", options, placement, page_size_1(), 60_000, 60_000)
            .expect("submitted");
        let end = found.end().expect("it ends");
        assert_eq!((found.start_millis, found.expires_millis()), (START_MS, START_MS + 60_000));
        assert_eq!(end.millis, START_MS, "no time went by");
        clock.shift_wall_ms(jump_ms);
        clock.advance_ms(59_999);
        node.maintain();
        // The search is kept longer. The displayed expiry uses the current wall clock.
        let found = node.async_search(&found.id, Some(120_000), 0).expect("it is kept");
        assert_eq!(found.expires_millis(), (START_MS + 179_999).saturating_add_signed(jump_ms));
        clock.shift_wall_ms(-jump_ms);
        clock.advance_ms(119_999);
        node.maintain();
        node.async_search(&found.id, None, 0).expect("it is kept");
        clock.advance_ms(1);
        assert!(
            node.async_search(&found.id, None, 0).is_err_and(|error| error.class == ErrorClass::NotFound)
        );
    }
}

#[test]
fn tasks_and_the_node_count_the_time_that_went_by() {
    for jump_ms in JUMPS_MS {
        let folder = tempfile::tempdir().expect("tempdir");
        let clock = Arc::new(ManualClock::at(START_MS));
        let node = open_at(folder.path(), &clock, false);
        let guard = node.tasks().register("test", "", false);
        clock.shift_wall_ms(jump_ms);
        clock.advance_ms(7);
        let shown = node.tasks().show(&guard.task, node.node_id(), false);
        assert_eq!(shown["start_time_in_millis"], START_MS);
        assert_eq!(shown["running_time_in_nanos"], 7_000_000);
        assert_eq!((node.started_millis(), node.uptime_ms()), (START_MS, 7));
    }
}

/// The rounds run at their intervals. Stored times are from the wall clock, and ages that would be negative
/// are 0.
#[test]
fn lifecycles_are_looked_at_by_their_interval() {
    let folder = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(START_MS));
    let node = open_at(folder.path(), &clock, true);
    let policy = json!({"policy": {"phases": {
        "hot": {"actions": {"rollover": {"max_docs": 3}}},
        "delete": {"min_age": "2d", "actions": {"delete": {}}},
    }}});
    node.put_policy("p", &policy).expect("a policy");
    let settings = json!({"index.lifecycle.name": "p", "number_of_replicas": 0});
    let template =
        json!({"index_patterns": ["logs-*"], "data_stream": {}, "template": {"settings": settings}});
    node.put_index_template("t", &template, false).expect("a template");
    let add = || {
        let operation = BulkOperation::new(OperationKind::Create, "logs-a", br#"{"@timestamp": 1}"#);
        let written = write(&node, operation).expect("written");
        node.refresh("logs-a", IndicesOptions::BROADCAST).expect("refreshed");
        written.index
    };
    let explain = |index: &str| -> Value {
        let filter = ExplainFilter::default();
        let all = node.explain_lifecycles(index, IndicesOptions::METADATA, filter).expect("explained");
        all["indices"][index].clone()
    };
    let wait_for = |what: &str, came: &dyn Fn() -> bool| {
        let patience = Instant::now() + Duration::from_secs(60);
        while !came() {
            assert!(Instant::now() < patience, "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let mut first = None;
    for jump_ms in JUMPS_MS {
        let index = add();
        wait_for("it begins", &|| explain(&index)["step"] == "check-rollover-ready");
        // From here on no round runs before the interval has passed.
        add();
        add();
        clock.shift_wall_ms(jump_ms);
        if jump_ms < 0 {
            assert_eq!(explain(&index)["age"], "0ms", "it was made in the future");
        }
        clock.advance_ms(600_000);
        wait_for("it is rolled over", &|| explain(&index)["action"] == "complete");
        first.get_or_insert(index);
    }
    let first = first.expect("an index");
    assert!(node.index_exists(&first, IndicesOptions::METADATA).expect("asked"), "it is one day old");
    node.close();
}

#[test]
fn shards_are_refreshed_by_their_interval() {
    for jump_ms in JUMPS_MS {
        let folder = tempfile::tempdir().expect("tempdir");
        let clock = Arc::new(ManualClock::at(START_MS));
        let node = open_at(folder.path(), &clock, false);
        let settings = json!({"settings": {"refresh_interval": "10s", "number_of_replicas": 0}});
        node.create_index("i", &settings).expect("created");
        clock.shift_wall_ms(jump_ms);
        let found = || {
            let stats = node.stats("i", IndicesOptions::BROADCAST, &StatsRequest::default()).expect("stats");
            stats["_all"]["primaries"]["docs"]["count"].as_u64().expect("a count")
        };
        for round in 0..3 {
            write(&node, index("i", &round.to_string(), b"{}")).expect("written");
            clock.advance_ms(9_999);
            node.maintain();
            assert_eq!(found(), round, "{jump_ms}: before the interval is over");
            clock.advance_ms(1);
            node.maintain();
            assert_eq!(found(), round + 1, "{jump_ms}: after it");
        }
    }
}

/// A clock that is set forward by mistake, and back within an hour, deletes nothing.
#[test]
fn ages_are_not_trusted_for_an_hour_after_the_clock_was_set_forward() {
    const TEN_DAYS_MS: i64 = 10 * 86_400_000;
    for is_corrected in [true, false] {
        let folder = tempfile::tempdir().expect("tempdir");
        let clock = Arc::new(ManualClock::at(START_MS));
        let node = open_at(folder.path(), &clock, false);
        let phases = json!({"delete": {"min_age": "2d", "actions": {"delete": {}}}});
        node.put_policy("p", &json!({"policy": {"phases": phases}})).expect("a policy");
        node.create_index("i", &json!({"settings": {"index.lifecycle.name": "p"}})).expect("an index");
        let is_there = || node.index_exists("i", IndicesOptions::METADATA).expect("asked");
        node.lifecycle_tick();
        clock.shift_wall_ms(TEN_DAYS_MS);
        clock.advance_ms(600_000);
        node.lifecycle_tick();
        assert!(is_there(), "it is some minutes old");
        if is_corrected {
            clock.shift_wall_ms(-TEN_DAYS_MS);
        }
        clock.advance_ms(3_600_000);
        node.lifecycle_tick();
        assert_eq!(is_there(), is_corrected);
    }
}
