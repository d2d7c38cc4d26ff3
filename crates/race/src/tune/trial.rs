//! Races one candidate.

use serde_json::Value;

use super::experiment::Experiment;
use super::goal::NoFigure;
use super::halving::Outcome;
use super::space::{Candidate, Target};
use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::conduct::series::race_on;
use crate::error::Error;
use crate::model::bare_text;
use crate::record::measurements::RunPosition;
use crate::report::figures::{self, Figure};
use crate::server::engine::{EngineSpec, ServerProvider};

/// Races candidates of one experiment.
pub(super) struct Racer<'a> {
    pub experiment: &'a Experiment,
    pub candidates: &'a [Candidate],
    pub config: &'a RaceConfig,
    /// The server before the changes of the knobs; `None` when a running host is raced.
    pub engine: Option<&'a EngineSpec>,
    pub provider: &'a dyn ServerProvider,
    /// Prefix of the races' ids.
    pub tune_id: &'a str,
}

impl Racer<'_> {
    /// Races a candidate on its own server. Returns the race's id if the race was stored.
    ///
    /// # Errors
    /// An interrupt, and errors of the experiment rather than of this candidate (a track that does not load,
    /// a goal that no race has). Failures that a setting may cause (a server that does not start, a race that
    /// ends early or measures too little) are [`Outcome::Failed`].
    pub(super) fn race(
        &self,
        candidate: usize,
        position: usize,
        progress: &mut dyn Progress,
    ) -> Result<(Option<String>, Outcome), Error> {
        let (config, engine) = self.changed(candidate, position)?;
        match self.raced(config, engine, progress) {
            Ok((race_id, outcome)) => Ok((Some(race_id), outcome)),
            Err(error) if error.is_of_setting() => Ok((None, Outcome::Failed(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    fn raced(
        &self,
        config: RaceConfig,
        engine: Option<EngineSpec>,
        progress: &mut dyn Progress,
    ) -> Result<(String, Outcome), Error> {
        let outcome = race_on(engine.as_ref(), config, self.provider, progress)?.0;
        let mut figures = figures::of_race(&outcome.race)?;
        figures.extend(figures::of_measurements(&outcome.measurements));
        let reported = |task: &str| outcome.results.op_metrics.iter().any(|row| row.task == task);
        let samples: Vec<(&str, u64)> = outcome
            .measurements
            .tasks
            .iter()
            .filter(|task| reported(&task.task))
            .map(|task| (task.task.as_str(), task.sample_count))
            .collect();
        let memory_bytes = outcome.measurements.server.peak_resident_bytes.map(|bytes| bytes as f64);
        let judged = match self.judged(&figures, &samples) {
            Ok((goal, is_within_bounds)) => Outcome::Measured { goal, memory_bytes, is_within_bounds },
            Err(NoFigure::OfRace(reason)) => Outcome::Failed(reason),
            Err(NoFigure::OfGoal(reason)) => return Err(Error::Argument(reason)),
        };
        Ok((outcome.race.race_id, judged))
    }

    /// Returns the goal's value, and whether all bounds are kept.
    fn judged(&self, figures: &[Figure], samples: &[(&str, u64)]) -> Result<(f64, bool), NoFigure> {
        let goal = self.experiment.goal.of(figures, samples)?.value;
        let mut is_within_bounds = true;
        for bound in &self.experiment.bounds {
            is_within_bounds &= bound.is_kept_by(bound.goal.of(figures, samples)?.value);
        }
        Ok((goal, is_within_bounds))
    }

    /// Returns the race and the server with the settings of the candidate's knobs.
    fn changed(&self, candidate: usize, position: usize) -> Result<(RaceConfig, Option<EngineSpec>), Error> {
        let mut config = self.config.clone();
        let mut engine = self.engine.cloned();
        let values = &self.candidates[candidate];
        for (knob, value) in self.experiment.space.knobs.iter().zip(values) {
            let value = &knob.values[*value];
            match (&knob.target, &mut engine) {
                (Target::Index(name), _) => {
                    config.track.adjustments.index_settings.insert(name.clone(), value.clone());
                }
                (Target::Track(name), _) => {
                    config.track.params.insert(name.clone(), value.clone());
                }
                (Target::BulkSize, _) => config.track.adjustments.bulk_size = Some(count(&knob.name, value)?),
                (Target::Clients(task), _) => {
                    let clients = u32::try_from(count(&knob.name, value)?).unwrap_or(u32::MAX);
                    config.track.adjustments.clients.push((task.clone(), clients));
                }
                (_, None) => {
                    return Err(Error::Argument(format!(
                        "knob [{}] needs a server that is started for each race; leave --target-hosts out",
                        knob.name
                    )));
                }
                (Target::Engine(name), Some(engine)) => {
                    engine.settings.retain(|(known, _)| known != name);
                    engine.settings.push((name.clone(), bare_text(value)));
                }
                (Target::MemoryLimit, Some(engine)) => engine.memory_limit = Some(bare_text(value)),
                (Target::Heap, Some(engine)) => engine.heap = Some(bare_text(value)),
                (Target::Jvm, Some(engine)) => {
                    engine.jvm_options.extend(bare_text(value).split_whitespace().map(str::to_owned));
                }
            }
        }
        config.race_id = format!("{}-{:04}", self.tune_id, position + 1);
        config.user_tags.insert("tune".to_owned(), self.tune_id.into());
        config.user_tags.insert("candidate".to_owned(), format!("c{candidate}").into());
        config.provenance.engine_settings = self.experiment.space.settings(values);
        config.provenance.place = Some(RunPosition {
            run_id: self.tune_id.to_owned(),
            side: format!("c{candidate}"),
            round: 0,
            position: position as u32 + 1,
        });
        Ok((config, engine))
    }
}

fn count(knob: &str, value: &Value) -> Result<u64, Error> {
    value
        .as_u64()
        .filter(|count| *count > 0)
        .ok_or_else(|| Error::Argument(format!("knob [{knob}] takes whole numbers from 1, but has {value}")))
}
