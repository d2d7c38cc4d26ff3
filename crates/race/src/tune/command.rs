//! `limber tune`: its arguments, and what it prints.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::experiment::Experiment;
use super::halving::{BASELINE, Outcome, Plan, Search, candidates_max, search};
use super::ledger::{Entry, Ledger};
use super::page::page;
use super::report::Findings;
use super::space::{Candidate, Knob};
use super::trial::Racer;
use crate::advise::own_usable_bytes;
use crate::arguments::parse;
use crate::cli::{
    EngineArguments, HostArguments, TrackArguments, cancel_on_interrupt, console, folder, printed,
};
use crate::conduct::config::RaceConfig;
use crate::conduct::live::Progress;
use crate::conduct::race::new_race_id;
use crate::conduct::series::Warnings;
use crate::conduct::watch::WatchConfig;
use crate::error::Error;
use crate::notation::shown::in_unit;
use crate::record::RaceStore;
use crate::server::engine::{EngineSpec, ServerProvider};
use crate::server::hosts::DEFAULT_CLUSTER;
use crate::track::load;

/// Find the setting that serves a goal best, with evidence
///
/// Races a track under settings of your choice on a server that is started anew for each race, gives up what
/// loses (sequential halving), and races the best against the baseline until the statistics tell them apart
/// or the budget is spent. Prints the best setting with its evidence, how much each knob matters, and what
/// the goal costs in memory. The first value of each knob is the baseline.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  limber tune --goal docs/s --knob track:bulk_size=250..8000/6 --knob memory-limit=128mb,256mb,512mb
  limber tune --track segment_memory --goal 'p99 of query' --knob engine:indices.segment_memory.off_heap.size=1%,5%,20%
  limber tune --goal docs/s --constraint 'peak_memory <= 2gb' --engine ~/elasticsearch-9.4.3 --knob heap=512m,1g,2g --knob 'jvm=,-XX:+UseParallelGC'
  limber tune experiments/index_buffer.json
  limber tune --resume ID")]
pub struct TuneCommand {
    /// Experiment: a JSON file with the same settings as the options, which override it (docs/experiments.md)
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: Option<PathBuf>,
    /// What to look for: docs/s, 'p99 of TASK', peak_memory, server_cpu, or a figure such as
    /// 'service_time.p50 of TASK'
    #[arg(long, value_name = "GOAL")]
    pub goal: Option<String>,
    /// A bound that a setting has to keep, such as 'peak_memory <= 1gb' or 'error_rate of TASK <= 0'. Can be
    /// given several times
    #[arg(long, value_name = "BOUND")]
    pub constraint: Vec<String>,
    /// A knob with its values: NAME=V1,V2,... or NAME=LOW..HIGH/STEPS, with NAME one of engine:<setting>,
    /// memory-limit, heap, jvm, index:<setting>, bulk-size, clients:<task>, track:<parameter>. Can be given
    /// several times
    #[arg(long, value_name = "KNOB")]
    pub knob: Vec<String>,
    /// Races in all [default: 60]
    #[arg(long, value_name = "RACES")]
    pub budget: Option<usize>,
    /// Corrected p-value up to which a difference counts as shown [default: 0.05]
    #[arg(long, value_name = "P")]
    pub significance: Option<f64>,
    /// Decides the order of races, and which combinations are tried when there are too many [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Spend the whole budget, even when the best setting is shown before
    #[arg(long)]
    pub whole_budget: bool,
    /// Go on with a search that was interrupted
    #[arg(long, value_name = "ID", conflicts_with_all = ["experiment", "goal", "constraint", "knob", "budget", "seed", "significance"])]
    pub resume: Option<String>,
    /// Id of the search [default: a random one]
    #[arg(long, value_name = "ID")]
    pub tune_id: Option<String>,
    /// Print what would be raced, and race nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Which track, which challenge of it, and with which parameters.
    #[command(flatten)]
    pub track: TrackArguments,
    /// Your own documents for the built-in track
    #[arg(long, value_name = "FILE")]
    pub corpus: Option<PathBuf>,
    /// Race only these tasks, separated by commas
    #[arg(long, value_name = "TASKS", value_delimiter = ',')]
    pub include_tasks: Vec<String>,
    #[command(flatten)]
    pub(crate) hosts: HostArguments,
    #[command(flatten)]
    pub(crate) engine: EngineArguments,
    /// Check that it runs: few documents, few iterations, no figures worth keeping
    #[arg(long)]
    pub test_mode: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
}

/// The drawings of a finished search.
#[derive(Debug)]
pub(super) struct Drawings {
    /// Memory against the goal, if the memory is known.
    pub tradeoff: Option<String>,
    /// The whole report as HTML.
    pub page: String,
}

impl TuneCommand {
    /// Searches, prints the report, and prints where it is stored.
    pub fn run(&self, provider: &dyn ServerProvider) -> Result<(), Error> {
        let home = folder()?;
        let id = self.resume.clone().or_else(|| self.tune_id.clone()).unwrap_or_else(new_race_id);
        let mut console = console::Console::new(self.quiet, None);
        let (findings_text, drawings, ledger) = self.search_in(&home, &id, provider, &mut console)?;
        printed(std::io::Write::write_all(&mut std::io::stdout().lock(), findings_text.as_bytes()))?;
        if let Some(ledger) = ledger {
            ledger.write("report.md", &findings_text)?;
            if let Some(drawings) = drawings {
                if let Some(picture) = drawings.tradeoff {
                    ledger.write("tradeoff.svg", &picture)?;
                }
                let path = ledger.write("report.html", &drawings.page)?;
                console.note(&format!("The report as a page, for a browser: [{}].", path.display()));
            }
            console.note(&format!("The search is kept in [{}].", ledger.folder().display()));
        }
        Ok(())
    }

    /// Returns what would be raced (`--dry-run`). `home` is the tool's folder.
    ///
    /// # Errors
    /// Whatever would stop the search before its first race.
    pub fn plan(&self, home: &Path) -> Result<String, Error> {
        let experiment = Experiment::new(self.json(home)?, own_usable_bytes())?;
        let engine = self.engine_spec(&experiment)?;
        self.config(home, "dry-run", &experiment, engine.is_some())?;
        let candidates = experiment.space.candidates(candidates_max(experiment.budget), experiment.seed);
        Ok(listed(&experiment, &candidates))
    }

    /// Returns the report and the drawings, and the ledger that stores them (`None` after a dry run).
    pub(super) fn search_in(
        &self,
        home: &Path,
        id: &str,
        provider: &dyn ServerProvider,
        progress: &mut dyn Progress,
    ) -> Result<(String, Option<Drawings>, Option<Ledger>), Error> {
        if self.dry_run {
            return Ok((self.plan(home)?, None, None));
        }
        let experiment = Experiment::new(self.json(home)?, own_usable_bytes())?;
        let engine = self.engine_spec(&experiment)?;
        let config = self.config(home, id, &experiment, engine.is_some())?;
        let candidates = experiment.space.candidates(candidates_max(experiment.budget), experiment.seed);
        let mut ledger = Ledger::open(home, id)?;
        if self.resume.is_none() && !ledger.recorded().is_empty() {
            return Err(Error::Argument(format!("search [{id}] exists already; --resume {id} continues it")));
        }
        ledger.write("experiment.json", &pretty(&experiment.json))?;
        progress.note(&format!(
            "Search [{id}]: {} settings, at most {} races. Interrupted, it goes on with: limber tune --resume {id}",
            candidates.len(),
            experiment.budget
        ));
        let racer = Racer {
            experiment: &experiment,
            candidates: &candidates,
            config: &config,
            engine: engine.as_ref(),
            provider,
            tune_id: id,
        };
        let plan = Plan {
            budget: experiment.budget,
            significance: experiment.significance,
            seed: experiment.seed,
            direction: experiment.goal.direction(),
            stops_early: !self.whole_budget,
        };
        let found = searched(&racer, &plan, &mut ledger, progress)?;
        let findings = Findings {
            experiment: &experiment,
            candidates: &candidates,
            search: &found,
            direction: plan.direction,
            unit: experiment.goal.unit(),
        };
        let mut text = findings.text();
        if let Some(other) = found.ranking.iter().find(|finalist| **finalist != BASELINE) {
            text.push_str(&format!(
                "Against the baseline in all other figures: limber compare --baseline-tags 'tune:{id},candidate:c{BASELINE}' \
                 --contender-tags 'tune:{id},candidate:c{other}'\n",
            ));
        }
        let drawings = Drawings { tradeoff: findings.picture(), page: page(&findings) };
        Ok((text, Some(drawings), Some(ledger)))
    }

    /// Returns the experiment as it was recorded, or as the user asks for it.
    fn json(&self, home: &Path) -> Result<Map<String, Value>, Error> {
        match &self.resume {
            Some(id) => recorded_experiment(home, id),
            None => self.merged(),
        }
    }

    /// Returns the contents of the experiment file, overridden by the command-line options.
    fn merged(&self) -> Result<Map<String, Value>, Error> {
        let mut json = match &self.experiment {
            Some(path) => read_experiment(path)?,
            None => Map::new(),
        };
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                json.insert(name.to_owned(), value);
            }
        };
        let list = |items: &[String]| (!items.is_empty()).then(|| json!(items));
        let object = |text: &Option<String>| -> Result<Option<Value>, Error> {
            Ok(text.as_deref().map(parse).transpose()?.map(Value::Object))
        };
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| json!(path.to_string_lossy()));
        set("goal", self.goal.as_ref().map(|goal| json!(goal)));
        set("constraints", list(&self.constraint));
        if !self.knob.is_empty() {
            let knobs = self.knob.iter().map(|text| Knob::parse(text)).collect::<Result<Vec<_>, _>>()?;
            let knobs: Vec<Value> =
                knobs.iter().map(|knob| json!({"knob": knob.name, "values": knob.values})).collect();
            set("knobs", Some(json!(knobs)));
        }
        set("budget", self.budget.map(|budget| json!(budget)));
        set("significance", self.significance.map(|level| json!(level)));
        set("seed", self.seed.map(|seed| json!(seed)));
        set("track", self.track.track.as_ref().map(|track| json!(track)));
        set("track-path", path(&self.track.track_path));
        set("track-repository", path(&self.track.repository.track_repository));
        set("challenge", self.track.challenge.as_ref().map(|challenge| json!(challenge)));
        set("track-params", object(&self.track.track_params)?);
        set("include-tasks", list(&self.include_tasks));
        set("corpus", path(&self.corpus));
        set("test-mode", self.test_mode.then(|| json!(true)));
        set("target-hosts", self.hosts.target_hosts.as_ref().map(|hosts| json!(hosts)));
        set("engine", self.engine.engine.as_ref().map(|engine| json!(engine)));
        set("engine-setting", object(&self.engine.engine_setting)?);
        set("memory-limit", self.engine.memory_limit.as_ref().map(|limit| json!(limit)));
        set("heap", self.engine.heap.as_ref().map(|heap| json!(heap)));
        set("jvm-option", list(&self.engine.jvm_option));
        Ok(json)
    }

    /// Returns the server to start for each race; `None` when a running host is raced.
    fn engine_spec(&self, experiment: &Experiment) -> Result<Option<EngineSpec>, Error> {
        if self.engine.preserve_install {
            return Err(Error::Argument(
                "--preserve-install goes with a single race: tune starts a server for each".into(),
            ));
        }
        let json = &experiment.json;
        let arguments = EngineArguments {
            engine: text(json, "engine")?,
            engine_setting: json.get("engine-setting").map(Value::to_string),
            memory_limit: text(json, "memory-limit")?,
            heap: text(json, "heap")?,
            jvm_option: texts(json, "jvm-option")?,
            preserve_install: false,
        };
        let spec = arguments.spec(json.contains_key("target-hosts"))?;
        let knob = experiment.space.knobs.iter().find(|knob| knob.target.is_of_engine());
        match (&spec, knob) {
            (None, Some(knob)) => Err(Error::Argument(format!(
                "knob [{}] needs a server that is started for each race; leave --target-hosts out",
                knob.name
            ))),
            _ => Ok(spec),
        }
    }

    fn config(
        &self,
        home: &Path,
        id: &str,
        experiment: &Experiment,
        is_started: bool,
    ) -> Result<RaceConfig, Error> {
        let json = &experiment.json;
        let mut arguments = self.track.clone();
        arguments.track = text(json, "track")?;
        arguments.track_path = text(json, "track-path")?.map(PathBuf::from);
        arguments.repository.track_repository = text(json, "track-repository")?.map(PathBuf::from);
        arguments.challenge = text(json, "challenge")?;
        arguments.track_params = json.get("track-params").map(Value::to_string);
        let corpus = text(json, "corpus")?.map(PathBuf::from);
        let mut track = arguments.spec(corpus.as_deref())?;
        track.test_mode = json.get("test-mode").and_then(Value::as_bool).unwrap_or(false);
        track.include_tasks = texts(json, "include-tasks")?;
        track.data_root = Some(home.join("benchmarks").join("data"));
        let mut hosts = self.hosts.clone();
        hosts.target_hosts = text(json, "target-hosts")?;
        let mut clusters = hosts.clusters(is_started.then_some(DEFAULT_CLUSTER))?;
        let raced = clusters.remove(0);
        // Find out that a track does not load before a server is started.
        if !matches!(track.source, load::TrackSource::Repository { .. }) {
            load::read(&track)?;
        }
        Ok(RaceConfig {
            hosts: if is_started { Vec::new() } else { raced.hosts },
            client: raced.options,
            watch: WatchConfig { other_clusters: clusters, ..WatchConfig::default() },
            is_cancelled: cancel_on_interrupt(),
            ..RaceConfig::new(track, RaceStore::new(home), id.to_owned())
        })
    }
}

/// Runs the races that are not recorded yet.
fn searched(
    racer: &Racer<'_>,
    plan: &Plan,
    ledger: &mut Ledger,
    progress: &mut dyn Progress,
) -> Result<Search, Error> {
    let mut warnings = Warnings::default();
    let known_count = ledger.recorded().len();
    let mut race = |candidate: usize, position: usize| {
        let settings = racer.experiment.space.settings(&racer.candidates[candidate]);
        if let Some(entry) = ledger.recorded().get(position) {
            if (entry.candidate, &entry.settings) != (candidate, &settings) {
                return Err(Error::Argument(format!(
                    "race {} of the search had another setting: the search was recorded by another version; start a new one",
                    position + 1
                )));
            }
            return Ok(entry.outcome());
        }
        let described = racer.experiment.space.described(&racer.candidates[candidate]);
        let (race_id, outcome) = racer.race(candidate, position, &mut warnings.collected(progress))?;
        let shown = match &outcome {
            Outcome::Measured { goal, .. } => in_unit(*goal, racer.experiment.goal.unit()),
            Outcome::Failed(reason) => format!("failed: {reason}"),
        };
        progress.note(&format!("Race {} of at most {}: {described}: {shown}", position + 1, plan.budget));
        ledger.append(Entry::new(candidate, settings, race_id, &outcome))?;
        Ok(outcome)
    };
    let found = search(racer.candidates.len(), plan, &mut race)?;
    let races_count = found.trials.len().saturating_sub(known_count);
    warnings.lines(races_count).iter().for_each(|line| progress.warn(line));
    Ok(found)
}

fn recorded_experiment(home: &Path, id: &str) -> Result<Map<String, Value>, Error> {
    match Ledger::open(home, id)?.experiment()? {
        Some(Value::Object(json)) => Ok(json),
        _ => Err(Error::Argument(format!("there is no search [{id}] to resume"))),
    }
}

fn read_experiment(path: &Path) -> Result<Map<String, Value>, Error> {
    let refused = |reason: String| Error::Argument(format!("experiment [{}]: {reason}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(json)) => Ok(json),
        Ok(_) => Err(refused("it must be a JSON object".to_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}

fn text(json: &Map<String, Value>, name: &str) -> Result<Option<String>, Error> {
    match json.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(Error::Argument(format!("[{name}] must be a text but is {other}"))),
    }
}

fn texts(json: &Map<String, Value>, name: &str) -> Result<Vec<String>, Error> {
    let wrong = || Error::Argument(format!("[{name}] must be a list of texts"));
    match json.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn pretty(json: &Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(json.clone()))
}

/// Returns what a dry run prints.
fn listed(experiment: &Experiment, candidates: &[Candidate]) -> String {
    let mut text = format!(
        "Goal: {}. {} of {} combinations, at most {} races. The first is the baseline.\n\n",
        experiment.goal.text,
        candidates.len(),
        experiment.space.size(),
        experiment.budget
    );
    for candidate in candidates {
        text.push_str(&format!("- {}\n", experiment.space.described(candidate)));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::conduct::series::tests::{Notes, Stubs};

    #[derive(Debug, Parser)]
    struct Root {
        #[command(flatten)]
        command: TuneCommand,
    }

    fn command(line: &[&str]) -> TuneCommand {
        Root::try_parse_from([&["tune"], line].concat()).unwrap().command
    }

    /// Runs a whole search on a server that answers everything at once: settings arrive, races are stored,
    /// and a search is resumed.
    #[test]
    fn settings_reach_the_server_and_a_search_goes_on() {
        let home = tempfile::tempdir().unwrap();
        let provider = Stubs::new();
        let line = [
            "--goal=race.segment_count",
            "--knob=memory-limit=64mb,1b,128mb",
            "--knob=bulk-size=50,100",
            "--knob=index:codec=best_compression",
            "--knob=clients:bulk=2",
            "--test-mode",
            "--budget=24",
            "--quiet",
        ];
        let mut notes = Notes::default();
        let tune = command(&line);
        let (text, drawings, ledger) = tune.search_in(home.path(), "t1", &provider, &mut notes).unwrap();
        let page = drawings.expect("a finished search is drawn").page;
        assert!(page.contains("Evidence by rung") && page.contains("<h3>Final</h3>"), "{page}");
        // Every setting has the same number of segments.
        assert!(text.contains("No setting is shown to be the best."), "{text}");
        assert!(text.contains("too little memory"), "{text}");
        assert!(text.contains("no difference shown"), "{text}");
        let limits: Vec<Option<String>> =
            provider.asked.borrow().iter().map(|spec| spec.memory_limit.clone()).collect();
        assert!(limits.contains(&Some("64mb".into())) && limits.contains(&Some("128mb".into())));
        let lines = provider.stub.asked();
        let create = lines.iter().find(|asked| asked.line().starts_with("PUT /log_ingest")).unwrap();
        assert!(create.body.contains(r#""index.codec":"best_compression""#), "{}", create.body);
        let sizes: Vec<usize> = lines
            .iter()
            .filter(|asked| asked.target.starts_with("/_bulk"))
            .map(|asked| asked.body.lines().count() / 2)
            .collect();
        assert!(
            sizes.contains(&50) && sizes.contains(&100) && !sizes.iter().any(|size| *size > 100),
            "{sizes:?}"
        );

        // The ledger loses its last lines, as after an interrupt. Only these races are repeated.
        let ledger = ledger.unwrap();
        let (races, folder) = (ledger.recorded().len(), ledger.folder().to_owned());
        assert!(races <= 24);
        let trials = folder.join("trials.ndjson");
        let kept: String = std::fs::read_to_string(&trials)
            .unwrap()
            .lines()
            .take(races - 2)
            .map(|line| format!("{line}\n"))
            .collect();
        std::fs::write(&trials, kept).unwrap();
        let started = provider.asked.borrow().len();
        let (_, _, again) =
            command(&["--resume=t1", "--quiet"]).search_in(home.path(), "t1", &provider, &mut notes).unwrap();
        assert_eq!(again.unwrap().recorded().len(), races);
        assert_eq!(provider.asked.borrow().len(), started + 2);
    }

    /// With bulks of 1,000, the documents are used up within the warm-up. That setting loses, and the search
    /// continues, also after it is resumed.
    #[test]
    fn a_setting_that_measures_nothing_is_given_up() {
        let home = tempfile::tempdir().unwrap();
        let provider = Stubs::new();
        let line = [
            "--goal=docs/s",
            "--challenge=high-concurrency",
            "--knob=bulk-size=10,1000",
            "--test-mode",
            "--budget=8",
        ];
        for line in [&line[..], &["--resume=t3"]] {
            let tune = command(line);
            let (text, ..) = tune.search_in(home.path(), "t3", &provider, &mut Notes::default()).unwrap();
            assert!(text.contains("task [bulk] ended within its warm-up"), "{text}");
            assert!(text.contains("The only setting that came to the final: bulk-size=10"), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_searched_is_refused_before_a_server_starts() {
        let home = tempfile::tempdir().unwrap();
        let provider = Stubs::new();
        let refused = |line: &[&str], part: &str| {
            let error = command(line)
                .search_in(home.path(), "t", &provider, &mut Notes::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{error}");
        };
        refused(&["--knob=bulk-size=1,2"], "goal is missing");
        refused(&["--goal=docs/s"], "nothing to try");
        refused(&["--goal=docs/s", "--knob=heap=1g,2g", "--target-hosts=a:1"], "leave --target-hosts out");
        refused(&["--goal=docs/s", "--knob=bulk-size=1,2", "--track=no-such-track"], "no-such-track");
        refused(&["--resume=never"], "no search [never]");
        refused(&["no-such-file.json"], "no-such-file.json");
        assert!(provider.asked.borrow().is_empty());
        let dry = command(&["--goal=docs/s", "--knob=bulk-size=1,2", "--dry-run"]);
        let (text, _, ledger) = dry.search_in(home.path(), "t", &provider, &mut Notes::default()).unwrap();
        assert!(
            text.contains("2 of 2 combinations") && text.contains("- bulk-size=2") && ledger.is_none(),
            "{text}"
        );
    }
}
