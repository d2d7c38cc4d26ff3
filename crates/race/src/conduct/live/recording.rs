//! Records a race, and passes its events on.
//!
//! [`Recording`] passes the driver's calls on, records the samples, and reports the figures of each running
//! task five times per second.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::conduct::live::{Progress, TaskNow};
use crate::drive::driver::DriveProgress;
use crate::model::Task;
use crate::record::sample::Sample;
use crate::record::timeline::FILE_NAME;
use crate::record::timeline::recorder::Recorder;

/// Watches and records one race.
pub(crate) struct Recording<'p> {
    progress: &'p mut dyn Progress,
    recorder: Recorder<BufWriter<File>>,
    file: Unfinished,
    step: Option<Step>,
}

/// The running step.
struct Step {
    start: Instant,
    /// The current figures of its tasks. The values that do not change are set at the start.
    now: Vec<TaskNow>,
}

/// A file that is removed unless the race finishes. The race's folder is removed with it if it is then empty.
struct Unfinished {
    path: PathBuf,
    is_kept: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_kept {
            // If this fails the file stays, but no list shows a race without race.json.
            let _ = fs::remove_file(&self.path);
            let _ = self.path.parent().map(fs::remove_dir);
        }
    }
}

impl<'p> Recording<'p> {
    /// Starts the timeline in `folder`, the race's folder.
    ///
    /// Errors: the folder or the file cannot be written.
    pub(crate) fn start(
        folder: &Path,
        race_id: &str,
        progress: &'p mut dyn Progress,
    ) -> io::Result<Recording<'p>> {
        fs::create_dir_all(folder)?;
        let path = folder.join(FILE_NAME);
        let out = BufWriter::new(File::create(&path)?);
        let file = Unfinished { path, is_kept: false };
        let start_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let recorder = Recorder::new(out, race_id, Instant::now(), start_ms);
        Ok(Recording { progress, recorder, file, step: None })
    }

    /// Finishes and keeps the timeline.
    ///
    /// Errors: the first error that occurred while writing. The file ends there.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.is_kept = true;
        self.recorder.finish()
    }

    fn tell(&mut self) {
        let Some(step) = &mut self.step else { return };
        let elapsed = step.start.elapsed();
        for (now, running) in step.now.iter_mut().zip(self.recorder.running()) {
            now.update(running, elapsed);
        }
        self.progress.running(&step.now);
    }
}

impl DriveProgress for Recording<'_> {
    fn step_started(&mut self, names: &str) {
        self.progress.step_started(names);
    }

    fn clock_started(&mut self, tasks: &[&Task], start: Instant) {
        self.recorder.start_step(tasks, start);
        self.step = Some(Step { start, now: tasks.iter().map(|task| TaskNow::new(task)).collect() });
    }

    fn sampled(&mut self, samples: &[Sample]) {
        samples.iter().for_each(|sample| self.recorder.record(sample));
    }

    fn step_advanced(&mut self, share: f64) {
        self.tell();
        if let Some(step) = &self.step {
            self.recorder.advance(step.start.elapsed());
        }
        self.progress.step_advanced(share);
    }

    fn step_finished(&mut self, error_rate_max: f64) {
        self.tell();
        if let Some(mut step) = self.step.take() {
            for (now, running) in step.now.iter_mut().zip(self.recorder.running()) {
                now.finish(running);
            }
            self.progress.measured(&step.now);
        }
        self.recorder.end_step();
        self.progress.step_finished(error_rate_max);
    }
}
