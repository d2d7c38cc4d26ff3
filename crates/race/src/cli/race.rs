//! The subcommand `race`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::commands::{ReportArguments, folder, printed};
use super::console::Console;
use super::engine::EngineArguments;
use super::hosts::HostArguments;
use super::interrupt::cancel_on_interrupt;
use super::rally::RallyArguments;
use super::report::check_writable;
use super::series::SeriesArguments;
use super::track::{TaskArguments, TrackArguments};
use super::watch::WatchArguments;
use crate::arguments::parse;
use crate::conduct::config::{EXTERNAL_CAR, Provenance, RaceConfig};
use crate::conduct::dry_run;
use crate::conduct::race::{RaceOutcome, new_race_id, run};
use crate::conduct::watch::{WatchConfig, add_jvm_options};
use crate::drive::client::OnError;
use crate::error::Error;
use crate::model::Params;
use crate::record::RaceStore;
use crate::report::{ReportOptions, Show, measurements, summary};
use crate::server::engine::{EngineSpec, ServerProvider};
use crate::server::hosts::DEFAULT_CLUSTER;
use crate::track::load::{self, TrackSource, TrackSpec};

/// What a failed request does to the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnErrorArgument {
    /// Count failed requests and go on; a lost connection still ends the race
    Continue,
    /// As continue, but survive lost connections too
    ContinueOnNetwork,
    /// End the race at the first failed request
    Abort,
}

impl OnErrorArgument {
    fn behaviour(self) -> OnError {
        match self {
            OnErrorArgument::Continue => OnError::Continue,
            OnErrorArgument::ContinueOnNetwork => OnError::ContinueOnNetwork,
            OnErrorArgument::Abort => OnError::Abort,
        }
    }
}

/// Race a server: run a track's tasks against it and report how it did
///
/// Without --target-hosts a server is started for the race on a free local port, with a temporary data
/// folder. Tracks are Rally's: the same files, words and figures.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber race                                       the built-in server and track
  limber race --challenge high-concurrency --corpus access.log.gz
  limber race --target-hosts 127.0.0.1:9200 --track-path rally-tracks/geonames --test-mode
  limber race --memory-limit 512mb --engine-setting indices.memory.index_buffer_size:30% --preserve-install
  limber race --engine ~/elasticsearch-8.19.0 --heap 1g --jvm-option=-XX:+UseParallelGC
  limber race --repeat 5                             five races: medians, and how far they agree
  limber race --repeat 6 --versus 'memory-limit=256mb' --versus 'engine-setting=indices.memory.index_buffer_size:25%'
  limber race --repeat 6 --target-hosts 127.0.0.1:9200 --versus target-hosts=127.0.0.1:9201 --order mirrored
  limber race --target-hosts 127.0.0.1:9200 --user-tags 'engine:elasticsearch,heap:1g'")]
pub struct RaceCommand {
    /// Which track, which challenge of it, and with which parameters.
    #[command(flatten)]
    pub track: TrackArguments,
    #[command(flatten)]
    pub(crate) hosts: HostArguments,
    /// Your own documents for the built-in track: an access log (common or combined format, also .gz) or
    /// NDJSON
    #[arg(long, value_name = "FILE")]
    pub corpus: Option<PathBuf>,
    /// Check that the track runs: few documents, few iterations, no figures worth keeping
    #[arg(long)]
    pub test_mode: bool,
    #[command(flatten)]
    pub(crate) tasks: TaskArguments,
    /// Accept --track-params that the track does not use
    #[arg(long)]
    pub ignore_unused_track_params: bool,
    /// What to do when a request fails
    #[arg(long, value_enum, default_value = "continue")]
    pub on_error: OnErrorArgument,
    /// Check the track's assertions; one that fails ends the race
    #[arg(long)]
    pub enable_assertions: bool,
    /// Tags to find the race by: key:value,key2:value2
    #[arg(long, alias = "user-tag", value_name = "TAGS")]
    pub user_tags: Option<String>,
    /// Id of the race [default: a random one]
    #[arg(long, value_name = "ID")]
    pub race_id: Option<String>,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
    #[command(flatten)]
    pub(crate) live: super::live::LiveArguments,
    /// Rows that the report shows
    #[arg(long, value_enum, default_value = "available")]
    pub show_in_report: ShowArgument,
    /// Check everything that can be checked without a server and documents, print the schedule, and send
    /// nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub(crate) watch: WatchArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    #[command(flatten)]
    pub(crate) series: SeriesArguments,
    #[command(flatten)]
    pub(crate) rally: RallyArguments,
}

/// Which rows of the report are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowArgument {
    /// Rows with a value
    Available,
    /// Also percentiles that the number of samples does not support
    AllPercentiles,
    /// Every row
    All,
}

impl RaceCommand {
    /// Races, prints the summary, and prints where the race is kept.
    pub fn run(&self, provider: &dyn ServerProvider) -> Result<(), Error> {
        if self.dry_run {
            return self.check(&mut std::io::stdout().lock());
        }
        self.refuse_unsupported()?;
        let folder = folder()?;
        let track = self.track_spec(&folder)?;
        self.hosts.check()?;
        let (telemetry, reporting) = (self.watch.plan()?, self.watch.reporting()?);
        let shows_processing_time = self.report.show_processing_time || reporting.shows_processing_time;
        let mut engine = self.engine.spec(!self.hosts.is_empty())?;
        let (store, race_id) = (RaceStore::new(&folder), self.race_id.clone().unwrap_or_else(new_race_id));
        let race_folder = store.race_folder(&race_id)?;
        self.check_outputs(&store, &race_id)?;
        let user_tags = self.user_tags.as_deref().map_or_else(|| Ok(Params::new()), parse)?;
        check_loads(&track)?;
        // Find out that a page cannot be served before a server is started.
        let page = self.live.page()?;
        // From here on there may be a server and its temporary folder, which an interrupt must not leave
        // behind.
        let is_cancelled = cancel_on_interrupt();
        // A series starts a server of its own for each race.
        let is_series = self.series.is_asked();
        // Each race has its own folder for the files of a JVM, so in a series every race adds its own
        // options.
        let starts_jvm = !is_series && add_jvm_options(engine.as_mut(), &telemetry, &race_folder)?;
        let server = if is_series { None } else { super::engine::start(engine.as_ref(), provider)? };
        let jvm = server.as_ref().filter(|_| starts_jvm).map(|server| server.process_id);
        let mut console = Console::new(self.quiet, page);
        let started = server.as_ref().map(|server| server.address.as_str());
        let mut clusters = self.hosts.clusters(started.or(engine.as_ref().map(|_| DEFAULT_CLUSTER)))?;
        let raced = clusters.remove(0);
        let config = RaceConfig {
            track,
            hosts: if is_series && engine.is_some() { Vec::new() } else { raced.hosts },
            car: server.as_ref().map_or_else(|| EXTERNAL_CAR.into(), |server| server.name.clone()),
            car_params: engine.as_ref().and_then(EngineSpec::params),
            client: raced.options,
            watch: WatchConfig {
                other_clusters: clusters,
                telemetry,
                reporting,
                jvm,
                skips_rest_api_check: self.rally.skip_rest_api_check,
            },
            on_error: self.on_error.behaviour(),
            checks_assertions: self.enable_assertions,
            race_id,
            user_tags,
            provenance: self.provenance(engine.as_ref(), server.is_some()),
            store,
            is_cancelled,
        };
        if is_series {
            let (options, html) = (self.report.options(), self.live.html.as_deref());
            let kept = self.series.run(&config, engine.as_ref(), provider, &options, html, &mut console)?;
            kept.iter().for_each(|place| console.kept_server(place));
            return Ok(());
        }
        let outcome = run(config, &mut console)?;
        self.print(&outcome, shows_processing_time, &mut console)?;
        if let Some(place) = self.engine.end(server) {
            console.kept_server(&place);
        }
        self.close(outcome, &folder, &mut console)
    }

    /// Returns where a race comes from. `is_fresh_server`: a server was started for it alone.
    fn provenance(&self, engine: Option<&EngineSpec>, is_fresh_server: bool) -> Provenance {
        Provenance {
            place: None,
            engine_settings: engine.and_then(EngineSpec::params).unwrap_or_default(),
            is_fresh_server,
            started_s: self.rally.effective_start_date,
        }
    }

    /// Writes the page about a race that has been printed, and returns an error if the race was interrupted.
    fn close(&self, outcome: RaceOutcome, folder: &Path, console: &mut Console) -> Result<(), Error> {
        self.live.write_html(&outcome.race.race_id)?;
        let races = [outcome.race.race_id.clone()];
        // The race is kept: a page without the link to its report is better than an error.
        console.report(|| super::report::html(&RaceStore::new(folder), &races).ok());
        outcome.whole()?;
        Ok(())
    }

    /// Checks everything that can be checked without a server and documents, and prints the schedule
    /// (`--dry-run`).
    ///
    /// # Errors
    /// Any error that would stop the race before its first request.
    pub fn check(&self, out: &mut dyn Write) -> Result<(), Error> {
        self.refuse_unsupported()?;
        let track = self.track_spec(&folder()?)?;
        self.hosts.check()?;
        self.watch.plan()?;
        self.watch.reporting()?;
        self.engine.spec(!self.hosts.is_empty())?;
        match dry_run::run(&track, self.enable_assertions, out) {
            // The reader of the pipe, such as `head`, has closed it.
            Err(Error::Report(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome,
        }
    }

    /// Finds out before the race, not after it, what could not be written.
    fn check_outputs(&self, store: &RaceStore, race_id: &str) -> Result<(), Error> {
        // Races of a series have a number after the id.
        match self.series.is_asked() {
            true => (1..=self.series.races_count())
                .try_for_each(|number| store.check_free(&format!("{race_id}-{number}")))?,
            false => store.check_free(race_id)?,
        }
        // The report file's folder is created when the report is written, as in Rally.
        let has_folder = |file: &&PathBuf| {
            file.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.exists())
        };
        let report_file = self.report.report_file.as_ref().filter(has_folder);
        self.live.html.iter().chain(report_file).try_for_each(|file| check_writable(file))
    }

    /// `folder` is the tool's own folder.
    fn track_spec(&self, folder: &Path) -> Result<TrackSpec, Error> {
        let mut track = self.track.spec(self.corpus.as_deref())?;
        track.test_mode = self.test_mode;
        self.tasks.apply(&mut track);
        track.ignore_unused_params = self.ignore_unused_track_params;
        track.data_root = Some(folder.join("benchmarks").join("data"));
        Ok(track)
    }

    /// Prints the report, then what the user should know about the race.
    fn print(
        &self,
        outcome: &RaceOutcome,
        shows_processing_time: bool,
        console: &mut Console,
    ) -> Result<(), Error> {
        let report = ReportOptions {
            processing_time: shows_processing_time,
            show: match self.show_in_report {
                ShowArgument::Available => Show::Available,
                ShowArgument::AllPercentiles => Show::AllPercentiles,
                ShowArgument::All => Show::All,
            },
            ..self.report.options()
        };
        printed(summary::write(&outcome.results, &report, &mut std::io::stdout().lock()))?;
        printed(measurements::write(&outcome.measurements, &report, &mut std::io::stdout().lock()))?;
        for (task, lines) in &outcome.errors {
            console.errors(task, lines);
        }
        console.closing(outcome, self.live.html.as_deref());
        Ok(())
    }

    fn refuse_unsupported(&self) -> Result<(), Error> {
        self.rally.refuse()?;
        if self.rally.wants_running_host() && self.hosts.is_empty() {
            return Err(Error::Argument("--pipeline benchmark-only needs --target-hosts".into()));
        }
        Ok(())
    }
}

/// Reports a track that does not load before a server is started, unless the version of the track depends on
/// the version of the server.
fn check_loads(track: &TrackSpec) -> Result<(), Error> {
    if track.distribution_version.is_some() || !matches!(track.source, TrackSource::Repository { .. }) {
        load::read(track)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::commands::{CompareCommand, EXIT_ERROR, InfoCommand, ListCommand, exit_code};

    #[derive(Debug, Parser)]
    enum Root {
        Race(Box<RaceCommand>),
        #[command(subcommand)]
        List(ListCommand),
        Info(InfoCommand),
        Compare(CompareCommand),
    }

    struct NoServer;

    impl ServerProvider for NoServer {
        fn start_with(&self, _: &EngineSpec) -> Result<crate::server::engine::RunningServer, Error> {
            Err(Error::ServerStart("none in tests".into()))
        }
    }

    fn race(arguments: &[&str]) -> RaceCommand {
        match Root::try_parse_from([&["limber", "race"], arguments].concat()).unwrap() {
            Root::Race(command) => *command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn definitions_are_consistent() {
        Root::command().debug_assert();
    }

    #[test]
    fn rally_command_lines_are_understood() {
        let command = race(&[
            "--target-hosts=127.0.0.1:9200,127.0.0.1:9201",
            "--track-path=tracks/geonames",
            "--challenge=append-no-conflicts",
            "--test-mode",
            "--user-tag=engine:limber",
            "--include-tasks=index,type:search",
            "--on-error=abort",
            "--pipeline=benchmark-only",
            "--report-format=csv",
        ]);
        let clusters = command.hosts.clusters(None).unwrap();
        assert_eq!(clusters[0].hosts, ["127.0.0.1:9200", "127.0.0.1:9201"]);
        assert_eq!(command.tasks.include_tasks, ["index", "type:search"]);
        assert_eq!(command.on_error, OnErrorArgument::Abort);
        assert!(command.refuse_unsupported().is_ok());
        for line in [
            &["limber", "info", "--track=log_ingest", "--include-tasks=type:bulk"][..],
            &["limber", "compare", "--baseline=a", "--contender=b", "--show-in-report=false"],
        ] {
            assert!(Root::try_parse_from(line).is_ok(), "{line:?}");
        }
        let both = ["limber", "race", "--include-tasks=a", "--exclude-tasks=b"];
        assert!(Root::try_parse_from(both).is_err());
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        #[track_caller]
        fn check(arguments: &[&str], expected: &str) {
            let error = race(arguments).run(&NoServer).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(exit_code(&error), EXIT_ERROR);
        }
        check(&["--telemetry=node-stats,x-stats"], "telemetry device [x-stats] does not exist");
        check(&["--telemetry-params=node-stats-include-gc:true"], "which --telemetry does not name");
        check(&["--pipeline=from-sources", "--target-hosts=a:1"], "--pipeline [from-sources]");
        check(&["--pipeline=benchmark-only"], "needs --target-hosts");
        check(&["--car=4gheap"], "--car is not supported: name the server with --engine");
        check(&["--engine=/no/such/folder"], "/no/such/folder");
        check(&["--track-path=x", "--corpus=y"], "--corpus goes with a built-in track");
        check(&["--track=no-such-track"], "no-such-track");
        check(&["--client-options=sniff:false"], "[sniff] is not supported");
        check(&["--client-options=client_key:'k.pem'"], "[client_key] needs [client_cert]");
        check(&[], "the server does not start: none in tests");
    }
}
