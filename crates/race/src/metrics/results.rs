//! Documents for a race's results (`to_result_dicts` and `as_flat_list` in `esrally/metrics.py`).

use serde_json::{Map, Value, json};

use crate::model::Params;
use crate::record::Race;

/// Returns one document per figure for `rally-results-*`, sorted by name. `meta` is the merged meta
/// information of the track and the challenge.
pub(crate) fn documents(race: &Race, meta: &Params) -> Vec<Value> {
    let Some(Value::Object(results)) = &race.results else { return Vec::new() };
    let mut items: Vec<Params> = results.iter().flat_map(|(name, value)| items(name, value)).collect();
    items.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    let template = template(race, meta);
    let whole = |item: Params| {
        let mut document = template.clone();
        document.extend(item);
        Value::Object(document)
    };
    items.into_iter().map(whole).collect()
}

fn template(race: &Race, meta: &Params) -> Params {
    let version = race.cluster.distribution_version.as_deref();
    let mut template = object(json!({
        "rally-version": race.rally_version,
        "rally-revision": race.rally_revision,
        "environment": race.environment,
        "race-id": race.race_id,
        "race-timestamp": race.race_timestamp,
        "distribution-version": version,
        "distribution-flavor": race.cluster.distribution_flavor,
        "user-tags": race.user_tags,
        "track": race.track,
        "challenge": race.challenge,
        "car": race.car_name(),
        "active": true,
    }));
    if let Some(major) = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok()) {
        template.insert("distribution-major-version".into(), major.into());
    }
    if let Some(revision) = &race.track_revision {
        template.insert("track-revision".into(), revision.as_str().into());
    }
    if let Some(params) = race.track_params.as_ref().filter(|params| !params.is_empty()) {
        template.insert("track-params".into(), params.clone().into());
    }
    if !meta.is_empty() {
        template.insert("meta".into(), meta.clone().into());
    }
    template
}

fn items(name: &str, value: &Value) -> Vec<Params> {
    let list = value.as_array().into_iter().flatten();
    match name {
        "op_metrics" => list.flat_map(task_items).collect(),
        "ml_processing_time" => list
            .map(|job| {
                let value = json!({"min": job["min"], "mean": job["mean"], "median": job["median"], "max": job["max"]});
                object(json!({"job": job["job"], "name": name, "value": value}))
            })
            .collect(),
        _ if name.starts_with("total_transform_") => {
            list.map(|one| object(json!({"id": one["id"], "name": name, "value": {"single": one["mean"]}}))).collect()
        }
        _ if name.starts_with("disk_usage_") => list
            .map(|one| {
                object(json!({"index": one["index"], "field": one["field"], "name": name, "value": {"single": one["value"]}}))
            })
            .collect(),
        _ if name.ends_with("_time_per_shard") => {
            let is_there = value.as_object().is_some_and(|stats| !stats.is_empty());
            is_there.then(|| object(json!({"name": name, "value": value}))).into_iter().collect()
        }
        _ if value.is_null() => Vec::new(),
        _ => vec![object(json!({"name": name, "value": {"single": value}}))],
    }
}

fn task_items(task: &Value) -> Vec<Params> {
    let item = |key: &str, is_single: bool| {
        let found = task.get(key)?;
        let value = if is_single { json!({ "single": found }) } else { found.clone() };
        let mut item = object(
            json!({"task": task["task"], "operation": task["operation"], "name": key, "value": value}),
        );
        if let Some(meta) = task.get("meta") {
            item.insert("meta".into(), meta.clone());
        }
        Some(item)
    };
    let wholes =
        ["throughput", "latency", "service_time", "processing_time"].into_iter().map(|key| (key, false));
    let singles = ["error_rate", "duration"].into_iter().map(|key| (key, true));
    wholes.chain(singles).filter_map(|(key, is_single)| item(key, is_single)).collect()
}

fn object(value: Value) -> Params {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
