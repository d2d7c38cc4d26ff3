//! "Here is a track and a server; race it, and keep what came out."
//!
//! [`run`] conducts one race from the track's files to the stored `race.json`.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use thiserror::Error;

use crate::arguments::ArgumentError;
use crate::drive::api_keys::ApiKeys;
use crate::drive::client::OnError;
use crate::drive::cluster::Cluster;
use crate::drive::driver::{DriveConfig, DriveProgress, Driven, PlannedSchedule, Target, TaskResult};
use crate::drive::error::DriveError;
use crate::drive::http::Address;
use crate::drive::machine::MachineReading;
use crate::drive::measured_time::too_short;
use crate::drive::measurements::{ServerUse, measurements};
use crate::drive::protocol::Protocol;
use crate::drive::results::results;
use crate::drive::server_process::ServerReading;
use crate::drive::telemetry::watch::WatchPlan;
use crate::drive::telemetry::{Environment, Telemetry};
pub use crate::hosts::ClientOptions;
use crate::hosts::resolve;
use crate::live::{Heading, TaskNow};
use crate::load::{self, LoadError, TrackSpec};
use crate::model::{Challenge, Params, Track};
use crate::report::measurements::{RunPlace, TaskMeasurements, Warning, WarningKind};
use crate::report::{
    Car, Measurements, Race, RaceFilter, RaceStore, Results, Scope, StoreError, race, scope,
};
use crate::timeline::recording::Recording;
pub use crate::watch::WatchConfig;
use crate::watch::{self, Kept, Watch};

#[derive(Debug, Error)]
pub enum RaceError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot write the report: {0}")]
    Report(#[from] std::io::Error),
    /// A file or folder in which something is kept cannot be read or written.
    #[error("[{}]: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    /// A file that the user wants written cannot be.
    #[error("cannot write [{}]: {source}", path.display())]
    Unwritable { path: PathBuf, source: std::io::Error },
    /// The command line asks for something impossible.
    #[error("{0}")]
    Arguments(String),
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The server that was to be raced does not start.
    #[error("the server does not start: {0}")]
    Server(String),
    /// A comparison found what `--fail-if-worse` asks about.
    #[error("{0}")]
    Worse(String),
}

/// The car of a server that was already running.
pub const EXTERNAL_CAR: &str = "external";

/// What to race, where, and how.
#[derive(Debug, Clone)]
pub struct RaceConfig {
    pub track: TrackSpec,
    /// `host:port` of every node to send to.
    pub hosts: Vec<String>,
    /// Rally's word for the server's configuration: [`EXTERNAL_CAR`] for one that was already running.
    pub car: String,
    /// What the server was started with, if the race started it.
    pub car_params: Option<Params>,
    pub client: ClientOptions,
    pub watch: WatchConfig,
    pub on_error: OnError,
    pub checks_assertions: bool,
    pub race_id: String,
    pub user_tags: Params,
    pub provenance: Provenance,
    pub store: RaceStore,
    /// Set by a signal handler to end the race.
    pub is_cancelled: Arc<AtomicBool>,
}

impl RaceConfig {
    /// A race with the defaults of the command, on a server that was already running; its hosts are still to be given.
    pub fn new(track: TrackSpec, store: RaceStore, race_id: String) -> RaceConfig {
        RaceConfig {
            track,
            hosts: Vec::new(),
            car: EXTERNAL_CAR.to_owned(),
            car_params: None,
            client: ClientOptions::default(),
            watch: WatchConfig::default(),
            on_error: OnError::Continue,
            checks_assertions: false,
            race_id,
            user_tags: Params::new(),
            provenance: Provenance::default(),
            store,
            is_cancelled: Arc::default(),
        }
    }
}

/// Where a race comes from: what the server was started with, and the race's place among those of one run.
#[derive(Debug, Clone, Default)]
pub struct Provenance {
    pub place: Option<RunPlace>,
    /// Of a server that this tool started.
    pub engine_settings: Params,
    /// Whether the server was started for this race alone: its peak of memory is the race's.
    pub is_fresh_server: bool,
    /// The race's timestamp in seconds since 1970, where it is not now.
    pub started_s: Option<i64>,
}

/// Who watches a race.
pub trait Progress: DriveProgress {
    /// Something worth knowing that is no problem.
    fn note(&mut self, line: &str);
    /// Something that makes the figures doubtful.
    fn warn(&mut self, line: &str);
    /// What is raced, before its first step.
    fn race_started(&mut self, _race: &Heading) {}
    /// The tasks of the step that ends, with their figures over the whole task.
    fn measured(&mut self, _tasks: &[TaskNow]) {}
    /// How the tasks of the running step go, five times a second.
    fn running(&mut self, _tasks: &[TaskNow]) {}
}

/// A finished race.
#[derive(Debug)]
pub struct RaceOutcome {
    pub race: Race,
    pub results: Results,
    pub measurements: Measurements,
    pub file: PathBuf,
    /// The last stored race of the same track, challenge, documents and tasks, to compare with.
    pub previous_race_id: Option<String>,
    /// Whether the user ended it: what was measured until then is kept.
    pub is_interrupted: bool,
    /// What went wrong in each task that had errors: (task, lines).
    pub errors: Vec<(String, Vec<String>)>,
}

impl RaceOutcome {
    /// Errors: `Interrupted` for one that the user ended.
    pub fn whole(self) -> Result<RaceOutcome, DriveError> {
        if self.is_interrupted { Err(DriveError::Interrupted) } else { Ok(self) }
    }
}

/// Races a track once. Blocks until the race is over and stored.
pub fn run(mut config: RaceConfig, progress: &mut dyn Progress) -> Result<RaceOutcome, RaceError> {
    let folder = config.store.race_folder(&config.race_id)?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let headers = config.client.header_lines(None);
    let hosts = resolve(&config.hosts, &config.client)?;
    config.client.warnings.iter().for_each(|warning| progress.warn(warning));
    let mut cluster = Cluster::new(&hosts, &headers, config.client.timeout)?;
    let is_unasked = config.client.static_responses.is_some();
    if is_unasked {
        config.watch.telemetry = WatchPlan::none();
    }
    let is_awaited = !is_unasked && !config.watch.skips_rest_api_check;
    if is_awaited {
        wait_for(&mut cluster, &config.is_cancelled, progress)?;
    }
    let others = watch::other_clusters(&config.watch.other_clusters, &mut |cluster, warnings| {
        warnings.iter().for_each(|warning| progress.warn(warning));
        if is_awaited { wait_for(cluster, &config.is_cancelled, progress) } else { Ok(()) }
    })?;
    let info = match is_awaited {
        true => cluster.known_info()?,
        false if is_unasked => serde_json::Value::Null,
        false => cluster.info().unwrap_or_default(),
    };

    fit_to_server(&mut config.track, &info);
    let track = load::load(&config.track, &mut Lines { progress, line: Vec::new() })?;
    let challenge = load::challenge(&track, config.track.challenge.as_deref())?;
    let mut drive = drive_config(&config, hosts.clone(), headers, &info, started);
    let schedule = PlannedSchedule::new(&track, &challenge.schedule, &drive)?;
    let heading =
        format!("Racing on track [{}], challenge [{}] and car [{}]", track.name, challenge.name, config.car);
    let telemetry = if is_unasked { Telemetry::off() } else { Telemetry::start(&mut cluster, &info) };
    let environment = telemetry.environment().clone();
    progress
        .note(&format!("{heading} with version [{}].", environment.version.as_deref().unwrap_or("unknown")));
    progress.race_started(&Heading {
        race_id: config.race_id.clone(),
        track: track.name.clone(),
        challenge: challenge.name.clone(),
        car: config.car.clone(),
        version: environment.version.clone(),
        hosts: hosts.iter().map(|host| host.authority.clone()).collect(),
        steps_count: challenge.schedule.len(),
    });
    schedule.warnings.iter().chain(&telemetry.warnings).for_each(|warning| progress.warn(warning));

    let keys = match config.client.creates_api_keys {
        true => ApiKeys::create(&mut cluster, schedule.clients_max())?,
        false => ApiKeys::default(),
    };
    let started_s = || i64::try_from(started.as_secs()).unwrap_or(i64::MAX);
    let timestamp = race::timestamp(config.provenance.started_s.unwrap_or_else(started_s));
    let ids = (config.race_id.as_str(), timestamp.as_str());
    let context =
        Arc::new(watch::race_context(ids, &track, challenge, &config.car, &config.user_tags, &environment));
    let clusters: Vec<_> =
        std::iter::once(watch::raced_cluster(&drive.target, &info)).chain(others).collect();
    let mut watch = Watch::start(&config.watch, &clusters, (&track, challenge), &folder, &context)
        .map_err(DriveError::Cluster)?;
    drive.samples = watch.samples();
    let with_key = |key: &String| config.client.header_lines(Some(key));
    drive.target.client_headers = keys.authorizations.iter().map(with_key).collect();
    let read_server = |cluster: &mut Cluster| match is_unasked {
        true => ServerReading::default(),
        false => ServerReading::now(cluster, &hosts),
    };
    let server_before = read_server(&mut cluster);
    let machine_before = MachineReading::now();
    let driven =
        recorded(&config, progress, |recording| schedule.run(&drive, &config.is_cancelled, recording));
    let machine = MachineReading::now().since(&machine_before);
    if let Err(left) = keys.delete(&mut cluster) {
        progress.warn(&left);
    }
    let Driven { mut tasks, interrupted_in } = driven?;
    let server = ServerUse {
        before: server_before,
        after: read_server(&mut cluster),
        is_fresh: config.provenance.is_fresh_server,
    };
    let sampled = watch.end_sampling();
    let (mut system, warnings) = telemetry.stop(&mut cluster);
    sampled.notes.iter().for_each(|note| progress.note(note));
    sampled.warnings.iter().chain(&warnings).for_each(|warning| progress.warn(warning));
    system.watched = sampled.results;
    let results = results(&track, challenge, &mut tasks, &system);
    let mut measurements = Measurements {
        race_id: config.race_id.clone(),
        place: config.provenance.place.clone(),
        hosts: config.hosts.clone(),
        engine_settings: config.provenance.engine_settings.clone(),
        ..measurements(&mut tasks, &machine, &server)
    };
    add_warnings(&mut measurements, &tasks, interrupted_in.as_deref(), config.track.test_mode);
    measurements.warnings.iter().for_each(|warning| progress.warn(&warning.line()));

    let mut race = record(&config, timestamp, &track, challenge, environment);
    race.set_results(&results);
    let is_interrupted = interrupted_in.is_some();
    race.scope = Some(Scope { interrupted: is_interrupted, ..Scope::of(&config.track, &track) });
    let previous = previous(&config.store, &race)?;
    let file = config.store.save(&race)?;
    config.store.save_measurements(&measurements)?;
    watch.keep(&race, &system, &mut |kept| match kept {
        Kept::Note(note) => progress.note(&note),
        Kept::Warning(warning) => progress.warn(&warning),
    });
    let errors = errors(&tasks);
    Ok(RaceOutcome { race, results, measurements, file, previous_race_id: previous, is_interrupted, errors })
}

/// What makes the whole race doubtful, before what is doubtful of its parts.
fn add_warnings(
    measurements: &mut Measurements,
    tasks: &[TaskResult<'_>],
    interrupted_in: Option<&str>,
    test_mode: bool,
) {
    let is_reported = |measured: &TaskMeasurements| {
        tasks
            .iter()
            .any(|result| result.task.name == measured.task && result.task.operation.include_in_reporting)
    };
    let interrupted = interrupted_in.map(|names| Warning {
        kind: WarningKind::Interrupted,
        task: None,
        text: format!("The race was interrupted while [{names}] ran: figures are of what ran until then."),
    });
    // Nobody takes the figures of test mode for any.
    let too_short = if test_mode { None } else { too_short(&measurements.tasks, is_reported) };
    measurements.warnings.splice(0..0, interrupted.into_iter().chain(too_short));
}

/// Lets the server choose what the user did not.
fn fit_to_server(track: &mut TrackSpec, info: &Value) {
    if let Some(flavor) = info["version"]["build_flavor"].as_str() {
        track.build_flavor = flavor.to_owned();
    }
    // As in Rally, the server's version chooses the branch of a track repository.
    if track.distribution_version.is_none() {
        track.distribution_version = info["version"]["number"].as_str().map(str::to_owned);
    }
}

/// `info`: the server's answer to `GET /`; `started`: since the epoch.
fn drive_config(
    config: &RaceConfig,
    hosts: Vec<Address>,
    headers: String,
    info: &Value,
    started: Duration,
) -> DriveConfig {
    DriveConfig {
        target: Target {
            hosts,
            protocol: Protocol::for_server(info),
            headers,
            client_headers: Vec::new(),
            timeout: config.client.timeout,
            compresses: config.client.compresses,
            retries: config.client.retries.clone(),
        },
        on_error: config.on_error,
        checks_assertions: config.checks_assertions,
        keeps_meta: config.watch.reporting.wants_metrics(),
        workers_max: std::thread::available_parallelism().map_or(1, usize::from),
        seed: started.as_nanos() as u64,
        samples: None,
    }
}

/// What `race.json` says, but for the results.
fn record(
    config: &RaceConfig,
    timestamp: String,
    track: &Track,
    challenge: &Challenge,
    environment: Environment,
) -> Race {
    Race {
        rally_version: format!("limber {}", env!("CARGO_PKG_VERSION")),
        rally_revision: None,
        environment: "local".into(),
        race_id: config.race_id.clone(),
        race_timestamp: timestamp,
        pipeline: "benchmark-only".into(),
        user_tags: config.user_tags.clone(),
        track: track.name.clone(),
        car: Car::List(vec![config.car.clone()]),
        cluster: described(environment),
        results: None,
        track_revision: track.revision.clone(),
        challenge: Some(challenge.name.clone()),
        track_params: Some(track.params.clone()),
        car_params: config.car_params.clone(),
        plugin_params: None,
        scope: None,
    }
}

/// The last stored race of the same track, challenge, documents and tasks.
fn previous(store: &RaceStore, race: &Race) -> Result<Option<String>, StoreError> {
    let same = RaceFilter {
        track: Some(race.track.clone()),
        challenge: race.challenge.clone(),
        ..RaceFilter::default()
    };
    let is_alike = |other: &Race| {
        other.race_id != race.race_id && other.scope.is_some() && scope::differences(other, race).is_empty()
    };
    Ok(store.list(&same)?.into_iter().find(is_alike).map(|other| other.race_id))
}

/// Drives while the course is recorded.
///
/// Errors: the race's folder cannot be written, or what ended the race.
fn recorded<T>(
    config: &RaceConfig,
    progress: &mut dyn Progress,
    drive: impl FnOnce(&mut Recording<'_>) -> Result<T, DriveError>,
) -> Result<T, RaceError> {
    let folder = config.store.race_folder(&config.race_id)?;
    let mut recording = Recording::start(&folder, &config.race_id, progress)
        .map_err(|source| RaceError::Folder { path: folder, source })?;
    let driven = drive(&mut recording)?;
    if let Err(error) = recording.finish() {
        progress.warn(&format!("The timeline is not whole, plots will end early: {error}"));
    }
    Ok(driven)
}

fn wait_for(
    cluster: &mut Cluster,
    is_cancelled: &AtomicBool,
    progress: &mut dyn Progress,
) -> Result<(), DriveError> {
    cluster.wait_for_rest_layer(is_cancelled, &mut |reason| {
        progress.note(&format!("Waiting up to two minutes for the server: {reason}"));
    })
}

fn described(environment: Environment) -> crate::report::Cluster {
    crate::report::Cluster {
        revision: Some(environment.revision).filter(|text| !text.is_empty()),
        distribution_version: environment.version,
        distribution_flavor: Some(environment.flavor).filter(|text| !text.is_empty()),
        team_revision: None,
    }
}

fn errors(tasks: &[TaskResult<'_>]) -> Vec<(String, Vec<String>)> {
    let failed = tasks.iter().filter(|result| result.statistics.failures() > 0);
    failed.map(|result| (result.task.name.clone(), result.statistics.error_lines())).collect()
}

/// A new race id: a random (version 4) UUID.
pub fn new_race_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    // Each `RandomState` is keyed from the operating system's randomness.
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    let bits = (u128::from(random()) << 64) | u128::from(random());
    let bits = (bits & !(0xF << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Hands whole lines of the loader's log on as notes.
struct Lines<'a> {
    progress: &'a mut dyn Progress,
    line: Vec<u8>,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            if *byte == b'\n' {
                self.progress.note(&String::from_utf8_lossy(&self.line));
                self.line.clear();
            } else {
                self.line.push(*byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn race_ids_are_version_4_uuids() {
        let id = new_race_id();
        assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
        assert!(matches!(&id[19..20], "8" | "9" | "a" | "b"), "{id}");
        assert_ne!(id, new_race_id());
    }
}
