//! `_cat/segments`.

use limber_engine::{IndicesOptions, Result};
use serde_json::Value;

use super::App;
use super::rows::number as read;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;
use crate::rest::searches::pits;

const COLUMNS: &[Column] = &[
    text("index", "i,idx", "index name"),
    text("shard", "s,sh", "shard name"),
    text("prirep", "p,pr,primaryOrReplica", "primary or replica"),
    text("ip", "", "ip of node where it lives"),
    text("id", "", "unique id of node where it lives").hidden(),
    text("segment", "seg", "segment name"),
    number("generation", "g,gen", "segment generation"),
    number("docs.count", "dc,docsCount", "number of docs in segment"),
    number("docs.deleted", "dd,docsDeleted", "number of deleted docs in segment"),
    number("size", "si", "segment size in bytes"),
    number("size.memory", "sm,sizeMemory", "segment memory in bytes"),
    text("committed", "ic,isCommitted", "is segment committed"),
    text("searchable", "is,isSearchable", "is segment searched"),
    text("version", "v,ver", "version"),
    text("compound", "ico,isCompound", "is segment compound"),
];

/// Answers `GET _cat/segments`.
pub fn segments(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if request.flag_or("help", false)? {
        return table.render(request);
    }
    let mut options = indices_options(request, IndicesOptions::BROADCAST)?;
    // Closed indices have no open segments, so they are only left out instead of being an error.
    if request.flag_or("allow_closed", false)? {
        options.forbid_closed_indices = false;
    }
    let answer = app.node.segments(request.param("index").unwrap_or("_all"), options)?;
    add_rows(app, &mut table, &answer);
    table.render(request)
}

/// Answers OpenSearch's `GET _cat/pit_segments`: the segments that the points in time of the body hold.
pub fn pit_segments(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("help", false)? {
        return Table::new(COLUMNS).render(request);
    }
    let ids = pits::ids(&request.json()?.unwrap_or(Value::Null))?;
    of_points_in_time(app, request, &ids)
}

/// Answers OpenSearch's `GET _cat/pit_segments/_all`.
pub fn all_pit_segments(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("help", false)? {
        return Table::new(COLUMNS).render(request);
    }
    let ids: Vec<String> = app.node.points_in_time().into_iter().map(|point| point.id).collect();
    of_points_in_time(app, request, &ids)
}

fn of_points_in_time(app: &App, request: &Request, ids: &[String]) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    add_rows(app, &mut table, &app.node.point_in_time_segments(ids)?);
    table.render(request)
}

/// Adds a row for each segment of an answer in the form of `GET _segments`.
fn add_rows(app: &App, table: &mut Table, answer: &Value) {
    let host = app.config.http_address.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
    let objects = |value: &Value| value.as_object().cloned().unwrap_or_default();
    for (index, body) in objects(&answer["indices"]) {
        for (shard, copies) in objects(&body["shards"]) {
            for copy in copies.as_array().into_iter().flatten() {
                for (name, segment) in objects(&copy["segments"]) {
                    let flag = |member: &str| segment[member].as_bool().unwrap_or(false).to_string();
                    table.rows.push(vec![
                        Cell::from(index.as_str()),
                        Cell::from(shard.as_str()),
                        Cell::from("p"),
                        Cell::from(host),
                        Cell::from(app.node.node_id()),
                        Cell::from(name.as_str()),
                        Cell::Count(read(&segment, "generation")),
                        Cell::Count(read(&segment, "num_docs")),
                        Cell::Count(read(&segment, "deleted_docs")),
                        Cell::Bytes(read(&segment, "size_in_bytes")),
                        Cell::Count(read(&segment, "memory_in_bytes")),
                        Cell::from(flag("committed")),
                        Cell::from(flag("search")),
                        Cell::from(segment["version"].as_str().unwrap_or("").to_owned()),
                        Cell::from(flag("compound")),
                    ]);
                }
            }
        }
    }
}
