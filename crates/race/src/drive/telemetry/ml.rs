//! How long machine-learning jobs took for their buckets (`MlBucketProcessingTime`).

use serde_json::{Value, json};

use crate::http::cluster::Cluster;

/// Times of one job in ms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MlJob {
    pub job: String,
    pub min_ms: f64,
    pub mean_ms: f64,
    pub median_ms: f64,
    pub max_ms: f64,
}

/// Returns no jobs for servers without machine learning, whatever they answer.
pub(super) fn processing_times(cluster: &mut Cluster, warnings: &mut Vec<String>) -> Vec<MlJob> {
    let of_field = |name: &str| json!({ name: { "field": "processing_time_ms" } });
    let body = json!({
        "size": 0,
        "query": { "bool": { "must": [{ "term": { "result_type": "bucket" } }] } },
        "aggs": { "jobs": {
            "terms": { "field": "job_id" },
            "aggs": {
                "min_pt": of_field("min"),
                "max_pt": of_field("max"),
                "mean_pt": of_field("avg"),
                "median_pt": { "percentiles": { "field": "processing_time_ms", "percents": [50] } },
            },
        } },
    });
    match cluster.post("/.ml-anomalies-*/_search", &body) {
        Ok(answer) => read(&answer.body),
        Err(error) => {
            warnings.push(format!("machine-learning processing times could not be read: {error}"));
            Vec::new()
        }
    }
}

fn read(response: &Value) -> Vec<MlJob> {
    let buckets = response["aggregations"]["jobs"]["buckets"].as_array();
    let job = |bucket: &Value| {
        Some(MlJob {
            job: bucket["key"].as_str()?.to_owned(),
            min_ms: bucket["min_pt"]["value"].as_f64()?,
            mean_ms: bucket["mean_pt"]["value"].as_f64()?,
            median_ms: bucket["median_pt"]["values"]["50.0"].as_f64()?,
            max_ms: bucket["max_pt"]["value"].as_f64()?,
        })
    };
    buckets.into_iter().flatten().filter_map(job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_or_none() {
        let bucket = json!({"key": "j", "min_pt": {"value": 1.0}, "mean_pt": {"value": 2.0},
            "median_pt": {"values": {"50.0": 2.5}}, "max_pt": {"value": 4.0}});
        let found = read(&json!({"aggregations": {"jobs": {"buckets": [bucket]}}}));
        assert_eq!(
            found,
            [MlJob { job: "j".into(), min_ms: 1.0, mean_ms: 2.0, median_ms: 2.5, max_ms: 4.0 }]
        );
        assert_eq!(read(&json!({"error": {}})), []);
    }
}
