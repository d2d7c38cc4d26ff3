//! Tests that the page is well-formed, whatever names tracks and servers use. (`tests/report` opens it in a
//! browser.)

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{RaceData, comparison_page, page};
use crate::drive::schedule::tests::plain_task;
use crate::record::RaceStore;
use crate::record::sample::Sample;
use crate::record::timeline::recorder::Recorder;
use crate::report::RacedSide;
use crate::report::several::Rules;

const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&";

/// Returns a store with a race of two tasks (one of them throttled, one with markup in its name), telemetry
/// and measurements.
fn store(races: &[&str]) -> (RaceStore, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let store = RaceStore::new(home.path());
    for (number, id) in races.iter().enumerate() {
        let folder = store.race_folder(id).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("race.json"), race_json(id, number).to_string()).unwrap();
        fs::write(folder.join("timeline.ndjson"), timeline(id)).unwrap();
        let telemetry: String = (0..20)
            .map(|second| {
                let document = json!({
                    "@timestamp": 1_000_000 + second * 1000, "name": "node-stats", "meta": {"node_name": HOSTILE},
                    "breakers_request_estimated_size_in_bytes": 1000 * second, "breakers_indexing_estimated_size_in_bytes": 500,
                    "process_cpu_percent": 40 + second,
                });
                format!("{document}\n{}\n", json!({"@timestamp": 1_000_000, "name": HOSTILE, "value": second, "unit": "<b>"}))
            })
            .collect();
        fs::write(folder.join("telemetry.ndjson"), telemetry).unwrap();
        let measurements = json!({
            "race_id": id, "warnings": [{"kind": "generator", "text": "The load generator was the limit."}], "machine": {"processors": 2 + number},
            "server": {"cpu_s": 3.5, "peak_resident_bytes": 1 << 28}, "engine_settings": {"memory.limit": "<1gb>"},
            "tasks": [{"task": "index", "took": {"50_0": 1, "99_0": 7, "mean": 2, "unit": "ms"}, "generator": {"busiest_worker_share": 0.42}}],
        });
        fs::write(folder.join("measurements.json"), measurements.to_string()).unwrap();
    }
    (store, home)
}

fn race_json(id: &str, number: usize) -> serde_json::Value {
    let times = json!({"50_0": 1.5 + number as f64, "99_0": 9.0, "100_0": 12.0, "mean": 2.0, "unit": "ms"});
    let task = |name: &str, error_rate: f64| {
        json!({"task": name, "operation": name, "throughput": {"min": 1, "mean": 2.0, "median": 2000.0 + 500.0 * number as f64, "max": 3.0, "unit": "docs/s"},
               "latency": times, "service_time": times, "processing_time": times, "error_rate": error_rate, "duration": 10})
    };
    json!({
        "rally-version": "limber", "environment": "local", "race-id": id, "race-timestamp": "20261122T101500Z", "pipeline": "benchmark-only",
        "user-tags": {"heap": format!("{number}g</style>")}, "track": HOSTILE, "challenge": "default", "car": ["external"],
        "cluster": {"distribution-version": "8.14.3"}, "results": {"op_metrics": [task("index", 0.0), task(HOSTILE, 0.1)], "store_size": 1000},
    })
}

fn timeline(id: &str) -> Vec<u8> {
    let (mut out, start) = (Vec::new(), Instant::now());
    let mut recorder = Recorder::new(&mut out, id, start, 1_000_000);
    for (name, wait_ms) in [("index", 0), (HOSTILE, 3)] {
        let mut task = plain_task("bulk", json!({}));
        task.name = name.into();
        recorder.start_step(&[&task], start);
        for number in 0..2000u64 {
            let service_time = Duration::from_micros(800 + number * 37 % 900);
            recorder.record(&Sample {
                is_warmup: number < 300,
                is_success: number % 100 != 0,
                latency: service_time + Duration::from_millis(wait_ms),
                weight: 100,
                unit: "docs",
                ..Sample::of_test(Duration::from_millis(number + 2), service_time)
            });
        }
        recorder.end_step();
    }
    recorder.finish().unwrap();
    out
}

fn drawn(races: &[&str]) -> String {
    let (store, _home) = store(races);
    page(&races.iter().map(|id| RaceData::read(&store, id).unwrap()).collect::<Vec<_>>())
}

/// Name, attributes, and whether it is a closing tag.
type Tag = (String, Vec<(String, String)>, bool);

/// Returns the tags in order.
fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let is_end = tag.starts_with('/');
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '!')
            .collect();
        let attributes = tag
            .split("=\"")
            .collect::<Vec<_>>()
            .windows(2)
            .map(|pair| {
                (
                    pair[0].rsplit([' ', '"']).next().unwrap().to_owned(),
                    pair[1].split('"').next().unwrap().to_owned(),
                )
            })
            .collect();
        if matches!(name.as_str(), "script" | "style") && !is_end {
            rest = &rest[rest.find(&format!("</{name}>")).expect("raw text ends")..];
        }
        tags.push((name, attributes, is_end));
    }
    tags
}

#[track_caller]
fn check(html: &str) {
    const VOID: [&str; 5] = ["!doctype", "meta", "link", "img", "br"];
    // Shapes are self-closing.
    const SHAPES: [&str; 3] = ["path", "rect", "image"];
    let tags = tags(html);
    let (mut open, mut ids) = (Vec::new(), HashSet::new());
    for (name, attributes, is_end) in &tags {
        if *is_end {
            if SHAPES.contains(&name.as_str()) {
                continue;
            }
            assert_eq!(open.pop().as_ref(), Some(name), "closes what is not open");
        } else if !VOID.contains(&name.as_str()) && !SHAPES.contains(&name.as_str()) {
            open.push(name.clone());
        }
        for (key, value) in attributes {
            assert!(!key.starts_with("on"), "{key}");
            if key == "id" {
                assert!(ids.insert(value.clone()), "two of id {value}");
            }
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
    for (name, attributes, _) in &tags {
        for (key, value) in attributes {
            match key.as_str() {
                "aria-labelledby" | "for" => assert!(ids.contains(value), "{key} {value}"),
                "href" if name == "a" => {
                    assert!(ids.contains(&value[1..]) && value.starts_with('#'), "{value}")
                }
                "href" | "src" => assert!(value.starts_with("data:"), "{value}"),
                "data-tables" => value.split(' ').for_each(|table| {
                    assert!(ids.contains(table.split(':').next().unwrap()), "no table {table}");
                }),
                _ => {}
            }
        }
    }
    assert_eq!(html.matches("<script>").count(), 1, "only the page's own script");
    assert!(!html.contains("://"), "the page names no other machine");
    assert!(!html.contains("NaN") && !html.contains("inf%"), "every place is known");
}

#[test]
fn one_race_is_a_whole_page() {
    let html = drawn(&["a"]);
    check(&html);
    for part in [
        "The load generator was the limit.",
        "Memory by pool",
        "Latency and service time",
        "Latency heat map",
        "Percentiles",
        "2,000 docs/s",
        "percentiles of 1,700 measured requests",
        "server setting memory.limit",
        "&lt;1gb&gt;",
        "The server used 3.50 s of processor time and 256 MiB of memory at its peak.",
        "42.0 %",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn several_races_stand_beside_one_another() {
    let html = drawn(&["a", "b", "c"]);
    check(&html);
    for part in [
        "What changed",
        "What differs in the settings",
        "class=\"better\">+25.0 %",
        "class=\"worse\">+66.7 %",
        "tag heap",
        "C heap=2g&lt;/style&gt;",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn several_races_a_side_have_verdicts_on_an_axis() {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let (store, _home) = store(&ids);
    let side = |name: &str, ids: &[&str]| {
        let races = ids.iter().map(|id| store.find(id).unwrap()).collect();
        RacedSide::read(name, races, &store).unwrap()
    };
    let sides = [side(HOSTILE, &ids[..4]), side("new", &ids[4..])];
    let drawn = |sides: &[RacedSide]| {
        let typical = sides.iter().map(|side| &side.typical().unwrap().race_id);
        let races: Vec<RaceData> = typical.map(|id| RaceData::read(&store, id).unwrap()).collect();
        // With four races per side and two tasks, the smallest possible p is 0.057.
        let rules = Rules { significance: 0.06, ..Rules::default() };
        let html = comparison_page(sides, &rules, &races);
        check(&html);
        html
    };
    let html = drawn(&sides);
    for part in [
        "id=\"verdicts\"",
        "4 against 4 races",
        "▲ </span>better",
        "▼ </span>worse",
        "no difference shown",
        "data-verdict",
        "95 % interval",
        "Processor time of the server",
        "4 of them with warnings",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let html = drawn(&sides[..1]);
    assert!(html.contains("id=\"agreement\"") && !html.contains("id=\"verdicts\""));
}

#[test]
fn a_race_of_rally_has_a_page() {
    let (store, _home) = store(&["a"]);
    let folder = store.race_folder("a").unwrap();
    for file in ["timeline.ndjson", "telemetry.ndjson", "measurements.json"] {
        fs::remove_file(folder.join(file)).unwrap();
    }
    let html = page(&[RaceData::read(&store, "a").unwrap()]);
    check(&html);
    assert!(
        html.contains("There is no timeline.ndjson") && html.contains("Error rate is 10.0 for operation"),
        "{html}"
    );

    fs::write(folder.join("timeline.ndjson"), "nonsense\n").unwrap();
    fs::write(folder.join("measurements.json"), "[").unwrap();
    fs::write(folder.join("telemetry.ndjson"), "1\n").unwrap();
    let data = RaceData::read(&store, "a").unwrap();
    assert_eq!(data.missing.len(), 3, "{:?}", data.missing);
    check(&page(&[data]));
}

#[test]
fn the_policy_names_the_script() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let html = drawn(&["a"]);
    let script = html.split("<script>").nth(1).unwrap().split("</script>").next().unwrap();
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(script));
    assert!(html.contains(&format!("script-src 'sha256-{hash}'")));
}
