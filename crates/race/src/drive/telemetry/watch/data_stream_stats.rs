//! Sizes of data streams (`DataStreamStats`).

use serde_json::{Value, json};

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::metrics::Level;
use crate::model::Params;

pub(super) const DEVICE: Device = Device {
    name: "data-stream-stats",
    help: "Regularly samples data stream stats",
    params: &["data-stream-stats-sample-interval"],
    is_default: false,
    is_on_serverless: true,
    plan,
};

const PATH: &str = "/_data_stream/_stats";

fn plan(params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let interval = params.interval("data-stream-stats-sample-interval", 10)?;
    let mut planned = Vec::new();
    for (cluster, watched) in surroundings.clusters.iter().enumerate() {
        if watched.version().is_some_and(|version| version < (7, 9)) {
            return Err(Error::Unsupported(format!(
                "cluster [{}] is older than 7.9, which brought data streams",
                watched.name
            )));
        }
        let recorder = Box::new(DataStreamStats { cluster: watched.name.clone() });
        planned.push(Planned { cluster, interval: Some(interval), recorder });
    }
    Ok(planned)
}

struct DataStreamStats {
    cluster: String,
}

impl Recorder for DataStreamStats {
    fn record(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let stats = cluster.fetch(PATH)?;
        let mut meta = Params::new();
        meta.insert("cluster".into(), self.cluster.as_str().into());
        for fields in documents(&stats) {
            output.document(Level::Cluster, fields, &meta);
        }
        Ok(())
    }
}

/// Returns a document for all data streams together and one for each.
fn documents(stats: &Value) -> Vec<Params> {
    let all = json!({
        "data_stream": "_all",
        "name": DEVICE.name,
        "shards": {
            "total": stats["_shards"]["total"],
            "successful_shards": stats["_shards"]["successful"],
            "failed_shards": stats["_shards"]["failed"],
        },
        "data_stream_count": stats["data_stream_count"],
        "backing_indices": stats["backing_indices"],
        "total_store_size_bytes": stats["total_store_size_bytes"],
    });
    let one = |stream: &Value| {
        json!({
            "name": DEVICE.name,
            "data_stream": stream["data_stream"],
            "backing_indices": stream["backing_indices"],
            "store_size_bytes": stream["store_size_bytes"],
            "maximum_timestamp": stream["maximum_timestamp"],
        })
    };
    let streams = stats["data_streams"].as_array().into_iter().flatten().map(one);
    std::iter::once(all).chain(streams).filter_map(|document| document.as_object().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_each() {
        let stats = json!({"_shards": {"total": 2, "successful": 2, "failed": 0}, "data_stream_count": 1, "backing_indices": 1,
            "total_store_size_bytes": 9, "data_streams": [{"data_stream": "logs", "backing_indices": 1,
            "store_size_bytes": 9, "maximum_timestamp": 5}]});
        let found = documents(&stats);
        assert_eq!(
            (found.len(), &found[0]["data_stream"], &found[1]["data_stream"]),
            (2, &json!("_all"), &json!("logs"))
        );
    }
}
