//! "What is looked at beside the load?": other clusters, telemetry devices, and the documents they leave.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::drive::cluster::Cluster;
use crate::drive::error::DriveError;
use crate::drive::telemetry::Environment;
use crate::drive::telemetry::watch::{Sampled, Sampling, WatchPlan, Watched};
use crate::hosts::{ClusterTarget, DEFAULT_CLUSTER, resolve};
use crate::metrics::{MetricsWriter, RaceContext};
use crate::model::{Challenge, Params, Track};

/// What the user wants to be looked at.
#[derive(Debug, Clone, Default)]
pub struct WatchConfig {
    /// Clusters that are not raced themselves.
    pub other_clusters: Vec<ClusterTarget>,
    pub telemetry: WatchPlan,
}

/// Gets a cluster that was connected, with what to say about its options, and waits for it.
pub type Connected<'a> = dyn FnMut(&mut Cluster, &[String]) -> Result<(), DriveError> + 'a;

/// Connects to the clusters that are not raced.
///
/// Errors: hosts that do not resolve, clusters that do not answer.
pub fn other_clusters(
    clusters: &[ClusterTarget],
    connected: &mut Connected<'_>,
) -> Result<Vec<Watched>, DriveError> {
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

/// Devices and the thread that writes, while a race runs. Dropping it leaves no files behind.
pub struct Watch {
    // Ended in this order: devices write to the thread.
    sampling: Sampling,
    writer: MetricsWriter,
}

impl Watch {
    /// `clusters`: the raced one first; `folder`: the race's.
    ///
    /// Errors: a device cannot work here, or there is no thread.
    pub fn start(
        config: &WatchConfig,
        clusters: &[Watched],
        track: &Track,
        folder: &Path,
        context: &Arc<RaceContext>,
    ) -> Result<Watch, String> {
        let writer =
            MetricsWriter::start(folder).map_err(|error| format!("no thread for metrics: {error}"))?;
        let indices: Vec<String> = track
            .indices
            .iter()
            .map(|index| index.name.clone())
            .chain(track.data_streams.iter().cloned())
            .collect();
        let sampling = Sampling::start(
            &config.telemetry,
            clusters,
            &indices,
            folder.to_owned(),
            context,
            &writer.sender(),
        )?;
        Ok(Watch { sampling, writer })
    }

    /// Takes the last samples. The files stay.
    pub fn finish(self) -> Sampled {
        let mut sampled = self.sampling.finish();
        if let Err(error) = self.writer.finish() {
            sampled.warnings.push(format!("Documents of telemetry are missing: {error}"));
        }
        sampled
    }
}

/// The cluster that is raced, for devices.
pub fn raced_cluster(target: &crate::drive::driver::Target, info: &Value) -> Watched {
    Watched {
        name: DEFAULT_CLUSTER.to_owned(),
        hosts: target.hosts.clone(),
        headers: target.headers.clone(),
        timeout: target.timeout,
        info: info.clone(),
    }
}

/// What all documents of this race say; its clocks start now.
pub fn race_context(
    (race_id, race_timestamp): (&str, &str),
    track: &Track,
    challenge: &Challenge,
    car: &str,
    user_tags: &Params,
    environment: &Environment,
) -> RaceContext {
    let mut cluster_meta = Params::new();
    for (tag, value) in user_tags {
        // Rally's prefix keeps tags apart from what the tool says itself.
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
