//! `_health_report`: is the node healthy, what is impaired if not, and what should be done?
//!
//! Source: `org.elasticsearch.health`, those indicators that apply to a single node.

use limber_engine::{HealthRequest, HealthResponse, HealthStatus, Result};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = &["verbose", "size"];

/// The documentation page for problems of a node.
const HELP: &str = "https://www.elastic.co/docs/troubleshoot/elasticsearch/diagnose-unavailable-shards";

/// Failed repetitions after which a backing index makes no progress. Elasticsearch:
/// `data_streams.lifecycle.signalling.error_retry_interval`.
const STAGNATING_RETRIES: u64 = 10;

/// Maximum number of indices without progress that are listed. Elasticsearch: `DataStreamLifecycleService`.
const STAGNATING_SHOWN_MAX: usize = 500;

/// The endpoints of this file (`_health_report`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_health_report", PARAMETERS, report),
    route(&[Method::Get], "/_health_report/{feature}", PARAMETERS, report),
];

/// The health status of one area, and the reason for it.
struct Indicator {
    status: HealthStatus,
    symptom: String,
    details: Value,
    impacts: Vec<Value>,
    diagnosis: Vec<Value>,
}

impl Indicator {
    fn green(symptom: &str, details: Value) -> Indicator {
        let symptom = symptom.to_owned();
        Indicator {
            status: HealthStatus::Green,
            symptom,
            details,
            impacts: Vec::new(),
            diagnosis: Vec::new(),
        }
    }

    fn to_json(&self, is_verbose: bool) -> Value {
        let mut shown = json!({"status": self.status.as_str(), "symptom": self.symptom});
        if is_verbose && !self.details.is_null() {
            shown["details"] = self.details.clone();
        }
        if !self.impacts.is_empty() {
            shown["impacts"] = self.impacts.clone().into();
        }
        if is_verbose && !self.diagnosis.is_empty() {
            shown["diagnosis"] = self.diagnosis.clone().into();
        }
        shown
    }
}

type Look = fn(&App, &HealthResponse) -> Result<Indicator>;

const INDICATORS: &[(&str, Look)] = &[
    ("master_is_stable", master_is_stable),
    ("repository_integrity", repository_integrity),
    ("disk", disk),
    ("shards_capacity", shards_capacity),
    ("shards_availability", shards_availability),
    ("slm", slm),
    ("ilm", ilm),
    ("data_stream_lifecycle", data_stream_lifecycle),
];

fn report(app: &App, request: &Request) -> Result<Response> {
    let is_verbose = request.flag_or("verbose", true)?;
    request.number::<u32>("size")?;
    let wanted = request.param("feature");
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let (mut worst, mut indicators) = (HealthStatus::Green, Map::new());
    for (name, look) in INDICATORS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name)) {
        let indicator = look(app, &health)?;
        worst = worst.max(indicator.status);
        indicators.insert((*name).to_owned(), indicator.to_json(is_verbose));
    }
    if let Some(unknown) = wanted.filter(|_| indicators.is_empty()) {
        let reason = format!("Did not find indicator {unknown}");
        return Err(RequestError::not_found("resource_not_found_exception", reason));
    }
    let mut answer = json!({"cluster_name": app.node.config().cluster_name, "indicators": indicators});
    if wanted.is_none()
        && let Some(object) = answer.as_object_mut()
    {
        object.shift_insert(0, "status".into(), worst.as_str().into());
    }
    Ok(Response::ok(answer))
}

fn master_is_stable(app: &App, _: &HealthResponse) -> Result<Indicator> {
    let node = json!({"node_id": app.node.node_id(), "name": app.node.config().node_name});
    let details = json!({"current_master": node, "recent_masters": [node]});
    Ok(Indicator::green("The cluster has a stable master node", details))
}

fn repository_integrity(app: &App, _: &HealthResponse) -> Result<Indicator> {
    let count = app.node.repository_types().len();
    Ok(match count {
        0 => Indicator::green("No snapshot repositories configured.", Value::Null),
        _ => Indicator::green("All repositories are healthy.", json!({"total_repositories": count})),
    })
}

fn disk(app: &App, _: &HealthResponse) -> Result<Indicator> {
    let details = |healthy: u32, full: u32| {
        json!({
            "indices_with_readonly_block": full,
            "nodes_with_enough_disk_space": healthy,
            "nodes_with_unknown_disk_status": 0,
            "nodes_over_high_watermark": 0,
            "nodes_over_flood_stage_watermark": full,
        })
    };
    if let Some(indicator) = missing_folders(app) {
        return Ok(indicator);
    }
    if !app.node.is_disk_full() {
        return Ok(Indicator::green("The cluster has enough available disk space.", details(1, 0)));
    }
    Ok(Indicator {
        status: HealthStatus::Red,
        symptom: "1 node is out of disk space, and writes are refused.".to_owned(),
        details: details(0, 1),
        impacts: vec![json!({
            "id": "elasticsearch:health:disk:impact:ingest_capability_unavailable",
            "severity": 1,
            "description": "The cluster cannot add or update documents until there is room on the disk.",
            "impact_areas": ["ingest"],
        })],
        diagnosis: vec![json!({
            "id": "elasticsearch:health:disk:diagnosis:add_disk_capacity_data_nodes",
            "cause": "The disk of the data folder is fuller than cluster.routing.allocation.disk.watermark.flood_stage.",
            "action": "Delete indices that are no longer needed, or give the data folder a larger disk. Writes go on by themselves.",
            "help_url": HELP, "affected_resources": {"nodes": [{"id": app.node.node_id(), "name": app.node.config().node_name}]},
        })],
    })
}

/// Returns the indicator for data folders that are not there; `None` if all are.
fn missing_folders(app: &App) -> Option<Indicator> {
    let missing: Vec<Value> = app
        .node
        .missing_folders()
        .into_iter()
        .map(|(path, reason)| json!({"path": path.display().to_string(), "reason": reason}))
        .collect();
    if missing.is_empty() {
        return None;
    }
    Some(Indicator {
        status: HealthStatus::Red,
        symptom: format!("{} of the data folders cannot be used.", missing.len()),
        details: json!({"missing_data_folders": missing}),
        impacts: vec![json!({
            "id": "limber:health:disk:impact:shards_unavailable",
            "severity": 1,
            "description": "Shards in these folders can be neither searched nor written.",
            "impact_areas": ["ingest", "search"],
        })],
        diagnosis: vec![json!({
            "id": "limber:health:disk:diagnosis:restore_data_folder",
            "cause": "A folder of path.data is not mounted, or its device fails.",
            "action": "Mount or repair it: its shards recover by themselves. If it is lost, restore its indices from a snapshot.",
            "help_url": HELP, "affected_resources": {"nodes": [{"id": app.node.node_id(), "name": app.node.config().node_name}]},
        })],
    })
}

fn shards_capacity(app: &App, health: &HealthResponse) -> Result<Indicator> {
    let settings = app.node.cluster_settings(true)?;
    let max = ["transient", "persistent", "defaults"]
        .iter()
        .find_map(|section| settings[section]["cluster.max_shards_per_node"].as_str()?.parse::<u32>().ok())
        .unwrap_or(1000);
    let used = health.active_shards + health.unassigned_shards;
    let details = json!({
        "data": {"max_shards_in_cluster": max, "current_used_shards": used},
        "frozen": {"max_shards_in_cluster": 0},
    });
    let left = max.saturating_sub(used);
    if left >= 10 {
        return Ok(Indicator::green("The cluster has enough room to add new shards.", details));
    }
    Ok(Indicator {
        status: if left < 5 { HealthStatus::Red } else { HealthStatus::Yellow },
        symptom: "Cluster is close to reaching the configured maximum number of shards for data nodes."
            .to_owned(),
        details,
        impacts: vec![json!({
            "id": "elasticsearch:health:shards_capacity:impact:creation_of_new_indices_blocked",
            "severity": 1,
            "description": "The cluster has too many used shards to be able to create new indices.",
            "impact_areas": ["ingest"],
        })],
        diagnosis: vec![json!({
            "id": "elasticsearch:health:shards_capacity:diagnosis:increase_max_shards_per_node",
            "cause": "The current value of cluster.max_shards_per_node does not allow to add more shards to the cluster.",
            "action": "Delete indices that are no longer needed, or raise cluster.max_shards_per_node.",
            "help_url": HELP, "affected_resources": {},
        })],
    })
}

fn shards_availability(_: &App, health: &HealthResponse) -> Result<Indicator> {
    let failed =
        || health.indices.iter().filter(|index| index.shards.iter().any(|shard| !shard.primary_active));
    let missing =
        failed().flat_map(|index| &index.shards).filter(|shard| !shard.primary_active).count() as u32;
    let replicas = health.unassigned_shards.saturating_sub(missing);
    let details = json!({
        "unassigned_primaries": missing, "creating_primaries": 0, "restarting_primaries": 0,
        "initializing_primaries": 0, "started_primaries": health.active_primary_shards,
        "unassigned_replicas": replicas, "creating_replicas": 0, "restarting_replicas": 0,
        "initializing_replicas": 0, "started_replicas": 0,
    });
    let names = |names: Vec<String>| json!({"indices": names});
    if missing > 0 {
        let indices: Vec<String> = failed().map(|index| index.name.to_string()).collect();
        let list = indices.join(", ");
        return Ok(Indicator {
            status: HealthStatus::Red,
            symptom: format!("This cluster has {missing} unavailable primary {}.", plural(missing, "shard")),
            details,
            impacts: vec![json!({
                "id": "elasticsearch:health:shards_availability:impact:primary_unassigned",
                "severity": 1,
                "description": format!(
                    "Cannot add data to {} {} [{list}]. Searches might return incomplete results.",
                    indices.len(), plural(indices.len() as u32, "index")
                ),
                "impact_areas": ["ingest", "search"],
            })],
            diagnosis: vec![json!({
                "id": "elasticsearch:health:shards_availability:diagnosis:explain_allocations",
                "cause": "Primary shards could not be opened from the data folder.",
                "action": "Read the reason in `GET _cluster/health?level=shards` or `_cat/shards?h=index,shard,unassigned.details`. What passes, \
                           such as a full disk, is tried again by itself or by `POST _cluster/reroute?retry_failed`; of damaged files \
                           `limber check` says which, and `limber check --repair` salvages what is intact.",
                "help_url": HELP, "affected_resources": names(indices),
            })],
        });
    }
    if replicas > 0 {
        let with_replicas = health.indices.iter().filter(|index| index.number_of_replicas > 0 && index.open);
        let indices: Vec<String> = with_replicas.map(|index| index.name.to_string()).collect();
        let list = indices.join(", ");
        return Ok(Indicator {
            status: HealthStatus::Yellow,
            symptom: format!(
                "This cluster has {replicas} unavailable replica {}.",
                plural(replicas, "shard")
            ),
            details,
            impacts: vec![json!({
                "id": "elasticsearch:health:shards_availability:impact:replica_unassigned",
                "severity": 2,
                "description": format!(
                    "Searches might be slower than usual. Fewer redundant copies of the data exist on {} {} [{list}].",
                    indices.len(), plural(indices.len() as u32, "index")
                ),
                "impact_areas": ["search"],
            })],
            diagnosis: vec![json!({
                "id": "elasticsearch:health:shards_availability:diagnosis:increase_tier_capacity_for_allocations:tier:data",
                "cause": "Replicas need a second node, and this cluster has one.",
                "action": "Set index.number_of_replicas to 0 for these indices, and take snapshots.",
                "help_url": HELP, "affected_resources": names(indices),
            })],
        });
    }
    Ok(Indicator::green("This cluster has all shards available.", details))
}

fn plural(count: u32, word: &str) -> String {
    match (count, word) {
        (1, word) => word.to_owned(),
        (_, "index") => "indices".to_owned(),
        (_, word) => format!("{word}s"),
    }
}

fn slm(app: &App, _: &HealthResponse) -> Result<Indicator> {
    let mode = app.node.snapshot_lifecycle_mode();
    let policies = count(app.node.get_snapshot_policies("*", false));
    let details = json!({"slm_status": mode, "policies": policies});
    Ok(match (policies, mode.as_str()) {
        (0, _) => Indicator::green("No Snapshot Lifecycle Management policies configured", details),
        (_, "RUNNING") => Indicator::green("Snapshot Lifecycle Management is running", details),
        _ => stopped(
            "slm",
            "Snapshot Lifecycle Management is not running",
            "Scheduled snapshots are not running.",
            details,
        ),
    })
}

fn ilm(app: &App, _: &HealthResponse) -> Result<Indicator> {
    let mode = app.node.lifecycle_mode();
    let policies = count(app.node.get_policies("*"));
    let stagnating = app.node.stagnating_indices();
    let details = json!({"ilm_status": mode, "policies": policies, "stagnating_indices": stagnating.len()});
    Ok(match (policies, mode.as_str()) {
        (0, _) => Indicator::green("No Index Lifecycle Management policies configured", details),
        (_, "RUNNING") if stagnating.is_empty() => {
            Indicator::green("Index Lifecycle Management is running", details)
        }
        (_, "RUNNING") => stagnating_in_ilm(&stagnating, details),
        _ => stopped(
            "ilm",
            "Index Lifecycle Management is not running",
            "Automatic index lifecycle is not running.",
            details,
        ),
    })
}

/// Source: `IlmHealthIndicatorService`.
fn stagnating_in_ilm(indices: &[String], details: Value) -> Indicator {
    let subject = match indices.len() {
        1 => "An index has".to_owned(),
        count => format!("{count} indices have"),
    };
    let shown = &indices[..indices.len().min(STAGNATING_SHOWN_MAX)];
    Indicator {
        status: HealthStatus::Yellow,
        symptom: format!("{subject} stayed on the same action longer than expected."),
        details,
        impacts: vec![json!({
            "id": "elasticsearch:health:ilm:impact:stagnating_index",
            "severity": 3,
            "description": "The lifecycle of these indices does not go on.",
            "impact_areas": ["deployment_management"],
        })],
        diagnosis: vec![json!({
            "id": "elasticsearch:health:ilm:diagnosis:stagnating_action",
            "cause": "A step of the policy fails, however often it is retried.",
            "action": "GET {index}/_ilm/explain says why. Remove the cause.",
            "help_url": HELP, "affected_resources": {"indices": shown},
        })],
    }
}

/// Source: `DataStreamLifecycleHealthIndicatorService`.
fn data_stream_lifecycle(app: &App, _: &HealthResponse) -> Result<Indicator> {
    let Some(mut failing) = app.node.failing_backing_indices() else {
        let symptom = "No data stream lifecycle health data available yet. Health information will be reported \
                       after the first run.";
        return Ok(Indicator::green(symptom, Value::Null));
    };
    let in_error = failing.len();
    failing.retain(|index| index["retry_count"].as_u64() >= Some(STAGNATING_RETRIES));
    let count = failing.len();
    let mut details = json!({
        "stagnating_backing_indices_count": count, "total_backing_indices_in_error": in_error,
    });
    if count == 0 {
        return Ok(Indicator::green("Data streams are executing their lifecycles without issues", details));
    }
    failing.truncate(STAGNATING_SHOWN_MAX);
    let names: Vec<Value> = failing.iter().map(|index| index["index_name"].clone()).collect();
    details["stagnating_backing_indices"] = failing.into();
    let subject =
        if count == 1 { "A backing index has".to_owned() } else { format!("{count} backing indices have") };
    Ok(Indicator {
        status: HealthStatus::Yellow,
        symptom: format!("{subject} repeatedly encountered errors whilst trying to advance in its lifecycle"),
        details,
        impacts: vec![json!({
            "id": "elasticsearch:health:data_stream_lifecycle:impact:stagnating_backing_index",
            "severity": 3,
            "description": "Backing indices of data streams are not rolled over, merged or deleted in time.",
            "impact_areas": ["deployment_management"],
        })],
        diagnosis: vec![json!({
            "id": "elasticsearch:health:data_stream_lifecycle:diagnosis:stagnating_dsl_backing_index",
            "cause": "The rounds of the lifecycle fail for these indices. The log says why.",
            "action": "Remove the cause, such as a block of the index.",
            "help_url": HELP, "affected_resources": {"indices": names},
        })],
    })
}

/// Returns the number of policies in a list, or 0 if listing them failed.
fn count(policies: Result<Value>) -> usize {
    policies.ok().and_then(|policies| Some(policies.as_object()?.len())).unwrap_or(0)
}

fn stopped(name: &str, symptom: &str, impact: &str, details: Value) -> Indicator {
    Indicator {
        status: HealthStatus::Yellow,
        symptom: symptom.to_owned(),
        details,
        impacts: vec![json!({
            "id": format!("elasticsearch:health:{name}:impact:automation_disabled"),
            "severity": 3,
            "description": impact,
            "impact_areas": ["deployment_management"],
        })],
        diagnosis: vec![json!({
            "id": format!("elasticsearch:health:{name}:diagnosis:{name}_disabled"),
            "cause": "It was stopped by a request.",
            "action": format!("POST _{name}/start"),
            "help_url": HELP, "affected_resources": {},
        })],
    }
}
