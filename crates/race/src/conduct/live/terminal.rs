//! Shows the running tasks on a terminal.
//!
//! Each task has a line drawn by `indicatif`: name, bar, throughput, times, errors, time left. If a step has
//! more tasks than fit, the first ones are shown, and how many there are in total.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::now::TaskNow;

/// Resolution of a bar.
const BAR_LENGTH: u64 = 1000;
/// Largest number of task lines: on a terminal of 24 lines, earlier output stays visible.
const LINES_MAX: usize = 12;

#[derive(Default)]
pub(crate) struct Terminal {
    lines: MultiProgress,
    bars: Vec<ProgressBar>,
    more: Option<ProgressBar>,
}

impl Terminal {
    pub(crate) fn show(&mut self, tasks: &[TaskNow]) {
        let shown = &tasks[..tasks.len().min(LINES_MAX)];
        let name_width = shown.iter().map(|task| task.name.chars().count()).max().unwrap_or(0).clamp(8, 32);
        while self.bars.len() < shown.len() {
            let template = format!("{{prefix:{name_width}!}} [{{bar:20}}] {{percent:>3}}% {{wide_msg}}");
            let style =
                ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = self.lines.add(ProgressBar::new(BAR_LENGTH).with_style(style.progress_chars("=> ")));
            bar.set_prefix(printable(&shown[self.bars.len()].name));
            self.bars.push(bar);
        }
        if tasks.len() > shown.len() && self.more.is_none() {
            let style =
                ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = self.lines.add(ProgressBar::new(1).with_style(style));
            bar.set_message(format!("... and {} more tasks", tasks.len() - shown.len()));
            self.more = Some(bar);
        }
        for (bar, task) in self.bars.iter().zip(shown) {
            bar.set_position((task.share.unwrap_or(0.0).clamp(0.0, 1.0) * BAR_LENGTH as f64) as u64);
            bar.set_message(task.line());
        }
    }

    /// Removes the step's lines.
    pub(crate) fn clear(&mut self) {
        for bar in self.bars.drain(..).chain(self.more.take()) {
            bar.finish_and_clear();
            self.lines.remove(&bar);
        }
    }

    /// Prints a line above the bars.
    pub(crate) fn print(&self, line: &str) {
        self.lines.suspend(|| eprintln!("{line}"));
    }
}

/// Replaces control characters: names come from tracks, and must not control the terminal.
fn printable(name: &str) -> String {
    name.chars().map(|char| if char.is_control() { '?' } else { char }).collect()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.clear();
    }
}
