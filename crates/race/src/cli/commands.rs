//! The subcommands `list`, `info` and `compare`, and what all subcommands share: exit codes, the folder, and
//! options for reports.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueEnum};

use super::track::{ListTracksCommand, TaskArguments, TrackArguments};
use crate::arguments::parse;
use crate::error::Error;
use crate::model::Params;
use crate::record::store::limber_folder;
use crate::record::{RaceFilter, RaceStore};
use crate::report::narrow::terminal_width;
use crate::report::table::Align;
use crate::report::{Format, ReportOptions, compare, listing};
use crate::track::load;

/// Exit codes, the same as Rally's.
pub(crate) const EXIT_SUCCESS: u8 = 0;
pub(crate) const EXIT_INTERRUPTED: u8 = 130;
pub(crate) const EXIT_ERROR: u8 = 64;
/// Exit code when `--fail-if-worse` found something worse.
pub(crate) const EXIT_WORSE: u8 = 1;

/// Returns the exit code for an error.
pub fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Interrupted => EXIT_INTERRUPTED,
        Error::Worse(_) => EXIT_WORSE,
        _ => EXIT_ERROR,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArgument {
    Markdown,
    Csv,
}

/// The form in which `limber list` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlignArgument {
    Right,
    Center,
    Left,
    /// Decimal points below each other
    Decimal,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ReportArguments {
    /// Append the report to this file too
    #[arg(long, value_name = "FILE")]
    pub report_file: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value = "markdown")]
    pub report_format: FormatArgument,
    /// Alignment of numbers in a Markdown report
    #[arg(long, value_enum, default_value = "decimal")]
    pub report_numbers_align: AlignArgument,
    /// Report the processing time (time in the client included) too
    #[arg(long)]
    pub show_processing_time: bool,
}

impl ReportArguments {
    /// Returns the options of the report, with figures of the terminal.
    pub(super) fn options(&self) -> ReportOptions {
        ReportOptions {
            format: match self.report_format {
                FormatArgument::Markdown => Format::Markdown,
                FormatArgument::Csv => Format::Csv,
            },
            numbers: match self.report_numbers_align {
                AlignArgument::Right => Align::Right,
                AlignArgument::Center => Align::Center,
                AlignArgument::Left => Align::Left,
                AlignArgument::Decimal => Align::Decimal,
            },
            processing_time: self.show_processing_time,
            color: std::io::stdout().is_terminal(),
            width: terminal_width(),
            file: self.report_file.clone(),
            ..ReportOptions::default()
        }
    }
}

/// List what there is
#[derive(Debug, Clone, Subcommand)]
pub enum ListCommand {
    /// Stored races, newest first
    Races {
        /// Largest number of races to list
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// Only races of this track
        #[arg(long, value_name = "NAME")]
        track: Option<String>,
        /// Only races of this challenge
        #[arg(long, value_name = "NAME")]
        challenge: Option<String>,
        /// Value of the user tag `name` or `benchmark-name`
        #[arg(long, value_name = "NAME")]
        benchmark_name: Option<String>,
        /// First day, YYYYMMDD
        #[arg(long, value_name = "DATE")]
        from_date: Option<String>,
        /// Last day, YYYYMMDD
        #[arg(long, value_name = "DATE")]
        to_date: Option<String>,
        /// Only races with these tags: key:value,key2:value2
        #[arg(long, value_name = "TAGS")]
        user_tags: Option<String>,
        /// Form of the list
        #[arg(long, value_enum, default_value = "text")]
        format: ListFormat,
    },
    /// Built-in tracks, or those of a repository
    Tracks(ListTracksCommand),
    /// Notes on days, newest first
    Annotations(super::records::ListAnnotationsCommand),
    /// Devices of telemetry with their parameters
    Telemetry,
}

impl ListCommand {
    /// Prints the list on standard output.
    ///
    /// # Errors
    /// `Argument` for filters that cannot be parsed, `Load` and `Store` for tracks and races that cannot be
    /// read, `Report` for an output that cannot be written.
    pub fn run(&self) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        match self {
            ListCommand::Races {
                limit,
                track,
                challenge,
                benchmark_name,
                from_date,
                to_date,
                user_tags,
                format,
            } => {
                let filter = RaceFilter {
                    track: track.clone(),
                    challenge: challenge.clone(),
                    benchmark_name: benchmark_name.clone(),
                    from_date: from_date.clone(),
                    to_date: to_date.clone(),
                    user_tags: user_tags.as_deref().map_or_else(|| Ok(Params::new()), parse)?,
                    limit: Some(*limit),
                };
                let races = RaceStore::new(&folder()?).list(&filter)?;
                match format {
                    ListFormat::Text => printed(listing::write_races(&races, terminal_width(), &mut out))?,
                    ListFormat::Json => printed(listing::write_races_json(&races, &mut out))?,
                }
            }
            ListCommand::Tracks(tracks) => tracks.run(&mut out)?,
            ListCommand::Annotations(annotations) => annotations.run(&mut out)?,
            ListCommand::Telemetry => printed(super::watch::write_devices(&mut out))?,
        }
        Ok(())
    }
}

/// Describe a track and its challenges
#[derive(Debug, Clone, Args)]
pub struct InfoCommand {
    #[command(flatten)]
    pub(crate) track: TrackArguments,
    #[command(flatten)]
    pub(crate) tasks: TaskArguments,
}

impl InfoCommand {
    /// Prints the track's description, its challenges and their tasks on standard output.
    ///
    /// # Errors
    /// `Argument` and `Load` for a track that cannot be found or read, `Report` for an output that cannot be
    /// written.
    pub fn run(&self) -> Result<(), Error> {
        let mut spec = self.track.spec(None)?;
        spec.ignore_unused_params = false;
        self.tasks.apply(&mut spec);
        let track = load::read(&spec)?;
        let mut out = std::io::stdout().lock();
        printed(listing::write_track_info(&track, self.track.challenge.as_deref(), &mut out))?;
        printed(super::python::write_plugin_info(&track, &spec.python, &mut out))
    }
}

/// Compare stored races: two as Rally does, or several per side with statistics
///
/// With one race per side the table is Rally's: what differs, not whether it means anything. With several
/// races per side (of limber race --repeat), every metric gets a verdict (better, worse, no difference
/// shown) from an exact rank test.
#[derive(Debug, Clone, Args)]
#[command(after_help = super::comparison::EXAMPLES)]
pub struct CompareCommand {
    #[command(flatten)]
    pub(crate) sides: super::comparison::ComparisonArguments,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
    /// Draw the comparison as one HTML file too: for several races per side with the verdicts and their
    /// intervals
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Whether the comparison goes into the report file too
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    pub show_in_report: bool,
}

impl CompareCommand {
    /// Prints the comparison on standard output, and writes it into the files that the options name.
    ///
    /// # Errors
    /// `Argument` and `Store` for races that cannot be compared or read, `Unwritable` for a file, and `Worse`
    /// where `--fail-if-worse` asks for it.
    pub fn run(&self) -> Result<(), Error> {
        let store = RaceStore::new(&folder()?);
        let mut out = std::io::stdout().lock();
        let (baseline, contender) = self.sides.races(&store)?;
        let html = self.html.as_deref();
        let mut options = self.report.options();
        options.file.take_if(|_| !self.show_in_report);
        if let ([baseline], [contender], false) = (&*baseline, &*contender, self.sides.asks_for_statistics())
        {
            printed(compare::write(baseline, contender, &options, &mut out))?;
            let ids = [baseline.race_id.clone(), contender.race_id.clone()];
            return html.map_or(Ok(()), |output| super::report::write_races(&store, &ids, output));
        }
        let sides = self.sides.named(baseline, contender, &store)?;
        if let Some(output) = html {
            super::report::write_comparison(&store, &sides, &self.sides.rules()?, output)?;
        }
        self.sides.judge(&sides, &options, &mut out)
    }
}

/// Treats a reader that stops reading (`| head`) as no error.
pub(crate) fn printed(result: std::io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Error::Report),
    }
}

/// Returns the folder in which races and unpacked corpora are kept.
pub(crate) fn folder() -> Result<PathBuf, Error> {
    limber_folder(std::env::var_os("LIMBER_HOME"), std::env::var_os("HOME")).ok_or_else(|| {
        Error::Argument("set LIMBER_HOME (or HOME) to a folder in which races can be kept".into())
    })
}
