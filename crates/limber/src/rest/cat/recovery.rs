//! `_cat/recovery`: how each shard was recovered.
//!
//! Source: `org.elasticsearch.rest.action.cat.RestCatRecoveryAction`.

use limber_engine::{IndicesOptions, Result};
use serde_json::Value;

use super::App;
use super::rows::Source;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::indices::placement::recoveries;
use crate::rest::options::indices_options;

const COLUMNS: &[Column] = &[
    text("index", "i,idx", "index name"),
    text("shard", "s,sh", "shard name"),
    text("start_time", "start", "recovery start time").hidden(),
    number("start_time_millis", "start_millis", "recovery start time in epoch milliseconds").hidden(),
    text("stop_time", "stop", "recovery stop time").hidden(),
    number("stop_time_millis", "stop_millis", "recovery stop time in epoch milliseconds").hidden(),
    text("time", "t,ti", "recovery time"),
    text("type", "ty", "recovery type"),
    text("stage", "st", "recovery stage"),
    text("source_host", "shost", "source host"),
    text("source_node", "snode", "source node name"),
    text("target_host", "thost", "target host"),
    text("target_node", "tnode", "target node name"),
    text("repository", "rep", "repository"),
    text("snapshot", "snap", "snapshot"),
    text("files", "f", "number of files to recover"),
    text("files_recovered", "fr", "files recovered"),
    text("files_percent", "fp", "percent of files recovered"),
    text("files_total", "tf", "total number of files"),
    text("bytes", "b", "number of bytes to recover"),
    text("bytes_recovered", "br", "bytes recovered"),
    text("bytes_percent", "bp", "percent of bytes recovered"),
    text("bytes_total", "tb", "total number of bytes"),
    text("translog_ops", "to", "number of translog ops to recover"),
    text("translog_ops_recovered", "tor", "translog ops recovered"),
    text("translog_ops_percent", "top", "percent of translog ops recovered"),
];

/// Answers `GET _cat/recovery`.
pub fn recovery(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if request.flag_or("help", false)? || request.flag_or("active_only", false)? {
        return table.render(request);
    }
    let options =
        IndicesOptions { expand_closed: true, forbid_closed_indices: false, ..IndicesOptions::BROADCAST };
    let options = indices_options(request, options)?;
    for (index, shard) in recoveries(app, request.param("index").unwrap_or("_all"), options)? {
        table.rows.push(row(&index, &shard));
    }
    table.render(request)
}

fn row(index: &str, shard: &Value) -> Vec<Cell> {
    let text_at = |path: &str| shard.pointer(path).and_then(Value::as_str);
    let or_none = |path: &str| Cell::from(text_at(path).unwrap_or("n/a"));
    let plain = |path: &str| text_at(path).map_or(Cell::Null, Cell::from);
    let count = |path: &'static str| Source::Count(path).read(shard);
    let bytes = |path: &'static str| Source::Bytes(path).read(shard);
    let lower = |path: &str| text_at(path).map_or(Cell::Null, |text| Cell::from(text.to_lowercase()));
    vec![
        Cell::from(index),
        Cell::from(shard["id"].to_string()),
        plain("/start_time"),
        count("start_time_in_millis"),
        plain("/stop_time"),
        count("stop_time_in_millis"),
        Cell::Millis(shard["total_time_in_millis"].as_u64().unwrap_or(0)),
        lower("/type"),
        lower("/stage"),
        or_none("/source/host"),
        or_none("/source/name"),
        or_none("/target/host"),
        or_none("/target/name"),
        or_none("/source/repository"),
        or_none("/source/snapshot"),
        count("index.files.total"),
        count("index.files.recovered"),
        plain("/index/files/percent"),
        count("index.files.total"),
        bytes("index.size.total_in_bytes"),
        bytes("index.size.recovered_in_bytes"),
        plain("/index/size/percent"),
        bytes("index.size.total_in_bytes"),
        count("translog.total"),
        count("translog.recovered"),
        plain("/translog/percent"),
    ]
}
