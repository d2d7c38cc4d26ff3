//! Tests that load whole tracks: defaults, inheritance, documents, test mode, and Rally's error messages.

use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::{LoadError, TrackSource, TrackSpec, load, read};
use crate::model::{DocumentSource, ScheduleElement, Throughput, Track};

const NOW_S: f64 = 1_760_608_800.0;

fn write_track(folder: &Path, track: &Value) -> TrackSpec {
    std::fs::write(folder.join("track.json"), track.to_string()).unwrap();
    TrackSpec::new(TrackSource::Path(folder.to_owned()), NOW_S)
}

fn read_json(track: Value) -> Result<Track, LoadError> {
    let folder = tempfile::tempdir().unwrap();
    read(&write_track(folder.path(), &track))
}

fn load_json(track: Value) -> Result<Track, LoadError> {
    let folder = tempfile::tempdir().unwrap();
    load(&write_track(folder.path(), &track), &mut std::io::sink()).map(|loaded| loaded.track)
}

fn check_error(track: Value, expected: &str) {
    let error = load_json(track).unwrap_err().to_string();
    assert!(error.contains(expected), "expected [{expected}] in: {error}");
}

#[test]
fn a_schedule_alone_is_a_challenge() {
    let track = read_json(json!({"schedule": [{"operation": "refresh"}]})).unwrap();
    let challenge = &track.challenges[0];
    assert_eq!(
        (challenge.name.as_str(), challenge.default, challenge.auto_generated),
        ("default", true, true)
    );
    let task = &challenge.schedule[0].tasks()[0];
    assert_eq!((task.name.as_str(), task.operation.kind.as_str(), task.clients), ("refresh", "refresh", 1));
    assert!(!task.operation.include_in_reporting);
}

#[test]
fn parallel_elements_give_defaults_to_their_tasks() {
    let track = read_json(json!({
        "operations": [{"name": "q", "operation-type": "search", "body": {}}],
        "schedule": [{"parallel": {"warmup-iterations": 5, "iterations": 10, "clients": 3, "completed-by": "b", "tasks": [
            {"name": "a", "operation": "q", "iterations": 20, "target-throughput": "7.5 docs/s", "tags": "x"},
            {"name": "b", "operation": "q", "clients": 4, "target-interval": 0.5, "tags": ["x", "y"]},
        ]}}],
    }))
    .unwrap();
    let ScheduleElement::Parallel(parallel) = &track.challenges[0].schedule[0] else {
        panic!("not parallel")
    };
    assert_eq!((parallel.clients, parallel.completed_by.as_deref()), (Some(3), Some("b")));
    let [a, b] = parallel.tasks.as_slice() else { panic!("not two tasks") };
    assert_eq!((a.warmup_iterations, a.iterations, a.clients), (Some(5), Some(20), 1));
    assert_eq!((b.warmup_iterations, b.iterations, b.clients), (Some(5), Some(10), 4));
    assert_eq!(a.target_throughput, Some(Throughput { value: 7.5, unit: "docs/s".to_owned() }));
    assert_eq!(b.target_throughput, Some(Throughput { value: 2.0, unit: "ops/s".to_owned() }));
    assert_eq!((a.tags.len(), b.tags.len()), (1, 2));
    assert!(a.operation.include_in_reporting);
}

#[test]
fn invalid_tracks_are_refused_in_rallys_words() {
    let task = |more: Value| {
        let mut task = json!({"operation": {"operation-type": "search"}});
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"schedule": [task]})
    };
    check_error(json!({}), "You must define 'challenge', 'challenges' or 'schedule' but none is specified.");
    check_error(
        json!({"schedule": [{"operation": "a"}], "challenges": [{"name": "c", "schedule": [{"operation": "a"}]}]}),
        "Multiple out of 'challenge', 'challenges' or 'schedule' are defined but only one of them is allowed.",
    );
    check_error(
        json!({"schedule": [{"operation": "refresh"}, {"operation": "refresh"}]}),
        "Challenge 'default' contains multiple tasks with the name 'refresh'. Please use the task's name property to assign a unique name for each task.",
    );
    check_error(
        json!({"challenges": [{"name": "a", "schedule": [{"operation": "x"}]}, {"name": "b", "schedule": [{"operation": "x"}]}]}),
        "No default challenge specified. Please edit the track and add \"default\": true to one of the challenges a, b.",
    );
    check_error(
        task(json!({"warmup-iterations": 3, "time-period": 10})),
        "defines 3 warmup iterations and a time period of 10 seconds but mixing time periods and iterations is not allowed.",
    );
    check_error(
        task(json!({"ramp-up-time-period": 10})),
        "defines a ramp-up time period of 10 seconds but no warmup-time-period.",
    );
    check_error(
        task(json!({"ramp-up-time-period": 10, "warmup-time-period": 5})),
        "is 5 seconds but must be greater than or equal to the ramp-up-time-period of 10 seconds.",
    );
    check_error(
        task(json!({"ramp-up-time-period": 10, "warmup-iterations": 5})),
        "as well as 5 warmup iterations and None iterations but mixing",
    );
    check_error(
        task(json!({"target-throughput": "fast"})),
        "Task [search] specifies invalid target throughput [fast].",
    );
    check_error(
        task(json!({"target-throughput": 1, "target-interval": 1})),
        "but only one of them is allowed",
    );
    check_error(
        task(json!({"ignore-response-error-level": "all"})),
        "the only allowed values are [non-fatal]",
    );
    check_error(
        json!({"schedule": [{"parallel": {"completed-by": "x", "tasks": [{"operation": "refresh"}]}}]}),
        "is marked with 'completed-by' with task name 'x' but no task with this name exists.",
    );
    check_error(
        json!({"operations": [{"name": "a", "operation-type": "search"}, {"name": "a", "operation-type": "bulk"}], "schedule": [{"operation": "a"}]}),
        "Duplicate operation with name 'a'.",
    );
    check_error(
        json!({"version": 3, "schedule": [{"operation": "refresh"}]}),
        "requires a newer version of Rally",
    );
}

#[test]
fn what_cannot_be_driven_is_refused_by_name() {
    check_error(
        json!({"schedule": [{"operation": {"operation-type": "esq", "query": "FROM x"}}]}),
        "unknown operation type [esq]",
    );
    check_error(json!({"schedule": [{"operation": "frobnicate"}]}), "unknown operation type [frobnicate]");
    check_error(
        json!({"schedule": [{"operation": "refresh", "schedule": "my-scheduler"}]}),
        "unknown scheduler [my-scheduler]",
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("track.py"), "def register(registry): pass").unwrap();
    let search = json!({"operation": {"name": "s", "operation-type": "search", "param-source": "my-source"}});
    let spec = write_track(
        folder.path(),
        &json!({"challenges": [
            {"name": "plain", "default": true, "schedule": [{"operation": "refresh"}]},
            {"name": "special", "schedule": [search]},
        ]}),
    );
    load(&spec, &mut std::io::sink()).unwrap();
    let mut special = TrackSpec { challenge: Some("special".to_owned()), ..spec.clone() };
    special.python.interpreter = Some("/no/such/python".into());
    let error = load(&special, &mut std::io::sink()).unwrap_err().to_string();
    assert!(
        error.contains("the track's plugin [track.py] cannot be used: cannot start [/no/such/python]"),
        "{error}"
    );
    assert!(error.contains("--python or LIMBER_PYTHON"), "{error}");
    let unknown = TrackSpec { challenge: Some("none".to_owned()), ..spec };
    let error = load(&unknown, &mut std::io::sink()).unwrap_err().to_string();
    assert!(error.contains("Unknown challenge [none]") && error.contains("[plain, special]"), "{error}");
}

#[test]
fn tasks_can_be_included_and_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let spec = write_track(
        folder.path(),
        &json!({"schedule": [
            {"operation": "refresh", "tags": "setup"},
            {"parallel": {"tasks": [{"operation": "force-merge"}, {"name": "second", "operation": "refresh"}]}},
        ]}),
    );
    let check = |include: &[&str], exclude: &[&str], expected: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let spec = TrackSpec { include_tasks: owned(include), exclude_tasks: owned(exclude), ..spec.clone() };
        let track = read(&spec).unwrap();
        let names: Vec<_> =
            track.challenges[0].schedule.iter().flat_map(|e| e.tasks()).map(|t| t.name.clone()).collect();
        assert_eq!(names, expected, "{include:?} {exclude:?}");
    };
    check(&[], &[], &["refresh", "force-merge", "second"]);
    check(&["type:refresh"], &[], &["refresh", "second"]);
    check(&[], &["tag:setup", "force-merge"], &["second"]);
    for (include, exclude, option) in [
        (&[][..], &["type:refresh", "type:force-merge"][..], "--exclude-tasks"),
        (&["thrid"], &[], "--include-tasks"),
    ] {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let spec = TrackSpec { include_tasks: owned(include), exclude_tasks: owned(exclude), ..spec.clone() };
        let error = read(&spec).unwrap_err().to_string();
        for part in [option, "leaves no task to run", "[force-merge, refresh, second]"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

fn track_with_corpus(set: Value) -> Value {
    json!({
        "indices": [{"name": "one"}],
        "corpora": [{"name": "c", "base-url": "https://data.example/c/", "documents": [set]}],
        "schedule": [{"operation": {"operation-type": "bulk", "bulk-size": 10}, "iterations": 50, "clients": 2}],
    })
}

#[test]
fn archives_are_unpacked_and_checked() {
    let documents = "{\"a\":1}\n".repeat(1_500);
    type Compress = fn(&[u8]) -> Vec<u8>;
    let compress: [(&str, Compress); 3] = [
        ("gz", |data| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }),
        ("bz2", |data| {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }),
        ("zst", |data| zstd::encode_all(data, 1).unwrap()),
    ];
    for (extension, compress) in compress {
        let folder = tempfile::tempdir().unwrap();
        let archive = compress(documents.as_bytes());
        let name = format!("documents.json.{extension}");
        std::fs::write(folder.path().join(&name), &archive).unwrap();
        let set = |bytes: usize, count: u64| {
            track_with_corpus(
                json!({"source-file": name, "document-count": count, "compressed-bytes": archive.len(), "uncompressed-bytes": bytes}),
            )
        };
        let spec = write_track(folder.path(), &set(documents.len() + 1, 1_500));
        let error = load(&spec, &mut std::io::sink()).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "Extracted [{}] bytes but [{}] bytes are expected",
                documents.len(),
                documents.len() + 1
            )),
            "{error}"
        );

        let spec = write_track(folder.path(), &set(documents.len(), 1_499));
        let error = load(&spec, &mut std::io::sink()).unwrap_err().to_string();
        assert!(error.contains("are invalid. Expected [1499] lines but got [1500]."), "{error}");

        let mut log = Vec::new();
        let spec = write_track(folder.path(), &set(documents.len(), 1_500));
        let track = load(&spec, &mut log).unwrap().track;
        let DocumentSource::File(path) = &track.corpora[0].documents[0].source else { panic!("not a file") };
        assert_eq!(std::fs::read_to_string(path).unwrap(), documents);
        assert!(super::offsets::is_current(path));
        assert!(String::from_utf8(log).unwrap().contains("Preparing file offset table"));
        assert_eq!(track.corpora[0].documents[0].target_index.as_deref(), Some("one"));
    }
}

#[test]
fn missing_documents_are_named_with_their_address() {
    let folder = tempfile::tempdir().unwrap();
    let spec = write_track(
        folder.path(),
        &track_with_corpus(json!({"source-file": "d.json.bz2", "document-count": 3})),
    );
    let error = load(&spec, &mut std::io::sink()).unwrap_err().to_string();
    assert!(
        error.contains("d.json.bz2]. Download [https://data.example/c/d.json.bz2] to that path and retry."),
        "{error}"
    );
    // The same file in the data folder of the corpus is found.
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("c")).unwrap();
    std::fs::write(data.join("c/d.json"), "{}\n{}\n{}").unwrap();
    load(&TrackSpec { data_root: Some(data), ..spec }, &mut std::io::sink()).unwrap();
}

#[test]
fn corpora_are_downloaded_into_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let archive = zstd::encode_all(&b"{}\n{}\n{}\n"[..], 1).unwrap();
    let mut track = track_with_corpus(
        json!({"source-file": "d.json.zst", "document-count": 3, "compressed-bytes": archive.len()}),
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    track["corpora"][0]["base-url"] = format!("http://{}/c/", listener.local_addr().unwrap()).into();
    let data = tempfile::tempdir().unwrap();
    let spec = write_track(folder.path(), &track);
    let spec = TrackSpec { data_root: Some(data.path().to_owned()), ..spec };
    // A file of another size in the data folder is not the corpus.
    std::fs::create_dir(data.path().join("c")).unwrap();
    std::fs::write(data.path().join("c/d.json.zst"), "half").unwrap();

    let offline = TrackSpec { is_offline: true, ..spec.clone() };
    let error = load(&offline, &mut std::io::sink()).unwrap_err().to_string();
    assert!(error.contains("c/d.json.zst]. Please disable offline mode and retry"), "{error}");

    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stream.try_clone().unwrap()), &mut line)
            .unwrap();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", archive.len());
        stream.write_all(&[head.as_bytes(), &archive].concat()).unwrap();
        line
    });
    load(&spec, &mut std::io::sink()).unwrap();
    assert_eq!(server.join().unwrap(), "GET /c/d.json.zst HTTP/1.1\r\n");
    assert_eq!(std::fs::read_to_string(data.path().join("c/d.json")).unwrap(), "{}\n{}\n{}\n");
    // A file that is already there is not requested again.
    load(&offline, &mut std::io::sink()).unwrap();
    for url in ["s3://bucket/c", "gs://bucket/c"] {
        track["corpora"][0]["base-url"] = url.into();
        track["corpora"][0]["documents"][0]["source-file"] = "e.json.zst".into();
        let spec = TrackSpec { data_root: spec.data_root.clone(), ..write_track(folder.path(), &track) };
        let error = load(&spec, &mut std::io::sink()).unwrap_err().to_string();
        assert!(error.contains("only http and https are downloaded from"), "{error}");
    }
}

#[test]
fn a_bulk_needs_documents() {
    let bulk = |more: Value| {
        let mut track = track_with_corpus(json!({"source-file": "d.json", "document-count": 3}));
        track["schedule"][0]["operation"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        track
    };
    check_error(
        bulk(json!({"corpora": "x"})),
        "The provided corpus ['x'] does not match any of the corpora ['c']",
    );
    check_error(
        bulk(json!({"indices": ["two"]})),
        "The provided corpus ['c'] does not match any of the corpora ['c']",
    );
    check_error(bulk(json!({"corpora": ["c"], "indices": ["one"]})), "Cannot find [");
    let mut without = bulk(json!({}));
    without.as_object_mut().unwrap().remove("corpora");
    check_error(without, "There is no document corpus definition for track");
}

#[test]
fn test_mode_cuts_documents_and_iterations() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("d-1k.json"), "{}\n".repeat(1_000)).unwrap();
    let mut track = track_with_corpus(
        json!({"source-file": "d.json.bz2", "document-count": 5_000, "compressed-bytes": 7}),
    );
    track["schedule"][0]["target-throughput"] = json!(5);
    track["schedule"][0]["warmup-iterations"] = json!(1);
    let spec = TrackSpec { test_mode: true, ..write_track(folder.path(), &track) };
    let track = load(&spec, &mut std::io::sink()).unwrap().track;
    let set = &track.corpora[0].documents[0];
    assert_eq!(
        (set.number_of_documents, set.file.as_str(), set.archive.as_deref()),
        (1_000, "d-1k.json", Some("d-1k.json.bz2"))
    );
    let task = &track.challenges[0].schedule[0].tasks()[0];
    assert_eq!((task.warmup_iterations, task.iterations), (Some(1), Some(2)));
    assert_eq!(task.params["target-throughput"], "9223372036854775807 ops/s");
}

#[test]
fn bodies_are_rendered_with_the_users_parameters() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("body.json"),
        r#"{"x": {"shards": {{ number_of_shards | default(5) }} } }"#,
    )
    .unwrap();
    let track = json!({
        "indices": [{"name": "i", "body": "body.json"}],
        "component-templates": [{"name": "t", "template": "body.json", "template-path": "x"}],
        "schedule": [{"operation": "refresh"}],
    });
    let mut spec = write_track(folder.path(), &track);
    spec.params = crate::arguments::parse("number_of_shards:2").unwrap();
    let track = read(&spec).unwrap();
    assert_eq!(track.indices[0].body, Some(json!({"x": {"shards": 2}})));
    assert_eq!(track.component_templates[0].body, json!({"shards": 2}));
    spec.params = crate::arguments::parse("number_of_shard:2").unwrap();
    let error = read(&spec).unwrap_err().to_string();
    assert!(error.contains("perhaps you intend to use \"number_of_shards\" instead"), "{error}");
    read(&TrackSpec { ignore_unused_params: true, ..spec }).unwrap();
}

#[test]
fn broken_json_shows_the_place() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("track.json"), "{\n\"a\": 1,\n\"b\": oops\n}").unwrap();
    let error =
        read(&TrackSpec::new(TrackSource::Path(folder.path().to_owned()), NOW_S)).unwrap_err().to_string();
    assert!(error.contains("\"b\": oops\n-----^ Error is here\n"), "{error}");
}

#[test]
fn the_built_in_track_loads_and_exports() {
    let spec = TrackSpec::new(TrackSource::BuiltIn { name: "log_ingest".to_owned(), corpus: None }, NOW_S);
    let test = TrackSpec { test_mode: true, ..spec.clone() };
    let track = load(&test, &mut std::io::sink()).unwrap().track;
    let set = &track.corpora[0].documents[0];
    let DocumentSource::Memory(bytes) = &set.source else { panic!("not in memory") };
    assert_eq!(
        (set.number_of_documents, bytes.iter().filter(|byte| **byte == b'\n').count()),
        (1_000, 1_000)
    );
    let names: Vec<&str> = track.challenges.iter().map(|challenge| challenge.name.as_str()).collect();
    assert_eq!(names, ["default", "high-concurrency", "ramp-up"]);
    let pipeline = &track.challenges[0].schedule[2].tasks()[0].operation.params;
    assert_eq!(pipeline["body"]["processors"][0]["set"]["value"], "{{_ingest.timestamp}}");

    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    std::fs::write(&log, "1.2.3.4 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.0\" 200 1\n".repeat(1_200))
        .unwrap();
    let exported = folder.path().join("log_ingest");
    crate::track::builtin::catalog::export("log_ingest", Some(&log), &exported).unwrap();
    for test_mode in [false, true] {
        let spec = TrackSpec { test_mode, ..TrackSpec::new(TrackSource::Path(exported.clone()), NOW_S) };
        let track = load(&spec, &mut std::io::sink()).unwrap().track;
        let expected = if test_mode { 1_000 } else { 1_200 };
        assert_eq!(
            (track.name.as_str(), track.corpora[0].documents[0].number_of_documents),
            ("log_ingest", expected)
        );
    }
    let unknown =
        TrackSpec { source: TrackSource::BuiltIn { name: "nope".to_owned(), corpus: None }, ..spec };
    assert!(
        load(&unknown, &mut std::io::sink())
            .unwrap_err()
            .to_string()
            .contains("built-in tracks: [log_ingest, segment_memory]")
    );
}
