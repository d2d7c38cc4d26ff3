//! Controls the server that is raced: switches its scheme, sets its budget, races it, and reads its figures.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use super::config::SchemesConfig;
use super::figures::{Memory, Store, TaskFigures};
use super::round::SweepRow;
use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::conduct::race::{new_race_id, run};
use crate::drive::client::OnError;
use crate::drive::driver::DriveProgress;
use crate::error::Error;
use crate::http::cluster::{Answer, Cluster};
use crate::model::Params;
use crate::server::engine::{RunningServer, ServerProvider};
use crate::server::hosts::{ClientOptions, connect};
use crate::track::load::TrackSpec;

/// Longest wait for merges to finish.
const REST_WAIT: Duration = Duration::from_secs(120);
/// The pause between two checks.
const REST_PAUSE: Duration = Duration::from_millis(250);

/// How the server keeps its term index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Native,
    Cached,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Scheme::Native => "native",
            Scheme::Cached => "cached",
        }
    }
}

/// The server that is raced.
pub(super) struct RacedServer {
    cluster: Cluster,
    scheme: Scheme,
    /// Stops the server when it is dropped.
    server: RunningServer,
}

impl RacedServer {
    /// Starts the server, and waits until it answers.
    pub(super) fn start(
        provider: &dyn ServerProvider,
        is_cancelled: &AtomicBool,
    ) -> Result<RacedServer, Error> {
        let server = provider.start()?;
        let mut cluster = connect(std::slice::from_ref(&server.address), &ClientOptions::default())?;
        cluster.wait_for_rest_layer(is_cancelled, &mut |_| {})?;
        Ok(RacedServer { cluster, scheme: Scheme::Cached, server })
    }

    /// Switches the scheme. When it returns, all term indexes are resident in the native scheme, and no more
    /// than the budget in the cached one.
    pub(super) fn switch_to(&mut self, scheme: Scheme) -> Result<(), Error> {
        self.put_setting("enable", json!(scheme == Scheme::Cached))?;
        self.scheme = scheme;
        Ok(())
    }

    pub(super) fn set_budget(&mut self, bytes: u64) -> Result<(), Error> {
        self.put_setting("size", json!(format!("{bytes}b")))
    }

    fn put_setting(&mut self, name: &str, value: Value) -> Result<(), Error> {
        let body = json!({ "persistent": { format!("indices.segment_memory.off_heap.{name}"): value } });
        let answer = self.cluster.put("/_cluster/settings", &body);
        self.checked("PUT /_cluster/settings", answer).map(|_| ())
    }

    /// Waits until no merge is running.
    pub(super) fn rest(&mut self) -> Result<(), Error> {
        let mut quiet = 0;
        let mut waited = Duration::ZERO;
        while quiet < 2 {
            quiet = if self.current_merges()? == 0 { quiet + 1 } else { 0 };
            if waited >= REST_WAIT {
                return Err(Error::Failed(format!(
                    "the server's merges do not come to rest within {} s",
                    REST_WAIT.as_secs()
                )));
            }
            std::thread::sleep(REST_PAUSE);
            waited += REST_PAUSE;
        }
        Ok(())
    }

    /// Races one challenge of the track. The race is stored like any other, with the scheme as its tag.
    /// Returns the figures of the task that has the challenge's name.
    pub(super) fn race(&mut self, config: &SchemesConfig, challenge: &str) -> Result<TaskFigures, Error> {
        let track = TrackSpec { challenge: Some(challenge.to_owned()), ..config.track.clone() };
        let mut user_tags = Params::new();
        user_tags.insert("scheme".to_owned(), self.scheme.name().into());
        let outcome = run(
            RaceConfig {
                hosts: vec![self.server.address.clone()],
                car: "limber".to_owned(),
                on_error: OnError::Abort,
                user_tags,
                is_cancelled: Arc::clone(&config.is_cancelled),
                ..RaceConfig::new(track, config.store.clone(), new_race_id())
            },
            &mut Unseen,
        )?
        .whole()?;
        let task = outcome.results.op_metrics.iter().find(|task| task.task == challenge);
        let task = task.ok_or_else(|| {
            Error::Failed(format!("the race of challenge [{challenge}] has no figures of its task"))
        })?;
        Ok(TaskFigures::new(task, self.memory()?.bytes()))
    }

    /// Queries with one budget. The first pass fills the cache and does not count.
    pub(super) fn sweep_step(
        &mut self,
        config: &SchemesConfig,
        percent: f64,
        budget_bytes: u64,
    ) -> Result<SweepRow, Error> {
        self.set_budget(budget_bytes)?;
        self.race(config, "query")?;
        let before = self.memory()?;
        let query = self.race(config, "query")?;
        let after = self.memory()?;
        Ok(SweepRow { percent, budget_bytes, before, after, query })
    }

    pub(super) fn memory(&mut self) -> Result<Memory, Error> {
        let stats = self.get("/_nodes/stats/indices/segment_memory")?;
        let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next());
        node.and_then(|node| Memory::read(&node["indices"]["segment_memory"]))
            .ok_or_else(|| Error::Answer("the server's statistics have no section segment_memory".to_owned()))
    }

    pub(super) fn store(&mut self) -> Result<Store, Error> {
        let stats = self.get("/_stats/store,segments")?;
        let count = |pointer: &str| stats.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        Ok(Store {
            bytes: count("/_all/total/store/size_in_bytes"),
            segment_count: count("/_all/total/segments/count"),
        })
    }

    fn current_merges(&mut self) -> Result<u64, Error> {
        let stats = self.get("/_stats/merge")?;
        Ok(stats.pointer("/_all/total/merges/current").and_then(Value::as_u64).unwrap_or(0))
    }

    fn get(&mut self, path: &str) -> Result<Value, Error> {
        let answer = self.cluster.get(path);
        self.checked(path, answer)
    }

    fn checked<E: std::fmt::Display>(&self, what: &str, answer: Result<Answer, E>) -> Result<Value, Error> {
        match answer {
            Ok(answer) if answer.status == 200 => Ok(answer.body),
            Ok(answer) => Err(answer.refused(format_args!("{what} in the {} scheme", self.scheme.name()))),
            Err(error) => Err(Error::no_answer(what)(error)),
        }
    }
}

/// Ignores progress: each round is shown as one line instead.
struct Unseen;

impl DriveProgress for Unseen {
    fn step_started(&mut self, _names: &str) {}
    fn step_advanced(&mut self, _share: f64) {}
    fn step_finished(&mut self, _error_rate_max: f64) {}
}

impl Progress for Unseen {
    fn note(&mut self, _line: &str) {}
    fn warn(&mut self, _line: &str) {}
}
