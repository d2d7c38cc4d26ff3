//! `limber delete`, `limber add` and `limber list annotations`.

use std::io::Write;

use clap::{Args, Subcommand, ValueEnum};

use super::{folder, printed};
use crate::conduct::race::new_race_id;
use crate::error::Error;
use crate::record::annotations::midnight;
use crate::record::{Annotation, AnnotationFilter, AnnotationStore, RaceStore};
use crate::report::listing;
use crate::report::narrow::terminal_width;

/// The only environment of races that are stored in files.
const ENVIRONMENT: &str = "local";

/// Delete stored races or annotations
#[derive(Debug, Clone, Subcommand)]
pub enum DeleteCommand {
    /// Races, with everything that is stored of them
    Race(DeleteArguments),
    /// Annotations
    Annotation(DeleteArguments),
}

/// What to delete.
#[derive(Debug, Clone, Args)]
pub struct DeleteArguments {
    /// Ids to delete, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',', required = true)]
    pub id: Vec<String>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl DeleteCommand {
    /// # Errors
    /// `Store` for an invalid id, or a folder that cannot be written; `Argument` for ids that do not exist
    /// (the others are deleted).
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let home = folder()?;
        let (races, annotations) = (RaceStore::new(&home), AnnotationStore::new(&home));
        let (DeleteCommand::Race(arguments) | DeleteCommand::Annotation(arguments)) = self;
        let is_race = matches!(self, DeleteCommand::Race(_));
        let mut missing = Vec::new();
        if arguments.dry_run {
            for id in &arguments.id {
                let is_there = match is_race {
                    true => races.has(id)?,
                    false => annotations.has(id)?,
                };
                missing.extend((!is_there).then_some(id.as_str()));
            }
            refuse_missing(&missing)?;
            return printed(writeln!(out, "{}", intent(is_race, &arguments.id)));
        }
        for id in &arguments.id {
            let (was_there, environment) = match is_race {
                true => (races.delete(id)?, format!(" in environment [{ENVIRONMENT}]")),
                false => (annotations.delete(id)?, String::new()),
            };
            match was_there {
                true => printed(writeln!(out, "Successfully deleted [{id}]{environment}."))?,
                false => missing.push(id.as_str()),
            }
        }
        refuse_missing(&missing)
    }
}

/// Errors: ids that do not exist.
fn refuse_missing(missing: &[&str]) -> Result<(), Error> {
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::Argument(format!(
            "did not find [{}] in environment [{ENVIRONMENT}], so there is nothing with that id to delete",
            missing.join(", ")
        ))),
    }
}

/// Returns Rally's message, which quotes races and annotations differently.
fn intent(is_race: bool, ids: &[String]) -> String {
    let list = format!("['{}']", ids.join("', '"));
    match (is_race, ids) {
        (true, [id]) => format!("Would delete race with id {id} in environment {ENVIRONMENT}."),
        (true, _) => format!("Would delete {} races: {list} in environment {ENVIRONMENT}.", ids.len()),
        (false, [id]) => format!("Would delete annotation with id [{id}] in environment [{ENVIRONMENT}]."),
        (false, _) => {
            format!("Would delete {} annotations: {list} in environment [{ENVIRONMENT}].", ids.len())
        }
    }
}

/// Add an annotation
#[derive(Debug, Clone, Subcommand)]
pub enum AddCommand {
    /// A note on a day, for charts over many races
    Annotation(AddAnnotationCommand),
}

/// The kinds of charts in Rally's dashboards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ChartType {
    Query,
    Script,
    Stats,
    Indexing,
    Gc,
    IndexTimes,
    MergeTimes,
    MergeCount,
    RefreshTimes,
    SegmentCount,
    Io,
    MlProcessingTime,
}

/// A note to add, and the charts that it belongs to.
#[derive(Debug, Clone, Args)]
pub struct AddAnnotationCommand {
    /// Time of the race as limber list races shows it (YYYYMMDDTHHMMSSZ); the note is for its day
    #[arg(long, value_name = "TIMESTAMP")]
    pub race_timestamp: String,
    /// Track [default: all tracks]
    #[arg(long, value_name = "NAME")]
    pub track: Option<String>,
    /// Kind of chart [default: all charts]
    #[arg(long, value_enum)]
    pub chart_type: Option<ChartType>,
    /// Name of a chart [default: all charts]
    #[arg(long, value_name = "NAME")]
    pub chart_name: Option<String>,
    /// The note
    #[arg(long, value_name = "TEXT")]
    pub message: String,
    /// Say what would be added, and add nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl AddCommand {
    /// # Errors
    /// `Store` for an invalid timestamp, or a folder that cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let AddCommand::Annotation(given) = self;
        let value = given.chart_type.as_ref().and_then(ValueEnum::to_possible_value);
        let annotation = Annotation {
            id: new_race_id(),
            environment: ENVIRONMENT.to_owned(),
            race_timestamp: midnight(&given.race_timestamp)?,
            track: given.track.clone(),
            chart: value.map(|value| value.get_name().to_owned()),
            chart_name: given.chart_name.clone(),
            message: given.message.clone(),
        };
        if given.dry_run {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "None".to_owned());
            return printed(writeln!(
                out,
                "Would add annotation with message [{}] for environment=[{ENVIRONMENT}], race timestamp=[{}], track=[{}], chart type=[{}], \
                 chart name=[{}]",
                annotation.message,
                annotation.race_timestamp,
                shown(&annotation.track),
                shown(&annotation.chart),
                shown(&annotation.chart_name)
            ));
        }
        let id = annotation.id.clone();
        AnnotationStore::new(&folder()?).add(annotation)?;
        printed(writeln!(out, "Successfully added annotation [{id}]."))
    }
}

/// Which notes to list.
#[derive(Debug, Clone, Args)]
pub struct ListAnnotationsCommand {
    /// Largest number of notes to list
    #[arg(long, default_value_t = 10)]
    pub limit: usize,
    /// Only notes on this track
    #[arg(long, value_name = "NAME")]
    pub track: Option<String>,
    /// First day, YYYYMMDD
    #[arg(long, value_name = "DATE")]
    pub from_date: Option<String>,
    /// Last day, YYYYMMDD
    #[arg(long, value_name = "DATE")]
    pub to_date: Option<String>,
}

impl ListAnnotationsCommand {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let filter = AnnotationFilter {
            track: self.track.clone(),
            from_date: self.from_date.clone(),
            to_date: self.to_date.clone(),
            limit: Some(self.limit),
        };
        let annotations = AnnotationStore::new(&folder()?).list(&filter)?;
        printed(listing::write_annotations(&annotations, ENVIRONMENT, terminal_width(), out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    enum Root {
        #[command(subcommand)]
        Add(AddCommand),
    }

    #[test]
    fn dry_runs_speak_as_rally() {
        let ids = |count: usize| ["a", "b"][..count].iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(intent(true, &ids(1)), "Would delete race with id a in environment local.");
        assert_eq!(intent(true, &ids(2)), "Would delete 2 races: ['a', 'b'] in environment local.");
        assert_eq!(intent(false, &ids(1)), "Would delete annotation with id [a] in environment [local].");
    }

    #[test]
    fn what_is_not_there_is_not_deleted_in_silence() {
        for missing in [&["no-such-race"][..], &["no-such-race", "nor-this"]] {
            let error = refuse_missing(missing).unwrap_err().to_string();
            assert!(error.contains(&missing.join(", ")), "{error}");
        }
        assert!(refuse_missing(&[]).is_ok());
    }

    fn dry_run(arguments: &[&str]) -> String {
        let mut out = Vec::new();
        let Root::Add(command) =
            Root::try_parse_from([&["limber"], arguments, &["--dry-run"]].concat()).unwrap();
        command.run(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dry_runs_of_notes_speak_as_rally() {
        let add = [
            "add",
            "annotation",
            "--race-timestamp=20261122T070830Z",
            "--message=JDK 25",
            "--chart-type=segment_count",
        ];
        assert_eq!(
            dry_run(&add),
            "Would add annotation with message [JDK 25] for environment=[local], race timestamp=[20261122T000000Z], track=[None], chart \
             type=[segment_count], chart name=[None]\n"
        );
    }
}
