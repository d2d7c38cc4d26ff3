//! Tests damaged data folders: what the check finds, what repair changes, what is in the index afterwards,
//! and that nothing is lost for good.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::*;
use limber_engine::*;
use serde_json::{Value, json};

const BODY: &str = r#"{"settings": {"number_of_replicas": 0, "refresh_interval": "-1"},
    "mappings": {"properties": {"n": {"type": "long"}, "t": {"type": "text"}}}}"#;

type Documents = BTreeMap<String, Value>;

fn source(id: &str, n: usize) -> Value {
    json!({"n": n, "t": format!("text of {id} and {}", n * 7919)})
}

/// Makes a folder with three committed segments of ten documents each, a few of them deleted, and twenty
/// operations that are only in the translog.
fn folder(path: &Path) -> Documents {
    let node = open(path);
    node.create_index("t", &serde_json::from_str(BODY).expect("JSON")).expect("created");
    let mut documents = Documents::new();
    let mut put = |node: &Node, id: String, n: usize| {
        let source = source(&id, n);
        write(node, index("t", &id, source.to_string().as_bytes())).expect("written");
        documents.insert(id, source);
    };
    for segment in 0..3 {
        (0..10).for_each(|number| put(&node, format!("{segment}-{number}"), segment * 10 + number));
        node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    }
    for id in ["0-1", "1-1", "1-2"] {
        write(&node, delete("t", id)).expect("deleted");
    }
    node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    for number in 0..20 {
        put(&node, format!("log-{number}"), 100 + number);
    }
    ["0-1", "1-1", "1-2"].iter().for_each(|id| drop(documents.remove(*id)));
    // Leaves the folder as `kill -9` would.
    drop(node);
    documents
}

fn contents(node: &Node) -> Documents {
    node.refresh("t", IndicesOptions::BROADCAST).expect("refreshes");
    search(node, "t", json!({"match_all": {}})).into_iter().collect()
}

fn shard(path: &Path) -> PathBuf {
    let index =
        std::fs::read_dir(path.join("indices")).expect("lists").next().expect("an index").expect("reads");
    index.path().join("0")
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("lists") {
        let path = entry.expect("reads").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.clone(), std::fs::read(&path).expect("reads"))),
        }
    }
    found.sort();
    found
}

fn edit(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(file).expect("reads");
    change(&mut bytes);
    std::fs::write(file, bytes).expect("writes");
}

fn find(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).position(|window| window == needle).expect("is there")
}

/// Returns the translog file that has operations.
fn log(path: &Path) -> PathBuf {
    let logs =
        files(&shard(path)).into_iter().filter(|(name, _)| name.extension().is_some_and(|end| end == "log"));
    logs.max_by_key(|(_, bytes)| bytes.iter().filter(|byte| **byte != 0).count()).expect("a log").0
}

/// Returns the saved documents as the index would contain them: (verified, not verified).
fn saved(path: &Path) -> (Documents, Documents) {
    let (mut verified, mut suspect) = (Documents::new(), Documents::new());
    let folders = std::fs::read_dir(path).expect("lists").map(|entry| entry.expect("reads").path());
    for folder in folders.filter(|folder| folder.to_string_lossy().contains("salvaged-")) {
        for (name, bytes) in files(&folder) {
            let into =
                if name.to_string_lossy().contains("unverified") { &mut suspect } else { &mut verified };
            let lines: Vec<Value> = bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice(line).expect("JSON"))
                .collect();
            for pair in lines.chunks(2) {
                let action = pair[0].as_object().expect("an object").values().next().expect("one action");
                assert_eq!(action["_index"], "t");
                into.insert(action["_id"].as_str().expect("an id").to_owned(), pair[1].clone());
            }
        }
    }
    (verified, suspect)
}

struct Outcome {
    lines: String,
    before: Documents,
    /// Documents in the index after the repair.
    kept: Documents,
    verified: Documents,
    suspect: Documents,
    has_losses: bool,
}

/// Damages a folder, checks it, reports, repairs it, checks it again and opens it.
fn repaired(damage: impl FnOnce(&Path)) -> Outcome {
    let temporary = tempfile::tempdir().expect("tempdir");
    let path = temporary.path();
    let before = folder(path);
    damage(path);
    let damaged = files(path);
    assert!(check_data_folder(path).expect("reads").problem_count > 0);
    let dry = repair_data_folder(path, false).expect("reads");
    assert!(files(path) == damaged, "a dry run changes nothing");
    let report = repair_data_folder(path, true).expect("reads");
    assert_eq!(report.unrepaired_count, 0, "{:?}", report.lines);
    assert_eq!(dry.lines.len(), report.lines.len(), "{:?} {:?}", dry.lines, report.lines);
    let after = check_data_folder(path).expect("reads");
    assert_eq!(after.problem_count, 0, "{:?} after {:?}", after.lines, report.lines);
    // Every damaged file still exists somewhere.
    let now: Vec<Vec<u8>> = files(path).into_iter().map(|(_, bytes)| bytes).collect();
    for (name, bytes) in &damaged {
        assert!(now.contains(bytes), "{} is gone: {:?}", name.display(), report.lines);
    }
    let node = open(path);
    let kept = contents(&node);
    write(&node, index("t", "new", b"{\"n\": 1}")).expect("takes writes");
    node.flush("t", IndicesOptions::BROADCAST, true).expect("flushes");
    node.force_merge(
        "t",
        IndicesOptions::BROADCAST,
        &ForceMergeRequest { max_num_segments: Some(1), ..Default::default() },
    )
    .expect("merges");
    node.close();
    drop(node);
    assert_eq!(check_data_folder(path).expect("reads").problem_count, 0);
    let (verified, suspect) = saved(path);
    Outcome { lines: report.lines.join("\n"), before, kept, verified, suspect, has_losses: report.has_losses }
}

impl Outcome {
    /// Checks that the index contains what was written, and that together with the saved documents only
    /// `lost` is missing.
    fn assert_complete_but(&self, lost: &[&str]) {
        for (id, source) in &self.kept {
            assert_eq!(self.before.get(id), Some(source), "{id}\n{}", self.lines);
        }
        for (id, source) in &self.before {
            let is_there = self.kept.get(id).or(self.verified.get(id)) == Some(source);
            assert_eq!(is_there, !lost.contains(&id.as_str()), "{id}\n{}", self.lines);
        }
    }
}

#[test]
fn a_damaged_column_costs_no_document() {
    let outcome = repaired(|path| {
        let segment = shard(path).join("_1.seg");
        let directory = limber_store::FsDirectory::open(shard(path)).expect("opens");
        let offset = section_of(&directory, 1, "Column", "n");
        edit(&segment, |bytes| bytes[offset] ^= 0x40);
    });
    outcome.assert_complete_but(&[]);
    assert_eq!((outcome.kept.len(), outcome.verified.len()), (29 + 10, 8), "{}", outcome.lines);
    assert!(outcome.suspect.is_empty() && outcome.has_losses);
    assert!(outcome.lines.contains("8 documents are saved and verified"), "{}", outcome.lines);
}

/// Returns the middle of a section.
fn section_of(directory: &limber_store::FsDirectory, number: u64, kind: &str, field: &str) -> usize {
    let id = limber_segment::SegmentId(number);
    let meta = limber_segment::SegmentMeta::of_files(directory, id).expect("reads");
    let root = limber_store::Directory::path(directory).to_owned();
    let directory: Arc<dyn limber_store::Directory> =
        Arc::new(limber_store::FsDirectory::open(root).expect("opens"));
    let cache = limber_store::term_index::TermIndexCache::native();
    let segment = limber_segment::Segment::open(&directory, &meta, &cache).expect("opens");
    let place = segment.fields().iter().position(|info| &*info.path == field);
    let section = segment.file_sections().iter().find(|section| {
        format!("{:?}", section.kind) == kind && (field.is_empty() || Some(section.field as usize) == place)
    });
    let section = section.expect("a section");
    (section.offset + section.len / 2) as usize
}

#[test]
fn damaged_sources_are_saved_apart_from_sound_ones() {
    let outcome = repaired(|path| {
        edit(&shard(path).join("_0.seg"), |bytes| {
            let at = find(bytes, b"text of 0-0");
            bytes[at] ^= 1;
        });
    });
    assert!(outcome.verified.is_empty(), "{}", outcome.lines);
    // JSON with a flipped bit may still be JSON. Such documents are kept apart from the verified ones.
    assert_eq!(outcome.suspect.len(), 9, "{}", outcome.lines);
    assert_ne!(outcome.suspect.get("0-0"), outcome.before.get("0-0"));
    assert!(
        outcome.suspect.keys().all(|id| outcome.before.contains_key(id) && !outcome.kept.contains_key(id))
    );
    assert!(outcome.has_losses && outcome.kept.len() == 47 - 9);
}

#[test]
fn a_segment_without_its_end_is_lost_and_said_to_be() {
    let outcome = repaired(|path| edit(&shard(path).join("_2.seg"), |bytes| bytes.truncate(bytes.len() - 5)));
    let lost: Vec<String> = (0..10).map(|number| format!("2-{number}")).collect();
    outcome.assert_complete_but(&lost.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(
        outcome.lines.contains("10 are lost") && outcome.lines.contains("sequence numbers 20 to 29"),
        "{}",
        outcome.lines
    );
}

#[test]
fn lost_live_docs_bring_deleted_documents_back_and_say_so() {
    let outcome = repaired(|path| {
        let live = files(&shard(path))
            .into_iter()
            .find(|(name, _)| name.to_string_lossy().contains("_1_"))
            .expect("live docs")
            .0;
        edit(&live, |bytes| bytes[40] ^= 2);
    });
    assert!(outcome.lines.contains("2 of its deleted documents are back"), "{}", outcome.lines);
    assert_eq!(outcome.kept.len(), outcome.before.len() + 2);
    assert!(outcome.before.iter().all(|(id, source)| outcome.kept.get(id) == Some(source)));
}

#[test]
fn a_lost_commit_is_made_anew() {
    for damage in [0, 1] {
        let outcome = repaired(|path| {
            let commit = shard(path).join("commit");
            match damage {
                0 => edit(&commit, |bytes| bytes[60] ^= 4),
                _ => std::fs::remove_file(commit).expect("removes"),
            }
        });
        outcome.assert_complete_but(&[]);
        assert_eq!(outcome.kept, outcome.before, "{}", outcome.lines);
    }
}

#[test]
fn a_damaged_log_is_cut_and_what_follows_is_saved() {
    let outcome = repaired(|path| {
        edit(&log(path), |bytes| {
            let at = find(bytes, b"text of log-7");
            bytes[at] ^= 1;
        });
    });
    outcome.assert_complete_but(&["log-7"]);
    assert!(outcome.kept.contains_key("log-6") && !outcome.kept.contains_key("log-8"), "{}", outcome.lines);
    assert!(outcome.verified.contains_key("log-8") && outcome.verified.contains_key("log-19"));
}

#[test]
fn a_missing_log_is_lost_and_the_rest_opens() {
    let outcome = repaired(|path| std::fs::remove_file(log(path)).expect("removes"));
    let lost: Vec<String> = (0..20).map(|number| format!("log-{number}")).collect();
    outcome.assert_complete_but(&lost.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_damaged_checkpoint_costs_nothing() {
    let outcome = repaired(|path| {
        edit(&shard(path).join("translog.ckp"), |bytes| {
            bytes.iter_mut().step_by(7).for_each(|byte| *byte ^= 0x55)
        });
    });
    outcome.assert_complete_but(&[]);
    assert_eq!(outcome.kept, outcome.before, "{}", outcome.lines);
}

#[test]
fn a_sound_folder_is_left_alone() {
    let temporary = tempfile::tempdir().expect("tempdir");
    folder(temporary.path());
    let before = files(temporary.path());
    let report = repair_data_folder(temporary.path(), true).expect("reads");
    assert!(report.lines.is_empty() && !report.has_losses, "{:?}", report.lines);
    assert!(files(temporary.path()) == before);
}
