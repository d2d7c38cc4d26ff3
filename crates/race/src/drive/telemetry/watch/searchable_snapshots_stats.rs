//! Reads of searchable snapshots (`SearchableSnapshotsStats`).

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "searchable-snapshots-stats",
    help: "Regularly samples searchable snapshots stats",
    params: &["searchable-snapshots-stats-indices", "searchable-snapshots-stats-sample-interval"],
    is_default: false,
    is_on_serverless: false,
    plan,
};

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("searchable-snapshots-stats-sample-interval", 1)?;
    let indices = params.by_cluster("searchable-snapshots-stats-indices", surroundings.clusters, true)?;
    let mut planned = Vec::new();
    for (cluster, indices) in indices {
        let patterns =
            indices.unwrap_or_default().iter().map(|text| pattern(text)).collect::<Result<_, _>>()?;
        let recorder = SnapshotsStats { cluster: surroundings.clusters[cluster].name.clone(), patterns };
        planned.push(Planned { cluster, interval: Some(interval), recorder: Box::new(recorder) });
    }
    Ok(planned)
}

/// Parses shell wildcards, like Rally's `fnmatch`.
fn pattern(text: &str) -> Result<glob::Pattern, Error> {
    glob::Pattern::new(text).map_err(|error| {
        Error::Argument(format!(
            "The telemetry parameter 'searchable-snapshots-stats-indices' holds the pattern [{text}]: {error}"
        ))
    })
}

struct SnapshotsStats {
    cluster: String,
    /// Indices that get their own documents.
    patterns: Vec<glob::Pattern>,
}

impl Recorder for SnapshotsStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let level = if self.patterns.is_empty() { "cluster" } else { "indices" };
        let path = format!("/_searchable_snapshots/stats?level={level}");
        let answer = cluster.get(&path).map_err(Error::no_answer(format_args!("GET {path}")))?;
        match answer.status {
            200 => {}
            // Such indices may be mounted later.
            404 if answer.body.to_string().contains("No searchable snapshots indices found") => return Ok(()),
            status => {
                return Err(Error::Refused { call: format!("GET {path}"), status, body: String::new() });
            }
        }
        for stats in answer.body["total"].as_array().into_iter().flatten() {
            self.put(output, "cluster", stats, None);
        }
        for (index, body) in answer.body["indices"].as_object().into_iter().flatten() {
            if self.patterns.iter().any(|pattern| pattern.matches(index)) {
                for stats in body["total"].as_array().into_iter().flatten() {
                    self.put(output, "index", stats, Some(index));
                }
            }
        }
        Ok(())
    }
}

impl SnapshotsStats {
    fn put(&self, output: &mut Output<'_>, level: &str, stats: &Value, index: Option<&str>) {
        let mut fields = Params::new();
        fields.insert("name".into(), DEVICE.name.into());
        fields.insert("lucene_file_type".into(), stats["file_ext"].clone());
        fields.insert("stats".into(), stats.clone());
        if let Some(index) = index {
            fields.insert("index".into(), index.into());
        }
        let meta = json!({"cluster": self.cluster, "level": level});
        output.document(Level::Cluster, fields, &meta.as_object().cloned().unwrap_or_default());
    }
}
