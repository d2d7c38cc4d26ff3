//! `limber check`: verifies every byte of a data folder, offline.

use std::path::PathBuf;

use anyhow::{Result, bail};

/// Verify every byte of a data folder whose server is not running
#[derive(Debug, clap::Args)]
pub struct CheckCommand {
    /// The data folder
    #[arg(value_name = "DIR")]
    data: PathBuf,
}

impl CheckCommand {
    pub fn run(self) -> Result<()> {
        let report = limber_engine::check_data_folder(&self.data)?;
        for line in &report.lines {
            println!("{line}");
        }
        if report.problem_count > 0 {
            bail!("{} problems found in {}", report.problem_count, self.data.display());
        }
        println!("no problems found");
        Ok(())
    }
}
