//! `_cluster/stats`: totals over all indices and nodes. Source: Elasticsearch's `ClusterStatsResponse`.

use std::collections::BTreeMap;

use limber_engine::{HealthRequest, IndexInfo, IndicesOptions, Result};
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::machine;
use crate::rest::human::with_words;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

const STATS: &[&str] = &["include_remotes", "timeout"];

/// The endpoints of this file (`_cluster`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_cluster/stats", STATS, stats),
    route(&[Method::Get], "/_cluster/stats/nodes/{node}", STATS, stats),
    route(&[Method::Get], "/_cluster/stats/{metric}/nodes/{node}", STATS, some_stats),
    route(&[Method::Get], "/_cluster/stats/{metric}/{index_metric}/nodes/{node}", STATS, some_stats),
];

fn stats(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(with_words(request, whole(app, request)?)?))
}

fn whole(app: &App, request: &Request) -> Result<Value> {
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let selects = request.param("node").is_none_or(|filter| super::nodes::selects(app, filter));
    let count = u32::from(selects);
    let mut answer = json!({
        "_nodes": {"total": count, "successful": count, "failed": 0},
        "cluster_name": health.cluster_name,
        "cluster_uuid": app.node.cluster_uuid(),
        "timestamp": super::nodes::now_millis(),
        "status": health.status.as_str(),
        "indices": indices(app)?,
        "nodes": nodes(app)?,
        "snapshots": {
            "current_counts": {
                "snapshots": 0, "shard_snapshots": 0, "snapshot_deletions": 0, "concurrent_operations": 0, "cleanups": 0,
            },
            "repositories": {},
        },
        "repositories": {},
    });
    // There are no remote clusters, so no search went to any.
    let took = json!({"max": 0, "avg": 0, "p90": 0});
    answer["ccs"] = json!({"_search": {
        "total": 0, "success": 0, "skipped": 0, "took": took, "took_mrt_true": took, "took_mrt_false": took,
        "remotes_per_search_max": 0, "remotes_per_search_avg": 0.0, "failure_reasons": {}, "features": {}, "clients": {},
        "clusters": {},
    }});
    if request.flag_or("include_remotes", false)? {
        answer["ccs"]["clusters"] = json!({});
    }
    Ok(answer)
}

/// Sections of the nodes' statistics that OpenSearch selects by name.
const NODE_METRICS: &[&str] = &[
    "os",
    "process",
    "jvm",
    "fs",
    "plugins",
    "ingest",
    "network_types",
    "discovery_types",
    "packaging_types",
];

/// OpenSearch's form of the endpoint, which selects sections by name.
fn some_stats(app: &App, request: &Request) -> Result<Response> {
    let mut answer = whole(app, request)?;
    let Some(body) = answer.as_object_mut() else { return Ok(Response::ok(answer)) };
    let metrics: Vec<&str> = request.path("metric").split(',').collect();
    let shows_all = metrics.contains(&"_all");
    let known =
        |metric: &&&str| **metric == "_all" || **metric == "indices" || NODE_METRICS.contains(*metric);
    if let Some(unknown) = metrics.iter().find(|metric| !known(metric)) {
        let path = request.uri.split('?').next().unwrap_or("");
        return Err(RequestError::illegal_argument(format!(
            "request [{path}] contains unrecognized metric: [{unknown}]"
        )));
    }
    if !shows_all && !metrics.contains(&"indices") {
        body.shift_remove("indices");
    }
    if let Some(indices) = body.get_mut("indices").and_then(Value::as_object_mut)
        && let Some(wanted) = request.param("index_metric").filter(|wanted| *wanted != "_all")
    {
        let wanted: Vec<&str> = wanted.split(',').collect();
        indices.retain(|name, _| name == "count" || wanted.contains(&name.as_str()));
    }
    if let Some(nodes) = body.get_mut("nodes").and_then(Value::as_object_mut)
        && !shows_all
    {
        nodes.retain(|name, _| metrics.contains(&name.as_str()));
        if nodes.is_empty() {
            body.shift_remove("nodes");
        }
    }
    ["snapshots", "repositories", "ccs"].into_iter().for_each(|name| drop(body.shift_remove(name)));
    Ok(Response::ok(answer))
}

fn indices(app: &App) -> Result<Value> {
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let of_all = app.node.node_indices_stats(&limber_engine::StatsRequest::default())?;
    let infos = app.node.get_index("_all", IndicesOptions::LENIENT)?;
    let section = |name: &str| of_all.get(name).cloned().unwrap_or_else(|| json!({}));
    let count = health.indices.len();
    let per_index = |total: f64| if count == 0 { 0.0 } else { total / count as f64 };
    let spread = |of: &dyn Fn(&limber_engine::IndexHealth) -> u32| {
        let all = || health.indices.iter().map(of);
        json!({
            "min": all().min().unwrap_or(0),
            "max": all().max().unwrap_or(0),
            "avg": per_index(all().map(f64::from).sum()),
        })
    };
    let active = |index: &limber_engine::IndexHealth| {
        index.shards.iter().filter(|shard| shard.primary_active).count() as u32
    };
    let primaries = health.active_primary_shards;
    let replicas = f64::from(health.active_shards - primaries);
    let replication = if primaries == 0 { 0.0 } else { replicas / f64::from(primaries) };
    Ok(json!({
        "count": count,
        "shards": {
            "total": health.active_shards,
            "primaries": primaries,
            "replication": replication,
            "index": {
                "shards": spread(&active),
                "primaries": spread(&active),
                "replication": {"min": replication, "max": replication, "avg": replication},
            },
        },
        "docs": section("docs"),
        "store": section("store"),
        "fielddata": section("fielddata"),
        "query_cache": section("query_cache"),
        "completion": section("completion"),
        "segments": section("segments"),
        "mappings": mappings(&infos),
        "analysis": analysis(&infos),
        "versions": [{
            "version": app.config.compat_version,
            "index_count": count,
            "primary_shard_count": primaries,
            "total_primary_size": limber_text::byte_size::show(of_all["store"]["size_in_bytes"].as_u64().unwrap_or(0)),
            "total_primary_bytes": of_all["store"]["size_in_bytes"],
        }],
        "search": app.search_usage.to_json(),
        "dense_vector": {"value_count": 0},
        "sparse_vector": {"value_count": 0},
    }))
}

/// How many fields have a type, in how many indices, and how many of them have a script.
#[derive(Default)]
struct TypeCount {
    count: u64,
    indices: u64,
    scripts: u64,
    texts: ScriptTexts,
    last_index: Option<usize>,
}

impl TypeCount {
    /// Counts a field, given its `script` in the mapping.
    fn add(&mut self, index: usize, script: Option<&Value>) {
        self.count += 1;
        self.scripts += u64::from(script.is_some());
        if let Some(source) = script.and_then(|script| script["source"].as_str().or(script.as_str())) {
            self.texts.add(source);
        }
        if self.last_index.replace(index) != Some(index) {
            self.indices += 1;
        }
    }
}

/// The greatest and the sum of some numbers.
#[derive(Default)]
struct Spread {
    max: u64,
    total: u64,
}

impl Spread {
    fn add(&mut self, number: usize) {
        self.max = self.max.max(number as u64);
        self.total += number as u64;
    }
}

/// The sizes of the scripts of fields, and how often they read the source and columns of documents.
///
/// Source: `FieldScriptStats`, `MappingStats`.
#[derive(Default)]
struct ScriptTexts {
    lines: Spread,
    chars: Spread,
    source: Spread,
    doc: Spread,
}

impl ScriptTexts {
    fn add(&mut self, source: &str) {
        self.lines.add(source.lines().count());
        self.chars.add(source.encode_utf16().count());
        self.source.add(source.matches("params._source").count());
        self.doc.add(source.matches("doc[").count() + source.matches("doc.").count());
    }

    /// Adds the language and the figures to an entry of the answer.
    fn show(&self, entry: &mut Value) {
        entry["lang"] = json!(["painless"]);
        let figures =
            [("lines", &self.lines), ("chars", &self.chars), ("source", &self.source), ("doc", &self.doc)];
        for (name, spread) in figures {
            entry[format!("{name}_max")] = spread.max.into();
            entry[format!("{name}_total")] = spread.total.into();
        }
    }
}

fn mappings(infos: &[IndexInfo]) -> Value {
    let (mut fields, mut runtime) =
        (BTreeMap::<String, TypeCount>::new(), BTreeMap::<String, TypeCount>::new());
    let mut stored_modes = BTreeMap::<&str, u64>::new();
    let mut bytes = 0;
    for (number, info) in infos.iter().enumerate() {
        add_fields(&info.mappings["properties"], number, &mut fields);
        for definition in info.mappings["runtime"].as_object().into_iter().flat_map(Map::values) {
            let kind = definition["type"].as_str().unwrap_or_default().to_owned();
            runtime.entry(kind).or_default().add(number, definition.get("script"));
        }
        let mode = info.settings.get("index.mapping.source.mode").and_then(Value::as_str);
        let mode = mode.or(info.mappings["_source"]["mode"].as_str());
        let is_disabled = info.mappings["_source"]["enabled"] == false;
        let mode = match mode {
            _ if is_disabled => "disabled",
            Some("synthetic") => "synthetic",
            Some("disabled") => "disabled",
            _ => "stored",
        };
        *stored_modes.entry(mode).or_default() += 1;
        bytes += info.mappings.to_string().len();
    }
    let total: u64 = fields.values().map(|count| count.count).sum();
    let shown = |counts: BTreeMap<String, TypeCount>, is_runtime: bool| -> Vec<Value> {
        let entry = |(name, count): (String, TypeCount)| {
            let mut entry = json!({"name": name, "count": count.count, "index_count": count.indices});
            match is_runtime {
                false => entry["script_count"] = count.scripts.into(),
                true => {
                    entry["scriptless_count"] = (count.count - count.scripts).into();
                    entry["shadowed_count"] = 0.into();
                }
            }
            if is_runtime || count.scripts > 0 {
                count.texts.show(&mut entry);
            }
            entry
        };
        counts.into_iter().map(entry).collect()
    };
    json!({
        "total_field_count": total,
        "total_deduplicated_field_count": total,
        "total_deduplicated_mapping_size_in_bytes": bytes,
        "field_types": shown(fields, false),
        "runtime_field_types": shown(runtime, true),
        "source_modes": stored_modes,
    })
}

fn add_fields(properties: &Value, index: usize, counts: &mut BTreeMap<String, TypeCount>) {
    for definition in properties.as_object().into_iter().flat_map(Map::values) {
        let kind = definition["type"].as_str().unwrap_or("object").to_owned();
        counts.entry(kind).or_default().add(index, definition.get("script"));
        add_fields(&definition["properties"], index, counts);
        add_fields(&definition["fields"], index, counts);
    }
}

/// Returns which components the indices' own analyzers use.
fn analysis(infos: &[IndexInfo]) -> Value {
    let kinds = ["char_filter", "tokenizer", "filter", "analyzer"];
    let mut types: [BTreeMap<String, TypeCount>; 4] = Default::default();
    for (number, info) in infos.iter().enumerate() {
        for (key, value) in &info.settings {
            let Some(rest) = key.strip_prefix("index.analysis.") else { continue };
            let mut parts = rest.splitn(3, '.');
            let (Some(kind), Some(_), Some("type")) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if let Some(at) = kinds.iter().position(|known| *known == kind) {
                let name = value.as_str().unwrap_or_default().to_owned();
                types[at].entry(name).or_default().add(number, None);
            }
        }
    }
    let shown = |counts: &BTreeMap<String, TypeCount>| -> Vec<Value> {
        let entry = |(name, count): (&String, &TypeCount)| json!({"name": name, "count": count.count, "index_count": count.indices});
        counts.iter().map(entry).collect()
    };
    json!({
        "char_filter_types": shown(&types[0]),
        "tokenizer_types": shown(&types[1]),
        "filter_types": shown(&types[2]),
        "analyzer_types": shown(&types[3]),
        "built_in_char_filters": [],
        "built_in_tokenizers": [],
        "built_in_filters": [],
        "built_in_analyzers": [],
        "synonyms": {},
    })
}

fn nodes(app: &App) -> Result<Value> {
    let (os, process) = (machine::os(), machine::process());
    let used = os.memory_total_bytes.saturating_sub(os.memory_available_bytes);
    let (pretty_name, _) = machine::os_release();
    let percent = |part: u64| part * 100 / os.memory_total_bytes.max(1);
    let wanted = |section: &str| section == "indexing_pressure";
    let pressure = super::nodes::node_stats(app, &wanted, &limber_engine::StatsRequest::default())?;
    let ingest = app.node.ingest_stats();
    let open = process.open_file_descriptors;
    Ok(json!({
        "count": {
            "total": 1, "coordinating_only": 0, "data": 1, "data_cold": 0, "data_content": 0, "data_frozen": 0, "data_hot": 0,
            "data_warm": 0, "index": 0, "ingest": 1, "master": 1, "ml": 0, "remote_cluster_client": 1, "search": 0, "transform": 0,
            "voting_only": 0,
        },
        "versions": [app.config.compat_version],
        "os": {
            "available_processors": app.config.cores,
            "allocated_processors": app.config.cores,
            "names": [{"name": "Linux", "count": 1}],
            "pretty_names": [{"pretty_name": pretty_name, "count": 1}],
            "architectures": [{"arch": std::env::consts::ARCH, "count": 1}],
            "mem": {
                "total_in_bytes": os.memory_total_bytes,
                "adjusted_total_in_bytes": os.memory_total_bytes,
                "free_in_bytes": os.memory_available_bytes,
                "used_in_bytes": used,
                "free_percent": 100 - percent(used),
                "used_percent": percent(used),
            },
        },
        "process": {"cpu": {"percent": 0}, "open_file_descriptors": {"min": open, "max": open, "avg": open}},
        "jvm": {
            "max_uptime_in_millis": app.node.uptime_ms(),
            "versions": [],
            "mem": {"heap_used_in_bytes": 0, "heap_max_in_bytes": app.node.ledger().limit_bytes},
            "threads": process.thread_count,
        },
        "fs": app.node.fs_stats().get("total").cloned().unwrap_or_else(|| json!({})),
        "plugins": [],
        "network_types": {"transport_types": {"limber": 1}, "http_types": {"limber": 1}},
        "discovery_types": {"single-node": 1},
        "packaging_types": [{"flavor": "default", "type": "tar", "count": 1}],
        "ingest": {
            "number_of_pipelines": ingest["pipelines"].as_object().map_or(0, Map::len),
            "processor_stats": processors(&ingest),
        },
        "indexing_pressure": pressure["indexing_pressure"],
        "limber": {"memory": pools(app)},
    }))
}

/// Sums up the statistics of processors by type, over all pipelines.
fn processors(ingest: &Value) -> Value {
    let mut by_type = Map::new();
    let pipelines = ingest["pipelines"].as_object().into_iter().flat_map(Map::values);
    let steps = pipelines.flat_map(|pipeline| pipeline["processors"].as_array().into_iter().flatten());
    for step in steps.filter_map(|step| step.as_object()?.values().next()) {
        let kind = step["type"].as_str().unwrap_or_default();
        let sums = by_type
            .entry(kind)
            .or_insert_with(|| json!({"count": 0, "failed": 0, "current": 0, "time_in_millis": 0}));
        for member in ["count", "failed", "current", "time_in_millis"] {
            let sum = sums[member].as_u64().unwrap_or(0) + step["stats"][member].as_u64().unwrap_or(0);
            sums[member] = sum.into();
        }
    }
    Value::Object(by_type)
}

fn pools(app: &App) -> Value {
    let pools = app.node.ledger().pools();
    let shown = pools.iter().map(|pool| {
        let body = json!({"used_in_bytes": pool.used_bytes(), "limit_in_bytes": pool.limit_bytes()});
        (pool.name().to_owned(), body)
    });
    Value::Object(shown.collect())
}
