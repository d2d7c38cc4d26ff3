//! Measures what the cached term index costs in speed and saves in memory. One server is switched in turn to
//! the native scheme (all term indexes resident) and to a cache, under the same load.
//!
//! There is only one server because two processes of the same program differ by more than the effect that is
//! measured. Every pass writes the same documents again, so that all passes find the index in the same state.
//! Passes alternate in which scheme goes first, and queries start when merges have finished.

mod command;
mod figures;
mod table;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

pub use command::SchemesCommand;
use figures::{Memory, TaskFigures};
use table::{Round, SweepRow};

use crate::conduct::live::Progress;
use crate::conduct::race::{RaceConfig, new_race_id, run};
use crate::drive::client::OnError;
use crate::drive::driver::DriveProgress;
use crate::error::Error;
use crate::http::cluster::{Answer, Cluster};
use crate::model::Params;
use crate::record::RaceStore;
use crate::server::engine::{RunningServer, ServerProvider};
use crate::server::hosts::{ClientOptions, connect};
use crate::track::load::TrackSpec;

const TRACK: &str = "segment_memory";
/// Longest wait for merges to finish, and the pause between two checks.
const REST_WAIT: Duration = Duration::from_secs(120);
const REST_PAUSE: Duration = Duration::from_millis(250);

/// What to race.
#[derive(Debug, Clone)]
pub(crate) struct SchemesConfig {
    /// The track `segment_memory`; its challenge is ignored.
    pub track: TrackSpec,
    pub rounds: u32,
    /// Budget of the cached scheme, in percent of what is resident in the native scheme after loading.
    pub budget_percent: f64,
    /// Budgets at which to query after the rounds, in percent of the same.
    pub sweep_percent: Vec<f64>,
    pub store: RaceStore,
    pub is_cancelled: Arc<AtomicBool>,
}

/// Results of the rounds and the sweep.
#[derive(Debug)]
pub(crate) struct SchemesOutcome {
    /// Bytes resident in the native scheme after loading. All percentages refer to it.
    pub working_set_bytes: u64,
    pub budget_bytes: u64,
    /// Disk use, segments and documents after the rounds.
    pub store_bytes: u64,
    pub segment_count: u64,
    pub rounds: Vec<Round>,
    pub sweep: Vec<SweepRow>,
}

/// How the server keeps its term index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
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
struct RacedServer {
    cluster: Cluster,
    scheme: Scheme,
    /// Stops the server when it is dropped.
    server: RunningServer,
}

/// Races both schemes. Progress lines go to `log`.
///
/// # Errors
/// The server does not start or refuses a setting, or a race ends early or has failed requests.
pub(crate) fn race_schemes(
    config: &SchemesConfig,
    provider: &dyn ServerProvider,
    log: &mut dyn Write,
) -> Result<SchemesOutcome, Error> {
    let mut raced = RacedServer::start(provider, &config.is_cancelled)?;
    tell(log, &format!("Loading the documents of the track {TRACK}"));
    raced.race(config, "load")?;
    raced.rest()?;
    raced.switch_to(Scheme::Native)?;
    let working_set_bytes = raced.memory()?.resident_bytes;
    let budget_bytes = share_of(working_set_bytes, config.budget_percent);
    raced.set_budget(budget_bytes)?;

    let mut rounds = Vec::new();
    // The first round is a warm-up and does not count.
    for number in 0..=config.rounds {
        let mut round = Round::default();
        let mut order = [(Scheme::Native, &mut round.native), (Scheme::Cached, &mut round.cached)];
        if number % 2 == 1 {
            order.reverse();
        }
        for (scheme, figures) in order {
            raced.switch_to(scheme)?;
            figures.write = raced.race(config, "write")?;
            raced.rest()?;
            figures.query = raced.race(config, "query")?;
        }
        match number {
            0 => tell(log, "Warm-up round done"),
            _ => {
                tell(log, &format!("Round {number} of {}: {round}", config.rounds));
                rounds.push(round);
            }
        }
    }

    let store = raced.store()?;
    let mut sweep = Vec::new();
    raced.switch_to(Scheme::Cached)?;
    for &percent in &config.sweep_percent {
        let row = raced.sweep_step(config, percent, share_of(working_set_bytes, percent))?;
        tell(log, &format!("Sweep: {row}"));
        sweep.push(row);
    }
    Ok(SchemesOutcome {
        working_set_bytes,
        budget_bytes,
        store_bytes: store.bytes,
        segment_count: store.segment_count,
        rounds,
        sweep,
    })
}

fn share_of(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 * percent / 100.0) as u64
}

fn tell(log: &mut dyn Write, line: &str) {
    // A race does not stop because its progress cannot be shown.
    let _ = writeln!(log, "{line}");
}

impl RacedServer {
    fn start(provider: &dyn ServerProvider, is_cancelled: &AtomicBool) -> Result<RacedServer, Error> {
        let server = provider.start()?;
        let mut cluster = connect(std::slice::from_ref(&server.address), &ClientOptions::default())?;
        cluster.wait_for_rest_layer(is_cancelled, &mut |_| {})?;
        Ok(RacedServer { cluster, scheme: Scheme::Cached, server })
    }

    /// Switches the scheme. When it returns, all term indexes are resident in the native scheme, and no more
    /// than the budget in the cached one.
    fn switch_to(&mut self, scheme: Scheme) -> Result<(), Error> {
        self.put_setting("enable", json!(scheme == Scheme::Cached))?;
        self.scheme = scheme;
        Ok(())
    }

    fn set_budget(&mut self, bytes: u64) -> Result<(), Error> {
        self.put_setting("size", json!(format!("{bytes}b")))
    }

    fn put_setting(&mut self, name: &str, value: Value) -> Result<(), Error> {
        let body = json!({ "persistent": { format!("indices.segment_memory.off_heap.{name}"): value } });
        let answer = self.cluster.put("/_cluster/settings", &body);
        self.checked("PUT /_cluster/settings", answer).map(|_| ())
    }

    /// Waits until no merge is running.
    fn rest(&mut self) -> Result<(), Error> {
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
    fn race(&mut self, config: &SchemesConfig, challenge: &str) -> Result<TaskFigures, Error> {
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
    fn sweep_step(
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

    fn memory(&mut self) -> Result<Memory, Error> {
        let stats = self.get("/_nodes/stats/indices/segment_memory")?;
        let node = stats["nodes"].as_object().and_then(|nodes| nodes.values().next());
        node.and_then(|node| Memory::read(&node["indices"]["segment_memory"]))
            .ok_or_else(|| Error::Answer("the server's statistics have no section segment_memory".to_owned()))
    }

    fn store(&mut self) -> Result<figures::Store, Error> {
        let stats = self.get("/_stats/store,segments")?;
        let count = |pointer: &str| stats.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        Ok(figures::Store {
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
            Ok(answer) => Err(Error::Answer(format!(
                "{what} answered with status {} in the {} scheme: {}",
                answer.status,
                self.scheme.name(),
                answer.body
            ))),
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
