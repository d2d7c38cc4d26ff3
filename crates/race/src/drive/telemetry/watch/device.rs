//! The interface of telemetry devices.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::params::Parameters;
use crate::error::Error;
use crate::http::Address;
use crate::http::cluster::Cluster;
use crate::metrics::{Level, Metric, MetricsSender, RaceContext};
use crate::model::Params;
use crate::protocol::version_of;

/// Prefixes of the names of values that become rows of the report.
const RESULT_NAMES: [&str; 2] = ["total_transform_", "disk_usage_"];

pub(crate) struct Device {
    /// The name that the user writes after `--telemetry`.
    pub name: &'static str,
    pub help: &'static str,
    /// Names of the parameters that it reads (`--telemetry-params`).
    pub params: &'static [&'static str],
    /// Whether it runs by default.
    pub is_default: bool,
    /// Whether Elastic's serverless offering lets users send the device's requests.
    pub is_on_serverless: bool,
    /// Returns one recorder for each cluster that the device watches.
    ///
    /// Errors: a parameter is wrong, or the device cannot work here. The reason names the parameter or
    /// device.
    pub plan: fn(&Parameters<'_>, &Surroundings<'_>) -> Result<Vec<Planned>, Error>,
}

impl Device {
    /// Returns the fields of a document for one shard's part of an answer.
    pub(crate) fn of_shard(&self, shard: &Value) -> Params {
        Params::from_iter([("name".to_owned(), self.name.into()), ("shard".to_owned(), shard.clone())])
    }
}

/// A recorder, and where and how often it works.
pub(crate) struct Planned {
    /// Index into [`Surroundings::clusters`].
    pub cluster: usize,
    /// Time between two samples; `None` for a single one at the end.
    pub interval: Option<Duration>,
    pub recorder: Box<dyn Recorder>,
}

/// What a device knows before the race.
pub(crate) struct Surroundings<'a> {
    /// All clusters, the raced one first.
    pub clusters: &'a [Watched],
    /// Names of the track's indices and data streams.
    pub indices: &'a [String],
    /// The race's folder, for devices that write files.
    pub folder: PathBuf,
    /// Process id of the JVM, if the race started one.
    pub jvm: Option<u32>,
}

/// A cluster that devices watch.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    pub name: String,
    pub hosts: Vec<Address>,
    pub headers: String,
    pub timeout: Duration,
    /// The answer to `GET /`.
    pub info: Value,
}

impl Watched {
    pub(crate) fn is_serverless(&self) -> bool {
        self.info["version"]["build_flavor"] == "serverless"
    }

    /// Returns `version.number` as (major, minor); `None` for servers that do not have it.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        version_of(&self.info)
    }
}

/// Takes the samples of a device in one cluster.
pub(crate) trait Recorder: Send {
    /// Runs before the first request of the race.
    ///
    /// Errors, here and below: the reason. The device is then not asked again.
    fn start(&mut self, _cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Runs once per interval.
    fn record(&mut self, _cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Runs after the last request of the race.
    fn finish(&mut self, _cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Results of the devices of a cluster, in addition to documents.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Values that become rows of the report.
    pub results: Vec<Metric>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

/// Receives what a device finds.
pub(crate) struct Output<'a> {
    pub context: &'a RaceContext,
    pub sender: &'a MetricsSender,
    pub findings: &'a mut Findings,
}

impl Output<'_> {
    /// Records one value.
    pub(crate) fn value(&mut self, level: Level<'_>, metric: Metric) {
        self.sender.telemetry(self.context.value(Instant::now(), level, &metric));
        if RESULT_NAMES.iter().any(|start| metric.name.starts_with(start)) {
            self.findings.results.push(metric);
        }
    }

    /// Records a document of the device. The first of its fields is its `name`.
    pub(crate) fn document(&mut self, level: Level<'_>, fields: Params, meta: &Params) {
        self.sender.telemetry(self.context.document(Instant::now(), level, fields, meta));
    }
}

/// Returns the nodes of a statistics answer with their names.
pub(super) fn nodes(stats: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let nodes = stats["nodes"].as_object().into_iter().flat_map(|nodes| nodes.iter());
    nodes.map(|(id, node)| (node["name"].as_str().unwrap_or(id), node))
}
