//! `limber check`: verifies every byte of a data folder, and repairs what is damaged, offline.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::told::{in_words, say};

/// Verify every byte of a data folder whose server is not running
///
/// Lists what is damaged, and what --repair would do about it. With --repair, shards can be opened again
/// afterwards: damaged segments are removed from their index, a damaged translog is cut off where the damage
/// begins, and a lost commit is rebuilt from the segments that are intact. Originals are copied to
/// damaged-<time>/ in the data folder. Documents that an index loses are written to salvaged-<time>/ as
/// bodies for _bulk, if they can be read. Nothing is deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0  no problems were found, or all of them were repaired without loss
  1  problems were found and not all of them were repaired, or the folder cannot be read
  3  all problems were repaired, but documents or operations were lost, as listed")]
pub struct CheckCommand {
    /// The data folder
    #[arg(value_name = "DIR")]
    data: PathBuf,
    /// Repair what is damaged; without it, nothing is changed
    #[arg(long)]
    repair: bool,
}

/// Some documents or operations were removed from an index.
const LOSSES: u8 = 3;

impl CheckCommand {
    /// Prints the problems found and returns the exit code. Fails if the folder cannot be read.
    pub fn run(self) -> Result<ExitCode> {
        let report = limber_engine::check_data_folder(&self.data).map_err(in_words)?;
        for line in &report.lines {
            say(line);
        }
        if report.problem_count == 0 {
            say("no problems found");
            return Ok(ExitCode::SUCCESS);
        }
        let repair = limber_engine::repair_data_folder(&self.data, self.repair).map_err(in_words)?;
        for line in &repair.lines {
            say(line);
        }
        let (count, data) = (report.problem_count, self.data.display());
        if !self.repair {
            eprintln!("error: {count} problems found in {data}");
            return Ok(ExitCode::FAILURE);
        }
        let left = limber_engine::check_data_folder(&self.data).map_err(in_words)?;
        left.lines.iter().filter(|line| line.starts_with("PROBLEM")).for_each(say);
        say(format_args!("{count} problems found, {} left", left.problem_count));
        Ok(match (left.problem_count, repair.has_losses) {
            (0, false) => ExitCode::SUCCESS,
            (0, true) => ExitCode::from(LOSSES),
            _ => ExitCode::FAILURE,
        })
    }
}
