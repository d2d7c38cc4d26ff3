//! Tests that the output equals, byte for byte, Rally 2.13's output for the same races (fixtures by
//! `golden/make.py`).

use std::path::{Path, PathBuf};

use crate::model::{
    Challenge, Corpus, DocumentSet, DocumentSource, Operation, Parallel, Params, ScheduleElement, Task, Track,
};
use crate::notation::python_json;
use crate::record::{AnnotationFilter, AnnotationStore, Race, RaceFilter, RaceStore, scope};
use crate::report::table::Align;
use crate::report::{Format, ReportOptions, Show, compare, listing, summary};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).unwrap()
}

fn race(name: &str) -> Race {
    serde_json::from_str(&text(&format!("{name}.race.json"))).unwrap()
}

/// Returns the output from the table's header on.
fn table_of(printed: Vec<u8>) -> String {
    let printed = String::from_utf8(printed).unwrap();
    let start = printed.find("Metric").unwrap();
    let line_start = printed[..start].rfind('\n').map_or(0, |newline| newline + 1);
    printed[line_start..].to_owned()
}

fn check_same(found: &str, expected: &str, what: &str) {
    for (line, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{what}, line {}", line + 1);
    }
    assert_eq!(found, expected, "{what}");
}

const FORMATS: [(Format, &str); 2] = [(Format::Markdown, "md"), (Format::Csv, "csv")];

#[test]
fn summaries_are_rallys() {
    for name in ["baseline", "plain"] {
        for (format, extension) in FORMATS {
            let all = ReportOptions {
                format,
                numbers: Align::Right,
                show: Show::AllPercentiles,
                processing_time: true,
                ..ReportOptions::default()
            };
            for (options, suffix) in
                [(ReportOptions { format, ..ReportOptions::default() }, ""), (all, "-all")]
            {
                let mut printed = Vec::new();
                summary::write(&race(name).results().unwrap(), &options, &mut printed).unwrap();
                let file = format!("{name}{suffix}.summary.{extension}");
                check_same(&table_of(printed), &text(&file), &file);
            }
        }
    }
}

#[test]
fn comparisons_are_rallys() {
    for (baseline, contender) in [("baseline", "contender"), ("plain", "baseline")] {
        for (format, extension) in FORMATS {
            for (color, suffix) in [(false, ""), (true, "-color")] {
                let options =
                    ReportOptions { format, color, processing_time: color, ..ReportOptions::default() };
                let mut printed = Vec::new();
                compare::write(&race(baseline), &race(contender), &options, &mut printed).unwrap();
                let head = String::from_utf8_lossy(&printed).into_owned();
                let file = format!("{baseline}-{contender}{suffix}.compare.{extension}");
                check_same(&table_of(printed), &text(&file), &file);
                let expected = text(&format!("{baseline}-{contender}.head.txt"));
                // The output precedes Rally's text with a note that Rally does not have, if the races differ
                // in what was raced.
                let unlike = scope::differences(&race(baseline), &race(contender));
                assert_eq!(head.starts_with(expected.trim_end()), unlike.is_empty(), "{head}");
                assert!(head.contains(expected.trim_end()), "{head}");
            }
        }
    }
}

#[test]
fn report_files_get_the_plain_table_appended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reports/report.md");
    let options = ReportOptions { color: true, file: Some(file.clone()), ..ReportOptions::default() };
    for _ in 0..2 {
        compare::write(&race("baseline"), &race("contender"), &options, &mut Vec::new()).unwrap();
    }
    // Rally prints one more newline after the table than it writes to the file.
    let table = text("baseline-contender.compare.md");
    let table = table.strip_suffix('\n').unwrap();
    check_same(&std::fs::read_to_string(file).unwrap(), &table.repeat(2), "report file");
}

#[test]
fn races_are_kept_in_rallys_layout() {
    let folder = tempfile::tempdir().unwrap();
    let store = RaceStore::new(folder.path());
    assert!(store.list(&RaceFilter::default()).unwrap().is_empty());
    for name in ["baseline", "contender", "empty", "plain"] {
        let mut race = race(name);
        race.set_results(&race.results().unwrap());
        let path = store.save(&race).unwrap();
        assert!(path.ends_with(format!("benchmarks/races/{name}/race.json")));
        let (found, expected) = (std::fs::read_to_string(path).unwrap(), text(&format!("{name}.race.json")));
        check_same(&found, &expected, name);
    }
    std::fs::create_dir_all(folder.path().join("benchmarks/races/broken")).unwrap();
    std::fs::write(folder.path().join("benchmarks/races/broken/race.json"), "{").unwrap();

    let races = store.list(&RaceFilter::default()).unwrap();
    let mut printed = Vec::new();
    listing::write_races(&races, None, &mut printed).unwrap();
    check_same(&String::from_utf8(printed).unwrap(), &text("races.txt"), "races.txt");
    let mut printed = Vec::new();
    listing::write_races_json(&races, &mut printed).unwrap();
    check_same(&String::from_utf8(printed).unwrap(), &text("races.json"), "races.json");
    let mut printed = Vec::new();
    listing::write_races(&[], None, &mut printed).unwrap();
    check_same(&String::from_utf8(printed).unwrap(), &text("no-races.txt"), "no-races.txt");

    let check = |filter: RaceFilter, expected: &[&str]| {
        let races = store.list(&filter).unwrap();
        let ids: Vec<&str> = races.iter().map(|race| race.race_id.as_str()).collect();
        assert_eq!(ids, expected, "{filter:?}");
    };
    let some = |text: &str| Some(text.to_owned());
    check(RaceFilter { limit: Some(2), ..RaceFilter::default() }, &["contender", "baseline"]);
    check(RaceFilter { challenge: some("ramp-up"), ..RaceFilter::default() }, &["empty"]);
    check(
        RaceFilter { from_date: some("20261120"), to_date: some("20261121"), ..RaceFilter::default() },
        &["baseline", "plain"],
    );
    check(RaceFilter { benchmark_name: some("first"), ..RaceFilter::default() }, &["baseline"]);
    let tags = serde_json::json!({"b": "2"}).as_object().cloned().unwrap();
    check(RaceFilter { user_tags: tags, ..RaceFilter::default() }, &["baseline"]);
    check(RaceFilter { track: some("other"), ..RaceFilter::default() }, &[]);

    assert_eq!(store.find("plain").unwrap().race_id, "plain");
    assert!(store.find("../plain").is_err());
    assert!(store.find("missing").unwrap_err().to_string().starts_with("No race with race id [missing]"));
    assert!(store.list(&RaceFilter { from_date: some("yesterday"), ..RaceFilter::default() }).is_err());
}

#[test]
fn annotations_are_listed_as_by_rally() {
    let folder = tempfile::tempdir().unwrap();
    let store = AnnotationStore::new(folder.path());
    let mut printed = Vec::new();
    listing::write_annotations(&[], "local", None, &mut printed).unwrap();
    check_same(&String::from_utf8(printed).unwrap(), &text("no-annotations.txt"), "no-annotations.txt");
    let recorded: serde_json::Value = serde_json::from_str(&text("annotations.json")).unwrap();
    for hit in recorded.as_array().unwrap().iter().rev() {
        let mut annotation = hit["_source"].clone();
        annotation["id"] = hit["_id"].clone();
        store.add(serde_json::from_value(annotation).unwrap()).unwrap();
    }
    let mut printed = Vec::new();
    listing::write_annotations(
        &store.list(&AnnotationFilter::default()).unwrap(),
        "local",
        None,
        &mut printed,
    )
    .unwrap();
    check_same(&String::from_utf8(printed).unwrap(), &text("annotations.txt"), "annotations.txt");
}

#[test]
fn rendered_tracks_are_rallys() {
    let track: serde_json::Value = serde_json::from_str(&text("rendered.source.json")).unwrap();
    let rendered = python_json::pretty(&track, 2, python_json::Characters::Ascii);
    check_same(&format!("{}\n", String::from_utf8(rendered).unwrap()), &text("rendered.txt"), "rendered.txt");
}

#[test]
fn empty_reports_still_have_a_header() {
    let mut printed = Vec::new();
    summary::write(&race("empty").results().unwrap(), &ReportOptions::default(), &mut printed).unwrap();
    let expected = "|   Metric |   Task |   Value |   Unit |\n|----------|--------|---------|--------|\n\n";
    assert_eq!(table_of(printed), expected);
}

#[test]
fn tracks_are_listed_and_described_as_by_rally() {
    let tracks = [zeta(), alpha()];
    let mut printed = Vec::new();
    listing::write_tracks(&tracks, None, &mut printed).unwrap();
    check_same(&String::from_utf8(printed).unwrap(), &text("tracks.txt"), "tracks.txt");
    for track in tracks {
        let mut printed = Vec::new();
        listing::write_track_info(&track, None, &mut printed).unwrap();
        let file = format!("{}.info.txt", track.name);
        check_same(&String::from_utf8(printed).unwrap(), &text(&file), &file);
    }
}

fn zeta() -> Track {
    let set = DocumentSet {
        source: DocumentSource::File("f".into()),
        file: "f".to_owned(),
        archive: None,
        base_url: None,
        sha256: None,
        includes_action_and_meta_data: false,
        number_of_documents: 11_396_503,
        compressed_size_bytes: Some(265_208_777),
        uncompressed_size_bytes: Some(3_547_613_828),
        target_index: Some("i".to_owned()),
        target_data_stream: None,
        target_type: None,
        meta: Params::new(),
    };
    let corpus = Corpus { name: "c".to_owned(), documents: vec![set], meta: Params::new() };
    let challenges = vec![challenge("b", false, schedule()), challenge("a", true, schedule()[..1].to_vec())];
    track("zeta", "Has two challenges", vec![corpus], challenges)
}

fn alpha() -> Track {
    let challenge = Challenge { auto_generated: true, ..challenge("default", true, schedule()) };
    track("alpha", "Has a schedule", Vec::new(), vec![challenge])
}

fn track(name: &str, description: &str, corpora: Vec<Corpus>, challenges: Vec<Challenge>) -> Track {
    Track {
        name: name.to_owned(),
        description: description.to_owned(),
        root: None,
        revision: None,
        indices: Vec::new(),
        data_streams: Vec::new(),
        templates: Vec::new(),
        composable_templates: Vec::new(),
        component_templates: Vec::new(),
        corpora,
        challenges,
        meta: Params::new(),
        params: Params::new(),
    }
}

fn challenge(name: &str, default: bool, schedule: Vec<ScheduleElement>) -> Challenge {
    Challenge {
        name: name.to_owned(),
        description: format!("About {name}"),
        default,
        auto_generated: false,
        user_info: None,
        parameters: Params::new(),
        meta: Params::new(),
        schedule,
    }
}

fn schedule() -> Vec<ScheduleElement> {
    let parallel =
        |tasks, clients| ScheduleElement::Parallel(Parallel { tasks, clients, completed_by: None });
    vec![
        ScheduleElement::Task(task("one", 1)),
        parallel(vec![task("two", 2), task("three", 1)], None),
        ScheduleElement::Task(task("four", 8)),
        parallel(vec![task("five", 1)], Some(1)),
    ]
}

fn task(name: &str, clients: u32) -> Task {
    let operation = Operation {
        name: name.to_owned(),
        kind: "search".to_owned(),
        params: Params::new(),
        param_source: None,
        meta: Params::new(),
        include_in_reporting: true,
    };
    Task {
        name: name.to_owned(),
        operation,
        tags: Vec::new(),
        meta: Params::new(),
        clients,
        warmup_iterations: None,
        iterations: None,
        warmup_time_period_s: None,
        time_period_s: None,
        ramp_up_time_period_s: None,
        target_throughput: None,
        schedule: None,
        ignore_response_error_level: None,
        params: Params::new(),
    }
}
