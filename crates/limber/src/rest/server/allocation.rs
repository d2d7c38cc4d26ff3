//! `_cluster/allocation/explain` and `_shard_stores`: why a shard is where it is, on one node.
//!
//! Primaries are on this node or, if they failed, unassigned; replicas have no other node to go to. Requests
//! neither move shards nor discard data: a damaged shard is repaired by `limber check --repair`.

use limber_engine::{
    HealthRequest, HealthStatus, IndexHealth, IndexInfo, IndicesOptions, Result, ShardHealth,
};
use limber_mapping::date::DateFormat;
use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::nodes;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const EXPLAIN: &[&str] = &[
    "index",
    "shard",
    "primary",
    "current_node",
    "include_yes_decisions",
    "include_disk_info",
    "master_timeout",
];
const STORES: &[&str] = with_indices_options!["status"];

/// The endpoints of this file (`_cluster/allocation`, `_shard_stores`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get, Method::Post], "/_cluster/allocation/explain", EXPLAIN, explain),
    route(&[Method::Get], "/_shard_stores", STORES, shard_stores),
    route(&[Method::Get], "/{index}/_shard_stores", STORES, shard_stores),
];

/// The shard that the request asks about.
struct Asked {
    index: String,
    shard: u32,
    is_primary: bool,
    current_node: Option<String>,
}

/// Source: `ClusterAllocationExplainRequest`.
const PARSER: ObjectParser<'_> = ObjectParser::new("cluster/allocation/explain");

impl Asked {
    fn parse(body: &Value) -> Result<Option<Asked>> {
        let members = PARSER.members(body)?;
        if members.is_empty() {
            return Ok(None);
        }
        let (mut index, mut shard, mut primary, mut current_node) = (None, None, None, None);
        for (key, value) in members {
            match key.as_str() {
                "index" => index = Some(PARSER.text(key, value)?.to_owned()),
                "shard" => shard = Some(PARSER.integer(key, value)?),
                "primary" => primary = Some(PARSER.flag(key, value)?),
                "current_node" => current_node = Some(PARSER.text(key, value)?.to_owned()),
                _ => return Err(PARSER.unknown(key)),
            }
        }
        let missing =
            [("index", index.is_none()), ("shard", shard.is_none()), ("primary", primary.is_none())];
        let problems: Vec<String> = missing
            .iter()
            .filter(|(_, is_missing)| *is_missing)
            .map(|(name, _)| format!("{name} must be specified"))
            .collect();
        match (index, shard, primary) {
            (Some(index), Some(shard), Some(is_primary)) => Ok(Some(Asked {
                index,
                shard: u32::try_from(shard).unwrap_or(u32::MAX),
                is_primary,
                current_node,
            })),
            _ => Err(RequestError::validation(problems)),
        }
    }
}

/// Returns the shard that the URL asks about, in the shape of a body.
fn in_url(request: &Request) -> Result<Value> {
    let mut body = Map::new();
    for name in ["index", "current_node"] {
        body.extend(request.param(name).map(|text| (name.to_owned(), text.into())));
    }
    body.extend(request.number::<u32>("shard")?.map(|shard| ("shard".to_owned(), shard.into())));
    body.extend(request.flag("primary")?.map(|primary| ("primary".to_owned(), primary.into())));
    Ok(Value::Object(body))
}

fn explain(app: &App, request: &Request) -> Result<Response> {
    let body = match request.json()? {
        Some(body) => body,
        None => in_url(request)?,
    };
    let with_yes = request.flag_or("include_yes_decisions", false)?;
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let (index, shard, is_primary, was_named) = match Asked::parse(&body)? {
        Some(asked) => {
            let index = health.indices.iter().find(|index| *index.name == *asked.index);
            let index = index.ok_or_else(|| no_such_index(&asked.index))?;
            let shard = index.shards.iter().find(|shard| shard.shard == asked.shard);
            let shard = shard.ok_or_else(|| no_such_shard(&asked.index, u64::from(asked.shard)))?;
            if let Some(node) = asked.current_node.as_deref().filter(|node| !nodes::selects(app, node)) {
                let reason = format!("failed to resolve [{node}], no matching nodes");
                return Err(RequestError::illegal_argument(reason));
            }
            if !asked.is_primary && index.number_of_replicas == 0 {
                return Err(RequestError::illegal_argument(format!(
                    "unable to find any shards to explain [ClusterAllocationExplainRequest[index={},shard={},primary?=false,\
                     includeYesDecisions?={with_yes}] in the routing table",
                    asked.index, asked.shard
                )));
            }
            (index, shard, asked.is_primary, true)
        }
        None => {
            let (index, shard, is_primary) = unassigned(&health.indices).ok_or_else(none_is_unassigned)?;
            (index, shard, is_primary, false)
        }
    };
    let mut answer = Map::new();
    if !was_named {
        let note = "No shard was specified in the explain API request, so this response explains a randomly chosen unassigned \
                    shard. There may be other unassigned shards in this cluster which cannot be assigned for different reasons. It \
                    may not be possible to assign this shard until one of the other shards is assigned correctly. To explain the \
                    allocation of other shards (whether assigned or unassigned) you must specify the target shard in the request \
                    to this API. See https://www.elastic.co/guide/en/elasticsearch/reference/8.19/cluster-allocation-explain.html \
                    for more information.";
        answer.insert("note".into(), note.into());
    }
    answer.insert("index".into(), index.name.to_string().into());
    answer.insert("shard".into(), shard.shard.into());
    answer.insert("primary".into(), is_primary.into());
    let with_disk = request.flag_or("include_disk_info", false)?;
    let more = match is_primary && shard.primary_active {
        true => explain_started(app, with_disk, unassigned(&health.indices).is_none()),
        false => explain_unassigned(app, index, (shard, is_primary), with_disk)?,
    };
    answer.extend(more);
    Ok(Response::ok(Value::Object(answer)))
}

pub(super) fn no_such_index(name: &str) -> RequestError {
    RequestError::not_found("index_not_found_exception", format!("no such index [{name}]"))
        .with("index_uuid", "_na_")
        .with("index", name)
}

pub(super) fn no_such_shard(index: &str, shard: u64) -> RequestError {
    RequestError::not_found("shard_not_found_exception", "no such shard")
        .with("shard", shard.to_string())
        .with("index", index)
}

fn none_is_unassigned() -> RequestError {
    RequestError::illegal_argument(
        "No shard was specified in the request which means the response should explain a randomly-chosen unassigned shard, but there are \
         no unassigned shards in this cluster. To explain the allocation of an assigned shard you must specify the target shard in the request. See \
         https://www.elastic.co/guide/en/elasticsearch/reference/8.19/cluster-allocation-explain.html for more information.",
    )
}

/// Returns an unassigned shard, and whether it is a primary: preferably a failed primary, else a replica.
fn unassigned(indices: &[IndexHealth]) -> Option<(&IndexHealth, &ShardHealth, bool)> {
    let all = || indices.iter().flat_map(|index| index.shards.iter().map(move |shard| (index, shard)));
    let primary = all().find(|(_, shard)| !shard.primary_active);
    let replica = || all().find(|(index, _)| index.number_of_replicas > 0);
    primary
        .map(|(index, shard)| (index, shard, true))
        .or_else(|| replica().map(|(index, shard)| (index, shard, false)))
}

// Source: `Explanations`.
const ALREADY_BALANCED: &str = "This shard is in a well-balanced location and satisfies all allocation rules so it will remain on \
     this node. Elasticsearch cannot improve the cluster balance by moving it to another node. If you expect this shard to be \
     rebalanced to another node, find the other node in the node-by-node explanation and address the reasons which prevent \
     Elasticsearch from rebalancing this shard there.";
const CANNOT_REBALANCE: &str = "Elasticsearch is not allowed to allocate or rebalance this shard to another node. If you expect this \
     shard to be rebalanced to another node, find this node in the node-by-node explanation and address the reasons which prevent \
     Elasticsearch from rebalancing this shard there.";
const ALL_NODES_FORBIDDEN: &str = "Elasticsearch isn't allowed to allocate this shard to any of the nodes in the cluster. Choose a \
     node to which you expect this shard to be allocated, find this node in the node-by-node explanation, and address the reasons \
     which prevent Elasticsearch from allocating this shard there.";

/// Explains why a started primary is on this node. `all_active` means that no shard is unassigned, so the
/// cluster may be rebalanced.
fn explain_started(app: &App, with_disk: bool, all_active: bool) -> Map<String, Value> {
    let node = json!({
        "id": app.node.node_id(),
        "name": app.node.config().node_name,
        "transport_address": app.config.http_address,
        "attributes": nodes::attributes(app),
        "roles": nodes::ROLES,
        "weight_ranking": 1,
    });
    let explanation = if all_active { ALREADY_BALANCED } else { CANNOT_REBALANCE };
    let mut shown = Map::new();
    shown.insert("current_state".into(), "started".into());
    shown.insert("current_node".into(), node);
    if with_disk {
        shown.insert("cluster_info".into(), disk_info(app));
    }
    shown.insert("can_remain_on_current_node".into(), "yes".into());
    shown.insert("can_rebalance_cluster".into(), if all_active { "yes" } else { "no" }.into());
    if !all_active {
        let decisions = json!([{
            "decider": "cluster_rebalance",
            "decision": "NO",
            "explanation": "the cluster has unassigned shards and cluster setting [cluster.routing.allocation.allow_rebalance] is set to \
                            [indices_all_active]",
        }]);
        shown.insert("can_rebalance_cluster_decisions".into(), decisions);
    }
    shown.extend(object(json!({
        "can_rebalance_to_other_node": "no",
        "rebalance_explanation": explanation,
    })));
    shown
}

/// Returns the disk usage that `include_disk_info` asks for. Source: `ClusterInfo#toXContent`.
fn disk_info(app: &App) -> Value {
    let fs = app.node.fs_stats();
    let (total, free) = (&fs["total"]["total_in_bytes"], &fs["total"]["available_in_bytes"]);
    let (total, free) = (total.as_u64().unwrap_or(0), free.as_u64().unwrap_or(0));
    let used = total.saturating_sub(free);
    let percent = |part: u64| (part * 1000).checked_div(total).unwrap_or(0) as f64 / 10.0;
    let space = json!({
        "path": fs["data"][0]["path"],
        "total_bytes": total,
        "used_bytes": used,
        "free_bytes": free,
        "free_disk_percent": percent(free),
        "used_disk_percent": percent(used),
    });
    let node = json!({
        "node_name": app.node.config().node_name,
        "least_available": space,
        "most_available": space,
    });
    json!({
        "nodes": {app.node.node_id(): node},
        "shard_sizes": {},
        "shard_data_set_sizes": {},
        "shard_paths": {},
        "reserved_sizes": [],
    })
}

fn explain_unassigned(
    app: &App,
    index: &IndexHealth,
    (shard, is_primary): (&ShardHealth, bool),
    with_disk: bool,
) -> Result<Map<String, Value>> {
    let created = app
        .node
        .get_index(&index.name, IndicesOptions::METADATA_OPEN_CLOSED)?
        .first()
        .map_or(0, IndexInfo::created_millis);
    let at = DateFormat::parse_list("strict_date_time")?.format_millis(created as i64);
    let (reason, status, decider, explanation) = match is_primary {
        true => (
            "ALLOCATION_FAILED",
            "no_valid_shard_copy",
            "max_retry",
            shard.reason.as_deref().unwrap_or("the shard failed; it is opened again by itself").to_owned(),
        ),
        false => (
            "INDEX_CREATED",
            "no_attempt",
            "same_shard",
            format!(
                "a copy of this shard is already allocated to this node [[{}][{}], node[{}], [P], s[STARTED]]",
                index.name,
                shard.shard,
                app.node.node_id()
            ),
        ),
    };
    let mut info = json!({"reason": reason, "at": at, "last_allocation_status": status});
    if is_primary {
        info["details"] = explanation.clone().into();
    }
    let can_allocate = if is_primary { "no_valid_shard_copy" } else { "no" };
    let summary = match is_primary {
        true => {
            "The primary could not be opened from the data folder of this node; see the details, and `limber check`."
        }
        false => ALL_NODES_FORBIDDEN,
    };
    let mut shown = object(json!({"current_state": "unassigned", "unassigned_info": info}));
    if with_disk {
        shown.insert("cluster_info".into(), disk_info(app));
    }
    shown.extend(object(json!({
        "can_allocate": can_allocate,
        "allocate_explanation": summary,
        "node_allocation_decisions": [{
            "node_id": app.node.node_id(),
            "node_name": app.node.config().node_name,
            "transport_address": app.config.http_address,
            "node_attributes": nodes::attributes(app),
            "roles": nodes::ROLES,
            "node_decision": "no",
            "weight_ranking": 1,
            "deciders": [{"decider": decider, "decision": "NO", "explanation": explanation}],
        }],
    })));
    Ok(shown)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn shard_stores(app: &App, request: &Request) -> Result<Response> {
    let mut wanted = request.list("status");
    if wanted.is_empty() {
        wanted = vec!["yellow".to_owned(), "red".to_owned()];
    }
    for status in &wanted {
        if !matches!(status.as_str(), "all" | "green" | "yellow" | "red") {
            return Err(RequestError::illegal_argument(format!("unknown cluster health status [{status}]")));
        }
    }
    let expression = request.param("index").unwrap_or("_all");
    let options = IndicesOptions { forbid_closed_indices: false, ..IndicesOptions::BROADCAST };
    let options = indices_options(request, options)?;
    let names: Vec<_> =
        app.node.resolve(expression, options)?.into_iter().map(|index| index.name.clone()).collect();
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let mut indices = Map::new();
    for index in health.indices.iter().filter(|index| names.contains(&index.name)) {
        let mut shards = Map::new();
        for shard in &index.shards {
            let status = match shard.status {
                HealthStatus::Green => "green",
                HealthStatus::Yellow => "yellow",
                HealthStatus::Red => "red",
            };
            if wanted.iter().any(|wanted| wanted == "all" || wanted == status) {
                shards.insert(shard.shard.to_string(), json!({"stores": [store(app, index, shard)]}));
            }
        }
        if !shards.is_empty() {
            indices.insert(index.name.to_string(), json!({"shards": shards}));
        }
    }
    Ok(Response::ok(json!({"indices": indices})))
}

/// Renders the only copy of a shard.
fn store(app: &App, index: &IndexHealth, shard: &ShardHealth) -> Value {
    let attributes: Map<String, Value> =
        app.config.node_attributes.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut store = json!({
        app.node.node_id(): {
            "name": app.node.config().node_name,
            "ephemeral_id": app.node.node_id(),
            "transport_address": app.config.http_address,
            "external_id": app.node.config().node_name,
            "attributes": attributes,
            "roles": nodes::ROLES,
            "version": app.config.compat_version,
        },
        "allocation_id": format!("{}-{}", index.uuid, shard.shard),
        "allocation": if shard.primary_active { "primary" } else { "unused" },
    });
    if let Some(reason) = shard.reason.as_deref().filter(|_| !shard.primary_active) {
        store["store_exception"] = json!({"type": "corrupt_index_exception", "reason": reason});
    }
    store
}
