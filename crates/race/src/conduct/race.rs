//! Races a track on a server, and stores the results.
//!
//! [`run`] executes one race from the track's files to the stored `race.json`, in five phases: connect, load,
//! plan, drive, keep.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::conduct::config::RaceConfig;
use crate::conduct::live::recording::Recording;
use crate::conduct::live::{Heading, Progress};
use crate::conduct::loading;
use crate::conduct::watch::{self, Kept, Watch};
use crate::drive::api_keys::ApiKeys;
use crate::drive::conditions::machine::{MachineReading, MachineUse};
use crate::drive::conditions::measured_time::too_short;
use crate::drive::conditions::server_process::ServerReading;
use crate::drive::driver::{DriveConfig, Driven, PlannedSchedule, Target, TaskResult};
use crate::drive::measurements::{ServerUse, measurements};
use crate::drive::results::results;
use crate::drive::telemetry::watch::{WatchPlan, Watched};
use crate::drive::telemetry::{Environment, SystemMetrics, Telemetry};
use crate::error::Error;
use crate::http::Address;
use crate::http::cluster::Cluster;
use crate::model::{Challenge, Track};
use crate::protocol::Protocol;
use crate::record::measurements::{TaskMeasurements, Warning, WarningKind};
use crate::record::{
    Car, Measurements, Race, RaceFilter, RaceStore, Results, Scope, StoreError, race, scope,
};
use crate::server::hosts::resolve;
use crate::track::load::{self, Loaded, TrackSpec};
use crate::track::plugin::Plugin;

/// A finished race.
#[derive(Debug)]
pub(crate) struct RaceOutcome {
    pub race: Race,
    pub results: Results,
    pub measurements: Measurements,
    pub file: PathBuf,
    /// The last stored race of the same track, challenge, documents and tasks, for a comparison.
    pub previous_race_id: Option<String>,
    /// Whether the user interrupted it. The results until then are kept.
    pub is_interrupted: bool,
    /// The errors of each task that had some: (task, lines).
    pub errors: Vec<(String, Vec<String>)>,
}

impl RaceOutcome {
    /// Errors: `Interrupted` if the user interrupted the race.
    pub(crate) fn whole(self) -> Result<RaceOutcome, Error> {
        if self.is_interrupted { Err(Error::Interrupted) } else { Ok(self) }
    }
}

/// Races a track once: connects, loads, plans, drives and keeps. Blocks until the race is finished and
/// stored.
///
/// # Errors
/// Any error that ended the race; nothing is stored in that case.
pub(crate) fn run(mut config: RaceConfig, progress: &mut dyn Progress) -> Result<RaceOutcome, Error> {
    let mut connected = connect(&mut config, progress)?;
    let Loaded { track, plugin } = loading::load(&config, progress)?;
    let challenge = load::challenge(&track, config.track.challenge.as_deref())?;
    let planned = plan(&config, &mut connected, (&track, challenge), plugin, progress)?;
    let raced = drive(&config, &mut connected, planned, progress)?;
    keep(&config, (&track, challenge), raced, progress)
}

/// The connected server.
struct Connected {
    cluster: Cluster,
    hosts: Vec<Address>,
    /// Header lines of every request, each ending in CR LF.
    headers: String,
    /// Clusters that are watched but not raced.
    others: Vec<Watched>,
    /// The answer to `GET /`; null if there is no server.
    info: Value,
    /// Whether answers come from a file instead of a server.
    is_unasked: bool,
    /// Start of the race, since the epoch.
    started: Duration,
}

impl Connected {
    fn read_server(&mut self) -> ServerReading {
        match self.is_unasked {
            true => ServerReading::default(),
            false => ServerReading::now(&mut self.cluster, &self.hosts),
        }
    }
}

/// Waits for the server and the other clusters, and completes the track's settings from the server's answer.
fn connect(config: &mut RaceConfig, progress: &mut dyn Progress) -> Result<Connected, Error> {
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
        false if is_unasked => Value::Null,
        false => cluster.info().unwrap_or_default(),
    };
    fit_to_server(&mut config.track, &info);
    Ok(Connected { cluster, hosts, headers, others, info, is_unasked, started })
}

/// A race that is ready for its first request.
struct Planned<'t> {
    schedule: PlannedSchedule<'t>,
    drive: DriveConfig,
    telemetry: Telemetry,
    keys: ApiKeys,
    watch: Watch,
    /// The start of the race in Rally's format.
    timestamp: String,
}

/// Plans every task, so that a track that cannot run is refused as a whole. Starts the telemetry, and reports
/// what is raced.
fn plan<'t>(
    config: &RaceConfig,
    connected: &mut Connected,
    (track, challenge): (&'t Track, &'t Challenge),
    plugin: Option<Arc<Plugin>>,
    progress: &mut dyn Progress,
) -> Result<Planned<'t>, Error> {
    let mut drive = drive_config(config, connected);
    drive.plugin = plugin;
    let schedule = PlannedSchedule::new(track, &challenge.schedule, &drive)?;
    let telemetry = match connected.is_unasked {
        true => Telemetry::off(),
        false => Telemetry::start(&mut connected.cluster, &connected.info),
    };
    tell_start(config, connected, (track, challenge), telemetry.environment(), progress);
    schedule.warnings.iter().chain(&telemetry.warnings).for_each(|warning| progress.warn(warning));
    let keys = match config.client.creates_api_keys {
        true => ApiKeys::create(&mut connected.cluster, schedule.clients_max())?,
        false => ApiKeys::default(),
    };
    let started_s = || i64::try_from(connected.started.as_secs()).unwrap_or(i64::MAX);
    let timestamp = race::timestamp(config.provenance.started_s.unwrap_or_else(started_s));
    let ids = (config.race_id.as_str(), timestamp.as_str());
    let environment = telemetry.environment();
    let context =
        Arc::new(watch::race_context(ids, track, challenge, &config.car, &config.user_tags, environment));
    let raced = watch::raced_cluster(&drive.target, &connected.info);
    let clusters: Vec<_> = std::iter::once(raced).chain(connected.others.drain(..)).collect();
    let folder = config.store.race_folder(&config.race_id)?;
    let watch = Watch::start(&config.watch, &clusters, (track, challenge), &folder, &context)?;
    drive.samples = watch.samples();
    let with_key = |key: &String| config.client.header_lines(Some(key));
    drive.target.client_headers = keys.authorizations.iter().map(with_key).collect();
    Ok(Planned { schedule, drive, telemetry, keys, watch, timestamp })
}

fn tell_start(
    config: &RaceConfig,
    connected: &Connected,
    (track, challenge): (&Track, &Challenge),
    environment: &Environment,
    progress: &mut dyn Progress,
) {
    progress.note(&format!(
        "Racing on track [{}], challenge [{}] and car [{}] with version [{}].",
        track.name,
        challenge.name,
        config.car,
        environment.version.as_deref().unwrap_or("unknown")
    ));
    progress.race_started(&Heading {
        race_id: config.race_id.clone(),
        track: track.name.clone(),
        challenge: challenge.name.clone(),
        car: config.car.clone(),
        version: environment.version.clone(),
        hosts: connected.hosts.iter().map(|host| host.authority.clone()).collect(),
        steps_count: challenge.schedule.len(),
    });
}

/// The results of a schedule that was driven.
struct Raced<'t> {
    tasks: Vec<TaskResult<'t>>,
    interrupted_in: Option<String>,
    machine: MachineUse,
    server: ServerUse,
    system: SystemMetrics,
    watch: Watch,
    environment: Environment,
    timestamp: String,
}

/// Drives the schedule between two readings of the machine and the server, and ends the telemetry.
fn drive<'t>(
    config: &RaceConfig,
    connected: &mut Connected,
    planned: Planned<'t>,
    progress: &mut dyn Progress,
) -> Result<Raced<'t>, Error> {
    let Planned { schedule, drive, telemetry, keys, mut watch, timestamp } = planned;
    let server_before = connected.read_server();
    let machine_before = MachineReading::now();
    let driven =
        recorded(config, progress, |recording| schedule.run(&drive, &config.is_cancelled, recording));
    let machine = MachineReading::now().since(&machine_before);
    if let Err(left) = keys.delete(&mut connected.cluster) {
        progress.warn(&left.to_string());
    }
    let Driven { tasks, interrupted_in } = driven?;
    let server = ServerUse {
        before: server_before,
        after: connected.read_server(),
        is_fresh: config.provenance.is_fresh_server,
    };
    let sampled = watch.end_sampling();
    let environment = telemetry.environment().clone();
    let (mut system, warnings) = telemetry.stop(&mut connected.cluster);
    sampled.notes.iter().for_each(|note| progress.note(note));
    sampled.warnings.iter().chain(&warnings).for_each(|warning| progress.warn(warning));
    system.watched = sampled.results;
    Ok(Raced { tasks, interrupted_in, machine, server, system, watch, environment, timestamp })
}

/// Turns the measurements into results, adds warnings about what makes them doubtful, and stores them.
fn keep(
    config: &RaceConfig,
    (track, challenge): (&Track, &Challenge),
    raced: Raced<'_>,
    progress: &mut dyn Progress,
) -> Result<RaceOutcome, Error> {
    let Raced { mut tasks, interrupted_in, machine, server, system, watch, environment, timestamp } = raced;
    let results = results(track, challenge, &mut tasks, &system);
    let mut measurements = Measurements {
        race_id: config.race_id.clone(),
        place: config.provenance.place.clone(),
        hosts: config.hosts.clone(),
        engine_settings: config.provenance.engine_settings.clone(),
        ..measurements(&mut tasks, &machine, &server)
    };
    add_warnings(&mut measurements, &tasks, interrupted_in.as_deref(), config.track.test_mode);
    measurements.warnings.iter().for_each(|warning| progress.warn(&warning.line()));

    let mut race = record(config, timestamp, track, challenge, environment);
    race.set_results(&results);
    let is_interrupted = interrupted_in.is_some();
    race.scope = Some(Scope { interrupted: is_interrupted, ..Scope::of(&config.track, track) });
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

/// Adds the warnings about the whole race before those about its parts.
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
    // In test mode nobody relies on the figures, so do not warn that tasks are too short.
    let too_short = if test_mode { None } else { too_short(&measurements.tasks, is_reported) };
    measurements.warnings.splice(0..0, interrupted.into_iter().chain(too_short));
}

/// Completes the track's settings from the server's answer where the user left them open.
fn fit_to_server(track: &mut TrackSpec, info: &Value) {
    if let Some(flavor) = info["version"]["build_flavor"].as_str() {
        track.build_flavor = flavor.to_owned();
    }
    // As in Rally, the server's version chooses the branch of a track repository.
    if track.distribution_version.is_none() {
        track.distribution_version = info["version"]["number"].as_str().map(str::to_owned);
    }
}

fn drive_config(config: &RaceConfig, connected: &Connected) -> DriveConfig {
    DriveConfig {
        target: Target {
            hosts: connected.hosts.clone(),
            protocol: Protocol::for_server(&connected.info),
            headers: connected.headers.clone(),
            client_headers: Vec::new(),
            timeout: config.client.timeout,
            compresses: config.client.compresses,
            retries: config.client.retries.clone(),
        },
        on_error: config.on_error,
        checks_assertions: config.checks_assertions,
        keeps_meta: config.watch.reporting.wants_metrics(),
        workers_max: std::thread::available_parallelism().map_or(1, usize::from),
        seed: connected.started.as_nanos() as u64,
        samples: None,
        plugin: None,
    }
}

/// Returns the contents of `race.json` without the results.
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

/// Returns the id of the last stored race of the same track, challenge, documents and tasks.
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

/// Drives while the timeline is recorded.
///
/// Errors: the race's folder cannot be written, or an error ended the race.
fn recorded<T>(
    config: &RaceConfig,
    progress: &mut dyn Progress,
    drive: impl FnOnce(&mut Recording<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let folder = config.store.race_folder(&config.race_id)?;
    let mut recording = Recording::start(&folder, &config.race_id, progress)
        .map_err(|source| Error::Io { path: folder, source })?;
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
) -> Result<(), Error> {
    cluster.wait_for_rest_layer(is_cancelled, &mut |reason| {
        progress.note(&format!("Waiting up to two minutes for the server: {reason}"));
    })?;
    Ok(())
}

fn described(environment: Environment) -> crate::record::Cluster {
    crate::record::Cluster {
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

/// Returns a new race id: a random (version 4) UUID.
pub(crate) fn new_race_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    // The keys of each `RandomState` come from the operating system's randomness.
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    let bits = (u128::from(random()) << 64) | u128::from(random());
    let bits = (bits & !(0xF << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
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
