//! Tests metadata that are damaged, unreadable or in the wrong place: nothing is deleted, intact indices
//! serve, and the reason is reported.

mod common;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::hooked::{Hook, HookedDisk};
use common::*;
use limber_engine::environment::ManualClock;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_store::{Disk, FsDisk};
use serde_json::{Value, json};

const ALL: IndicesOptions = IndicesOptions {
    expand_closed: true,
    expand_hidden: true,
    forbid_closed_indices: false,
    ..IndicesOptions::LENIENT
};

/// Makes a folder with the indices `good` and `bad`, one document each, and an alias of both. Returns the
/// UUID of `bad`.
fn folder_with_two() -> (tempfile::TempDir, String) {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = open(temporary.path());
    for name in ["good", "bad"] {
        let body = json!({"settings": {"number_of_replicas": 0}, "aliases": {"both": {}}});
        node.create_index(name, &body).expect("created");
        write(&node, index(name, "x", br#"{"n": 1}"#)).expect("written");
    }
    let uuid = node.get_index("bad", ALL).expect("shown")[0].uuid.to_string();
    node.close();
    (temporary, uuid)
}

fn index_file(folder: &Path, uuid: &str) -> std::path::PathBuf {
    folder.join("indices").join(uuid).join("index.json")
}

fn health(node: &Node) -> Value {
    let request = HealthRequest { timeout_ms: 0, ..HealthRequest::default() };
    node.cluster_health(&request).expect("answers").to_json("indices", false)
}

/// Checks that `bad` is red and reports why in every response, and that `good` serves.
fn check_bad_is_red(node: &Node, reason: &str) {
    let health = health(node);
    assert_eq!(health["status"], "red");
    assert_eq!(health["indices"]["good"]["status"], "green");
    let told = health["indices"]["bad"]["reason"].as_str().expect("a reason");
    assert!(told.contains(reason), "{told}");
    assert!(get(node, "good", "x").is_some());
    write(node, index("good", "y", br#"{"n": 2, "new": "field"}"#)).expect("the other index serves");
    let says = |error: &limber_mapping::RequestError| {
        let cause = error.caused_by.as_deref().expect("a cause");
        assert!(error.class == ErrorClass::Unavailable && cause.reason.contains(reason), "{error}: {cause}");
    };
    says(&node.get(&GetRequest::new("bad", "x")).expect_err("refused"));
    says(&write(node, index("bad", "y", b"{}")).expect_err("refused"));
    // The alias is known although the metadata are not. Nothing can be created under its name, and a change
    // that would affect it is refused.
    assert!(write(node, index("both", "y", b"{}")).is_err());
    says(&node.put_alias("bad", "other", &json!({})).expect_err("refused"));
    let settings = json!({"index.refresh_interval": "1s"});
    says(&node.put_settings("bad", ALL, &settings, false).expect_err("refused"));
    let strictly = IndicesOptions { ignore_unavailable: false, ..ALL };
    assert!(!node.index_exists("other", strictly).expect("answers"));
}

#[test]
fn every_flipped_bit_of_an_index_file_is_noticed_and_costs_one_index() {
    let (temporary, uuid) = folder_with_two();
    let file = index_file(temporary.path(), &uuid);
    let whole = std::fs::read(&file).expect("reads");
    for at in (0..whole.len()).step_by(23) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&file, &flipped).expect("writes");
        let node = open(temporary.path());
        check_bad_is_red(&node, "index.json] is damaged");
        assert!(file.exists(), "byte {at}");
        node.close();
    }
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("writes");
    check_bad_is_red(&open(temporary.path()), "is damaged");
    std::fs::remove_file(&file).expect("removes");
    check_bad_is_red(&open(temporary.path()), "it is not there");
    std::fs::write(&file, &whole).expect("writes");
    let node = open(temporary.path());
    assert_eq!(health(&node)["status"], "green");
    assert!(get(&node, "bad", "x").is_some(), "nothing of it was touched");
    // The error names a newer version.
    node.close();
    drop(node);
    let newer = String::from_utf8(whole).expect("text").replacen("limber-index 2 ", "limber-index 3 ", 1);
    std::fs::write(&file, newer).expect("writes");
    let node = open(temporary.path());
    check_bad_is_red(&node, "[limber-index 3] of a newer version");
    node.delete_index("bad", IndicesOptions::DELETE).expect("deleting it needs no metadata");
    assert!(!file.exists());
}

#[test]
fn every_flipped_bit_of_the_nodes_state_refuses_the_start() {
    let (temporary, _) = folder_with_two();
    let file = temporary.path().join("state/node.json");
    let whole = std::fs::read(&file).expect("reads");
    let refused = |what: &str| {
        let error = Node::open(config(temporary.path())).err().unwrap_or_else(|| panic!("{what}: it opens"));
        assert!(error.reason.contains("state/node.json"), "{what}: {error}");
    };
    for at in (0..whole.len()).step_by(17) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&file, &flipped).expect("writes");
        refused(&format!("byte {at}"));
    }
    let older =
        String::from_utf8(whole.clone()).expect("text").replacen("limber-node 3 ", "limber-node 2 ", 1);
    std::fs::write(&file, older).expect("writes");
    refused("a version that would lose the users");
    let newer =
        String::from_utf8(whole.clone()).expect("text").replacen("limber-node 3 ", "limber-node 9 ", 1);
    std::fs::write(&file, newer).expect("writes");
    refused("a newer version");
    // The file cannot be examined, because its name is a circular link.
    std::fs::remove_file(&file).expect("removes");
    std::os::unix::fs::symlink("node.json", &file).expect("links");
    refused("a stat that fails");
    std::fs::remove_file(&file).expect("removes");
    std::fs::write(&file, &whole).expect("writes");
    let node = open(temporary.path());
    assert!(get(&node, "bad", "x").is_some());
}

#[test]
fn an_index_whose_file_cannot_be_read_comes_back_with_the_disk() {
    let (temporary, uuid) = folder_with_two();
    let file = index_file(temporary.path(), &uuid);
    let aside = temporary.path().join("aside");
    std::fs::rename(&file, &aside).expect("renames");
    std::os::unix::fs::symlink("index.json", &file).expect("links");
    let node = open(temporary.path());
    check_bad_is_red(&node, "cannot be read: stat");
    node.maintain();
    check_bad_is_red(&node, "cannot be read: stat");
    std::fs::remove_file(&file).expect("removes");
    std::fs::rename(&aside, &file).expect("renames");
    node.maintain();
    assert_eq!(health(&node)["status"], "green", "without a restart");
    assert!(get(&node, "bad", "x").is_some());
    node.put_alias("bad", "other", &json!({})).expect("changes again");
}

#[test]
fn a_file_that_is_gone_is_missed_although_the_state_has_a_change_of_it() {
    let (temporary, uuid) = folder_with_two();
    let node = open(temporary.path());
    let change = json!({"actions": [{"add": {"indices": ["good", "bad"], "alias": "more"}}]});
    node.update_aliases(&serde_json::from_value(change).expect("a body")).expect("changed");
    // The change is in the node's state. The index's own file, which might be newer, is removed before it
    // contains the change.
    std::fs::remove_file(index_file(temporary.path(), &uuid)).expect("removed");
    drop(node);
    let checked = check_data_folder(temporary.path()).expect("checked");
    let told = format!("PROBLEM indices/{uuid}: the metadata of a listed index is not there");
    assert!(checked.lines.contains(&told), "{:#?}", checked.lines);
    check_bad_is_red(&open(temporary.path()), "index.json] is damaged");
}

#[test]
fn folders_that_nobody_lists_are_set_aside() {
    let (temporary, uuid) = folder_with_two();
    let bare = temporary.path().join("indices/bareuuidbareuuidbareuu/0");
    std::fs::create_dir_all(&bare).expect("made");
    // The state was lost. A new node must not treat existing folders as garbage, neither now nor later.
    std::fs::remove_dir_all(temporary.path().join("state")).expect("removed");
    let checked = check_data_folder(temporary.path()).expect("checked");
    let told =
        "PROBLEM state/node.json is not there: a server starts without 3 indices that are, as dangling ones";
    assert!(checked.lines.iter().any(|line| line == told), "{:#?}", checked.lines);
    open(temporary.path()).close();
    let node = open(temporary.path());
    assert!(bare.exists());
    let listed = node.dangling_indices();
    let dangling = listed["dangling_indices"].as_array().expect("a list");
    assert_eq!(dangling.len(), 3, "{listed:#}");
    let named = |name: &str| dangling.iter().find(|entry| entry["index_name"] == name).expect("listed");
    assert_eq!(named("bad")["index_uuid"], uuid);
    assert_eq!(named("_na_")["reason"], "it has no metadata");
    assert_eq!(health(&node)["status"], "green");

    let error = node.import_dangling_index(&uuid, false).expect_err("refused");
    assert_eq!(
        (error.class, &*error.reason),
        (ErrorClass::BadRequest, "accept_data_loss must be set to true")
    );
    let error = node.import_dangling_index("nothing", true).expect_err("refused");
    assert_eq!(error.reason, "No dangling index found for UUID [nothing]");
    node.create_index("bad", &json!({})).expect("created");
    assert!(node.import_dangling_index(&uuid, true).is_err(), "its name is taken");
    node.delete_index("bad", IndicesOptions::DELETE).expect("deleted");
    node.import_dangling_index(&uuid, true).expect("imported");
    assert!(get(&node, "bad", "x").is_some());
    assert!(node.import_dangling_index("bareuuidbareuuidbareuu", true).is_err(), "it has no metadata");
    node.delete_dangling_index("bareuuidbareuuidbareuu", true).expect("deleted");
    assert!(!bare.exists());
    node.close();
    drop(node);
    let node = open(temporary.path());
    assert_eq!(node.dangling_indices()["dangling_indices"].as_array().map(Vec::len), Some(1));
    assert!(get(&node, "bad", "x").is_some());
    // When the state is older than the folder, only the leftovers of an interrupted creation may be removed.
    node.close();
    drop(node);
    std::fs::create_dir_all(&bare).expect("made");
    open(temporary.path()).close();
    assert!(!bare.exists());
}

fn hooked(path: &Path, clock: &Arc<ManualClock>, hook: Hook) -> Arc<Node> {
    let inner: Arc<dyn Disk> = Arc::new(FsDisk::open(path).expect("opens"));
    let environment = environment(clock.clone(), Arc::new(HookedDisk { inner, hook }), 7);
    Node::open_with(config(path), environment).expect("opens")
}

/// Makes every call that reads metadata fail in turn at the start: no folder is removed, and the next start
/// finds everything.
#[test]
fn a_read_that_fails_deletes_nothing() {
    let (temporary, _) = folder_with_two();
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    for turn in 0..40 {
        let count = AtomicUsize::new(0);
        let hook: Hook = Arc::new(move |call, path| {
            let reads = matches!(call, "stat" | "open" | "read" | "list") && !path.ends_with(".log");
            match reads && count.fetch_add(1, Ordering::SeqCst) == turn {
                true => Err(io::Error::other("no answer from the disk")),
                false => Ok(()),
            }
        });
        let inner: Arc<dyn Disk> = Arc::new(FsDisk::open(temporary.path()).expect("opens"));
        let environment = environment(clock.clone(), Arc::new(HookedDisk { inner, hook }), turn as u64);
        if let Ok(node) = Node::open_with(config(temporary.path()), environment) {
            node.maintain();
            assert_eq!(
                health(&node)["status"],
                "green",
                "turn {turn}: the disk works again: {:#}",
                health(&node)
            );
            node.close();
        }
        let node = open(temporary.path());
        for name in ["good", "bad"] {
            assert!(get(&node, name, "x").is_some(), "turn {turn}: {name}");
        }
        assert_eq!(node.get_index("both", ALL).expect("shown").len(), 2, "turn {turn}");
        assert_eq!(node.dangling_indices()["dangling_indices"], json!([]), "turn {turn}");
        node.close();
    }
}

/// The rename of one index's metadata blocks. Meanwhile writers of the other index create fields, and aliases
/// change.
#[test]
fn a_slow_file_of_one_index_holds_up_no_other() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let (stuck, is_met) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let slow_folder = Arc::new(std::sync::Mutex::new(String::new()));
    let hook: Hook = {
        let (stuck, is_met, slow_folder) = (stuck.clone(), is_met.clone(), slow_folder.clone());
        Arc::new(move |call, path| {
            let is_it = call == "rename" && *path == *slow_folder.lock().expect("held");
            while is_it && stuck.load(Ordering::SeqCst) {
                is_met.store(true, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Ok(())
        })
    };
    let node = hooked(temporary.path(), &clock, hook);
    for name in ["slow", "fast"] {
        node.create_index(name, &json!({"settings": {"number_of_replicas": 0}})).expect("created");
    }
    node.maintain();
    let uuid = node.get_index("slow", ALL).expect("shown")[0].uuid.to_string();
    *slow_folder.lock().expect("held") = format!("indices/{uuid}/index.json");
    stuck.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| write(&node, index("slow", "x", br#"{"a": 1}"#)));
        while !is_met.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        // A change that has to wait for the slow index must not block others either.
        let waits_too = scope.spawn(|| {
            node.update_aliases(&json!({"actions": [{"add": {"index": "slow,fast", "alias": "both"}}]}))
        });
        write(&node, index("fast", "x", br#"{"b": 1}"#)).expect("a new field of another index");
        node.put_alias("fast", "alone", &json!({})).expect("an alias of another index");
        write(&node, index("new", "x", br#"{"c": 1}"#)).expect("a new index");
        node.put_pipeline("p", &json!({"processors": []})).expect("a pipeline");
        node.delete_index("new", IndicesOptions::DELETE).expect("a deletion");
        assert!(search(&node, "fast,slow", json!({"match_all": {}})).is_empty());
        stuck.store(false, Ordering::SeqCst);
        waits.join().expect("ends").expect("written");
        waits_too.join().expect("ends").expect("added");
    });
    assert_eq!(node.get_index("both", ALL).expect("shown").len(), 2);
}

/// A damaged shard is not opened again without a reason. One that the disk refused to read is, after growing
/// pauses.
#[test]
fn shards_are_opened_again_when_there_is_a_reason() {
    let (temporary, uuid) = folder_with_two();
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let (opens, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let make_hook = || -> Hook {
        let (opens, fails, commit) = (opens.clone(), fails.clone(), format!("indices/{uuid}/0/commit"));
        Arc::new(move |call, path| {
            if call == "read" && *path == *commit {
                opens.fetch_add(1, Ordering::SeqCst);
                if fails.load(Ordering::SeqCst) {
                    return Err(io::Error::other("no answer from the disk"));
                }
            }
            Ok(())
        })
    };
    fails.store(true, Ordering::SeqCst);
    let node = hooked(temporary.path(), &clock, make_hook());
    let mut counts = Vec::new();
    for _ in 0..20 {
        clock.advance_ms(1_000);
        node.recovery_round();
        counts.push(opens.load(Ordering::SeqCst));
    }
    // The shard is tried at the start and in the first round, then after 1, 2, 4 and 8 seconds.
    assert_eq!(counts[19], 6, "{counts:?}");
    assert!(
        health(&node)["indices"]["bad"]["reason"].as_str().is_some_and(|reason| reason.contains("commit"))
    );
    fails.store(false, Ordering::SeqCst);
    clock.advance_ms(300_000);
    node.recovery_round();
    assert_eq!(health(&node)["status"], "green");
    node.close();
    drop(node);

    let commit = temporary.path().join(format!("indices/{uuid}/0/commit"));
    let whole = std::fs::read(&commit).expect("reads");
    let mut damaged = whole.clone();
    damaged[40] ^= 1;
    std::fs::write(&commit, &damaged).expect("writes");
    opens.store(0, Ordering::SeqCst);
    let node = hooked(temporary.path(), &clock, make_hook());
    for _ in 0..20 {
        clock.advance_ms(300_000);
        node.recovery_round();
        node.maintain();
    }
    assert_eq!(opens.load(Ordering::SeqCst), 1, "once, at the start");
    assert!(
        health(&node)["indices"]["bad"]["reason"].as_str().is_some_and(|reason| reason.contains("corrupt"))
    );
    // The user repairs it, and then closes and opens the index.
    std::fs::write(&commit, &whole).expect("writes");
    node.close_index("bad", ALL).expect("closed");
    node.open_index("bad", ALL).expect("opened");
    assert!(get(&node, "bad", "x").is_some());
}
