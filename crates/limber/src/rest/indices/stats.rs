//! `_stats`, `_segments`: what each shard has done and contains.

use limber_engine::{IndicesOptions, Result, STATS_SECTIONS, StatsLevel, StatsRequest};
use limber_mapping::RequestError;

use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::human::with_words;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::router::{get, unrecognized};
use crate::rest::{App, Route};

const STATS: &[&str] = with_indices_options![
    "level",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "include_segment_file_sizes",
    "include_unloaded_segments",
    "forbid_closed_indices",
];

/// The endpoints of this file (`_stats`, `_segments`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    get("/_stats", STATS, stats),
    get("/_stats/{metric}", STATS, stats),
    get("/{index}/_stats", STATS, stats),
    get("/{index}/_stats/{metric}", STATS, stats),
    get("/_segments", with_indices_options!["verbose"], segments),
    get("/{index}/_segments", with_indices_options!["verbose"], segments),
];

/// Reads the shared parameters of `_stats` and `_nodes/stats/indices`. The placeholder named `metric` holds
/// the sections.
pub fn parse_stats_request(request: &Request, metric: &str) -> Result<StatsRequest> {
    let sections = request.list(metric);
    let named = sections.iter().map(String::as_str);
    let unknown: Vec<&str> = named.filter(|name| *name != "_all" && !STATS_SECTIONS.contains(name)).collect();
    if !unknown.is_empty() {
        let what = if metric == "metric" { "metric" } else { "index metric" };
        return Err(unrecognized(&request.uri, what, &unknown, STATS_SECTIONS));
    }
    if sections.len() > 1 && sections.iter().any(|s| s == "_all") {
        let path = request.uri.split('?').next().unwrap_or("");
        let listed = sections.join(",");
        return Err(RequestError::illegal_argument(format!(
            "request [{path}] contains _all and individual metrics [{listed}]"
        )));
    }
    refuse_unread(request, &sections, metric == "index_metric")?;
    let level = match request.param("level") {
        None if metric == "index_metric" => StatsLevel::Cluster,
        None | Some("indices") => StatsLevel::Indices,
        Some("cluster" | "node") => StatsLevel::Cluster,
        Some("shards") => StatsLevel::Shards,
        Some(other) => {
            let whole = if metric == "index_metric" { "node" } else { "cluster" };
            return Err(RequestError::illegal_argument(format!(
                "level parameter must be one of [{whole}] or [indices] or [shards] but was [{other}]"
            )));
        }
    };
    let fields_of =
        |name: &str| request.param(name).map_or_else(|| request.list("fields"), |_| request.list(name));
    Ok(StatsRequest {
        sections,
        level,
        groups: request.list("groups"),
        include_segment_file_sizes: request.flag_or("include_segment_file_sizes", false)?,
        include_unloaded_segments: request.flag_or("include_unloaded_segments", false)?,
        completion_fields: fields_of("completion_fields"),
        fielddata_fields: fields_of("fielddata_fields"),
    })
}

/// Parameters that only some sections read, with these sections.
const OF_SECTIONS: [(&str, &[&str]); 6] = [
    ("groups", &["search"]),
    ("fields", &["completion", "fielddata"]),
    ("completion_fields", &["completion"]),
    ("fielddata_fields", &["fielddata"]),
    ("include_segment_file_sizes", &["segments"]),
    ("include_unloaded_segments", &["segments"]),
];

/// Refuses parameters of sections that are not requested as unknown. The statistics of indices read the
/// groups of searches in any case, those of nodes do not.
fn refuse_unread(request: &Request, sections: &[String], is_of_node: bool) -> Result<()> {
    if sections.is_empty() || sections.iter().any(|section| section == "_all") {
        return Ok(());
    }
    let is_read = |name: &str, of: &[&str]| {
        name == "groups" && !is_of_node || sections.iter().any(|section| of.contains(&section.as_str()))
    };
    let unread = OF_SECTIONS.iter().filter(|(name, of)| request.param(name).is_some() && !is_read(name, of));
    let unread: Vec<&str> = unread.map(|(name, _)| *name).collect();
    if unread.is_empty() { Ok(()) } else { Err(unrecognized(&request.uri, "parameter", &unread, &[])) }
}

fn stats(app: &App, request: &Request) -> Result<Response> {
    let mut options = indices_options(request, IndicesOptions::BROADCAST)?;
    if let Some(forbid) = request.flag("forbid_closed_indices")? {
        options.forbid_closed_indices = forbid;
    }
    let wanted = parse_stats_request(request, "metric")?;
    let answer = app.node.stats(request.param("index").unwrap_or("_all"), options, &wanted)?;
    Ok(Response::ok(with_words(request, answer)?))
}

fn segments(app: &App, request: &Request) -> Result<Response> {
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let answer = app.node.segments(request.param("index").unwrap_or("_all"), options)?;
    Ok(Response::ok(with_words(request, answer)?))
}
