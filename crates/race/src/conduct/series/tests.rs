//! Tests with several sides against servers in the test's own process.

use super::{Order, Series, Side, race_series};
use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::drive::client::OnError;
use crate::drive::driver::DriveProgress;
use crate::drive::tests::stub::Stub;
use crate::error::Error;
use crate::record::{RaceFilter, RaceStore};
use crate::server::engine::{EngineSpec, RunningServer, ServerGuard, ServerProvider};
use crate::track::load::{TrackSource, TrackSpec};

/// Returns the same stub each time, and remembers the specifications that it was asked for.
pub(crate) struct Stubs {
    pub stub: Stub,
    pub asked: std::cell::RefCell<Vec<EngineSpec>>,
}

impl Stubs {
    pub fn new() -> Stubs {
        let stats = r#"{"_all": {"primaries": {"segments": {"count": 4}}, "total": {}}, "indices": {}}"#;
        let stub = Stub::start(move |asked| {
            (asked.target.split('?').next() == Some("/_stats/_all")).then(|| (200, stats.to_owned()))
        });
        Stubs { stub, asked: Default::default() }
    }
}

struct Nothing;

impl ServerGuard for Nothing {
    fn keep(self: Box<Self>) {}
}

impl ServerProvider for Stubs {
    fn start_with(&self, spec: &EngineSpec) -> Result<RunningServer, Error> {
        self.asked.borrow_mut().push(spec.clone());
        if spec.memory_limit.as_deref() == Some("1b") {
            return Err(Error::ServerStart("too little memory".into()));
        }
        Ok(RunningServer {
            address: self.stub.host.clone(),
            name: "limber".into(),
            process_id: 1,
            folder: "/".into(),
            guard: Box::new(Nothing),
        })
    }
}

#[derive(Default)]
pub(crate) struct Notes(pub Vec<String>);

impl DriveProgress for Notes {
    fn step_started(&mut self, _names: &str) {}
    fn step_advanced(&mut self, _share: f64) {}
    fn step_finished(&mut self, _error_rate_max: f64) {}
}

impl Progress for Notes {
    fn note(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }

    fn warn(&mut self, line: &str) {
        self.0.push(format!("warn {line}"));
    }
}

/// Returns a race of the built-in track in its test mode, stored in `home`.
pub(crate) fn config(home: &std::path::Path) -> RaceConfig {
    let source = TrackSource::BuiltIn { name: "log_ingest".into(), corpus: None };
    let track = TrackSpec { test_mode: true, ..TrackSpec::new(source, 0.0) };
    RaceConfig { on_error: OnError::Abort, ..RaceConfig::new(track, RaceStore::new(home), "run-1".into()) }
}

#[test]
fn sides_race_in_turn_and_every_race_is_kept_with_its_place() {
    let home = tempfile::tempdir().unwrap();
    let provider = Stubs::new();
    let other = Stub::start(|_| None);
    let series = Series {
        sides: vec![
            Side::parse("", "A".into()).unwrap(),
            Side::parse("memory-limit=64mb;track-params=bulk_size:50", "B".into()).unwrap(),
            Side::parse(&format!("name=other;target-hosts={}", other.host), "C".into()).unwrap(),
        ],
        rounds: 2,
        order: Order::Mirrored,
        seed: 1,
        engine: Some(EngineSpec::default()),
        run_id: "run-1".into(),
    };
    let mut notes = Notes::default();
    let outcome = race_series(&series, &config(home.path()), &provider, &mut notes).unwrap();

    let store = RaceStore::new(home.path());
    let places: Vec<(String, u32)> = (1..=6)
        .map(|position| {
            let measured = store.measurements(&format!("run-1-{position}")).unwrap().unwrap();
            let place = measured.place.unwrap();
            assert_eq!((place.position, place.run_id.as_str()), (position, "run-1"));
            (place.side, place.round)
        })
        .collect();
    let expected = [("A", 1), ("B", 1), ("other", 1), ("other", 2), ("B", 2), ("A", 2)];
    assert_eq!(places, expected.map(|(side, round)| (side.to_owned(), round)));

    let tags = serde_json::json!({"run": "run-1", "side": "B"}).as_object().cloned().unwrap();
    let of_b = store.list(&RaceFilter { user_tags: tags, ..RaceFilter::default() }).unwrap();
    assert_eq!(of_b.len(), 2);
    assert_eq!(of_b[0].track_params.as_ref().unwrap()["bulk_size"], 50);
    assert_eq!(of_b[0].car_params.as_ref().unwrap()["memory_limit"], "64mb");
    let names: Vec<(&str, usize)> =
        outcome.sides.iter().map(|side| (side.name.as_str(), side.races.len())).collect();
    assert_eq!(names, [("A", 2), ("B", 2), ("other", 2)]);
    // Each race that starts a server gets a new one; running hosts need none.
    let limits: Vec<Option<String>> =
        provider.asked.borrow().iter().map(|spec| spec.memory_limit.clone()).collect();
    assert_eq!(limits, [None, Some("64mb".into()), Some("64mb".into()), None]);
    assert!(other.lines().iter().any(|line| line.starts_with("PUT /_bulk")));
    assert_eq!(notes.0.iter().filter(|line| line.starts_with("Race ")).count(), 6);
}

#[test]
fn of_a_series_the_last_server_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let provider = Stubs::new();
    let series = Series {
        sides: ["A", "B"].map(|name| Side::parse("", name.into()).unwrap()).into(),
        rounds: 2,
        order: Order::Alternating,
        seed: 1,
        engine: Some(EngineSpec { is_kept: true, ..EngineSpec::default() }),
        run_id: "run-1".into(),
    };
    let outcome = race_series(&series, &config(home.path()), &provider, &mut Notes::default()).unwrap();
    let kept: Vec<bool> = provider.asked.borrow().iter().map(|spec| spec.is_kept).collect();
    assert_eq!(kept, [false, false, false, true]);
    let place = outcome.kept.unwrap();
    assert!(place.contains("Of side [B], after the last race: The server keeps running"), "{place}");
}
