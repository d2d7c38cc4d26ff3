//! Everything that is known about a race.

use super::telemetry::Telemetry;
use crate::metrics::writer::TELEMETRY_FILE;
use crate::record::measurements::{self, Measurements, TaskMeasurements};
use crate::record::race::Race;
use crate::record::results::{Results, TaskResults, TimeStats};
use crate::record::store::{RaceStore, StoreError};
use crate::record::timeline::FILE_NAME;
use crate::record::timeline::reader::{TaskCourse, Timeline};

/// A race with the contents of its folder.
#[derive(Debug)]
pub struct RaceData {
    pub(crate) race: Race,
    pub(crate) results: Results,
    pub(crate) timeline: Option<Timeline>,
    pub(crate) telemetry: Telemetry,
    /// The measurements that Rally does not have.
    pub(crate) measurements: Option<Measurements>,
    /// What could not be read, and why.
    pub(crate) missing: Vec<String>,
}

impl RaceData {
    /// Errors: the race does not exist or is not a race. Other files that are missing or damaged are named in
    /// the report.
    pub fn read(store: &RaceStore, race_id: &str) -> Result<RaceData, StoreError> {
        let race = store.find(race_id)?;
        let folder = store.race_folder(race_id)?;
        let mut missing = Vec::new();
        let results = race.results().unwrap_or_else(|error| {
            missing.push(format!("{error}."));
            Results::default()
        });
        let path = folder.join(FILE_NAME);
        let timeline = match path.exists() {
            true => Timeline::read(&path)
                .map_err(|error| missing.push(format!("{FILE_NAME} cannot be drawn: {error}.")))
                .ok(),
            false => {
                missing.push(format!("There is no {FILE_NAME}, so that nothing is drawn over time."));
                None
            }
        };
        let start_ms = timeline.as_ref().map(|timeline| timeline.start_ms);
        let telemetry = Telemetry::read(&folder.join(TELEMETRY_FILE), start_ms).unwrap_or_else(|error| {
            missing.push(format!("{TELEMETRY_FILE} cannot be read: {error}."));
            Telemetry::default()
        });
        let measurements = store.measurements(race_id).unwrap_or_else(|error| {
            missing.push(format!("{} cannot be read: {error}", measurements::FILE));
            None
        });
        Ok(RaceData { race, results, timeline, telemetry, measurements, missing })
    }

    /// Returns the names of the tasks that reports show, in the schedule's order.
    pub(crate) fn task_names(&self) -> impl Iterator<Item = &str> {
        self.results.op_metrics.iter().map(|task| task.task.as_str())
    }

    pub(crate) fn task(&self, name: &str) -> Option<&TaskResults> {
        self.results.op_metrics.iter().find(|task| task.task == name)
    }

    pub(crate) fn measured(&self, name: &str) -> Option<&TaskMeasurements> {
        self.measurements.as_ref()?.tasks.iter().find(|task| task.task == name)
    }

    /// Returns the latency free of coordinated omission if it was measured, else Rally's.
    pub(crate) fn latency<'a>(&'a self, task: &'a TaskResults) -> &'a TimeStats {
        let honest = self.measured(&task.task).map(|measured| &measured.honest_latency.times);
        honest.filter(|times| !times.is_empty()).unwrap_or(&task.latency)
    }

    pub(crate) fn course(&self, name: &str) -> Option<&TaskCourse> {
        self.timeline
            .as_ref()?
            .tasks
            .iter()
            .find(|course| course.task.name == name && !course.bins.is_empty())
    }

    /// Returns the length of the whole race in seconds; 0 if it is not known.
    pub(crate) fn duration_s(&self) -> f64 {
        let telemetry_s = self.telemetry.end_s();
        self.timeline.as_ref().map_or(0.0, Timeline::duration_s).max(telemetry_s)
    }
}
