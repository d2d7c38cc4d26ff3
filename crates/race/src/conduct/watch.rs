//! What is watched besides the load: other clusters, telemetry devices, and their documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::drive::telemetry::watch::{Sampled, Sampling, Surroundings, WatchPlan, Watched, jvm_options};
use crate::drive::telemetry::{self, Environment, SystemMetrics};
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::datastore::Datastore;
use crate::metrics::writer::METRICS_FILE;
use crate::metrics::{MetricsWriter, RaceContext, Reporting, SampleLog, results};
use crate::model::{Challenge, Params, Track};
use crate::record::Race;
use crate::server::engine::{Engine, EngineSpec};
use crate::server::hosts::{ClusterTarget, DEFAULT_CLUSTER, resolve};

/// What the user wants to watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchConfig {
    /// Clusters that are not raced.
    pub other_clusters: Vec<ClusterTarget>,
    pub telemetry: WatchPlan,
    pub reporting: Reporting,
    /// Process id of the JVM that was started for the race, with the options of
    /// [`crate::drive::telemetry::watch::jvm_options`].
    pub jvm: Option<u32>,
    /// Whether to assume that clusters are running. What they do not report is then left open.
    pub skips_rest_api_check: bool,
}

/// Adds the logging options that devices need to the JVM that is to be started. Returns whether one is
/// started.
///
/// Errors: invalid parameters of the devices.
pub(crate) fn add_jvm_options(
    engine: Option<&mut EngineSpec>,
    telemetry: &WatchPlan,
    race_folder: &Path,
) -> Result<bool, Error> {
    let Some(spec) = engine.filter(|spec| matches!(spec.engine, Engine::Folder(_))) else { return Ok(false) };
    spec.jvm_options.extend(jvm_options(telemetry, race_folder)?);
    Ok(true)
}

/// Called with a connected cluster and the warnings about its options; waits for the cluster.
pub(crate) type Connected<'a> = dyn FnMut(&mut Cluster, &[String]) -> Result<(), Error> + 'a;

/// Connects to the clusters that are not raced.
///
/// Errors: hosts that cannot be resolved, clusters that do not answer.
pub(crate) fn other_clusters(
    clusters: &[ClusterTarget],
    connected: &mut Connected<'_>,
) -> Result<Vec<Watched>, Error> {
    let mut watched = Vec::with_capacity(clusters.len());
    for target in clusters {
        let hosts = resolve(&target.hosts, &target.options)?;
        let (headers, timeout) = (target.options.header_lines(None), target.options.timeout);
        let mut cluster = Cluster::new(&hosts, &headers, timeout)?;
        connected(&mut cluster, &target.options.warnings)?;
        let info = cluster.info()?;
        watched.push(Watched { name: target.name.clone(), hosts, headers, timeout, info });
    }
    Ok(watched)
}

/// The devices and the writing thread while a race runs. Dropping it leaves no files behind.
pub(crate) struct Watch {
    // Fields are dropped in this order: devices send to the thread.
    sampling: Option<Sampling>,
    writer: MetricsWriter,
    folder: PathBuf,
    context: Arc<RaceContext>,
    reporting: Reporting,
    datastore: Option<Datastore>,
    /// The merged meta information of the track and the challenge.
    meta: Params,
}

impl Watch {
    /// `clusters` has the raced one first; `folder` is the race's folder.
    ///
    /// Errors: a device cannot work here, the metrics store does not answer, or no thread can be started.
    pub(crate) fn start(
        config: &WatchConfig,
        clusters: &[Watched],
        (track, challenge): (&Track, &Challenge),
        folder: &Path,
        context: &Arc<RaceContext>,
    ) -> Result<Watch, Error> {
        let reporting = config.reporting.clone();
        let open = |store| Datastore::open(store, &context.race_timestamp);
        let datastore = reporting.datastore.as_ref().map(open).transpose()?;
        let writer = MetricsWriter::start(folder, reporting.wants_metrics())
            .map_err(Error::machine("no thread for metrics"))?;
        let indices: Vec<String> = track
            .indices
            .iter()
            .map(|index| index.name.clone())
            .chain(track.data_streams.iter().cloned())
            .collect();
        let surroundings =
            Surroundings { clusters, indices: &indices, folder: folder.to_owned(), jvm: config.jvm };
        let sampling = Sampling::start(&config.telemetry, &surroundings, context, &writer.sender())?;
        let mut meta = track.meta.clone();
        meta.extend(challenge.meta.clone());
        Ok(Watch {
            sampling: Some(sampling),
            writer,
            folder: folder.to_owned(),
            context: Arc::clone(context),
            reporting,
            datastore,
            meta,
        })
    }

    /// Returns the log that makes documents of requests, if they are wanted.
    pub(crate) fn samples(&self) -> Option<SampleLog> {
        self.reporting.wants_metrics().then(|| SampleLog {
            context: Arc::clone(&self.context),
            sender: self.writer.sender(),
            meta: self.meta.clone(),
            downsample_factor: self.reporting.downsample_factor,
        })
    }

    /// Takes the last samples and ends the devices.
    pub(crate) fn end_sampling(&mut self) -> Sampled {
        self.sampling.take().map(Sampling::finish).unwrap_or_default()
    }

    /// Writes the documents of the statistics and keeps the files. `told` receives messages about the
    /// devices. The race is already stored.
    pub(crate) fn keep(self, race: &Race, system: &SystemMetrics, told: &mut dyn FnMut(Kept)) {
        let Watch { writer, folder, context, reporting, datastore, meta, .. } = self;
        if reporting.wants_metrics() {
            let sender = writer.sender();
            for document in telemetry::documents(&context, Instant::now(), system) {
                sender.metric(&document);
            }
        }
        match writer.finish() {
            Ok(0) => {}
            Ok(dropped) => told(Kept::Warning(format!(
                "{dropped} requests have no documents in the metrics store: the disk was slower than they came. \
                 The report has them all; [metrics.request.downsample.factor] writes fewer."
            ))),
            Err(error) => told(Kept::Warning(format!("Documents of metrics are missing: {error}"))),
        }
        let file = folder.join(METRICS_FILE);
        if reporting.keeps_file {
            told(Kept::Note(format!("Metrics are in [{}].", file.display())));
        }
        if let Some(mut store) = datastore {
            match send(&mut store, &file, race, &meta) {
                Ok(count) => {
                    // The file was only needed for the store.
                    let _ = std::fs::remove_file(&file);
                    told(Kept::Note(format!("{count} documents were sent to the metrics store.")));
                }
                Err(reason) => {
                    told(Kept::Warning(format!("{reason}. The documents stay in [{}].", file.display())))
                }
            }
        }
    }
}

/// Messages about files and stores.
pub(crate) enum Kept {
    Note(String),
    Warning(String),
}

fn send(store: &mut Datastore, file: &Path, race: &Race, meta: &Params) -> Result<u64, Error> {
    let count = store.send_file(file)?;
    let body =
        serde_json::to_value(race).map_err(|error| Error::Answer(format!("metrics store: {error}")))?;
    store.send_race(&race.race_id, &body, &results::documents(race, meta))?;
    Ok(count)
}

/// Returns the raced cluster as devices see it.
pub(crate) fn raced_cluster(target: &crate::drive::driver::Target, info: &Value) -> Watched {
    Watched {
        name: DEFAULT_CLUSTER.to_owned(),
        hosts: target.hosts.clone(),
        headers: target.headers.clone(),
        timeout: target.timeout,
        info: info.clone(),
    }
}

/// Returns the values that all documents of this race share. Its clocks start now.
pub(crate) fn race_context(
    (race_id, race_timestamp): (&str, &str),
    track: &Track,
    challenge: &Challenge,
    car: &str,
    user_tags: &Params,
    environment: &Environment,
) -> RaceContext {
    let mut cluster_meta = Params::new();
    for (tag, value) in user_tags {
        // Rally's prefix distinguishes tags from the tool's own values.
        cluster_meta.insert(format!("tag_{tag}"), value.clone());
    }
    cluster_meta.insert("source_revision".into(), environment.revision.as_str().into());
    cluster_meta.insert("distribution_version".into(), environment.version.as_deref().into());
    cluster_meta.insert("distribution_flavor".into(), environment.flavor.as_str().into());
    cluster_meta.extend(environment.shared_meta());
    let (started, started_epoch) = RaceContext::clocks();
    RaceContext {
        race_id: race_id.to_owned(),
        race_timestamp: race_timestamp.to_owned(),
        environment: "local".into(),
        track: track.name.clone(),
        challenge: challenge.name.clone(),
        car: car.to_owned(),
        track_params: track.params.clone(),
        cluster_meta,
        node_meta: environment.node_meta.clone(),
        started,
        started_epoch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_jvm_that_is_started_gets_options_of_devices() {
        let telemetry = WatchPlan { devices: vec!["gc".into()], params: Params::new() };
        let options = |engine: Engine| {
            let mut spec = EngineSpec { engine, ..EngineSpec::default() };
            let starts = add_jvm_options(Some(&mut spec), &telemetry, Path::new("/races/a")).unwrap();
            (starts, spec.jvm_options)
        };
        let (starts, given) = options(Engine::Folder("es".into()));
        assert!(starts && given.iter().any(|option| option.contains("/races/a")), "{given:?}");
        assert_eq!(options(Engine::Limber), (false, Vec::new()));
        assert!(!add_jvm_options(None, &telemetry, Path::new("/races/a")).unwrap());
    }
}
