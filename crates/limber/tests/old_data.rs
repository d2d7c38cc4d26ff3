//! Data folders of earlier builds (`tests/fixtures/make.py`): this build opens, checks, searches, writes and
//! merges them, and opens them again.

mod support;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::{Client, ServerProcess, program};

/// Written by the first and the last build of each obsolete version of the segment format. They are never
/// regenerated.
const FIXTURES: &[&str] = &["3694ce2", "fb3adeed", "246ffc65", "bb1e1c72", "242ed5a3"];

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = zstd::Decoder::new(file).expect("zstd");
    decoder.window_log_max(27).expect("a window");
    let mut bytes = Vec::new();
    decoder.read_to_end(&mut bytes).expect("zstd");
    bytes
}

fn unpack(name: &str, folder: &Path) {
    tar::Archive::new(&*fixture(&format!("{name}.tar.zst"))).unpack(folder).expect("unpacks");
}

fn check(folder: &Path) {
    let output = Command::new(program()).arg("check").arg(folder).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Removes from a response what depends on the build or the time.
fn comparable(mut answer: Value) -> Value {
    if let Some(answer) = answer.as_object_mut() {
        answer.remove("took");
    }
    // Newer answers have these members too.
    let streams = answer.get_mut("data_streams").and_then(Value::as_array_mut);
    for stream in streams.into_iter().flatten() {
        let stream = stream.as_object_mut().expect("a data stream");
        for member in ["settings", "mappings"] {
            if stream.get(member).is_some_and(|value| *value == json!({})) {
                stream.remove(member);
            }
        }
    }
    answer
}

/// Compares the responses with the recorded ones. `is_asked` selects requests by path and body.
fn compare(
    client: &mut Client,
    recorded: &Value,
    is_asked: impl Fn(&str, &Value) -> bool,
    when: &str,
) -> usize {
    let mut asked = 0;
    for record in recorded.as_array().expect("a list") {
        let (method, path) =
            (record["method"].as_str().expect("text"), record["path"].as_str().expect("text"));
        let body = &record["body"];
        if !is_asked(path, body) {
            continue;
        }
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = client.send(method, path, text);
        assert_eq!(u64::from(answer.status), record["status"], "{when}: {method} {path} {body}");
        let expected = comparable(record["answer"].clone());
        assert_eq!(comparable(answer.json()), expected, "{when}: {method} {path} {body}");
        asked += 1;
    }
    asked
}

#[test]
fn data_folders_of_earlier_builds_live_on() {
    for name in FIXTURES {
        let temporary = tempfile::tempdir().expect("tempdir");
        let data = temporary.path();
        unpack(name, data);
        check(data);
        let recorded: Value =
            serde_json::from_slice(&fixture(&format!("{name}.answers.json.zst"))).expect("JSON");
        let mut server = ServerProcess::start(data, &[]);
        let mut client = server.client();
        assert!(compare(&mut client, &recorded, |_, _| true, name) > 50);

        // Writes to each index that allows it, and merges.
        for index in ["types", "sorted", "synthetic", "large", "compressed", "empty"] {
            client.expect(
                201,
                "PUT",
                &format!("/{index}/_doc/another?refresh=true"),
                json!({"n": 1, "k": "x"}),
            );
            client.expect(200, "DELETE", &format!("/{index}/_doc/another?refresh=true"), Value::Null);
            let merged = client.expect(
                200,
                "POST",
                &format!("/{index}/_forcemerge?max_num_segments=1&flush=true"),
                Value::Null,
            );
            assert_eq!(merged["_shards"]["failed"], 0, "{merged}");
        }
        client.expect(
            201,
            "POST",
            "/logs-app/_doc",
            json!({"@timestamp": "2024-06-01T00:00:00Z", "level": "new"}),
        );
        // The scores had counted deleted documents, which are now gone; the mapping and the data stream have
        // grown.
        let is_unchanged = |path: &str, body: &Value| {
            let is_scored =
                body["sort"][0] == "_score" || !path.contains("_search") || body["sort"].is_null();
            path.contains("/_doc/") || (path.contains("_search") && !is_scored && !path.contains("logs"))
        };
        assert!(compare(&mut client, &recorded, is_unchanged, "merged") > 15);
        server.kill();
        check(data);
        let server = ServerProcess::start(data, &[]);
        assert!(compare(&mut server.client(), &recorded, is_unchanged, "opened again") > 15);
    }
}

/// Returns every file below a folder with its content.
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

/// Computes the CRC-32 of zlib bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

/// Formats that a later build may have written are refused by name, and not a byte of the files is changed.
#[test]
fn newer_formats_are_refused_by_name_and_not_touched() {
    let fixture = FIXTURES[0];
    let temporary = tempfile::tempdir().expect("tempdir");
    let pristine = temporary.path().join("pristine");
    unpack(fixture, &pristine);
    // (end of the file name, offset of the lowest byte of the version)
    for (end, offset) in [(".seg", 8), (".src", 8), (".live", 8), ("/commit", 14), ("translog-2.log", 8)] {
        let data = temporary.path().join(end.trim_start_matches('/').replace('.', "-"));
        unpack(fixture, &data);
        let all = files(&data);
        let (path, mut bytes) =
            all.into_iter().find(|(path, _)| path.to_string_lossy().ends_with(end)).expect("is there");
        // The version is text in a commit, binary elsewhere.
        bytes[offset] = if end == "/commit" { b'9' } else { 9 };
        if end == "translog-2.log" {
            // The checksum of the log's header is corrected, so that the version counts as newer and not as
            // damaged.
            let sum = crc32(&bytes[..52]);
            bytes[52..56].copy_from_slice(&sum.to_le_bytes());
        }
        std::fs::write(&path, &bytes).expect("writes");
        let folder = path.parent().expect("a folder");
        let before = files(folder);
        let output = Command::new(program()).arg("check").arg(&data).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success());
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let line = text
            .lines()
            .find(|line| line.contains("newer version"))
            .unwrap_or_else(|| panic!("{end}: {text}"));
        assert!(line.contains(&name) && line.contains("format 9"), "{line}");
        let mut server = ServerProcess::start(&data, &[]);
        let mut client = server.client();
        let health = client.expect(200, "GET", "/_cluster/health", Value::Null);
        assert_eq!(health["status"], "red", "{end}");
        let rows = client.send("GET", "/_cat/shards?h=index,shard,state,unassigned.details", "").text();
        assert!(rows.contains("newer version"), "{end}: {rows}");
        server.kill();
        assert!(before == files(folder), "{end}: files were changed");
    }
}
