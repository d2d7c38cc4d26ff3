//! The subcommand `report`, and the report that `race --html` writes after a race.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::folder;
use crate::error::Error;
use crate::record::RaceStore;
use crate::report::RacedSide;
use crate::report::html::page::RACES_MAX;
use crate::report::html::{RaceData, comparison_page, page};
use crate::report::several::Rules;

/// Draw one race, or several side by side, as one HTML file
///
/// The file needs nothing else: no network, no other file. It shows throughput, latency and service time over
/// time, percentile curves, heat maps, the server's telemetry on the same axis of time, settings and
/// warnings; of several races what changed against the first.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber report                                       the latest race
  limber report 4ff2                                  the race whose id begins so: writes race-4ff2e9b5-….html
  limber report BASELINE CONTENDER --output heap.html
  limber list races                                   shows the ids")]
pub struct ReportCommand {
    /// Ids of races or how they begin, the baseline first [default: the latest race]
    #[arg(value_name = "RACE")]
    pub races: Vec<String>,
    /// Where to write it; - for standard output [default: race-<id>.html, or races-<id>-<id>.html]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ReportCommand {
    /// Writes the report of the races as one HTML file.
    ///
    /// # Errors
    /// `Argument` for too many races, `Store` for races that cannot be read, `Unwritable` for the file.
    pub fn run(&self) -> Result<(), Error> {
        if self.races.len() > RACES_MAX {
            return Err(Error::Argument(format!(
                "{} races are more than the {RACES_MAX} that one report can show; `limber compare` takes any number",
                self.races.len()
            )));
        }
        let store = RaceStore::new(&folder()?);
        let races = match self.races.as_slice() {
            [] => vec![store.latest()?.race_id],
            named => named.iter().map(|id| store.resolve(id)).collect::<Result<Vec<_>, _>>()?,
        };
        let html = html(&store, &races)?;
        let output = self.output.clone().unwrap_or_else(|| match races.as_slice() {
            [race] => format!("race-{race}.html").into(),
            races => format!("races-{}.html", races.join("-")).into(),
        });
        if output.as_os_str() == "-" {
            return super::printed(std::io::stdout().lock().write_all(html.as_bytes()));
        }
        write(&output, &html)?;
        super::printed(writeln!(std::io::stdout(), "{}", output.display()))
    }
}

/// Finds out before a race whether a report can be written after it.
///
/// # Errors
/// `Unwritable`, with the reason.
pub(crate) fn check_writable(file: &Path) -> Result<(), Error> {
    let failed = |source| Error::Unwritable { path: file.to_owned(), source };
    let was_there = file.exists();
    std::fs::OpenOptions::new().append(true).create(true).open(file).map_err(failed)?;
    if !was_there {
        std::fs::remove_file(file).map_err(failed)?;
    }
    Ok(())
}

/// Writes a report that shows these races side by side.
pub(super) fn write_races(store: &RaceStore, race_ids: &[String], output: &Path) -> Result<(), Error> {
    write(output, &html(store, race_ids)?)
}

/// Writes the report of sides with several races each, the baseline first. With a single side, it shows how
/// far its races agree.
pub(super) fn write_comparison(
    store: &RaceStore,
    sides: &[RacedSide],
    rules: &Rules,
    output: &Path,
) -> Result<(), Error> {
    let typical = sides.iter().filter_map(RacedSide::typical);
    let races = typical.map(|race| RaceData::read(store, &race.race_id)).collect::<Result<Vec<_>, _>>()?;
    write(output, &comparison_page(sides, rules, &races))
}

pub(super) fn html(store: &RaceStore, races: &[String]) -> Result<String, Error> {
    let read = |race: &String| RaceData::read(store, race);
    Ok(page(&races.iter().map(read).collect::<Result<Vec<_>, _>>()?))
}

fn write(output: &Path, html: &str) -> Result<(), Error> {
    std::fs::write(output, html).map_err(|source| Error::Unwritable { path: output.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.html");
        check_writable(&file).unwrap();
        assert!(!file.exists(), "it is only a check");
        std::fs::write(&file, "old").unwrap();
        check_writable(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        let missing = folder.path().join("missing");
        for wrong in [folder.path().to_owned(), missing.join("report.html"), file.join("below-a-file.html")] {
            let error = check_writable(&wrong).unwrap_err().to_string();
            assert!(error.contains(&wrong.display().to_string()), "{error}");
        }
        assert!(!missing.exists(), "a mistyped path makes no folders");
    }
}
