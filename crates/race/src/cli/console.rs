//! What does the user see while a race runs?
//!
//! On a terminal one bar a step that becomes a line when the step is done; elsewhere only the lines. Everything goes to
//! standard error, so that standard output holds the report alone.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::drive::driver::DriveProgress;
use crate::race::{Progress, RaceOutcome};

/// Steps of a bar.
const BAR_LENGTH: u64 = 1000;
const NAME_WIDTH: usize = 64;

pub struct Console {
    is_quiet: bool,
    is_terminal: bool,
    bar: Option<ProgressBar>,
    step: String,
    started: Instant,
}

impl Console {
    pub fn new(is_quiet: bool) -> Console {
        Console {
            is_quiet,
            is_terminal: std::io::stderr().is_terminal(),
            bar: None,
            step: String::new(),
            started: Instant::now(),
        }
    }

    /// What went wrong in a task.
    pub fn errors(&self, task: &str, lines: &[String]) {
        self.line(&format!("[WARNING] Errors of task [{task}]:"));
        for line in lines {
            self.line(&format!("  {line}"));
        }
    }

    /// Where the race is kept.
    pub fn closing(&self, outcome: &RaceOutcome) {
        if !self.is_quiet {
            self.line(&format!("Race [{}] is kept in [{}].", outcome.race.race_id, outcome.file.display()));
            if let Some(previous) = &outcome.previous_race_id {
                let id = &outcome.race.race_id;
                self.line(&format!("Compare it: limber compare --baseline {previous} --contender {id}"));
            }
        }
    }

    fn line(&self, line: &str) {
        // Progress that cannot be shown does not stop a race.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

impl Progress for Console {
    fn note(&mut self, line: &str) {
        if !self.is_quiet {
            self.line(line);
        }
    }

    fn warn(&mut self, line: &str) {
        self.line(&format!("[WARNING] {line}"));
    }
}

impl DriveProgress for Console {
    fn step_started(&mut self, names: &str) {
        self.step = names.to_owned();
        self.started = Instant::now();
        if self.is_terminal && !self.is_quiet {
            let style = ProgressStyle::with_template("Running {msg} [{bar:24}] {percent:>3}% {elapsed}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(BAR_LENGTH).with_style(style).with_message(self.step.clone());
            bar.enable_steady_tick(Duration::from_millis(250));
            self.bar = Some(bar);
        }
    }

    fn step_advanced(&mut self, share: f64) {
        if let Some(bar) = &self.bar {
            bar.set_position((share.clamp(0.0, 1.0) * BAR_LENGTH as f64) as u64);
        }
    }

    fn step_finished(&mut self, error_rate_max: f64) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if !self.is_quiet {
            let seconds = self.started.elapsed().as_secs_f64();
            let errors = match error_rate_max {
                0.0 => String::new(),
                rate => format!("  errors: {:.2} %", rate * 100.0),
            };
            let name = format!("Running {}", self.step);
            self.line(&format!("{name:<NAME_WIDTH$} [100% done] {seconds:>8.2} s{errors}"));
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.abandon();
        }
    }
}
