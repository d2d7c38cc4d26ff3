//! Runs the races of a series.

use std::time::Instant;

use crate::conduct::config::RaceConfig;
use crate::conduct::live::{Heading, Progress, TaskNow};
use crate::conduct::race::{RaceOutcome, run};
use crate::conduct::watch::add_jvm_options;
use crate::drive::driver::DriveProgress;
use crate::error::Error;
use crate::model::Task;
use crate::record::measurements::RunPosition;
use crate::record::sample::Sample;
use crate::record::{Race, StoreError};
use crate::report::RacedSide;
use crate::server::engine::{EngineSpec, RunningServer, ServerProvider};

use super::{Order, Side};

/// What to race.
pub(crate) struct Series {
    /// The first is the baseline.
    pub sides: Vec<Side>,
    /// Number of races per side.
    pub rounds: u32,
    pub order: Order,
    pub seed: u64,
    /// The server that is started for each race, before the changes of the sides; `None` when the hosts are
    /// already running. If the user wants to keep the server, only the server of the last race is kept,
    /// because running servers would disturb the next race.
    pub engine: Option<EngineSpec>,
    /// Races of the series are named `<run id>-<position>`, and their user tag `run` is the run id.
    pub run_id: String,
}

#[derive(Debug)]
pub(crate) struct SeriesOutcome {
    pub sides: Vec<RacedSide>,
    /// Warnings of all races, each text once with the number of races that had it.
    pub warnings: Vec<String>,
    /// The location of the kept server, and the side to which it belongs.
    pub kept: Option<String>,
}

impl Series {
    /// Returns the round and the side of each race, in the order of the races.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (u32, usize)> {
        (0..self.rounds).flat_map(|round| {
            let order = self.order.of_round(self.sides.len(), round as usize, self.seed);
            order.into_iter().map(move |side| (round, side))
        })
    }
}

/// Runs all rounds. `config` is the starting point of every side. A new server is started for each race if
/// one has to be started, so that no race starts with the leftovers of another.
///
/// # Errors
/// The first error of a race. The races before it stay stored.
pub(crate) fn race_series(
    series: &Series,
    config: &RaceConfig,
    provider: &dyn ServerProvider,
    progress: &mut dyn Progress,
) -> Result<SeriesOutcome, Error> {
    let mut races: Vec<Vec<Race>> = series.sides.iter().map(|_| Vec::new()).collect();
    let mut warnings = Warnings::default();
    let races_count = series.rounds * series.sides.len() as u32;
    let mut kept = None;
    for ((round, index), position) in series.turns().zip(1..) {
        let side = &series.sides[index];
        let place = RunPosition {
            run_id: series.run_id.clone(),
            side: side.name.clone(),
            round: round + 1,
            position,
        };
        let title = format!("Race {position} of {races_count}: side [{}], round {}", side.name, round + 1);
        progress.note(&title);
        let keeps_server = position == races_count && series.engine.as_ref().is_some_and(|spec| spec.is_kept);
        let engine = series.engine.as_ref().map(|spec| EngineSpec { is_kept: keeps_server, ..spec.clone() });
        let mut collected = warnings.collected(progress);
        let (outcome, server) = race_once(side, engine.as_ref(), config, place, provider, &mut collected)?;
        races[index].push(outcome.race);
        // The server is stopped before the next one starts.
        kept = server
            .filter(|_| keeps_server)
            .map(|server| format!("Of side [{}], after the last race: {}", side.name, server.keep()));
    }
    let read = |(side, races): (&Side, Vec<Race>)| {
        let raced = RacedSide::read(side.name.clone(), races, &config.store)?;
        Ok::<_, StoreError>(RacedSide { settings: side.settings.clone(), ..raced })
    };
    let sides = series.sides.iter().zip(races).map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(SeriesOutcome { sides, warnings: warnings.lines(races_count as usize), kept })
}

fn race_once(
    side: &Side,
    engine: Option<&EngineSpec>,
    config: &RaceConfig,
    place: RunPosition,
    provider: &dyn ServerProvider,
    progress: &mut dyn Progress,
) -> Result<(RaceOutcome, Option<RunningServer>), Error> {
    let mut config = config.clone();
    if !side.hosts.is_empty() {
        config.hosts = side.hosts.clone();
    }
    config.track.params.extend(side.track_params.iter().map(|(name, value)| (name.clone(), value.clone())));
    config.race_id = format!("{}-{}", place.run_id, place.position);
    config.user_tags.insert("run".to_owned(), place.run_id.clone().into());
    config.user_tags.insert("side".to_owned(), place.side.clone().into());
    config.provenance.place = Some(place);
    let spec = config.hosts.is_empty().then(|| side.engine.apply(engine.unwrap_or(&EngineSpec::default())));
    if let Some(spec) = &spec {
        config.provenance.engine_settings = spec.params().unwrap_or_default();
    }
    race_on(spec.as_ref(), config, provider, progress)
}

/// Races on a server that is started only for this race, or on the hosts of `config` if there is no engine.
///
/// # Errors
/// `ServerStart` if it does not start, and the errors of the race; also `Interrupted` if an interrupted race
/// was kept. The server runs until the caller drops it.
pub(crate) fn race_on(
    engine: Option<&EngineSpec>,
    mut config: RaceConfig,
    provider: &dyn ServerProvider,
    progress: &mut dyn Progress,
) -> Result<(RaceOutcome, Option<RunningServer>), Error> {
    let mut engine = engine.cloned();
    let folder = config.store.race_folder(&config.race_id)?;
    let starts_jvm = add_jvm_options(engine.as_mut(), &config.watch.telemetry, &folder)?;
    let server = engine.as_ref().map(|spec| spec.start(provider)).transpose()?;
    if let Some(server) = &server {
        config.watch.jvm = starts_jvm.then_some(server.process_id);
        config.hosts = vec![server.address.clone()];
        config.car = server.name.clone();
        config.provenance.is_fresh_server = true;
        config.car_params = engine.as_ref().and_then(EngineSpec::params);
    }
    Ok((run(config, progress)?.whole()?, server))
}

/// Warnings of several races: each text with the number of races that had it.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    counts: Vec<(String, u32)>,
}

impl Warnings {
    /// Collects the warnings of one race; everything else goes to `progress`.
    pub(crate) fn collected<'a>(&'a mut self, progress: &'a mut dyn Progress) -> Collected<'a> {
        Collected { warnings: self, progress }
    }

    fn add(&mut self, line: &str) {
        // Numbers differ from race to race, but the warning is the same.
        let without_figures = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        match self.counts.iter_mut().find(|(known, _)| without_figures(known) == without_figures(line)) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((line.to_owned(), 1)),
        }
    }

    pub(crate) fn lines(&self, races_count: usize) -> Vec<String> {
        self.counts.iter().map(|(text, count)| format!("{text} ({count} of {races_count} races)")).collect()
    }
}

/// Keeps warnings for the end: ten races would repeat them ten times.
pub(crate) struct Collected<'a> {
    warnings: &'a mut Warnings,
    progress: &'a mut dyn Progress,
}

impl DriveProgress for Collected<'_> {
    fn step_started(&mut self, names: &str) {
        self.progress.step_started(names);
    }

    fn step_advanced(&mut self, share: f64) {
        self.progress.step_advanced(share);
    }

    fn step_finished(&mut self, error_rate_max: f64) {
        self.progress.step_finished(error_rate_max);
    }

    fn clock_started(&mut self, tasks: &[&Task], start: Instant) {
        self.progress.clock_started(tasks, start);
    }

    fn sampled(&mut self, samples: &[Sample]) {
        self.progress.sampled(samples);
    }
}

impl Progress for Collected<'_> {
    fn note(&mut self, _line: &str) {}

    fn warn(&mut self, line: &str) {
        self.warnings.add(line);
    }

    fn race_started(&mut self, race: &Heading) {
        self.progress.race_started(race);
    }

    fn measured(&mut self, tasks: &[TaskNow]) {
        self.progress.measured(tasks);
    }

    fn running(&mut self, tasks: &[TaskNow]) {
        self.progress.running(tasks);
    }
}
