//! Who is told how a race goes?

use super::now::{Heading, TaskNow};
use crate::drive::driver::DriveProgress;

/// Who watches a race.
pub(crate) trait Progress: DriveProgress {
    /// Something worth knowing that is no problem.
    fn note(&mut self, line: &str);
    /// Something that makes the figures doubtful.
    fn warn(&mut self, line: &str);
    /// What is raced, before its first step.
    fn race_started(&mut self, _race: &Heading) {}
    /// The tasks of the step that ends, with their figures over the whole task.
    fn measured(&mut self, _tasks: &[TaskNow]) {}
    /// How the tasks of the running step go, five times a second.
    fn running(&mut self, _tasks: &[TaskNow]) {}
}
