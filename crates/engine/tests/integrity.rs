//! Tests damage on disk: scrubs and merges find it, no merge copies it, and intact data stay readable.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::*;
use limber_engine::*;
use limber_mapping::ErrorClass;
use limber_search::{SearchRequest, UrlParameters};
use limber_store::repository::MemoryBlobs;
use serde_json::json;

const BODY: &str = r#"{"settings": {"number_of_replicas": 0, "refresh_interval": "-1", "requests.cache.enable": true},
    "mappings": {"properties": {"n": {"type": "long"}, "t": {"type": "text"}}}}"#;

/// Opens a node with an index `t` of `segments` committed segments, ten documents each.
fn node_with(path: &Path, segments: usize) -> std::sync::Arc<Node> {
    let node = open(path);
    node.create_index("t", &serde_json::from_str(BODY).expect("JSON")).expect("created");
    for segment in 0..segments {
        for number in 0..10 {
            let source = json!({"n": segment * 10 + number, "t": format!("word{number} all")}).to_string();
            write(&node, index("t", &format!("{segment}-{number}"), source.as_bytes())).expect("written");
        }
        node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    }
    node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    node
}

/// Returns the files of the only shard of the only index, by extension.
fn files(path: &Path, extension: &str) -> Vec<PathBuf> {
    let index =
        std::fs::read_dir(path.join("indices")).expect("lists").next().expect("an index").expect("reads");
    let mut files: Vec<PathBuf> = std::fs::read_dir(index.path().join("0"))
        .expect("lists")
        .map(|file| file.expect("reads").path())
        .filter(|file| file.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

/// Flips a bit in the stored bytes of `needle` in the file.
fn rot(file: &Path, needle: &[u8]) {
    let mut bytes = std::fs::read(file).expect("reads");
    let at = bytes.windows(needle.len()).position(|window| window == needle).expect("there");
    bytes[at] ^= 1;
    // Written in place, like real damage, so that the file's memory maps stay valid.
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::options().write(true).open(file).expect("opens");
    file.write_all_at(&bytes[at..=at], at as u64).expect("writes");
}

fn force_merge(node: &Node) -> Result<()> {
    let request = ForceMergeRequest { max_num_segments: Some(1), ..Default::default() };
    let answer = node.force_merge("t", IndicesOptions::BROADCAST, &request)?;
    match answer.failures.into_iter().next() {
        Some(failure) => Err(failure.error),
        None => Ok(()),
    }
}

fn status(node: &Node) -> (HealthStatus, Option<String>) {
    let health = node.cluster_health(&HealthRequest::default()).expect("answers");
    (health.status, health.indices[0].shards[0].reason.as_deref().map(str::to_owned))
}

#[test]
fn a_merge_does_not_launder_a_flipped_byte() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = node_with(temporary.path(), 4);
    let damaged = files(temporary.path(), "seg").remove(1);
    rot(&damaged, b"word0");
    assert_eq!(status(&node).0, HealthStatus::Green, "nobody has looked yet");
    for _ in 0..2 {
        let error = force_merge(&node).expect_err("a source is corrupt");
        assert_eq!((error.kind, error.class), ("corrupt_index_exception", ErrorClass::Internal));
        let name = damaged.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(error.reason.contains(&name) && error.reason.contains("checksum"), "{}", error.reason);
    }
    let (health, problem) = status(&node);
    assert_eq!(health, HealthStatus::Red);
    assert!(problem.expect("says why").contains("checksum"));
    // The other segments are merged into one. The damaged one is unchanged: its intact parts are readable,
    // and it is neither merged nor deleted.
    assert_eq!(files(temporary.path(), "seg").len(), 2);
    assert!(damaged.exists());
    node.maintain();
    assert_eq!(get(&node, "t", "0-3").expect("intact").1["n"], 3);
    write(&node, index("t", "new", b"{\"n\": 99}")).expect("writes go on");
    node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    node.close();
    drop(node);
    let report = check_data_folder(temporary.path()).expect("reads");
    assert!(report.problem_count > 0, "{:?}", report.lines);
}

#[test]
fn a_scrub_finds_rot_that_nobody_reads() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = node_with(temporary.path(), 3);
    node.scrub_now();
    assert_eq!(status(&node), (HealthStatus::Green, None));
    let stats = node.integrity_stats();
    assert!(stats["size_in_bytes"].as_u64().expect("a number") > 1000);
    assert_eq!((&stats["passes"], stats["damage"].as_array().map(Vec::len)), (&json!(1), Some(0)));

    rot(&files(temporary.path(), "seg")[0], b"word0");
    node.scrub_now();
    let (health, problem) = status(&node);
    assert_eq!(health, HealthStatus::Red);
    assert!(problem.expect("says why").contains("_0.seg"));
    let stats = node.integrity_stats();
    assert_eq!(stats["damage"].as_array().map(Vec::len), Some(1), "{stats}");
    // The other segments still answer.
    assert_eq!(get(&node, "t", "2-7").expect("intact").1["n"], 27);
}

#[test]
fn a_file_that_is_cut_is_no_answer_and_no_end() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = node_with(temporary.path(), 2);
    let whole = search(&node, "t", json!({"match_all": {}}));
    assert_eq!(whole.len(), 20);
    let cut = files(temporary.path(), "seg").remove(0);
    std::fs::File::options().write(true).open(&cut).and_then(|file| file.set_len(64)).expect("cuts");
    // Bytes after the end of the file, up to the end of its page, read as zeros without a fault. The length
    // shows the damage as soon as it is checked.
    node.scrub_now();
    assert_eq!(status(&node).0, HealthStatus::Red);
    assert_eq!(force_merge(&node).expect_err("cut").kind, "corrupt_index_exception");
    assert_eq!(get(&node, "t", "1-7").expect("intact").1["n"], 17);
    assert_eq!(node.get(&GetRequest::new("t", "0-7")).expect_err("cut").kind, "corrupt_index_exception");
    let request = SearchRequest::parse(&json!({"query": {"match": {"t": "all"}}}), &UrlParameters::default())
        .expect("valid");
    let cancelled = Arc::new(AtomicBool::new(false));
    let answer = node.search("t", IndicesOptions::SEARCH, Placement::default(), &request, None, cancelled);
    let error = answer.map(|_| ()).expect_err("the only shard");
    assert_eq!(error.to_request_error().class, ErrorClass::Internal);
    assert!(error.to_json().to_string().contains("corrupt_index_exception"), "{}", error.to_json());
}

/// Zeroes each run of 32 bytes of the first of two segments in turn, and calls `act` with a node on such a
/// folder and the offset of the zeros. A test cannot easily tell where the sections of a segment are in its
/// file.
fn with_each_run_zeroed(folder: &Path, act: &mut dyn FnMut(&Node, usize)) {
    let sound = std::fs::read(files(folder, "seg").remove(0)).expect("reads");
    for from in (0..sound.len()).step_by(32) {
        let mut rotten = sound.clone();
        rotten[from..].iter_mut().take(32).for_each(|byte| *byte = 0);
        let other = tempfile::tempdir().expect("tempdir");
        copy_folder(folder, other.path());
        std::fs::write(files(other.path(), "seg").remove(0), &rotten).expect("writes");
        let node = open(other.path());
        act(&node, from);
        node.close();
    }
}

/// No document may be added a second time. A write fails if it cannot be sure which document it replaces.
#[test]
fn a_write_does_not_trust_ids_that_rotted() {
    let temporary = tempfile::tempdir().expect("tempdir");
    let node = node_with(temporary.path(), 2);
    node.close();
    drop(node);
    let (mut refused, mut written) = (0, 0);
    with_each_run_zeroed(temporary.path(), &mut |node, from| {
        for id in ["0-3", "1-3", "0-9"] {
            match write(node, index("t", id, br#"{"n": 7, "t": "other"}"#)) {
                Ok(response) => {
                    assert_eq!(response.outcome.identity.version, 2, "{from} {id}");
                    written += 1;
                }
                Err(error) => {
                    assert!(!error.class.is_refusal(), "{from} {id}: {error}");
                    refused += 1;
                }
            }
        }
    });
    assert!(refused > 10 && written > 10, "{refused} refused, {written} written");
}

/// A damaged stored source is not shown. An update does not copy any damaged source, even one that is built
/// from columns.
#[test]
fn a_source_that_rotted_is_neither_shown_nor_carried_on() {
    for is_synthetic in [false, true] {
        let temporary = tempfile::tempdir().expect("tempdir");
        let node = open(temporary.path());
        let mut body: serde_json::Value = serde_json::from_str(BODY).expect("JSON");
        if is_synthetic {
            body["settings"]["index.mapping.source.mode"] = json!("synthetic");
        }
        body["mappings"]["properties"]["k"] = json!({"type": "keyword"});
        node.create_index("t", &body).expect("created");
        let source = |number: usize| json!({"k": format!("k{}", number * 7919), "n": number * 104_729});
        for number in 0..20 {
            write(&node, index("t", &number.to_string(), source(number).to_string().as_bytes()))
                .expect("written");
            if number == 9 {
                node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
            }
        }
        node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
        node.close();
        drop(node);
        let (mut refused, mut written) = (0, 0);
        with_each_run_zeroed(temporary.path(), &mut |node, from| {
            for number in [3, 9, 13] {
                let id = number.to_string();
                let shown = node.get(&GetRequest::new("t", &id)).ok().and_then(|response| response.found);
                if let Some(shown) = shown.filter(|_| !is_synthetic) {
                    let shown: serde_json::Value = serde_json::from_slice(&shown.source).expect("JSON");
                    assert_eq!(shown, source(number), "{from} {id}");
                }
                let mut operation = index("t", &id, br#"{"doc": {"more": true}}"#);
                operation.kind = OperationKind::Update;
                match write(node, operation) {
                    Ok(_) => {
                        let mut expected = source(number);
                        expected["more"] = json!(true);
                        assert_eq!(get(node, "t", &id).expect("written").1, expected, "{from} {id}");
                        written += 1;
                    }
                    Err(error) => {
                        assert!(!error.class.is_refusal(), "{from} {id}: {error}");
                        refused += 1;
                    }
                }
            }
        });
        assert!(refused > 10 && written > 10, "{refused} refused, {written} written");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("lists") {
        let entry = entry.expect("reads");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("copies")),
        }
    }
}

#[test]
fn a_folder_without_a_node_is_refused_and_nothing_is_created_in_it() {
    let temporary = tempfile::tempdir().expect("a folder");
    let path = temporary.path();
    std::fs::create_dir(path.join("notes")).expect("created");
    let names = || std::fs::read_dir(path).expect("lists").count();
    let checked = check_data_folder(path).map(drop);
    let repaired = repair_data_folder(path, true).map(drop);
    let inspected = inspect_data_folder(path).map(drop);
    let reset = set_password_offline(path, "elastic", "new-password");
    for outcome in [checked, repaired, inspected, reset] {
        let reason = outcome.expect_err("refused").reason;
        assert!(reason.contains("is not a data folder"), "{reason}");
    }
    assert_eq!(names(), 1);
    assert!(check_data_folder(&path.join("none")).is_err() && names() == 1);
}

#[test]
fn a_node_does_not_begin_in_a_folder_of_elasticsearch() {
    for name in ["_state", "nodes"] {
        let temporary = tempfile::tempdir().expect("a folder");
        let path = temporary.path();
        std::fs::create_dir(path.join(name)).expect("created");
        let opened = Node::open(config(path));
        let reason = opened.err().expect("refused").reason;
        assert!(reason.contains("data of Elasticsearch"), "{reason}");
        assert!(check_data_folder(path).expect_err("refused").reason.contains("data of Elasticsearch"));
        assert_eq!(std::fs::read_dir(path).expect("lists").count(), 1);
    }
}

#[test]
fn a_node_begins_only_in_a_folder_that_is_empty_or_its_own() {
    let temporary = tempfile::tempdir().expect("a folder");
    let path = temporary.path();
    for name in ["book.csv", "photos"] {
        let folder = path.join(format!("with {name}"));
        std::fs::create_dir_all(folder.join("config")).expect("created");
        std::fs::write(folder.join(".hidden"), "").expect("written");
        std::fs::write(folder.join("server.log"), "").expect("written");
        let stranger = folder.join(name);
        match name.contains('.') {
            true => std::fs::write(&stranger, "").expect("written"),
            false => std::fs::create_dir(&stranger).expect("created"),
        }
        let reason = Node::open(config(&folder)).err().expect("refused").reason;
        assert!(reason.contains("must be empty or belong to this node"), "{reason}");
        assert!(reason.contains(&format!("[{name}]")), "{reason}");
        assert_eq!(std::fs::read_dir(&folder).expect("lists").count(), 4, "nothing is created");
        // What users put there before the first start stays no obstacle.
        match name.contains('.') {
            true => std::fs::remove_file(&stranger).expect("removed"),
            false => std::fs::remove_dir(&stranger).expect("removed"),
        }
        drop(Node::open(config(&folder)).expect("opens"));
        std::fs::write(&stranger, "").expect("written");
        drop(Node::open(config(&folder)).expect("opens again"));
    }
    let file = path.join("a file");
    std::fs::write(&file, "text").expect("written");
    let reason = Node::open(config(&file)).err().expect("refused").reason;
    assert!(reason.contains("is a file, but data is kept in a folder"), "{reason}");
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), "text");
}

#[test]
fn snapshots_tell_the_deletions_of_a_folder_that_was_put_back_from_those_before() {
    let temporary = tempfile::tempdir().expect("a folder");
    let (first, put_back) = (temporary.path().join("first"), temporary.path().join("put-back"));
    drop(node_with(&first, 1));
    copy_folder(&first, &put_back);
    let blobs = MemoryBlobs::default();
    let ids = |node: &Node, name: &str| -> Vec<String> {
        node.refresh(name, IndicesOptions::BROADCAST).expect("refreshes");
        search(node, name, json!({"match_all": {}})).into_iter().map(|(id, _)| id).collect()
    };
    // Both write the same generation of live docs, which have the same size.
    for (path, snapshot, deleted) in [(&first, "a", "0-1"), (&put_back, "b", "0-2")] {
        let node = open(path);
        node.put_repository_on("r", Arc::new(blobs.clone())).expect("registered");
        write(&node, delete("t", deleted)).expect("deleted");
        node.create_snapshot("r", snapshot, &json!({"indices": "t"}), true).expect("taken");
        let body = json!({"rename_pattern": "(.+)", "rename_replacement": "back_$1"});
        node.restore_snapshot("r", snapshot, &body, true).expect("restored");
        let (there, restored) = (ids(&node, "t"), ids(&node, "back_t"));
        assert_eq!(there, restored, "{snapshot}");
        assert!(there.len() == 9 && !there.contains(&deleted.to_owned()), "{snapshot}: {there:?}");
    }
}
