//! Tests that telemetry devices send the right requests during a race, and write documents in Rally's layout.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stub::{Asked, Stub};
use super::whole_race::race_on;
use crate::drive::telemetry::watch::{DEVICES, WatchPlan};
use crate::metrics::writer::TELEMETRY_FILE;
use crate::model::Params;
use crate::report::{ReportOptions, summary};
use crate::server::hosts::{ClientOptions, ClusterTarget};

fn params(value: Value) -> Params {
    value.as_object().cloned().unwrap()
}

/// Returns every device that works on a server without JVM options and object store, at very short intervals.
fn all_devices() -> WatchPlan {
    let left_out = ["jit", "gc", "jfr", "heapdump", "blob-store-stats"];
    let wanted = DEVICES.iter().filter(|device| !left_out.contains(&device.name));
    let mut plan = WatchPlan::default();
    for device in wanted {
        plan.devices.push(device.name.to_owned());
        let intervals = device.params.iter().filter(|name| name.ends_with("-sample-interval"));
        plan.params.extend(intervals.map(|name| ((*name).to_owned(), 0.005.into())));
    }
    plan.params.insert("node-stats-include-indices".into(), true.into());
    plan.params.insert("disk-usage-stats-indices".into(), "logs,gone".into());
    plan
}

/// Answers every request of a device like a server with one node.
fn answer(target: &str) -> Option<(u16, Value)> {
    let node = |body: Value| json!({"cluster_name": "stub", "nodes": {"x": body}});
    let body = match target.split('?').next().unwrap_or_default() {
        "/_nodes/_all" => {
            node(json!({"name": "n1", "host": "h", "plugins": [{"name": "p"}], "attributes": {"zone": "a"}}))
        }
        "/_nodes/stats/_all" => node(
            json!({"name": "n1", "roles": ["data"], "indices": {"docs": {"count": 3}, "shards": {"logs": [{"0": {"docs": {"count": 3}}}]}},
                "breakers": {"parent": {"tripped": 1}}}),
        ),
        "/_nodes/stats/indices,jvm,process,limber" => return Some((400, json!({"error": "no such metric"}))),
        "/_nodes/stats/indices,jvm,process" => {
            node(json!({"name": "n1", "jvm": {"mem": {"heap_used_in_bytes": 7}}}))
        }
        "/_nodes/stats/ingest" => {
            node(json!({"name": "n1", "ingest": {"total": {"count": 1}, "pipelines": {}}}))
        }
        "/_nodes/stats/jvm" => node(json!({"name": "n1", "jvm": {"gc": {"collectors": {}}}})),
        "/_recovery" => json!({"logs": {"shards": [{"id": 0, "stage": "DONE"}]}}),
        "/_ccr/stats" => json!({"follow_stats": {"indices": [{"index": "f", "shards": [{"shard_id": 0}]}]}}),
        "/_transform/_all/_stats" => {
            json!({"transforms": [{"id": "t", "stats": {"documents_processed": 10, "search_time_in_ms": 5}}]})
        }
        "/_searchable_snapshots/stats" => json!({"total": [{"file_ext": "tim"}]}),
        "/_data_stream/_stats" => json!({"_shards": {"total": 0}, "data_streams": []}),
        "/_ingest/geoip/stats" => json!({"nodes": {"x": {"cache_stats": {"count": 1, "hits": 2}}}}),
        "/_cluster/state/master_node" => json!({"master_node": "x"}),
        "/_nodes/x/os" => node(json!({"name": "n1"})),
        "/logs/_disk_usage" => {
            json!({"_shards": {"failed": 0}, "logs": {"fields": {"n": {"total_in_bytes": 2048, "points_in_bytes": 2048}}}})
        }
        "/gone/_disk_usage" => return Some((404, json!({}))),
        _ => return None,
    };
    Some((200, body))
}

/// Starts a server whose bulks wait until every one of `paths` was requested, so that the race lasts long
/// enough.
fn patient_server(paths: &'static [&'static str]) -> Stub {
    let seen: Mutex<HashSet<String>> = Mutex::new(HashSet::new());
    Stub::start(move |asked: &Asked| {
        let path = asked.target.split('?').next().unwrap_or_default().to_owned();
        if path == "/_bulk" {
            let patience = Instant::now() + Duration::from_secs(60);
            while !paths.iter().all(|path| seen.lock().unwrap().contains(*path)) && Instant::now() < patience
            {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        seen.lock().unwrap().insert(path);
        answer(&asked.target).map(|(status, body)| (status, body.to_string()))
    })
}

#[test]
fn every_device_leaves_documents() {
    let stub = patient_server(&[
        "/_nodes/stats/_all",
        "/_nodes/stats/indices,jvm,process",
        "/_recovery",
        "/_ccr/stats",
        "/_transform/_all/_stats",
        "/_searchable_snapshots/stats",
        "/_data_stream/_stats",
        "/_nodes/x/os",
    ]);
    let (outcome, progress, _home) = race_on(&stub, |config| {
        config.watch.telemetry = all_devices();
        config.user_tags = params(json!({"setup": "small"}));
    });
    let outcome = outcome.unwrap();
    let folder = outcome.file.parent().unwrap();
    let text = std::fs::read_to_string(folder.join(TELEMETRY_FILE)).unwrap();
    let documents: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| documents.iter().find(|document| document["name"] == name);
    for name in [
        "node-stats",
        "shard-stats",
        "recovery-stats",
        "ccr-stats",
        "transform_search_time",
        "total_transform_throughput",
        "searchable-snapshots-stats",
        "data-stream-stats",
        "master-node-stats",
        "geoip_cache_hits",
        "disk_usage_total",
        "ingest_pipeline_node_count",
        "server-stats",
    ] {
        let document = named(name).unwrap_or_else(|| panic!("{name}: {progress:?}"));
        assert_eq!(
            (&document["race-id"], &document["track"]),
            (&json!("race-1"), &json!("log_ingest")),
            "{document}"
        );
        assert_eq!(document["meta"]["tag_setup"], "small", "{document}");
        assert!(document["@timestamp"].is_u64() && document["relative-time"].is_f64(), "{document}");
    }
    let node = named("node-stats").unwrap();
    assert_eq!((&node["indices_docs_count"], &node["breakers_parent_tripped"]), (&json!(3), &json!(1)));
    assert_eq!((&node["meta"]["host_name"], &node["meta"]["attribute_zone"]), (&json!("h"), &json!("a")));
    assert_eq!(named("server-stats").unwrap()["jvm_mem_heap_used_in_bytes"], 7);
    #[cfg(target_os = "linux")]
    assert!(
        named("process-stats").unwrap()["rss_bytes"].as_u64() > Some(0),
        "the stub is a process of this machine"
    );
    assert!(folder.join("segment_stats.log").is_file());

    let mut report = Vec::new();
    summary::write(&outcome.results, &ReportOptions::default(), &mut report).unwrap();
    let report = String::from_utf8(report).unwrap();
    for row in ["Transform throughput", "logs n points", "logs n total"] {
        assert!(report.contains(row), "{report}");
    }
    assert!(
        progress.iter().any(|line| line.contains("No disk usage of [gone]: it does not exist")),
        "{progress:?}"
    );
    assert!(!progress.iter().any(|line| line.contains("ended:")), "{progress:?}");
}

#[test]
fn devices_watch_all_clusters() {
    let other = Stub::start(|asked| answer(&asked.target).map(|(status, body)| (status, body.to_string())));
    let stub = patient_server(&["/_nodes/stats/_all"]);
    let remote = ClusterTarget {
        name: "remote".into(),
        hosts: vec![other.host.clone()],
        options: ClientOptions::default(),
    };
    let (outcome, _, _home) = race_on(&stub, |config| {
        config.watch.other_clusters = vec![remote];
        config.watch.telemetry.devices =
            vec!["none".into(), "geoip-stats".into(), "ingest-pipeline-stats".into(), "node-stats".into()];
        config.watch.telemetry.params = params(json!({"node-stats-sample-interval": 0.005}));
    });
    let outcome = outcome.unwrap();
    let asked = other.lines();
    assert!(asked.contains(&"GET /_nodes/stats/ingest".to_owned()), "{asked:?}");
    assert!(
        !asked.iter().any(|line| line.contains("geoip")),
        "geoip-stats asks the raced cluster: {asked:?}"
    );
    let text = std::fs::read_to_string(outcome.file.with_file_name(TELEMETRY_FILE)).unwrap();
    assert!(!text.contains("server-stats"), "switched off by `none`");
    assert!(!stub.lines().iter().any(|line| line.contains("limber")));
}

#[test]
fn a_device_that_fails_ends_and_says_why() {
    let stub = Stub::start(|asked: &Asked| {
        let is_asked = asked.target.starts_with("/_ingest/geoip") || asked.target.contains("_disk_usage");
        is_asked.then(|| (404, "{}".to_owned()))
    });
    let (outcome, progress, _home) = race_on(&stub, |config| {
        config.watch.telemetry.devices = vec!["geoip-stats".into(), "disk-usage-stats".into()];
    });
    outcome.unwrap();
    for expected in [
        "Telemetry device [geoip-stats] ended: GET /_ingest/geoip/stats answered with status 404",
        "Telemetry device [disk-usage-stats] ended: Couldn't find any indices for disk usage",
    ] {
        assert!(progress.iter().any(|line| line.contains(expected)), "{progress:?}");
    }
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    let stub = Stub::start(|_| None);
    let check = |devices: &[&str], parameters: Value, expected: &str| {
        let (outcome, _, home) = race_on(&stub, |config| {
            config.watch.telemetry.devices = devices.iter().map(|name| (*name).to_owned()).collect();
            config.watch.telemetry.params = params(parameters);
        });
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let left = std::fs::read_dir(home.path().join("benchmarks/races"));
        assert_eq!(left.map_or(0, Iterator::count), 0, "nothing is left of a race that did not start");
    };
    check(&["gc"], json!({}), "telemetry device [gc]: the race does not start a JVM");
    check(&["jfr"], json!({}), "telemetry device [jfr]");
    check(&["blob-store-stats"], json!({}), "only supported with serverless");
    check(&["node-stats"], json!({"node-stats-sample-interval": 0}), "must be greater than zero but was 0");
    check(
        &["ccr-stats"],
        json!({"ccr-stats-indices": {"x": ["a"]}}),
        "[default] specified in --target-hosts but it had [x]",
    );
    check(&["no-such"], json!({}), "telemetry device [no-such] does not exist");
    check(&["node-stats"], json!({"gc-log-config": "x"}), "one of device [gc]");
    assert!(!stub.lines().iter().any(|line| line.contains("_bulk")));
}
