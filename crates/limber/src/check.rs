//! `limber check`: verifies every byte of a data folder, and repairs what is damaged, offline.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

/// Verify every byte of a data folder whose server is not running
///
/// What is damaged is listed, and what --repair would do about it. With --repair, shards are made to open
/// again: damaged segments leave their index, a damaged log is cut, a lost commit is made anew of the
/// segments that verify. Originals are copied to damaged-<time>/ in the data folder; documents that leave an
/// index go to salvaged-<time>/ as far as they can be read, as bodies for _bulk. Nothing is deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0  no problems, or all of them repaired without a loss
  1  problems were found and not (all) repaired, or the folder cannot be read
  3  repaired; documents or operations left an index, as listed")]
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
        let report = limber_engine::check_data_folder(&self.data)?;
        for line in &report.lines {
            println!("{line}");
        }
        if report.problem_count == 0 {
            println!("no problems found");
            return Ok(ExitCode::SUCCESS);
        }
        let repair = limber_engine::repair_data_folder(&self.data, self.repair)?;
        for line in &repair.lines {
            println!("{line}");
        }
        let (count, data) = (report.problem_count, self.data.display());
        if !self.repair {
            eprintln!("error: {count} problems found in {data}");
            return Ok(ExitCode::FAILURE);
        }
        let left = limber_engine::check_data_folder(&self.data)?;
        left.lines.iter().filter(|line| line.starts_with("PROBLEM")).for_each(|line| println!("{line}"));
        println!("{count} problems found, {} left", left.problem_count);
        Ok(match (left.problem_count, repair.has_losses) {
            (0, false) => ExitCode::SUCCESS,
            (0, true) => ExitCode::from(LOSSES),
            _ => ExitCode::FAILURE,
        })
    }
}
