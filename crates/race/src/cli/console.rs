//! The output that the user sees while a race runs.
//!
//! On a terminal, each running task has a line with its throughput, times, errors and remaining time, which
//! becomes one line when the step is done. Elsewhere only the lines of finished steps are printed. Everything
//! goes to standard error, so that standard output has only the report. With `--live-http`, the same goes to
//! a page.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use crate::conduct::live::page::LivePage;
use crate::conduct::live::terminal::Terminal;
use crate::conduct::live::{Heading, Progress, TaskNow};
use crate::conduct::race::RaceOutcome;
use crate::drive::driver::DriveProgress;

/// With this width the line of a finished task fits into 80 columns.
const NAME_WIDTH: usize = 44;

pub(crate) struct Console {
    is_quiet: bool,
    /// `None` when standard error is not a terminal, or in quiet mode.
    terminal: Option<Terminal>,
    page: Option<LivePage>,
    step: String,
    started: Instant,
}

impl Console {
    pub(crate) fn new(is_quiet: bool, page: Option<LivePage>) -> Console {
        let shows_lines = !is_quiet && std::io::stderr().is_terminal();
        Console {
            is_quiet,
            terminal: shows_lines.then(Terminal::default),
            page,
            step: String::new(),
            started: Instant::now(),
        }
    }

    /// Prints the errors of a task.
    pub(crate) fn errors(&self, task: &str, lines: &[String]) {
        self.line(&format!("[WARNING] Errors of task [{task}]:"));
        for line in lines {
            self.line(&format!("  {line}"));
        }
    }

    /// Prints where a server is that keeps running. Quiet mode prints it too, since the user cannot know it
    /// otherwise.
    pub(crate) fn kept_server(&self, place: &str) {
        self.line(place);
    }

    /// Prints where the race is kept. `html` is the report that is written anyway.
    pub(crate) fn closing(&self, outcome: &RaceOutcome, html: Option<&Path>) {
        if !self.is_quiet {
            self.line(&format!("Race [{}] is kept in [{}].", outcome.race.race_id, outcome.file.display()));
            if let Some(previous) = &outcome.previous_race_id {
                let (previous, id) = (short(previous), short(&outcome.race.race_id));
                self.line(&format!("Compare it: limber compare --baseline {previous} --contender {id}"));
            }
            match html {
                Some(html) => self.line(&format!("It is drawn in [{}].", html.display())),
                None => self.line("Draw it: limber report"),
            }
        }
    }

    /// Gives the page the report of the finished race. `draw` is called only if there is a page.
    pub(crate) fn report(&self, draw: impl FnOnce() -> Option<String>) {
        self.tell_page(|page| {
            if let Some(html) = draw() {
                page.report(html);
            }
        });
    }

    fn line(&self, line: &str) {
        match &self.terminal {
            Some(terminal) => terminal.print(line),
            // A race does not stop because its progress cannot be shown.
            None => drop(writeln!(std::io::stderr(), "{line}")),
        }
    }

    fn tell_page(&self, tell: impl FnOnce(&LivePage)) {
        if let Some(page) = &self.page {
            tell(page);
        }
    }
}

/// Shortens a random id to a prefix, which commands accept in its place.
fn short(id: &str) -> &str {
    const RANDOM_ID_LENGTH: usize = 36;
    const SHORT_LENGTH: usize = 8;
    if id.len() == RANDOM_ID_LENGTH { id.get(..SHORT_LENGTH).unwrap_or(id) } else { id }
}

impl Progress for Console {
    fn note(&mut self, line: &str) {
        self.tell_page(|page| page.message(line));
        if !self.is_quiet {
            self.line(line);
        }
    }

    fn warn(&mut self, line: &str) {
        self.tell_page(|page| page.message(&format!("Warning: {line}")));
        self.line(&format!("[WARNING] {line}"));
    }

    fn race_started(&mut self, race: &Heading) {
        self.tell_page(|page| page.race_started(race));
    }

    fn measured(&mut self, tasks: &[TaskNow]) {
        self.tell_page(|page| page.measured(tasks));
    }

    fn running(&mut self, tasks: &[TaskNow]) {
        self.tell_page(|page| page.running(tasks));
        if let Some(terminal) = &mut self.terminal {
            terminal.show(tasks);
        }
    }
}

impl DriveProgress for Console {
    fn step_started(&mut self, names: &str) {
        self.step = names.to_owned();
        self.started = Instant::now();
        self.tell_page(LivePage::step_started);
    }

    /// [`Progress::running`] says more than this share.
    fn step_advanced(&mut self, _share: f64) {}

    fn step_finished(&mut self, error_rate_max: f64) {
        self.tell_page(|page| page.step_finished(&self.step, error_rate_max));
        if let Some(terminal) = &mut self.terminal {
            terminal.clear();
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
        self.tell_page(LivePage::end);
    }
}
