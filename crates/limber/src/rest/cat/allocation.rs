//! `_cat/allocation`: how much of each node's disk its shards use.
//!
//! Source: `org.elasticsearch.rest.action.cat.RestAllocationAction`.

use limber_engine::{HealthRequest, Result, StatsRequest};

use super::App;
use super::rows::Source;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::server::nodes;

const COLUMNS: &[Column] = &[
    number("shards", "s", "number of shards on node"),
    number(
        "shards.undesired",
        "",
        "number of shards that are scheduled to be moved elsewhere in the cluster",
    ),
    number("write_load.forecast", "wlf,writeLoadForecast", "sum of index write load forecasts"),
    number("disk.indices.forecast", "dif,diskIndicesForecast", "sum of shard size forecasts"),
    number("disk.indices", "di,diskIndices", "disk used by ES indices"),
    number("disk.used", "du,diskUsed", "disk used (total, not just ES)"),
    number("disk.avail", "da,diskAvail", "disk available"),
    number("disk.total", "dt,diskTotal", "total capacity of all volumes"),
    number("disk.percent", "dp,diskPercent", "percent disk used"),
    text("host", "h", "host of node"),
    text("ip", "", "ip of node"),
    text("node", "n", "name of node"),
    text("node.role", "r,role,nodeRole", "node roles"),
];

/// Answers `GET _cat/allocation`.
pub fn allocation(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let is_selected = request.param("node").is_none_or(|filter| nodes::selects(app, filter));
    if is_selected {
        let health = app.node.cluster_health(&HealthRequest::default())?;
        let indices = app.node.node_indices_stats(&StatsRequest::default())?;
        let fs = app.node.fs_stats();
        let disk = |name: &str| fs["total"][name].as_u64().unwrap_or(0);
        let (total, available) = (disk("total_in_bytes"), disk("available_in_bytes"));
        let used = total.saturating_sub(available);
        let store = Source::Bytes("store.size_in_bytes").read(&indices);
        table.rows.push(vec![
            Cell::from(health.active_shards),
            Cell::Count(0),
            Cell::Float(0.0),
            store.clone(),
            store,
            Cell::Bytes(used),
            Cell::Bytes(available),
            Cell::Bytes(total),
            (used * 100).checked_div(total).map_or(Cell::Null, Cell::Count),
            Cell::from(nodes::host(app)),
            Cell::from(nodes::host(app)),
            Cell::from(app.node.config().node_name.as_str()),
            Cell::from("dimr"),
        ]);
    }
    let unassigned = app.node.cluster_health(&HealthRequest::default())?.unassigned_shards;
    if unassigned > 0 {
        let mut row = vec![Cell::Null; COLUMNS.len()];
        row[0] = Cell::from(unassigned);
        row[11] = Cell::from("UNASSIGNED");
        table.rows.push(row);
    }
    table.render(request)
}
