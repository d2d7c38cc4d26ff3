//! The files of users, roles and keys: a change costs what it changes, is durable or not made at all, and
//! what earlier builds stored is read.

mod common;

use std::path::{Path, PathBuf};

use common::{config, open, open_on};
use limber_access::{RoleDescriptor, User};
use limber_engine::*;
use limber_store::{CrashDisk, Fault};
use serde_json::{Map, Value, json};

fn user(text: &str) -> User {
    User {
        roles: vec!["r".to_owned()],
        full_name: Some(text.to_owned()),
        email: None,
        metadata: Map::new(),
        enabled: true,
        password_hash: None,
    }
}

/// Puts a user and a role in one step.
fn put(node: &Node, name: &str, text: &str) -> Result<()> {
    let role = RoleDescriptor::parse(name, &json!({"description": text}))?;
    node.change_security(|store| {
        store.users.insert(name, user(text));
        store.roles.insert(name, role);
        Ok(())
    })
}

fn disable(node: &Node, name: &str) -> Result<()> {
    node.change_security(|store| store.set_enabled(name, false))
}

fn remove(node: &Node, name: &str) -> Result<()> {
    node.change_security(|store| {
        store.users.remove(name);
        store.roles.remove(name);
        Ok(())
    })
}

/// What is stored, with one line per user. A user without the role of the same step is an error.
fn view(node: &Node) -> Vec<String> {
    let store = node.security();
    let lines = store.users.iter().map(|(name, user)| {
        let role = store.roles.get(name).expect("put together with its user");
        assert_eq!(role.description, user.full_name);
        format!("{name} {} {}", user.full_name.clone().unwrap_or_default(), user.enabled)
    });
    assert_eq!(store.users.len(), store.roles.len());
    lines.collect()
}

type Act = fn(&Node) -> Result<()>;

const CHANGES: &[(&str, Act)] = &[
    ("a new user", |node| put(node, "new", "first")),
    ("a changed user", |node| put(node, "one", "second")),
    ("a member of a user", |node| disable(node, "two")),
    ("a user that goes", |node| remove(node, "one")),
];

fn prepared(disk: &CrashDisk) -> std::sync::Arc<Node> {
    let node = open_on(disk, 0).expect("opens");
    put(&node, "one", "first").expect("put");
    put(&node, "two", "first").expect("put");
    node
}

#[test]
fn a_change_that_fails_anywhere_is_made_or_not_made() {
    for (name, act) in CHANGES {
        let disk = CrashDisk::new(0);
        let node = prepared(&disk);
        let (before, first) = (view(&node), disk.call_count());
        act(&node).expect("changed");
        let (after, calls) = (view(&node), disk.call_count() - first);
        for fault in [Fault::Io, Fault::NoSpace, Fault::SyncLost] {
            for call in 0..calls {
                for is_permanent in [false, true] {
                    let what = format!("{name}, {fault:?} at {call} of {calls}, permanent: {is_permanent}");
                    let disk = CrashDisk::new(call);
                    let node = prepared(&disk);
                    match is_permanent {
                        true => disk.fail_from(call, fault),
                        false => disk.fail_call(call, fault),
                    }
                    let outcome = act(&node);
                    let expected = if outcome.is_ok() { &after } else { &before };
                    assert_eq!(view(&node), *expected, "{what}");
                    // The power is cut at once, or the disk heals and the next change is made.
                    let mut allowed = vec![expected.clone()];
                    if call % 2 == 0 {
                        disk.heal();
                        node.maintain();
                        assert_eq!(view(&node), *expected, "{what}, healed");
                        put(&node, "three", "later").unwrap_or_else(|error| panic!("{what}: {error}"));
                        allowed = vec![view(&node)];
                    } else if outcome.is_err() {
                        // An error may leave the change to the crash, as long as the disk is broken.
                        allowed.extend(is_permanent.then(|| after.clone()));
                    }
                    drop(node);
                    disk.crash();
                    let node = open_on(&disk, 1).unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(allowed.contains(&view(&node)), "{what}: {:?}", view(&node));
                }
            }
        }
    }
}

/// A node whose users are worth writing anew.
fn with_many_changes(disk: &CrashDisk) -> std::sync::Arc<Node> {
    let node = prepared(disk);
    let long = "x".repeat(100_000);
    for number in 0..4 {
        put(&node, "long", &format!("{long}{number}")).expect("put");
    }
    node
}

#[test]
fn a_compaction_that_fails_or_crashes_anywhere_loses_nothing() {
    let disk = CrashDisk::new(0);
    let node = with_many_changes(&disk);
    let (expected, first) = (view(&node), disk.call_count());
    node.maintain();
    let calls = disk.call_count() - first;
    assert!(calls > 6, "{calls}");
    for call in 0..calls {
        for power_goes in [false, true] {
            let what = format!("call {call} of {calls}, the power goes: {power_goes}");
            let disk = CrashDisk::new(call);
            let node = with_many_changes(&disk);
            disk.fail_from(call, Fault::Io);
            node.maintain();
            assert_eq!(view(&node), expected, "{what}");
            let mut last = expected.clone();
            if !power_goes {
                disk.heal();
                put(&node, "three", "later").expect("put");
                node.maintain();
                last = view(&node);
            }
            drop(node);
            disk.crash();
            let node = open_on(&disk, 1).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(view(&node), last, "{what}");
            node.maintain();
            put(&node, "four", "later").expect("put");
        }
    }
}

/// Returns the files of users and keys, without the one that names the newest of them.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for cluster in std::fs::read_dir(folder.join("security")).expect("there") {
        let entries = std::fs::read_dir(cluster.expect("lists").path()).expect("lists");
        let paths = entries.map(|entry| entry.expect("lists").path());
        files.extend(paths.filter(|path| !path.ends_with("newest")));
    }
    files.sort();
    files
}

fn names(folder: &Path) -> Vec<String> {
    let name = |file: &PathBuf| file.file_name().expect("named").to_string_lossy().into_owned();
    files(folder).iter().map(name).collect()
}

#[test]
fn a_change_costs_what_it_changes() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = open(temporary.path());
    let long = "x".repeat(100_000);
    for number in 0..20 {
        put(&node, &format!("long{number}"), &long).expect("put");
    }
    node.maintain();
    let held = node.ledger().metadata.used_bytes();
    assert!((4_000_000..8_000_000).contains(&held), "{held}");
    assert_eq!(names(temporary.path()), ["whole-00000000000000000020"]);
    disable(&node, "long3").expect("changed");
    remove(&node, "long4").expect("removed");
    let sizes: Vec<u64> =
        files(temporary.path()).iter().map(|file| std::fs::metadata(file).expect("there").len()).collect();
    assert!(sizes[0] < 200 && sizes[1] < 300 && sizes[2] > 4_000_000, "{sizes:?}");
    let less = held - node.ledger().metadata.used_bytes();
    assert!((200_000..210_000).contains(&less), "{less}");
    // A change that changes nothing writes nothing.
    disable(&node, "long3").expect("as it is");
    assert_eq!(files(temporary.path()).len(), 3);
    // What is charged is the same after a restart.
    let held = node.ledger().metadata.used_bytes();
    node.close();
    drop(node);
    let node = open(temporary.path());
    let again = node.ledger().metadata.used_bytes();
    assert!(held.abs_diff(again) < 2_000, "{held} {again}");
    assert!(!node.security().users.get("long3").expect("there").enabled);
}

/// Rewrites the node's state as builds before version 3 wrote it, with users and keys inside.
fn as_version_2(folder: &Path, security: &Value) {
    let file = folder.join("state/node.json");
    let text = std::fs::read_to_string(&file).expect("reads");
    let (first, body) = text.split_once('\n').expect("two lines");
    assert!(first.starts_with("limber-node 3 "), "{first}");
    let mut state: Value = serde_json::from_str(body).expect("JSON");
    state["security"] = security.clone();
    let body = state.to_string();
    let crc = limber_codec::checksum::crc32(body.as_bytes());
    std::fs::write(&file, format!("limber-node 2 {crc:08x} {}\n{body}", body.len())).expect("writes");
    std::fs::remove_dir_all(folder.join("security")).expect("removed");
}

fn version_of(folder: &Path) -> u8 {
    std::fs::read(folder.join("state/node.json")).expect("reads")["limber-node ".len()]
}

#[test]
fn users_in_the_state_of_earlier_builds_move_to_their_own_files() {
    let temporary = tempfile::tempdir().expect("tempdir");
    open(temporary.path()).close();
    let kept = json!({
        "version": 5,
        "users": {"u": {"roles": ["u"], "full_name": "d", "email": null, "metadata": {}, "enabled": true,
            "password_hash": "h"}},
        "roles": {"u": {"cluster": ["all"], "description": "d"}},
        "service_tokens": {"elastic/kibana/t": {"creation_ms": 5, "digest": "e"}},
        "privileges": {"app": {"p": {"application": "app", "name": "p", "actions": ["a/b"], "metadata": {}}}},
    });
    as_version_2(temporary.path(), &kept);
    let node = open(temporary.path());
    let check = |node: &Node| {
        let store = node.security();
        assert_eq!(store.users.get("u").expect("there").password_hash.as_deref(), Some("h"));
        assert_eq!(store.roles.get("u").expect("there").cluster, ["all"]);
        assert_eq!(store.service_tokens.get("elastic/kibana/t").expect("there").digest, "e");
        assert_eq!(store.privileges.get(r#"["app","p"]"#).expect("there")["actions"], json!(["a/b"]));
    };
    check(&node);
    // Until users and keys have moved, the state stays one that the earlier build reads.
    node.put_pipeline("p", &json!({"processors": []})).expect("put");
    assert_eq!(version_of(temporary.path()), b'2');
    drop(node);
    let node = open(temporary.path());
    check(&node);
    put(&node, "new", "first").expect("put");
    assert_eq!(version_of(temporary.path()), b'3');
    assert_eq!(names(temporary.path()), ["change-00000000000000000006", "whole-00000000000000000005"]);
    let state = std::fs::read_to_string(temporary.path().join("state/node.json")).expect("reads");
    assert!(!state.contains("elastic/kibana"));
    node.close();
    drop(node);
    let node = open(temporary.path());
    check(&node);
    assert_eq!(view(&node), ["new first true", "u d true"]);
    // The housekeeping moves them, too.
    drop(node);
    as_version_2(temporary.path(), &kept);
    let node = open(temporary.path());
    node.maintain();
    assert_eq!(version_of(temporary.path()), b'3');
    drop(node);
    set_password_offline(temporary.path(), "u", "new-password").expect("set");
    assert_ne!(
        open(temporary.path()).security().users.get("u").expect("there").password_hash.as_deref(),
        Some("h")
    );
}

#[test]
fn moving_users_out_of_the_state_may_fail_or_crash_anywhere() {
    for call in 0..14 {
        for power_goes in [false, true] {
            let what = format!("call {call}, the power goes: {power_goes}");
            let disk = CrashDisk::new(call);
            drop(prepared(&disk));
            let state = disk.directory("state");
            let text = limber_store::Directory::open(&state, "node.json").expect("reads").to_vec();
            let text = String::from_utf8(text).expect("text");
            let mut body: Value =
                serde_json::from_str(text.split_once('\n').expect("two lines").1).expect("JSON");
            let bare = json!({"roles": ["r"], "full_name": "d", "enabled": true});
            body["security"] =
                json!({"version": 3, "users": {"u": bare}, "roles": {"u": {"description": "d"}}});
            let body = body.to_string();
            let crc = limber_codec::checksum::crc32(body.as_bytes());
            let whole = format!("limber-node 2 {crc:08x} {}\n{body}", body.len());
            limber_store::directory::write_atomically(&state, "node.json", whole.as_bytes())
                .expect("written");
            let node = open_on(&disk, 0).expect("opens");
            let mut expected = vec!["u d true".to_owned()];
            assert_eq!(view(&node), expected);
            disk.fail_from(call, Fault::Io);
            node.maintain();
            assert_eq!(view(&node), expected, "{what}");
            if !power_goes {
                disk.heal();
                put(&node, "later", "first").unwrap_or_else(|error| panic!("{what}: {error}"));
                expected.insert(0, "later first true".to_owned());
            }
            drop(node);
            disk.crash();
            let node = open_on(&disk, 1).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(view(&node), expected, "{what}");
            put(&node, "last", "first").unwrap_or_else(|error| panic!("{what}: {error}"));
        }
    }
}

#[test]
fn damage_refuses_the_start_and_names_the_file() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = open(temporary.path());
    for number in 0..3 {
        put(&node, "u", &number.to_string()).expect("put");
    }
    drop(node);
    let check = |named: &str| {
        let error = Node::open(config(temporary.path())).err().expect("refused");
        assert!(error.reason.contains(named), "{error}");
        let report = check_data_folder(temporary.path()).expect("checked");
        assert!(report.lines.iter().any(|line| line.contains(named)), "{:#?}", report.lines);
    };
    let all = files(temporary.path());
    assert_eq!(all.len(), 4);
    for (number, file) in all.iter().enumerate() {
        let name = file.file_name().expect("named").to_string_lossy().into_owned();
        let whole = std::fs::read(file).expect("reads");
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        std::fs::write(file, &flipped).expect("writes");
        check(&name);
        std::fs::write(file, &whole[..whole.len() / 2]).expect("writes");
        check(&name);
        std::fs::remove_file(file).expect("removed");
        match number {
            // No other file says that this last change was made: the node was dropped before it noted that.
            2 => drop(open(temporary.path())),
            3 => check("the file with the users and keys is not there"),
            _ => check(&name),
        }
        std::fs::write(file, &whole).expect("writes");
    }
    std::fs::remove_dir_all(temporary.path().join("security")).expect("removed");
    check("the folder with the users and keys is not there");
}

#[test]
fn the_last_changes_are_missed() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = open(temporary.path());
    for number in 0..3 {
        put(&node, "u", &number.to_string()).expect("put");
    }
    node.close();
    drop(node);
    let refused = || {
        let error = Node::open(config(temporary.path())).err().expect("refused");
        let report = check_data_folder(temporary.path()).expect("checked");
        assert!(report.lines.iter().any(|line| line.contains(&error.reason)), "{:#?}", report.lines);
        error.reason
    };
    let all = files(temporary.path());
    let changes = &all[..3];
    let newest = changes[0].with_file_name("newest");
    let contents: Vec<Vec<u8>> = changes.iter().map(|file| std::fs::read(file).expect("reads")).collect();
    // The last change, then the last two, then all.
    for (number, file) in changes.iter().enumerate().rev() {
        std::fs::remove_file(file).expect("removed");
        let told = refused();
        let missing = format!("change-{:020}", number + 1);
        assert!(told.contains(&missing) && told.contains("the file is not there"), "{told}");
    }
    for (file, content) in changes.iter().zip(&contents) {
        std::fs::write(file, content).expect("writes");
    }
    // The file itself is checked, and a folder without it is one of an earlier build.
    let named = std::fs::read(&newest).expect("reads");
    let mut flipped = named.clone();
    flipped[named.len() - 2] ^= 1;
    std::fs::write(&newest, &flipped).expect("writes");
    assert!(refused().contains("newest"));
    std::fs::remove_file(&newest).expect("removed");
    let node = open(temporary.path());
    node.maintain();
    assert_eq!(std::fs::read(&newest).expect("written again"), named);
    // A change that was made after the file was written counts too.
    put(&node, "u", "later").expect("put");
    drop(node);
    assert_eq!(open(temporary.path()).security().version, 4);
}
