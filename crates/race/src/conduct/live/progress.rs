//! The interface of observers of a race.

use super::now::{Heading, TaskNow};
use crate::drive::driver::DriveProgress;

/// Receives the events of a race.
pub(crate) trait Progress: DriveProgress {
    /// Reports something worth knowing that is not a problem.
    fn note(&mut self, line: &str);
    /// Reports something that makes the figures doubtful.
    fn warn(&mut self, line: &str);
    /// The race starts; `race` says what is raced. Called before its first step.
    fn race_started(&mut self, _race: &Heading) {}
    /// The step ends; `tasks` have their figures over the whole task.
    fn measured(&mut self, _tasks: &[TaskNow]) {}
    /// Reports the current figures of the running step's tasks, five times per second.
    fn running(&mut self, _tasks: &[TaskNow]) {}
}
