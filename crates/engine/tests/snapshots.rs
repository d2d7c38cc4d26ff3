//! Tests snapshots in a repository that fails, is damaged, or is written to by another node: every listed
//! snapshot can be restored.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::*;
use limber_engine::environment::ManualClock;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_store::repository::{Blob, BlobFault, Blobs, MemoryBlobs};
use limber_store::sync::Mutex;
use limber_store::{CrashDisk, Disk};
use serde_json::{Value, json};

const ALL: &str = "_all";

struct TestNode {
    node: Arc<Node>,
    clock: Arc<ManualClock>,
    disk: CrashDisk,
}

/// Opens a node on a disk in memory, with the repository `r`.
fn node(seed: u64, blobs: impl Blobs + 'static) -> TestNode {
    node_on(CrashDisk::new(seed), seed, Arc::new(blobs))
}

fn node_on(disk: CrashDisk, seed: u64, blobs: Arc<dyn Blobs>) -> TestNode {
    let clock = Arc::new(ManualClock::at(1_700_000_000_000));
    let environment = environment(clock.clone(), Arc::new(disk.clone()), seed);
    let node = Node::open_with(config(Path::new("/crash")), environment).expect("opens");
    node.put_repository_on("r", blobs).expect("registered");
    TestNode { node, clock, disk }
}

fn put(node: &Node, name: &str, id: &str, source: Value) {
    write(node, index(name, id, source.to_string().as_bytes())).expect("written");
}

fn documents(node: &Node, name: &str) -> Vec<(String, Value)> {
    node.refresh(name, IndicesOptions::BROADCAST).expect("refreshes");
    search(node, name, json!({"match_all": {}}))
}

fn snapshot(node: &Node, name: &str) -> Result<Value> {
    node.create_snapshot("r", name, &json!({"indices": "t"}), true)
}

fn listed(node: &Node) -> Vec<String> {
    let all = SnapshotQuery { snapshots: ALL.into(), ..SnapshotQuery::default() };
    let body = node.get_snapshots("r", &all).expect("listed");
    let snapshots = body["snapshots"].as_array().expect("a list");
    snapshots.iter().map(|one| one["snapshot"].as_str().expect("a name").to_owned()).collect()
}

/// Restores index `t` of a snapshot under another name, returns its documents, and deletes it.
fn restored(node: &Node, name: &str) -> Result<Vec<(String, Value)>> {
    let body = json!({"rename_pattern": "(.+)", "rename_replacement": "back_$1"});
    node.restore_snapshot("r", name, &body, true)?;
    let found = documents(node, "back_t");
    node.delete_index("back_t", IndicesOptions::DELETE).expect("deleted");
    Ok(found)
}

/// Returns how many index folders a node has.
fn index_folders(node: &TestNode) -> usize {
    node.disk.folders("indices").expect("listed").len()
}

#[test]
fn a_snapshot_restores_on_another_node_with_settings_mappings_and_aliases() {
    let blobs = MemoryBlobs::default();
    let from = node(1, blobs.clone());
    let body = json!({
        "settings": {"number_of_shards": 3, "refresh_interval": "-1"},
        "mappings": {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}}},
        "aliases": {"also": {"filter": {"term": {"k": "x"}}}},
    });
    from.node.create_index("t", &body).expect("created");
    for number in 0..50 {
        put(&from.node, "t", &number.to_string(), json!({"n": number, "k": "x"}));
    }
    write(&from.node, delete("t", "7")).expect("deleted");
    let expected = documents(&from.node, "t");
    assert_eq!(expected.len(), 49);
    let made = snapshot(&from.node, "s1").expect("taken");
    assert_eq!(
        (&made["snapshot"]["state"], &made["snapshot"]["shards"]["successful"]),
        (&json!("SUCCESS"), &json!(3))
    );

    let to = node(2, blobs.clone());
    let answer = to.node.restore_snapshot("r", "s1", &json!({}), true).expect("restored");
    assert_eq!(answer["snapshot"]["shards"], json!({"total": 3, "failed": 0, "successful": 3}));
    assert_eq!(documents(&to.node, "t"), expected);
    assert_eq!(documents(&to.node, "also").len(), 49);
    // It continues like any index: versions continue, new documents are accepted, and a restart finds
    // everything.
    put(&to.node, "t", "1", json!({"n": 100, "k": "x"}));
    assert_eq!(get(&to.node, "t", "1"), Some((2, json!({"n": 100, "k": "x"}))));
    let options = IndicesOptions::METADATA;
    let info = to.node.get_index("t", options).expect("there").remove(0);
    let before = from.node.get_index("t", options).expect("there").remove(0);
    assert_ne!(info.uuid, before.uuid);
    assert_eq!((&info.mappings, &info.aliases), (&before.mappings, &before.aliases));
    assert_eq!(info.settings["index.refresh_interval"], "-1");
    let TestNode { node: opened, disk, .. } = to;
    opened.close();
    drop(opened);
    disk.crash();
    let again = node_on(disk, 2, Arc::new(blobs)).node;
    assert_eq!(get(&again, "t", "1").map(|(_, source)| source), Some(json!({"n": 100, "k": "x"})));
    assert_eq!(documents(&again, "t").len(), 49);
}

#[test]
fn a_snapshot_beside_a_writer_is_a_prefix_of_what_it_wrote() {
    let blobs = MemoryBlobs::default();
    let from = node(3, blobs.clone());
    from.node.create_index("t", &json!({"settings": {"number_of_shards": 1}})).expect("created");
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let bounds: Vec<(u64, u64)> = std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0u64.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                put(&from.node, "t", &number.to_string(), json!({"n": number}));
                acknowledged.store(number + 1, Ordering::Release);
                if number % 97 == 0 {
                    from.node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
                    from.node.maintain();
                }
            }
        });
        let bounds = (0..4).map(|number| {
            let before = acknowledged.load(Ordering::Acquire);
            snapshot(&from.node, &format!("s{number}")).expect("taken");
            (before, acknowledged.load(Ordering::Acquire) + 1)
        });
        let bounds = bounds.collect();
        stop.store(true, Ordering::Relaxed);
        bounds
    });
    let to = node(4, blobs);
    for (number, (least, most)) in bounds.into_iter().enumerate() {
        to.node.restore_snapshot("r", &format!("s{number}"), &json!({}), true).expect("restored");
        to.node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
        let count = (0..).take_while(|id: &u64| get(&to.node, "t", &id.to_string()).is_some()).count() as u64;
        let stats = documents_count(&to.node, "t");
        assert_eq!(count, stats, "no holes");
        assert!((least..=most).contains(&count), "{count} of {least} to {most}");
        to.node.delete_index("t", IndicesOptions::DELETE).expect("deleted");
    }
}

fn documents_count(node: &Node, name: &str) -> u64 {
    let request = limber_search::SearchRequest::parse(
        &json!({"size": 0, "track_total_hits": true}),
        &limber_search::UrlParameters::default(),
    );
    let (response, _) = node
        .search(
            name,
            IndicesOptions::SEARCH,
            Placement::default(),
            &request.expect("valid"),
            None,
            Arc::default(),
        )
        .expect("searches");
    response.total.expect("counted").value
}

#[test]
fn a_second_snapshot_copies_what_is_new_and_a_deletion_keeps_what_is_shared() {
    let blobs = MemoryBlobs::default();
    let from = node(5, blobs.clone());
    let data = || blobs.names().into_iter().filter(|name| name.contains("/data-")).collect::<Vec<_>>();
    for number in 0..20 {
        put(&from.node, "t", &number.to_string(), json!({"n": number}));
    }
    let first = documents(&from.node, "t");
    snapshot(&from.node, "s1").expect("taken");
    let of_first = data();
    assert!(!of_first.is_empty());
    snapshot(&from.node, "s2").expect("taken");
    assert_eq!(data(), of_first, "nothing was new");
    put(&from.node, "t", "new", json!({"n": 99}));
    let third = documents(&from.node, "t");
    snapshot(&from.node, "s3").expect("taken");
    let of_third = data();
    assert_eq!(of_third.len(), of_first.len() + 1, "one segment was new");
    assert!(of_first.iter().all(|name| of_third.contains(name)));
    let status = from.node.snapshot_status("r", Some("s3"), false).expect("known");
    assert_eq!(status["snapshots"][0]["stats"]["incremental"]["file_count"], 2, "segment and commit");
    assert_eq!(status["snapshots"][0]["stats"]["total"]["file_count"], 3);

    from.node.delete_snapshots("r", "s1", true).expect("deleted");
    assert_eq!(data(), of_third, "s2 has the same files");
    assert_eq!(restored(&from.node, "s2").expect("whole"), first);
    assert_eq!(restored(&from.node, "s3").expect("whole"), third);
    from.node.delete_snapshots("r", "s3", true).expect("deleted");
    assert_eq!(data(), of_first);
    assert_eq!(restored(&from.node, "s2").expect("whole"), first);
    from.node.delete_snapshots("r", "*", true).expect("deleted");
    assert_eq!(blobs.names().len(), 1, "the root: {:?}", blobs.names());
}

#[test]
fn merges_leave_the_files_that_a_snapshot_reads() {
    // A merge and two commits happen between any two calls to the repository.
    let memory = MemoryBlobs::default();
    let blobs = Interrupted::when(When::Always, memory.clone());
    let from = node(6, blobs.clone());
    from.node.create_index("t", &json!({"settings": {"number_of_shards": 2}})).expect("created");
    for number in 0..30 {
        put(&from.node, "t", &number.to_string(), json!({"n": number}));
        if number % 5 == 0 {
            from.node.flush("t", IndicesOptions::BROADCAST, false).expect("flushes");
        }
    }
    let other = from.node.clone();
    let count = AtomicU64::new(100);
    blobs.interrupt(move || {
        let id = count.fetch_add(1, Ordering::Relaxed);
        put(&other, "t", &id.to_string(), json!({"n": id}));
        other.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
        let one = ForceMergeRequest { max_num_segments: Some(1), flush: true, ..Default::default() };
        other.force_merge("t", IndicesOptions::BROADCAST, &one).expect("merges");
        other.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    });
    snapshot(&from.node, "s1").expect("taken");
    blobs.interrupt(|| {});
    let found = restored(&from.node, "s1").expect("whole");
    assert!(found.len() >= 30, "{}", found.len());
    assert!((0..30).all(|number| found.iter().any(|(id, _)| *id == number.to_string())));
    // The next commits delete the files that were kept for the snapshot.
    put(&from.node, "t", "last", json!({"n": 0}));
    from.node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    put(&from.node, "t", "last", json!({"n": 1}));
    from.node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    let segments = segment_files(&from.disk);
    assert!(segments <= 8, "{segments} files");
}

fn segment_files(disk: &CrashDisk) -> usize {
    let mut count = 0;
    for index in disk.folders("indices").expect("listed") {
        for shard in disk.folders(&format!("indices/{index}")).expect("listed") {
            let directory = disk.folder(&format!("indices/{index}/{shard}")).expect("opens");
            count += directory.list().expect("listed").iter().filter(|name| name.ends_with(".seg")).count();
        }
    }
    count
}

/// What each snapshot must contain if it is listed.
type Expected = BTreeMap<&'static str, Vec<(String, Value)>>;

/// Takes a snapshot that is kept and a second one, and makes a clone, a deletion and a cleanup. Errors are
/// ignored.
fn scenario(node: &Node, expected: &mut Expected) {
    put(node, "t", "a", json!({"n": 1}));
    expected.insert("s1", documents(node, "t"));
    let _ = snapshot(node, "s1");
    put(node, "t", "b", json!({"n": 2}));
    write(node, delete("t", "a")).expect("deleted");
    expected.insert("s2", documents(node, "t"));
    let _ = snapshot(node, "s2");
    let _ = node.delete_snapshots("r", "s1", true);
    put(node, "t", "c", json!({"n": 3}));
    expected.insert("s3", documents(node, "t"));
    let _ = snapshot(node, "s3");
    expected.insert("c2", expected["s2"].clone());
    let _ = node.clone_snapshot("r", "s2", "c2", &json!({"indices": "t"}));
    let _ = node.delete_snapshots("r", "s2", true);
    let _ = node.cleanup_repository("r");
}

/// Returns the names of complete snapshots. For a partial snapshot, checks that it can be restored only with
/// `partial`.
fn whole(to: &TestNode, what: &str) -> Vec<String> {
    let all = SnapshotQuery { snapshots: ALL.into(), ..SnapshotQuery::default() };
    let body = to.node.get_snapshots("r", &all).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let mut names = Vec::new();
    for one in body["snapshots"].as_array().expect("a list") {
        let name = one["snapshot"].as_str().expect("a name");
        if one["state"] == "SUCCESS" {
            names.push(name.to_owned());
            continue;
        }
        assert_eq!(one["state"], "PARTIAL", "{what}: {name}");
        let error = restored(&to.node, name).expect_err(what);
        assert!(error.reason.contains("wasn't fully snapshotted"), "{what}: {}", error.reason);
        let body = json!({"partial": true, "rename_pattern": "(.+)", "rename_replacement": "back_$1"});
        to.node.restore_snapshot("r", name, &body, true).expect(what);
        assert!(documents(&to.node, "back_t").is_empty(), "{what}: {name}");
        to.node.delete_index("back_t", IndicesOptions::DELETE).expect("deleted");
    }
    names
}

/// Checks that every listed snapshot can be restored, and that a cleanup and a deletion then leave only the
/// root.
fn check_all(to: &TestNode, blobs: &MemoryBlobs, expected: &Expected, what: &str) {
    for name in whole(to, what) {
        let found = restored(&to.node, &name).unwrap_or_else(|error| panic!("{what}: {name}: {error:?}"));
        assert_eq!(&found, &expected[name.as_str()], "{what}: {name}");
    }
    to.node.cleanup_repository("r").unwrap_or_else(|error| panic!("{what}: {error:?}"));
    for name in whole(to, what) {
        restored(&to.node, &name).unwrap_or_else(|error| panic!("{what}, cleaned: {name}: {error:?}"));
    }
    to.node.delete_snapshots("r", "*", true).expect("deleted");
    to.node.cleanup_repository("r").expect("cleaned");
    assert!(blobs.names().len() <= 1, "{what}: {:?}", blobs.names());
    assert_eq!(index_folders(to), 0, "{what}");
}

#[test]
fn a_fault_at_every_call_leaves_only_snapshots_that_restore() {
    let calls = {
        let blobs = MemoryBlobs::default();
        let from = node(7, blobs.clone());
        scenario(&from.node, &mut Expected::new());
        assert_eq!(listed(&from.node), ["c2", "s3"]);
        blobs.calls()
    };
    for fault in [BlobFault::Refused, BlobFault::AnswerLost, BlobFault::Dead, BlobFault::LastBreath] {
        for at in 0..calls {
            let blobs = MemoryBlobs::default();
            let from = node(7, blobs.clone());
            let mut expected = Expected::new();
            blobs.fail_at(at, fault);
            scenario(&from.node, &mut expected);
            blobs.revive();
            let to = node(8, blobs.clone());
            check_all(&to, &blobs, &expected, &format!("{fault:?} at {at} of {calls}"));
        }
    }
}

type Action = Box<dyn Fn() + Send>;

/// The calls during which a repository does something else.
#[derive(Clone, Copy)]
enum When {
    Always,
    /// At the call with this number.
    At(u64),
    /// Before a blob of shard data is written.
    ShardData,
    /// Before a root is read or written.
    Root,
}

/// A repository that does something else during its calls.
#[derive(Clone)]
struct Interrupted {
    blobs: MemoryBlobs,
    calls: Arc<AtomicU64>,
    when: When,
    action: Arc<Mutex<Option<Action>>>,
    /// Whether it is on a disk, as a folder is.
    is_on_disk: bool,
}

impl Interrupted {
    fn when(when: When, blobs: MemoryBlobs) -> Interrupted {
        Interrupted { blobs, calls: Arc::default(), when, action: Arc::default(), is_on_disk: false }
    }

    fn on_disk(self) -> Interrupted {
        Interrupted { is_on_disk: true, ..self }
    }

    fn interrupt(&self, action: impl Fn() + Send + 'static) {
        self.calls.store(0, Ordering::Relaxed);
        *self.action.lock() = Some(Box::new(action));
    }

    fn call(&self, name: &str) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let is_due = match self.when {
            When::Always => true,
            When::At(at) => at == number,
            When::ShardData => name.contains("/data-"),
            When::Root => name.starts_with("generations/"),
        };
        if is_due && let Some(action) = self.action.try_lock().as_deref().and_then(Option::as_ref) {
            action();
        }
    }
}

impl Blobs for Interrupted {
    fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> limber_store::Result<bool> {
        self.call(name);
        self.blobs.put_if_absent(name, bytes)
    }

    fn may_lose_answers(&self) -> bool {
        !self.is_on_disk
    }

    fn get_if(
        &self,
        name: &str,
        admits: &mut dyn FnMut(u64) -> limber_store::Result<()>,
    ) -> limber_store::Result<Vec<u8>> {
        self.call(name);
        self.blobs.get_if(name, admits)
    }

    fn list(&self, folder: &str) -> limber_store::Result<Vec<Blob>> {
        self.call(folder);
        self.blobs.list(folder)
    }

    fn delete(&self, name: &str) -> limber_store::Result<()> {
        self.call(name);
        self.blobs.delete(name)
    }

    fn place(&self) -> &str {
        self.blobs.place()
    }
}

#[test]
fn a_snapshot_has_the_mappings_of_the_documents_that_came_after_it_began() {
    let blobs = Interrupted::when(When::ShardData, MemoryBlobs::default());
    let from = node_on(CrashDisk::new(1), 1, Arc::new(blobs.clone()));
    put(&from.node, "a", "1", json!({"n": 1}));
    put(&from.node, "b", "1", json!({"n": 1}));
    let writer = from.node.clone();
    // While the first index is copied, a document of the second one gets a new field.
    let is_done = AtomicBool::new(false);
    blobs.interrupt(move || {
        if !is_done.swap(true, Ordering::Relaxed) {
            put(&writer, "b", "2", json!({"fresh": "hello"}));
        }
    });
    let made = from.node.create_snapshot("r", "s", &json!({"indices": "a,b"}), true).expect("taken");
    assert_eq!(made["snapshot"]["state"], "SUCCESS");
    let to = node_on(CrashDisk::new(2), 2, Arc::new(blobs));
    to.node.restore_snapshot("r", "s", &json!({"indices": "b"}), true).expect("restored");
    assert_eq!(documents(&to.node, "b").len(), 2);
    assert_eq!(search(&to.node, "b", json!({"match": {"fresh": "hello"}})).len(), 1);
    // The field keeps its type, so that segments can be merged.
    put(&to.node, "b", "3", json!({"fresh": 17}));
    let request = ForceMergeRequest { max_num_segments: Some(1), ..ForceMergeRequest::default() };
    let merged = to.node.force_merge("b", IndicesOptions::BROADCAST, &request);
    assert_eq!(merged.expect("an answer").failures.len(), 0);
    assert_eq!(search(&to.node, "b", json!({"match": {"fresh": "17"}})).len(), 1);
}

#[test]
fn a_restore_leaves_no_alias_with_two_write_indices_and_no_name_twice() {
    let TestNode { node, .. } = node(1, MemoryBlobs::default());
    let written = json!({"aliases": {"logs": {"is_write_index": true}}});
    node.create_index("logs-1", &written).expect("created");
    let template = json!({"index_patterns": ["ds*"], "data_stream": {}});
    node.put_index_template("t", &template, false).expect("put");
    node.create_data_stream("ds").expect("created");
    let alias = json!({"actions": [{"add": {"index": "ds", "alias": "both", "is_write_index": true}}]});
    node.update_aliases(&alias).expect("added");
    node.create_snapshot("r", "s", &json!({}), true).expect("taken");
    node.delete_index("logs-1", IndicesOptions::DELETE).expect("deleted");
    node.delete_data_streams("ds", IndicesOptions::METADATA).expect("deleted");
    let restore = |what: &str| node.restore_snapshot("r", "s", &json!({"indices": what}), true).map(drop);

    node.create_index("logs-2", &written).expect("created");
    let refused = restore("logs-1").expect_err("two write indices");
    assert!(refused.reason.contains("more than one write index"), "{}", refused.reason);
    node.create_index("unrelated", &json!({"aliases": {"both": {}}})).expect("created");
    let refused = restore("ds").expect_err("an alias of indices has the name");
    assert!(refused.reason.contains("names need to be unique"), "{}", refused.reason);
    node.delete_index("unrelated", IndicesOptions::DELETE).expect("deleted");
    node.delete_index_template("t").expect("deleted");
    node.create_index("ds", &json!({})).expect("created");
    let refused = restore("ds").expect_err("an index has the name");
    assert!(refused.reason.contains("names need to be unique"), "{}", refused.reason);
    node.delete_index("ds", IndicesOptions::DELETE).expect("deleted");

    // An alias that writes to a data stream goes on with that one.
    node.put_index_template("t", &template, false).expect("put");
    node.create_data_stream("ds2").expect("created");
    let alias = json!({"actions": [{"add": {"index": "ds2", "alias": "both", "is_write_index": true}}]});
    node.update_aliases(&alias).expect("added");
    restore("ds").expect("restored");
    let mut operation = BulkOperation::new(OperationKind::Create, "both", br#"{"@timestamp": 1}"#);
    operation.id = Some("1".into());
    let written = write(&node, operation).expect("written");
    assert!(written.index.starts_with(".ds-ds2-"), "{}", written.index);
    // An alias of data streams is not given to an index.
    let refused = node.create_index("i", &json!({"aliases": {"both": {}}})).expect_err("refused");
    assert!(refused.reason.contains("names need to be unique"), "{}", refused.reason);
    node.create_index("another", &json!({})).expect("created");
}

/// Does what a second node might do while the first one works.
fn intrude(node: &Node, kind: u64) {
    let _ = match kind {
        0 => snapshot(node, "other").map(drop),
        1 => node.delete_snapshots("r", "old", true).map(drop),
        2 => node.cleanup_repository("r").map(drop),
        _ => node
            .delete_snapshots("r", "old", true)
            .and_then(|_| snapshot(node, "other"))
            .and_then(|_| node.cleanup_repository("r"))
            .map(drop),
    };
}

#[test]
fn of_two_nodes_that_write_at_once_one_fails_and_nothing_is_lost() {
    let mut refused = 0;
    for kind in 0..4 {
        for at in 0.. {
            let memory = MemoryBlobs::default();
            let blobs = Interrupted::when(When::At(at), memory.clone());
            let first = node(9, blobs.clone());
            let second = node(10, memory.clone());
            let mut expected = Expected::new();
            put(&first.node, "t", "a", json!({"n": 1}));
            expected.insert("old", documents(&first.node, "t"));
            snapshot(&first.node, "old").expect("taken");
            put(&first.node, "t", "b", json!({"n": 2}));
            expected.insert("new", documents(&first.node, "t"));
            put(&second.node, "t", "z", json!({"n": 3}));
            expected.insert("other", documents(&second.node, "t"));
            let other = second.node.clone();
            blobs.interrupt(move || intrude(&other, kind));
            let outcome = snapshot(&first.node, "new");
            let calls = blobs.calls.load(Ordering::Relaxed);
            let names = listed(&second.node);
            match &outcome {
                Ok(_) => assert!(names.iter().any(|name| name == "new"), "{kind} at {at}: {names:?}"),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.kind, "repository_exception", "{error:?}");
                    assert!(error.reason.contains("concurrent modification"), "{}", error.reason);
                    assert!(!names.iter().any(|name| name == "new"), "{kind} at {at}: {names:?}");
                }
            }
            let to = node(11, memory.clone());
            check_all(&to, &memory, &expected, &format!("{kind} at {at}, {outcome:?}"));
            if at >= calls {
                break;
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn damage_is_found_by_name_and_leaves_nothing_half_restored() {
    let blobs = MemoryBlobs::default();
    let from = node(12, blobs.clone());
    from.node.create_index("t", &json!({"settings": {"number_of_shards": 2}})).expect("created");
    for number in 0..20 {
        put(&from.node, "t", &number.to_string(), json!({"n": number}));
    }
    let expected = documents(&from.node, "t");
    snapshot(&from.node, "s1").expect("taken");
    let to = node(13, blobs.clone());
    for name in blobs.names() {
        for byte in [0, 9, 41, 1 << 20] {
            blobs.flip(&name, byte);
            let error = restored(&to.node, "s1").expect_err(&name);
            assert!(error.reason.contains(&name), "{name}: {}", error.reason);
            assert_eq!(error.kind, "repository_exception");
            assert_eq!(index_folders(&to), 0, "{name}");
            blobs.flip(&name, byte);
        }
        assert_eq!(restored(&to.node, "s1").expect("whole again"), expected);
    }
}

#[test]
fn a_lost_blob_is_copied_again_by_the_next_snapshot() {
    let blobs = MemoryBlobs::default();
    let from = node(14, blobs.clone());
    put(&from.node, "t", "a", json!({"n": 1}));
    let expected = documents(&from.node, "t");
    snapshot(&from.node, "s1").expect("taken");
    let lost = blobs.names().into_iter().find(|name| name.contains("/data-")).expect("data");
    blobs.lose(&lost);
    let error = restored(&from.node, "s1").expect_err("lost");
    assert!(error.reason.contains(&lost) && error.reason.contains("missing"), "{}", error.reason);
    snapshot(&from.node, "s2").expect("taken");
    assert_eq!(restored(&from.node, "s2").expect("whole"), expected);
    // A lost manifest does not prevent deletions, and nothing that might be needed is deleted.
    let manifests =
        || blobs.names().into_iter().filter(|name| name.contains("/manifest-")).collect::<Vec<_>>();
    let old = manifests();
    put(&from.node, "t", "b", json!({"n": 2}));
    let expected = documents(&from.node, "t");
    snapshot(&from.node, "s3").expect("taken");
    old.iter().for_each(|name| blobs.lose(name));
    snapshot(&from.node, "s4").expect("taken");
    from.node.delete_snapshots("r", "s3", true).expect("deleted");
    assert_eq!(restored(&from.node, "s4").expect("whole"), expected);
}

#[test]
fn a_snapshot_that_is_deleted_while_it_is_taken_is_aborted() {
    let memory = MemoryBlobs::default();
    let blobs = Interrupted::when(When::At(4), memory.clone());
    let from = node(15, blobs.clone());
    put(&from.node, "t", "a", json!({"n": 1}));
    let other = from.node.clone();
    let deletion: Arc<Mutex<Option<std::thread::JoinHandle<Result<Value>>>>> = Arc::default();
    let started = deletion.clone();
    blobs.interrupt(move || {
        let node = other.clone();
        let status = node.snapshot_status("r", None, false).expect("known");
        assert_eq!(status["snapshots"][0]["state"], "STARTED");
        let thread = std::thread::spawn(move || node.delete_snapshots("r", "s1", true));
        // The deletion waits for the end of the snapshot, which is cancelled once it can no longer be
        // complete.
        while !other.tasks().list().iter().any(|task| task.cancelled.load(Ordering::Relaxed)) {
            std::thread::yield_now();
        }
        *started.lock() = Some(thread);
    });
    let error = snapshot(&from.node, "s1").expect_err("aborted");
    assert_eq!(error.kind, "snapshot_exception");
    let deletion = deletion.lock().take().expect("was started");
    assert_eq!(deletion.join().expect("ends"), Ok(json!({"acknowledged": true})));
    assert!(listed(&from.node).is_empty());
    from.node.cleanup_repository("r").expect("cleaned");
    assert!(memory.names().len() <= 1, "{:?}", memory.names());
}

#[test]
fn an_index_is_not_deleted_while_a_snapshot_needs_it() {
    let blobs = Interrupted::when(When::At(4), MemoryBlobs::default());
    let from = node(16, blobs.clone());
    put(&from.node, "t", "a", json!({"n": 1}));
    let other = from.node.clone();
    blobs.interrupt(move || {
        let error = other.delete_index("t", IndicesOptions::DELETE).expect_err("it is being copied");
        assert_eq!((error.class, error.kind), (ErrorClass::BadRequest, "snapshot_in_progress_exception"));
        let told = "Cannot delete indices that are being snapshotted: [[t/";
        assert!(error.reason.starts_with(told), "{error}");
        let error = other.close_index("t", IndicesOptions::METADATA).expect_err("it is being copied");
        assert_eq!(error.kind, "snapshot_in_progress_exception");
    });
    let taken = snapshot(&from.node, "s").expect("taken");
    assert_eq!(taken["snapshot"]["state"], "SUCCESS");
    from.node.delete_index("t", IndicesOptions::DELETE).expect("nothing needs it any more");
    assert_eq!(restored(&from.node, "s").expect("restored").len(), 1);
}

#[test]
fn a_closed_index_is_not_replaced_while_a_snapshot_needs_it() {
    let blobs = Interrupted::when(When::ShardData, MemoryBlobs::default());
    let from = node(22, blobs.clone());
    put(&from.node, "t", "a", json!({"n": 1}));
    snapshot(&from.node, "s1").expect("taken");
    put(&from.node, "t", "b", json!({"n": 2}));
    from.node.close_index("t", IndicesOptions::METADATA).expect("closed");
    let other = from.node.clone();
    blobs.interrupt(move || {
        let refused = other.restore_snapshot("r", "s1", &json!({}), true).expect_err("it is being copied");
        assert_eq!(refused.kind, "snapshot_in_progress_exception");
    });
    let taken = snapshot(&from.node, "s2").expect("taken");
    assert_eq!(taken["snapshot"]["state"], "SUCCESS");
}

#[test]
fn restoring_over_what_is_there() {
    let blobs = MemoryBlobs::default();
    let from = node(16, blobs.clone());
    put(&from.node, "t", "a", json!({"n": 1}));
    let expected = documents(&from.node, "t");
    snapshot(&from.node, "s1").expect("taken");
    put(&from.node, "t", "b", json!({"n": 2}));
    let error = from.node.restore_snapshot("r", "s1", &json!({}), true).expect_err("open");
    assert_eq!((error.class, error.kind), (ErrorClass::Internal, "snapshot_restore_exception"));
    assert!(error.reason.contains("because an open index with same name already exists"), "{}", error.reason);
    from.node.close_index("t", IndicesOptions::METADATA).expect("closed");
    from.node.restore_snapshot("r", "s1", &json!({}), true).expect("restored");
    assert_eq!(documents(&from.node, "t"), expected);
    assert_eq!(index_folders(&from), 1, "the closed one is gone");
    for (name, body, kind) in [
        ("none", json!({}), "snapshot_restore_exception"),
        ("s1", json!({"indices": "x"}), "index_not_found_exception"),
        (
            "s1",
            json!({"indices": "t", "rename_pattern": "t", "rename_replacement": "T"}),
            "invalid_index_name_exception",
        ),
        ("s1", json!({"feature_states": ["kibana"]}), "illegal_argument_exception"),
        ("s1", json!({"surplus": 1}), "illegal_argument_exception"),
    ] {
        let error = from.node.restore_snapshot("r", name, &body, true).expect_err(name);
        assert_eq!(error.kind, kind, "{body}: {}", error.reason);
    }
    // A closed index is snapshotted as it was when it was closed.
    put(&from.node, "t", "c", json!({"n": 3}));
    let expected = documents(&from.node, "t");
    from.node.close_index("t", IndicesOptions::METADATA).expect("closed");
    snapshot(&from.node, "closed").expect("taken");
    assert_eq!(restored(&from.node, "closed").expect("whole"), expected);
}

#[test]
fn power_that_goes_at_any_call_of_a_restore_leaves_the_old_state_or_the_new_one() {
    let blobs = MemoryBlobs::default();
    let from = node(18, blobs.clone());
    let body = json!({"settings": {"number_of_shards": 1}});
    for name in ["t", "u"] {
        from.node.create_index(name, &body).expect("created");
        put(&from.node, name, "a", json!({"n": 1}));
    }
    let expected = documents(&from.node, "t");
    let script = json!({"script": {"lang": "painless", "source": "1"}});
    from.node.put_script("restored", None, &script).expect("put");
    from.node.create_snapshot("r", "s1", &json!({"indices": "t,u"}), true).expect("taken");
    let mut outcomes = [0, 0];
    for at in 0.. {
        let to = node_on(CrashDisk::new(at), at, Arc::new(blobs.clone()));
        to.node.create_index("t", &body).expect("created");
        put(&to.node, "t", "old", json!({"n": 2}));
        let old = documents(&to.node, "t");
        to.node.close_index("t", IndicesOptions::METADATA).expect("closed");
        to.disk.power_off_at(at);
        let outcome = to.node.restore_snapshot("r", "s1", &json!({"include_global_state": true}), true);
        let TestNode { node, disk, .. } = to;
        drop(node);
        let was_off = outcome.is_err();
        disk.crash();
        let again = node_on(disk, at + 1, Arc::new(blobs.clone()));
        let all = again.node.get_index("_all", IndicesOptions::METADATA_OPEN_CLOSED).expect("there");
        let names: Vec<(&str, bool)> = all.iter().map(|index| (&*index.name, index.open)).collect();
        let is_new = names.len() == 2;
        assert!(is_new || names == [("t", false)], "{at}: {names:?}");
        assert!(was_off || is_new, "{at}: acknowledged and lost");
        assert_eq!(again.node.get_script("restored").is_some(), is_new, "{at}: half of the restore");
        again.node.open_index("t", IndicesOptions::METADATA).expect("opens");
        assert_eq!(documents(&again.node, "t"), if is_new { expected.clone() } else { old }, "{at}");
        if is_new {
            assert_eq!(documents(&again.node, "u"), expected, "{at}");
        }
        again.node.maintain();
        assert_eq!(index_folders(&again), names.len(), "{at}: nothing is left over");
        outcomes[usize::from(is_new)] += 1;
        if !was_off {
            break;
        }
    }
    assert!(outcomes[0] > 20 && outcomes[1] > 0, "{outcomes:?}");
}

#[test]
fn policies_take_and_drop_snapshots_by_the_clock() {
    let blobs = MemoryBlobs::default();
    let from = node(17, blobs);
    let node = &from.node;
    put(node, "t", "a", json!({"n": 1}));
    let policy = json!({
        "name": "<nightly-{now/d}>", "schedule": "0 30 1 * * ?", "repository": "r",
        "config": {"indices": "t", "metadata": {"by": "me"}},
        "retention": {"expire_after": "3d", "min_count": 1},
    });
    node.put_snapshot_policy("nightly", &policy).expect("put");
    let often = json!({"name": "x", "schedule": "* * * * * ?", "repository": "r"});
    assert!(node.put_snapshot_policy("often", &often).expect_err("refused").reason.contains("too frequent"));
    let nowhere = json!({"name": "x", "schedule": "0 30 1 * * ?", "repository": "none"});
    assert!(
        node.put_snapshot_policy("nowhere", &nowhere)
            .expect_err("refused")
            .reason
            .contains("no such repository")
    );
    let settle = || {
        while !node.tasks().list().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    };
    node.snapshot_policy_tick();
    for day in 0..6 {
        from.clock.advance_ms(86_400_000);
        node.snapshot_policy_tick();
        node.snapshot_policy_tick();
        settle();
        let taken = node.get_snapshot_policies("nightly", false).expect("there");
        assert_eq!(taken["nightly"]["stats"]["snapshots_taken"], day + 1, "{taken}");
    }
    // Six were taken, and at most those of three days remain.
    node.start_retention().expect("begins");
    settle();
    let left = listed(node);
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left.iter().all(|name| name.starts_with("nightly-2023.11.")), "{left:?}");
    let shown = node.get_snapshots("r", &SnapshotQuery { snapshots: left[0].clone(), ..Default::default() });
    assert_eq!(shown.expect("there")["snapshots"][0]["metadata"], json!({"by": "me", "policy": "nightly"}));
    node.stop_snapshot_lifecycles().expect("stops");
    from.clock.advance_ms(1000);
    node.snapshot_policy_tick();
    assert_eq!(node.snapshot_lifecycle_mode(), "STOPPED");
    from.clock.advance_ms(86_400_000);
    node.snapshot_policy_tick();
    settle();
    assert_eq!(listed(node).len(), 3);
    let stats = node.snapshot_lifecycle_stats();
    assert_eq!(
        (&stats["retention_runs"], &stats["total_snapshots_deleted"]),
        (&json!(7), &json!(3)),
        "{stats}"
    );
    // Failures are reported.
    let name = node.execute_snapshot_policy("nightly").expect("begins");
    settle();
    assert!(listed(node).contains(&name["snapshot_name"].as_str().expect("a name").to_owned()));
    let broken =
        json!({"name": "x", "schedule": "0 30 1 * * ?", "repository": "r", "config": {"indices": "missing"}});
    node.put_snapshot_policy("broken", &broken).expect("put");
    node.execute_snapshot_policy("broken").expect("begins");
    settle();
    let shown = node.get_snapshot_policies("broken", false).expect("there");
    let details = shown["broken"]["last_failure"]["details"].as_str().expect("told");
    assert!(details.contains("no such index [missing]"), "{details}");
}

/// Over a network an answer may be lost. On a disk, what is found after an error may vanish with the power.
#[test]
fn a_root_whose_writing_failed_counts_only_where_answers_are_lost() {
    for is_on_disk in [false, true] {
        let memory = MemoryBlobs::default();
        let blobs = Interrupted::when(When::Root, memory.clone());
        let blobs = if is_on_disk { blobs.on_disk() } else { blobs };
        let from = node(21, blobs.clone());
        put(&from.node, "t", "a", json!({"n": 1}));
        let failing = memory.clone();
        let is_done = AtomicBool::new(false);
        blobs.interrupt(move || {
            if !is_done.swap(true, Ordering::Relaxed) {
                failing.fail_at(failing.calls(), BlobFault::AnswerLost);
            }
        });
        let taken = snapshot(&from.node, "s");
        assert_eq!(taken.is_err(), is_on_disk, "{taken:?}");
    }
}

/// Waits until no task of the node runs.
fn settle(node: &Node) {
    while !node.tasks().list().is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn what_came_of_a_run_that_ended_with_its_process_is_in_the_repository() {
    for is_listed in [false, true] {
        let memory = MemoryBlobs::default();
        let blobs = Interrupted::when(When::Root, memory.clone());
        let from = node_on(CrashDisk::new(19), 19, Arc::new(blobs.clone()));
        put(&from.node, "t", "a", json!({"n": 1}));
        let policy = json!({"name": "x", "schedule": "0 30 1 * * ?", "repository": "r"});
        from.node.put_snapshot_policy("p", &policy).expect("put");
        let (disk, dying) = (from.disk.clone(), memory.clone());
        blobs.interrupt(move || {
            disk.power_off();
            if !is_listed {
                dying.fail_at(dying.calls(), BlobFault::Dead);
            }
        });
        from.node.execute_snapshot_policy("p").expect("begins");
        settle(&from.node);
        let TestNode { node, disk, .. } = from;
        drop(node);
        disk.crash();
        let again = node_on(disk, 20, Arc::new(memory.clone()));
        let shown = || again.node.get_snapshot_policies("p", false).expect("there")["p"].clone();
        // As long as the repository cannot be read, nothing is known.
        again.node.snapshot_policy_tick();
        settle(&again.node);
        if !is_listed {
            let shown = shown();
            assert!(shown.get("last_failure").is_none(), "{shown}");
            memory.revive();
            again.node.execute_snapshot_policy("p").expect("begins");
            settle(&again.node);
        }
        let shown = shown();
        let (taken, failed) = if is_listed { (1, 0) } else { (1, 1) };
        assert_eq!(
            (&shown["stats"]["snapshots_taken"], &shown["stats"]["snapshots_failed"]),
            (&json!(taken), &json!(failed)),
            "{shown}"
        );
        assert!(shown.get("last_success").is_some(), "{shown}");
        let details = shown["last_failure"]["details"].as_str().unwrap_or_default();
        assert_eq!(details.contains("the node ended before"), !is_listed, "{shown}");
    }
}

#[test]
fn locations_outside_of_the_configured_folders_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut settings = config(&folder.path().join("data"));
    let root = folder.path().join("repo");
    settings.settings.insert("path.repo".into(), root.to_str().expect("a path").into());
    let node = Node::open(settings).expect("opens");
    let outside = folder.path().join("data");
    let near = format!("{}x", root.display());
    for location in
        ["..", "../data", "a/../../data", "/", "/etc", outside.to_str().expect("a path"), &near, "a\0b"]
    {
        let body = json!({"type": "fs", "settings": {"location": location}});
        let error = node.put_repository("bad", &body, true).expect_err(location);
        assert_eq!(error.kind, "repository_exception", "{location}");
        assert!(
            error.to_json().to_string().contains("doesn't match any of the locations"),
            "{location}: {error:?}"
        );
    }
    std::fs::create_dir_all(&root).expect("made");
    std::os::unix::fs::symlink(&outside, root.join("link")).expect("linked");
    let body = json!({"type": "fs", "settings": {"location": "link/inside"}});
    let error = node.put_repository("bad", &body, true).expect_err("a link");
    assert!(error.to_json().to_string().contains("symbolic link"), "{error:?}");
    assert!(!outside.join("inside").exists());
    for name in ["a b", "a/b", "a#b", "..\\x", "*"] {
        let body = json!({"type": "fs", "settings": {"location": "x"}});
        assert_eq!(node.put_repository(name, &body, true).expect_err(name).kind, "repository_exception");
    }
    // A definition survives a restart, and names of snapshots never become file names.
    let body = json!({"type": "fs", "settings": {"location": "good"}});
    node.put_repository("good", &body, true).expect("put");
    node.create_snapshot("good", "..", &json!({}), true).expect("a name like any other");
    let mut settings = config(&folder.path().join("data"));
    settings.settings.insert("path.repo".into(), root.to_str().expect("a path").into());
    node.close();
    drop(node);
    let node = Node::open(settings).expect("opens");
    let all = SnapshotQuery { snapshots: ALL.into(), ..SnapshotQuery::default() };
    assert_eq!(node.get_snapshots("good", &all).expect("listed")["snapshots"][0]["snapshot"], "..");
}
