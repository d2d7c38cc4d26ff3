//! What is a device of telemetry, and what does it get to work with?

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

/// Beginnings of the names of values that become rows of the report.
const RESULT_NAMES: [&str; 2] = ["total_transform_", "disk_usage_"];

pub(crate) struct Device {
    /// What the user writes after `--telemetry`.
    pub name: &'static str,
    pub help: &'static str,
    /// Names of the parameters it reads (`--telemetry-params`).
    pub params: &'static [&'static str],
    /// Whether it runs without being asked for.
    pub is_default: bool,
    /// Whether Elastic's serverless offering lets users ask what it asks.
    pub is_on_serverless: bool,
    /// One recorder a cluster it watches.
    ///
    /// Errors: a parameter is wrong, or the device cannot work here; the reason names it.
    pub plan: fn(&Parameters<'_>, &Surroundings<'_>) -> Result<Vec<Planned>, Error>,
}

impl Device {
    /// A shard's part of an answer, as the fields of a document.
    pub(crate) fn of_shard(&self, shard: &Value) -> Params {
        Params::from_iter([("name".to_owned(), self.name.into()), ("shard".to_owned(), shard.clone())])
    }
}

/// A recorder and where it is to work.
pub(crate) struct Planned {
    /// Index into [`Surroundings::clusters`].
    pub cluster: usize,
    /// Time between two samples; `None`: at the end only.
    pub interval: Option<Duration>,
    pub recorder: Box<dyn Recorder>,
}

/// What a device may know before the race.
pub(crate) struct Surroundings<'a> {
    /// The raced cluster first.
    pub clusters: &'a [Watched],
    /// Names of the track's indices and data streams.
    pub indices: &'a [String],
    /// The race's folder, for devices that write files.
    pub folder: PathBuf,
    /// Process of the JVM that the race started, if it did.
    pub jvm: Option<u32>,
}

/// A cluster that is watched.
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

    /// `version.number` as (major, minor), or `None` for servers that do not say.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        version_of(&self.info)
    }
}

/// Asks one cluster.
pub(crate) trait Recorder: Send {
    /// Before the first request of the race.
    ///
    /// Errors, here and below: the reason; the device is not asked again.
    fn start(&mut self, _cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Once an interval.
    fn record(&mut self, _cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// After the last request of the race.
    fn finish(&mut self, _cluster: &mut Cluster, _output: &mut Output<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// What the devices of a cluster leave behind beside documents.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Values that become rows of the report.
    pub results: Vec<Metric>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

/// Takes in what a device finds.
pub(crate) struct Output<'a> {
    pub context: &'a RaceContext,
    pub sender: &'a MetricsSender,
    pub findings: &'a mut Findings,
}

impl Output<'_> {
    /// One value.
    pub(crate) fn value(&mut self, level: Level<'_>, metric: Metric) {
        self.sender.telemetry(self.context.value(Instant::now(), level, &metric));
        if RESULT_NAMES.iter().any(|start| metric.name.starts_with(start)) {
            self.findings.results.push(metric);
        }
    }

    /// A document of the device's own; the first of its fields is its `name`.
    pub(crate) fn document(&mut self, level: Level<'_>, fields: Params, meta: &Params) {
        self.sender.telemetry(self.context.document(Instant::now(), level, fields, meta));
    }
}

/// Nodes of a statistics answer with their names.
pub(super) fn nodes(stats: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let nodes = stats["nodes"].as_object().into_iter().flat_map(|nodes| nodes.iter());
    nodes.map(|(id, node)| (node["name"].as_str().unwrap_or(id), node))
}
