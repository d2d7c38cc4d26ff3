//! `_cat/health`.

use limber_engine::{HealthRequest, Result};

use super::App;
use super::count::epoch_and_clock;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("epoch", "t,time", "seconds since 1970-01-01 00:00:00"),
    text("timestamp", "ts,hms,hhmmss", "time in HH:MM:SS"),
    text("cluster", "cl", "cluster name"),
    text("status", "st", "health status"),
    number("node.total", "nt,nodeTotal", "total number of nodes"),
    number("node.data", "nd,nodeData", "number of nodes that can store data"),
    number("shards", "t,sh,shards.total,shardsTotal", "total number of shards"),
    number("pri", "p,shards.primary,shardsPrimary", "number of primary shards"),
    number("relo", "r,shards.relocating,shardsRelocating", "number of relocating nodes"),
    number("init", "i,shards.initializing,shardsInitializing", "number of initializing nodes"),
    number("unassign", "u,shards.unassigned,shardsUnassigned", "number of unassigned shards"),
    number(
        "unassign.pri",
        "up,shards.unassigned.primary,shardsUnassignedPrimary",
        "number of unassigned primary shards",
    ),
    number("pending_tasks", "pt,pendingTasks", "number of pending tasks"),
    number("max_task_wait_time", "mtwt,maxTaskWaitTime", "wait time of longest task pending"),
    number("active_shards_percent", "asp,activeShardsPercent", "active number of shards in percent"),
];

/// Answers `GET _cat/health`.
pub fn health(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let (epoch, clock) = epoch_and_clock();
    table.rows.push(vec![
        Cell::from(epoch),
        Cell::from(clock),
        Cell::from(health.cluster_name.as_str()),
        Cell::from(health.status.as_str()),
        Cell::from(health.number_of_nodes),
        Cell::from(health.number_of_nodes),
        Cell::from(health.active_shards),
        Cell::from(health.active_primary_shards),
        Cell::Count(0),
        Cell::Count(0),
        Cell::from(health.unassigned_shards),
        Cell::Count(health.unassigned_primaries() as u64),
        Cell::from(health.number_of_pending_tasks),
        Cell::from("-"),
        Cell::from(format!("{:.1}%", health.active_percent)),
    ]);
    table.render(request)
}
