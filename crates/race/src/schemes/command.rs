//! `limber race-schemes`: its arguments, and what it prints.

use std::path::PathBuf;

use clap::Args;

use super::conduct::race_schemes;
use super::config::SchemesConfig;
use super::table;
use crate::cli::{TrackArguments, cancel_on_interrupt, check_writable, folder, printed};
use crate::error::Error;
use crate::record::RaceStore;
use crate::server::engine::ServerProvider;

/// Race the two schemes of the term index: all of it resident, or cached under a budget
///
/// Starts a server with a temporary data folder, loads the track segment_memory, and races its writes and
/// queries in each scheme in turn. Prints what the cached scheme saves in memory and what it costs in speed,
/// then how queries slow down as the budget shrinks.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber race-schemes
  limber race-schemes --rounds 15 --budget 10 --sweep ''
  limber race-schemes --sweep-file sweep.csv")]
pub struct SchemesCommand {
    /// Rounds that count, each a pass of both schemes
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Budget of the cached scheme, percent of what the native scheme has resident
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = percent)]
    pub budget: f64,
    /// Budgets to query at afterwards, percents separated by commas; '' for none
    #[arg(long, value_name = "PERCENTS", default_value = "100,50,25,10,5,2,1")]
    pub sweep: String,
    /// Write the sweep to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub sweep_file: Option<PathBuf>,
    /// Parameters of the track segment_memory: key:value,key2:value2, a JSON object, or a .json file
    #[arg(long, value_name = "PARAMS")]
    pub track_params: Option<String>,
    /// Check that it runs: few documents, no figures worth keeping
    #[arg(long)]
    pub test_mode: bool,
}

fn percent(text: &str) -> Result<f64, Error> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1_000.0 => Ok(value),
        _ => Err(Error::Argument(format!("[{text}] is not a percentage above 0"))),
    }
}

impl SchemesCommand {
    /// Races, and prints the tables.
    pub fn run(&self, provider: &dyn ServerProvider) -> Result<(), Error> {
        let sweep_percent = match self.sweep.trim() {
            "" => Vec::new(),
            list => list
                .split(',')
                .map(percent)
                .collect::<Result<_, _>>()
                .map_err(|reason| Error::Argument(format!("--sweep: {reason}")))?,
        };
        self.sweep_file.iter().try_for_each(|file| check_writable(file))?;
        let track = TrackArguments {
            track: Some(super::TRACK.to_owned()),
            track_params: self.track_params.clone(),
            ..TrackArguments::default()
        };
        let mut track = track.spec(None)?;
        track.test_mode = self.test_mode;
        let config = SchemesConfig {
            track,
            rounds: self.rounds,
            budget_percent: self.budget,
            sweep_percent,
            store: RaceStore::new(&folder()?),
            is_cancelled: cancel_on_interrupt(),
        };
        let outcome = race_schemes(&config, provider, &mut std::io::stderr())?;
        if let Some(path) = &self.sweep_file {
            std::fs::write(path, table::sweep_csv(&outcome.sweep)).map_err(Error::Report)?;
        }
        printed(table::write(&outcome, &mut std::io::stdout().lock()))
    }
}
