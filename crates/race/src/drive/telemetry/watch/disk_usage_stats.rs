//! Bytes on disk for each field (`DiskUsageStats`).

use std::time::Duration;

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::HttpError;
use crate::http::cluster::Cluster;
use crate::metrics::{Level, Metric};

pub(super) const DEVICE: Device = Device {
    name: "disk-usage-stats",
    help: "Runs the indices disk usage API after benchmarking",
    params: &["disk-usage-stats-indices", "disk-usage-stats-timeout"],
    is_default: false,
    is_on_serverless: false,
    plan,
};

const TIMEOUT_S: u64 = 600;
/// Parts of a field: the name after `disk_usage_` and the path of the bytes in the answer.
const PARTS: [(&str, &str); 7] = [
    ("inverted_index", "/inverted_index/total_in_bytes"),
    ("stored_fields", "/stored_fields_in_bytes"),
    ("doc_values", "/doc_values_in_bytes"),
    ("points", "/points_in_bytes"),
    ("norms", "/norms_in_bytes"),
    ("term_vectors", "/term_vectors_in_bytes"),
    ("knn_vectors", "/knn_vectors_in_bytes"),
];

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let indices = params.list("disk-usage-stats-indices")?.unwrap_or_else(|| surroundings.indices.to_vec());
    if indices.is_empty() {
        return Err(Error::argument(
            "No indices defined for disk-usage-stats. Set disk-usage-stats-indices telemetry param or add \
                    indices or data streams to the track config.",
        ));
    }
    let timeout = params.interval("disk-usage-stats-timeout", TIMEOUT_S)?;
    Ok(vec![Planned { cluster: 0, interval: None, recorder: Box::new(DiskUsageStats { indices, timeout }) }])
}

struct DiskUsageStats {
    indices: Vec<String>,
    timeout: Duration,
}

impl Recorder for DiskUsageStats {
    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let mut is_found = false;
        for index in &self.indices {
            let path = format!("/{index}/_disk_usage?run_expensive_tasks=true");
            let missing = match cluster.post_within(&path, &Value::Null, self.timeout) {
                Ok(answer) if answer.status == 200 => {
                    is_found = true;
                    for metric in metrics(&answer.body)? {
                        output.value(Level::Cluster, metric);
                    }
                    continue;
                }
                Ok(answer) if answer.status == 404 => "it does not exist".to_owned(),
                Err(HttpError::Timeout) => format!("no answer within {} s", self.timeout.as_secs()),
                Ok(answer) => return Err(answer.refused(format_args!("POST {path}"))),
                Err(error) => return Err(Error::no_answer(format_args!("POST {path}"))(error)),
            };
            output.findings.warnings.push(format!("No disk usage of [{index}]: {missing}."));
        }
        match is_found {
            true => Ok(()),
            false => Err(Error::Answer(format!(
                "Couldn't find any indices for disk usage {}",
                self.indices.join(",")
            ))),
        }
    }
}

/// Returns the bytes by index and field. Parts without bytes are left out.
fn metrics(answer: &Value) -> Result<Vec<Metric>, Error> {
    let shards = &answer["_shards"];
    if shards["failed"].as_u64().unwrap_or(0) > 0 {
        return Err(Error::Answer(format!("Shards failed when fetching disk usage: {}", shards["failures"])));
    }
    let mut found = Vec::new();
    let indices = answer.as_object().into_iter().flatten().filter(|(name, _)| *name != "_shards");
    for (index, body) in indices {
        for (field, usage) in body["fields"].as_object().into_iter().flatten() {
            let meta = json!({"index": index, "field": field}).as_object().cloned().unwrap_or_default();
            let mut add = |part: &str, bytes: u64| {
                let name = format!("disk_usage_{part}");
                found.push(Metric { name, value: bytes.into(), unit: Some("byte"), meta: meta.clone() });
            };
            add("total", usage["total_in_bytes"].as_u64().unwrap_or(0));
            for (part, path) in PARTS {
                match usage.pointer(path).and_then(Value::as_u64) {
                    None | Some(0) => {}
                    Some(bytes) => add(part, bytes),
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_bytes() {
        let answer = json!({"_shards": {"failed": 0}, "logs": {"fields": {"_id": {"total_in_bytes": 9,
            "inverted_index": {"total_in_bytes": 5}, "stored_fields_in_bytes": 4, "points_in_bytes": 0}}}});
        let found: Vec<(String, Value)> =
            metrics(&answer).unwrap().into_iter().map(|metric| (metric.name, metric.value)).collect();
        let expected =
            [("disk_usage_total", 9), ("disk_usage_inverted_index", 5), ("disk_usage_stored_fields", 4)];
        assert_eq!(found, expected.map(|(name, bytes)| (name.to_owned(), Value::from(bytes))));
        assert!(
            metrics(&json!({"_shards": {"failed": 1, "failures": ["x"]}}))
                .unwrap_err()
                .to_string()
                .contains("[\"x\"]")
        );
    }
}
