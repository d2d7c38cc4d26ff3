//! A small sound data folder with some bytes changed: it is opened, queried, checked and repaired. Each
//! step may succeed or fail, but nothing may panic, hang or take disproportionate memory.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use limber_codec::checksum::crc32;
use limber_engine::{
    BulkOperation, ForceMergeRequest, GetRequest, IndicesOptions, Node, NodeConfig, OperationKind, Placement,
    RefreshPolicy, check_data_folder, repair_data_folder,
};
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Map, json};

/// Every file of the folder, by its path in the folder.
static FOLDER: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = Node::open(config(folder.path())).expect("an empty folder opens");
    let body = json!({"settings": {"number_of_replicas": 0, "refresh_interval": "-1"}, "aliases": {"a": {}},
        "mappings": {"properties": {"n": {"type": "long"}, "t": {"type": "text"}, "k": {"type": "keyword"}}}});
    node.create_index("i", &serde_json::from_value(body).expect("a body")).expect("created");
    for number in 0..60 {
        let source =
            json!({"n": number, "t": format!("word{} all", number % 5), "k": format!("k{}", number % 9)});
        write(&node, OperationKind::Index, &number.to_string(), &source.to_string()).expect("written");
        if number == 19 || number == 39 {
            node.refresh("i", IndicesOptions::BROADCAST).expect("refreshes");
        }
    }
    write(&node, OperationKind::Delete, "7", "").expect("deleted");
    node.flush("i", IndicesOptions::BROADCAST, true).expect("flushes");
    // Writes metadata that is only in the node's state to the file of its index.
    node.maintain();
    for number in 60..70 {
        write(&node, OperationKind::Index, &number.to_string(), "{\"n\": 1}").expect("written");
    }
    drop(node);
    let mut files = Vec::new();
    collect(folder.path(), folder.path(), &mut files);
    files.sort();
    files
});

fn collect(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("lists") {
        let path = entry.expect("reads").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let inside = path.strip_prefix(root).expect("inside").to_owned();
            files.push((inside, std::fs::read(&path).expect("reads")));
        }
    }
}

fn config(path: &Path) -> NodeConfig {
    let mut settings = Map::new();
    // The fill level of the machine's own disk must not affect a test.
    settings.insert("cluster.routing.allocation.disk.threshold_enabled".into(), "false".into());
    NodeConfig {
        data_paths: vec![path.to_owned()],
        memory_limit_bytes: 64 << 20,
        cluster_name: "fuzz".into(),
        node_name: "fuzz".into(),
        compat_version: "8.14.3".into(),
        settings,
        background_threads: false,
        search_processors: 1,
    }
}

fn write(node: &Node, kind: OperationKind, id: &str, source: &str) -> limber_engine::Result<()> {
    let mut operation = BulkOperation::new(kind, "i", source.as_bytes());
    operation.id = Some(id.into());
    node.write(operation, RefreshPolicy::None, None).map(drop)
}

/// Changes the commit of a shard.
pub fn commit(changes: &[u8]) {
    run(changes, |name| name.ends_with("commit"));
}

/// Changes the live documents.
pub fn live_docs(changes: &[u8]) {
    run(changes, |name| name.ends_with(".live"));
}

/// Changes the node's own state.
pub fn node_state(changes: &[u8]) {
    run(changes, |name| name.starts_with("state/"));
}

/// Changes the metadata of an index.
pub fn index_metadata(changes: &[u8]) {
    run(changes, |name| name.ends_with("index.json"));
}

/// Changes the checkpoint of a translog.
pub fn checkpoint(changes: &[u8]) {
    run(changes, |name| name.ends_with("translog.ckp"));
}

/// Changes any file.
pub fn folder(changes: &[u8]) {
    run(changes, |_| true);
}

/// Runs one case. `changes` is a form (bit 0: checksums are corrected, bit 1: the first change truncates
/// its file there, bit 2: it removes its file), followed by five bytes per change: offset (3), file (1),
/// value to xor (1).
fn run(changes: &[u8], is_meant: impl Fn(&str) -> bool) {
    let Some((&form, changes)) = changes.split_first() else { return };
    let mut files = FOLDER.clone();
    let meant: Vec<usize> = (0..files.len()).filter(|&at| is_meant(&files[at].0.to_string_lossy())).collect();
    let mut removed = None;
    for (number, change) in changes.chunks_exact(5).enumerate() {
        let file = meant[usize::from(change[3]) % meant.len()];
        let (name, bytes) = &mut files[file];
        if bytes.is_empty() {
            continue;
        }
        let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % bytes.len();
        match (number, form & 0b110) {
            (0, 0b010) => bytes.truncate(at),
            (0, 0b100) => removed = Some(file),
            _ => bytes[at] ^= change[4],
        }
        if form & 1 != 0 {
            make_sums_right(&name.to_string_lossy(), bytes);
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (number, (name, bytes)) in files.iter().enumerate() {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder is made");
        if removed != Some(number) {
            std::fs::write(path, bytes).expect("a file is written");
        }
    }
    exercise(folder.path());
}

/// Corrects the checksums, so that code behind their verification is reached too.
fn make_sums_right(name: &str, bytes: &mut Vec<u8>) {
    let put = |bytes: &mut [u8], end: usize| {
        let sum = crc32(&bytes[..end]).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&sum);
    };
    if name.ends_with(".live") && bytes.len() > 4 {
        let end = bytes.len() - 4;
        put(bytes, end);
    } else if name.ends_with(".ckp") {
        bytes.chunks_mut(4096).filter(|slot| slot.len() >= 512).for_each(|slot| put(slot, 508));
    } else if name.ends_with("commit") || name.ends_with(".json") {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
        let body = bytes.split_off(end + 1);
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let words: Vec<&str> = head.split(' ').take(2).collect();
        *bytes = format!("{} {:08x} {}\n", words.join(" "), crc32(&body), body.len()).into_bytes();
        bytes.extend(body);
    }
}

fn exercise(path: &Path) {
    let _ = check_data_folder(path);
    let _ = repair_data_folder(path, false);
    if let Ok(node) = Node::open(config(path)) {
        ask(&node);
        node.close();
    }
    let _ = repair_data_folder(path, true);
    let _ = check_data_folder(path);
    if let Ok(node) = Node::open(config(path)) {
        ask(&node);
        node.close();
    }
}

fn ask(node: &Node) {
    let searches = [
        json!({"query": {"match": {"t": "word3"}}, "sort": [{"n": "desc"}]}),
        json!({"size": 3, "query": {"range": {"n": {"gte": 10}}}, "aggs": {"k": {"terms": {"field": "k"}}, "n": {"sum": {"field": "n"}}}}),
    ];
    for body in searches {
        let request = SearchRequest::parse(&body, &UrlParameters::default()).expect("a search");
        let cancelled = Arc::new(AtomicBool::new(false));
        let _ = node.search("a", IndicesOptions::SEARCH, Placement::default(), &request, None, cancelled);
    }
    for id in ["3", "7", "45", "65"] {
        let _ = node.get(&GetRequest::new("i", id));
    }
    let _ = write(node, OperationKind::Index, "3", "{\"n\": 5, \"new\": true}");
    node.maintain();
    node.scrub_now();
    let request = ForceMergeRequest { max_num_segments: Some(1), ..Default::default() };
    let _ = node.force_merge("i", IndicesOptions::BROADCAST, &request);
    let _ = node.flush("i", IndicesOptions::BROADCAST, true);
    let _ = node.cluster_health(&limber_engine::HealthRequest::default());
}
