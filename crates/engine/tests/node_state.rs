//! Tests changes that span indices on a failing disk: every call of every change fails once or permanently,
//! or the power is cut there.
//!
//! The checks are always the same: the API shows all of the change or nothing of it, before and after a
//! restart; nothing acknowledged is undone; and a failed change can be made again once the disk works.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::*;
use limber_access::RoleDescriptor;
use limber_engine::environment::ManualClock;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_store::crash::{CallKind, When};
use limber_store::{CrashDisk, Fault, FaultRule};
use serde_json::{Value, json};

fn node_on(disk: &CrashDisk, seed: u64) -> Result<Arc<Node>> {
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let environment = environment(clock, Arc::new(disk.clone()), seed);
    Node::open_with(NodeConfig { search_processors: 1, ..config(Path::new("/crash")) }, environment)
}

const ALL: IndicesOptions = IndicesOptions {
    expand_closed: true,
    expand_hidden: true,
    forbid_closed_indices: false,
    ..IndicesOptions::LENIENT
};

/// Prepares two indices with documents and a policy, one of which has the aliases, and a data stream with two
/// backing indices.
fn prepared(disk: &CrashDisk, seed: u64) -> Arc<Node> {
    let node = node_on(disk, seed).expect("opens");
    let settings = json!({"number_of_replicas": 0});
    let aliases = json!({"current": {}, "written": {"is_write_index": true}});
    node.create_index("a-1", &json!({"settings": settings, "aliases": aliases})).expect("created");
    node.create_index("b-1", &json!({"settings": settings})).expect("created");
    for name in ["a-1", "b-1"] {
        write(&node, index(name, "x", br#"{"n": 1}"#)).expect("written");
        node.refresh(name, IndicesOptions::BROADCAST).expect("refreshed");
    }
    let phases = json!({"hot": {"actions": {"set_priority": {"priority": 3}}}});
    node.put_policy("p", &json!({"policy": {"phases": phases}})).expect("put");
    node.put_settings(BOTH, ALL, &json!({"index.lifecycle.name": "p"}), false).expect("set");
    node.lifecycle_round();
    node.put_index_template(
        "logs",
        &json!({"index_patterns": ["logs*"], "data_stream": {}, "template": {"settings": settings}}),
        false,
    )
    .expect("put");
    node.create_data_stream("logs").expect("created");
    node.rollover("logs", &RolloverRequest::default()).expect("rolled over");
    node.maintain();
    node
}

/// Returns what the API shows of everything that changes here.
fn view(node: &Node) -> Value {
    let indices: Vec<Value> = node
        .get_index("*", ALL)
        .expect("resolves")
        .into_iter()
        .map(|index| {
            let mut settings = index.settings;
            settings.shift_remove("index.uuid");
            json!({
                "name": &*index.name, "open": index.open, "aliases": index.aliases,
                "stream": index.data_stream.as_deref(), "mappings": index.mappings, "settings": settings,
            })
        })
        .collect();
    let mut streams = node.get_data_streams("*", ALL, false).expect("shows");
    for stream in streams["data_streams"].as_array_mut().into_iter().flatten() {
        for index in stream["indices"].as_array_mut().into_iter().flatten() {
            index.as_object_mut().map(|index| index.shift_remove("index_uuid"));
        }
    }
    json!({
        "indices": indices,
        "streams": streams,
        "templates": node.get_index_templates("*").expect("shows"),
        "pipelines": node.get_pipelines("").expect("shows"),
        "lifecycles": node.explain_lifecycles("*", ALL, ExplainFilter::default()).expect("shows"),
    })
}

/// Checks that every open index accepts a document and returns it, and that earlier documents are still
/// there.
fn check_serves(node: &Node, what: &str) {
    for index in node.get_index("*", ALL).expect("resolves") {
        let name = &*index.name;
        if !index.open {
            continue;
        }
        if name == "a-1" || name == "b-1" {
            assert!(get(node, name, "x").is_some(), "{what}: the document of {name}");
        }
        let outcome = write(node, common::index(name, "again", b"{}"));
        if !name.starts_with(".ds-") {
            assert!(outcome.is_ok(), "{what}: {name} takes writes: {outcome:?}");
            assert!(get(node, name, "again").is_some(), "{what}: {name}");
        }
    }
    let health = node.cluster_health(&HealthRequest { timeout_ms: 0, ..HealthRequest::default() });
    assert_ne!(health.expect("answers").status, HealthStatus::Red, "{what}");
}

type Act = fn(&Node) -> Result<()>;

fn with(actions: Value) -> Value {
    json!({"actions": actions})
}

fn roll(node: &Node, target: &str) -> Result<()> {
    node.rollover(target, &RolloverRequest::default()).map(drop)
}

/// Creating the index and adding its document are two changes. If the second fails, the first stays.
const BY_DOCUMENT: &str = "creation by a document";

const BOTH: &str = "a-1,b-1";

/// Every kind of change that spans indices, and some of a single index for comparison.
const CHANGES: &[(&str, Act)] = &[
    ("alias swap", |node| {
        node.update_aliases(&with(json!([
            {"remove": {"index": "a-1", "alias": "current"}},
            {"add": {"index": "b-1", "alias": "current"}},
        ])))
        .map(drop)
    }),
    ("alias swap that removes the index", |node| {
        node.update_aliases(&with(json!([
            {"remove_index": {"index": "a-1"}},
            {"add": {"index": "b-1", "alias": "a-1"}},
        ])))
        .map(drop)
    }),
    ("one alias more", |node| node.put_alias("b-1", "more", &json!({"filter": {"term": {"n": 1}}}))),
    ("rollover of a written alias", |node| roll(node, "written")),
    ("rollover of an alias", |node| roll(node, "current")),
    ("rollover of a data stream", |node| roll(node, "logs")),
    ("creation of a data stream", |node| node.create_data_stream("logs-2")),
    ("deletion of a data stream", |node| node.delete_data_streams("logs", ALL)),
    ("deletion of one index", |node| node.delete_index("a-1", IndicesOptions::DELETE)),
    ("deletion of two indices", |node| node.delete_index(BOTH, IndicesOptions::DELETE)),
    ("creation", |node| {
        let settings = json!({"number_of_replicas": 0, "number_of_shards": 2});
        node.create_index("c", &json!({"settings": settings, "aliases": {"current": {}}})).map(drop)
    }),
    (BY_DOCUMENT, |node| write(node, index("d", "x", b"{}")).map(drop)),
    ("settings of two indices", |node| {
        node.put_settings(BOTH, ALL, &json!({"index.refresh_interval": "7s"}), false)
    }),
    ("mapping of two indices", |node| {
        node.put_mapping(BOTH, ALL, false, &json!({"properties": {"k": {"type": "keyword"}}}))
    }),
    ("two indices out of their policy", |node| node.remove_lifecycles(BOTH).map(drop)),
    ("mapping of one index", |node| {
        node.put_mapping("a-1", ALL, false, &json!({"properties": {"k": {"type": "keyword"}}}))
    }),
    ("closing of two indices", |node| node.close_index(BOTH, ALL).map(drop)),
    ("an index out of a data stream", |node| {
        let index =
            node.get_data_streams("logs", ALL, false)?["data_streams"][0]["indices"][0]["index_name"].clone();
        let action = json!({"remove_backing_index": {"data_stream": "logs", "index": index}});
        node.modify_data_streams(&with(json!([action])))
    }),
    ("a pipeline", |node| {
        node.put_pipeline("p", &json!({"processors": [{"set": {"field": "f", "value": 1}}]}))
    }),
    ("a template", |node| {
        node.put_index_template("t", &json!({"index_patterns": ["t*"], "priority": 5}), false)
    }),
];

/// Returns how many calls a change and the following round of upkeep make, and the view before and after.
fn dry_run(act: Act) -> (u64, Value, Value) {
    let disk = CrashDisk::new(0);
    let node = prepared(&disk, 0);
    let (before, calls) = (view(&node), disk.call_count());
    act(&node).expect("works on a disk that works");
    node.maintain();
    let calls = disk.call_count() - calls;
    let after = view(&node);
    assert_ne!(before, after);
    (calls, before, after)
}

fn check_view(seen: &Value, allowed: &[&Value], what: &str) {
    let differences = |one: &Value| {
        let (seen, one) = (format!("{seen:#}"), format!("{one:#}"));
        let lines = seen.lines().zip(one.lines()).filter(|(seen, one)| seen != one).take(8);
        lines.map(|(seen, one)| format!("  {seen} instead of {one}\n")).collect::<String>()
    };
    let all: Vec<String> = allowed.iter().map(|one| differences(one)).collect();
    assert!(allowed.contains(&seen), "{what}: half of a change is seen:\n{}", all.join("or\n"));
}

#[test]
fn a_call_that_fails_once_changes_nothing_or_all() {
    for (name, act) in CHANGES {
        let (calls, before, after) = dry_run(*act);
        let is_several = *name == BY_DOCUMENT;
        for (number, fault) in [Fault::Io, Fault::NoSpace, Fault::SyncLost].into_iter().enumerate() {
            // Every single call fails with EIO. The other errors have nearly the same effect, so they use
            // only every third call.
            let step = if number == 0 { 1 } else { 3 };
            for call in (number as u64..calls).step_by(step) {
                let what = format!("{name}, {fault:?} at call {call} of {calls}");
                let disk = CrashDisk::new(call);
                let node = prepared(&disk, 0);
                disk.fail_call(call, fault);
                let outcome = act(&node);
                let mut allowed = vec![if outcome.is_ok() { &after } else { &before }];
                allowed.extend((is_several && outcome.is_err()).then_some(&after));
                check_view(&view(&node), &allowed, &what);
                disk.heal();
                node.maintain();
                node.maintain();
                check_view(&view(&node), &allowed, &format!("{what}, with upkeep"));
                check_serves(&node, &what);
                let seen = view(&node);
                if call % 2 == 0 {
                    // Whether the change is left as it is or made again, a crash must not alter the view.
                    if outcome.is_err() {
                        act(&node).unwrap_or_else(|error| panic!("{what}: made again: {error}"));
                    }
                }
                let last = view(&node);
                drop(node);
                disk.crash();
                let node = node_on(&disk, 1).unwrap_or_else(|error| panic!("{what}: {error}"));
                check_view(&view(&node), &[&last], &format!("{what}, after a crash; before it {seen}"));
                check_serves(&node, &format!("{what}, after a crash"));
            }
        }
    }
}

/// The disk fails permanently from a call on, as when the power is cut. Then either the power is cut, or the
/// disk works again under the running node.
#[test]
fn a_disk_that_goes_and_comes_back_leaves_all_or_nothing() {
    for (name, act) in CHANGES {
        let (calls, before, after) = dry_run(*act);
        let is_several = *name == BY_DOCUMENT;
        for call in 0..calls {
            let what = format!("{name}, gone from call {call} of {calls}");
            let disk = CrashDisk::new(call);
            let node = prepared(&disk, 0);
            disk.fail_from(call, Fault::Io);
            let outcome = act(&node);
            node.maintain();
            let mut allowed = vec![if outcome.is_ok() { &after } else { &before }];
            allowed.extend((is_several && outcome.is_err()).then_some(&after));
            check_view(&view(&node), &allowed, &what);
            if call % 2 == 0 {
                disk.heal();
                node.maintain();
                node.maintain();
                check_view(&view(&node), &allowed, &format!("{what}, healed"));
                check_serves(&node, &format!("{what}, healed"));
                if outcome.is_err() {
                    act(&node).unwrap_or_else(|error| panic!("{what}: made again: {error}"));
                }
                allowed = vec![&after];
            } else if outcome.is_err() {
                // The change was not acknowledged, so either view is possible after the crash.
                allowed.push(&after);
            }
            drop(node);
            disk.crash();
            // The power is cut again while the node starts.
            if call % 3 == 0 {
                disk.fail_from(call % 7, Fault::Io);
                drop(node_on(&disk, 1).map(|node| node.maintain()));
                disk.crash();
            }
            let node = node_on(&disk, 1).unwrap_or_else(|error| panic!("{what}: {error}"));
            check_view(&view(&node), &allowed, &format!("{what}, after a crash"));
            check_serves(&node, &format!("{what}, after a crash"));
            assert_eq!(node.dangling_indices()["dangling_indices"], json!([]), "{what}");
        }
    }
}

/// After a failed deletion that the disk might still carry out, no writes are acknowledged that it would
/// destroy.
#[test]
fn a_failed_deletion_leaves_no_zombie() {
    let (mut refused, mut taken) = (0, 0);
    for call in 0..12 {
        let disk = CrashDisk::new(call);
        let node = prepared(&disk, 0);
        disk.fail_from(call, Fault::Io);
        let outcome = node.delete_index("a-1", IndicesOptions::DELETE);
        disk.heal();
        // Nothing has had time to settle the doubt yet.
        let written = write(&node, index("a-1", "after", br#"{"n": 3}"#));
        if call % 2 == 0 {
            node.maintain();
            let later = write(&node, index("a-1", "later", br#"{"n": 3}"#));
            assert!(outcome.is_ok() || later.is_ok(), "call {call}: {later:?}");
        }
        let is_there = |node: &Node| node.index_exists("a-1", IndicesOptions::METADATA).expect("answers");
        drop(node);
        disk.crash();
        let node = node_on(&disk, 1).expect("opens");
        match (&outcome, &written) {
            // The index is deleted, and the document created a new one.
            (Ok(()), _) => assert_eq!(is_there(&node), written.is_ok()),
            (Err(_), Ok(_)) => {
                taken += 1;
                assert!(
                    get(&node, "a-1", "after").is_some(),
                    "call {call}: acknowledged after a failed deletion"
                );
            }
            (Err(_), Err(error)) => {
                refused += 1;
                assert_eq!(error.class, ErrorClass::Unavailable, "call {call}: {error}");
                assert!(error.reason.contains("its deletion failed"), "call {call}: {error}");
                assert!(call % 2 == 1 || is_there(&node), "call {call}: settled, so it is there");
            }
        }
    }
    assert!(refused > 0 && taken > 0, "{refused} refused, {taken} taken");
}

/// While it is unknown what is on disk, metadata cannot be changed and the error says so. Changes are
/// possible again when the disk works.
#[test]
fn a_state_in_doubt_refuses_changes_until_it_is_settled() {
    let disk = CrashDisk::new(3);
    let node = prepared(&disk, 0);
    let (calls, _, _) = dry_run(CHANGES[0].1);
    let mut was_in_doubt = false;
    for call in 0..calls {
        disk.fail_from(call, Fault::Io);
        if let Err(error) = node.put_pipeline("p", &json!({"processors": []})) {
            was_in_doubt |= error.reason.contains("no metadata changes until");
            let mapping = json!({"properties": {"k": {"type": "keyword"}}});
            assert!(node.put_mapping("b-1", ALL, false, &mapping).is_err());
            assert!(search(&node, "current", json!({"match_all": {}})).len() == 1, "reads go on");
        }
        disk.heal();
        node.put_pipeline("p", &json!({"processors": []})).expect("goes on at once, without a restart");
    }
    assert!(was_in_doubt);
}

/// A reader sees the alias on exactly one of the two indices, and never an index that is gone.
#[test]
fn readers_beside_alias_swaps_see_all_or_nothing() {
    for removes in [false, true] {
        let temporary = tempfile::tempdir().expect("tempdir");
        let node = open(temporary.path());
        let body = json!({"settings": {"number_of_replicas": 0}});
        let create = |name: &str| {
            node.create_index(name, &body).expect("created");
            write(&node, index(name, "x", br#"{"n": 1}"#)).expect("written");
            node.refresh(name, IndicesOptions::BROADCAST).expect("refreshed");
        };
        create("i-0");
        node.put_alias("i-0", "current", &json!({})).expect("put");
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..2)
                .map(|reader| {
                    let (node, done) = (&node, &done);
                    scope.spawn(move || {
                        let mut reads = 0u32;
                        while !done.load(std::sync::atomic::Ordering::Acquire) {
                            match reader {
                                0 => assert_eq!(search(node, "current", json!({"match_all": {}})).len(), 1),
                                _ => assert!(get(node, "current", "x").is_some()),
                            }
                            reads += 1;
                        }
                        reads
                    })
                })
                .collect();
            for round in 0..200u32 {
                let (from, to) = (format!("i-{round}"), format!("i-{}", round + 1));
                create(&to);
                let goes = match removes {
                    true => json!({"remove_index": {"index": from}}),
                    false => json!({"remove": {"index": from, "alias": "current"}}),
                };
                let comes = json!({"add": {"index": to, "alias": "current"}});
                node.update_aliases(&with(json!([goes, comes]))).expect("swapped");
                if !removes {
                    node.delete_index(&from, IndicesOptions::DELETE).expect("deleted");
                }
            }
            done.store(true, std::sync::atomic::Ordering::Release);
            for reader in readers {
                assert!(reader.join().expect("reads") > 0);
            }
        });
        assert_eq!(node.get_index("*", ALL).expect("shown").len(), 1);
    }
}

#[test]
fn an_alias_cannot_have_the_name_of_its_own_index() {
    let node = prepared(&CrashDisk::new(1), 0);
    let error = node.create_index("own", &json!({"aliases": {"own": {}}})).expect_err("refused");
    assert_eq!(
        (error.class, error.kind),
        (ErrorClass::BadRequest, "invalid_alias_name_exception"),
        "{error}"
    );
    assert!(!node.index_exists("own", IndicesOptions::METADATA).expect("answers"));
    let error = node.put_alias("a-1", "a-1", &json!({})).expect_err("refused");
    assert_eq!(error.kind, "invalid_alias_name_exception");
    let template = json!({"index_patterns": ["nam*"], "template": {"aliases": {"named": {}}}});
    node.put_index_template("named", &template, false).expect("put");
    assert!(write(&node, index("named", "x", b"{}")).is_err());
}

#[test]
fn an_index_whose_folder_the_disk_refused_opens_later() {
    let disk = CrashDisk::new(1);
    {
        let node = open_on(&disk, 1).expect("opens");
        node.create_index("a", &json!({"settings": {"number_of_shards": 2}})).expect("created");
        write(&node, index("a", "x", b"{}")).expect("written");
    }
    disk.set_faults(vec![
        FaultRule::new(Fault::Io, When::Window(0, u64::MAX)).only([CallKind::Folder]).at_path("/1"),
    ]);
    let node = open_on(&disk, 2).expect("opens without the index");
    assert!(write(&node, index("a", "y", b"{}")).is_err());
    node.maintain();
    assert!(write(&node, index("a", "y", b"{}")).is_err(), "the disk refuses still");
    disk.set_faults(Vec::new());
    node.maintain();
    write(&node, index("a", "y", b"{}")).expect("written");
    node.refresh("a", IndicesOptions::BROADCAST).expect("refreshes");
    assert_eq!(search(&node, "a", json!({"match_all": {}})).len(), 2);
}

/// A process that ends between the rename of a file and the fsync of its name leaves a file that a power
/// failure may take. The next start may find it, and acknowledges a request whose change is made already.
#[test]
fn what_a_start_finds_is_durable_before_a_request_relies_on_it() {
    type Shows = fn(&Node) -> bool;
    let cases: [(&str, Act, Shows); 3] = [
        (
            "a setting of the cluster",
            |node| node.put_cluster_settings(&json!({"persistent": {"search.max_buckets": 77}})).map(drop),
            |node| node.cluster_setting("search.max_buckets") == "77",
        ),
        (
            "a mapping",
            |node| node.put_mapping("a-1", ALL, false, &json!({"properties": {"late": {"type": "keyword"}}})),
            |node| node.mapping("a-1").expect("there").field("late").is_some(),
        ),
        (
            "a role",
            |node| {
                let role = RoleDescriptor::parse("late", &json!({}))?;
                node.change_security(|store| {
                    store.roles.insert("late", role);
                    Ok(())
                })
            },
            |node| node.security().roles.get("late").is_some(),
        ),
    ];
    for (name, act, shows) in cases {
        let mut relied = 0;
        for (call, seed) in (0..8).flat_map(|call| (0..6).map(move |seed| (call, seed))) {
            let disk = CrashDisk::new(seed);
            let node = prepared(&disk, seed);
            disk.fail_from(call, Fault::Io);
            let outcome = act(&node);
            drop(node);
            disk.heal();
            if outcome.is_ok() {
                continue;
            }
            let node = node_on(&disk, seed + 1).expect("opens");
            if !shows(&node) {
                continue;
            }
            act(&node).expect("nothing is left to do");
            disk.power_off();
            drop(node);
            disk.crash();
            let node = node_on(&disk, seed + 1).expect("opens");
            assert!(shows(&node), "{name}: call {call}, seed {seed}: acknowledged and lost");
            relied += 1;
        }
        assert!(relied > 0, "{name}: no call left a name that was not durable");
    }
}
