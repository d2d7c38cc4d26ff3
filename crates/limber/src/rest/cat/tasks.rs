//! `_cat/tasks`.

use limber_engine::Result;

use super::App;
use super::rows::number as read;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("id", "", "id of the task with the node").hidden(),
    text("action", "ac", "task action"),
    text("task_id", "ti", "unique task id"),
    text("parent_task_id", "pti", "parent task id"),
    text("type", "ty", "task type"),
    number("start_time", "start", "start time in ms"),
    text("timestamp", "ts,hms,hhmmss", "start time in HH:MM:SS"),
    number("running_time_ns", "time", "running time ns").hidden(),
    number("running_time", "time", "running time"),
    text("node_id", "ni", "unique node id").hidden(),
    text("ip", "i", "ip address"),
    number("port", "po", "bound transport port").hidden(),
    text("node", "n", "node name"),
    text("version", "v", "es version").hidden(),
    text("x_opaque_id", "x", "X-Opaque-ID header").hidden(),
    text("description", "desc", "task action"),
];

/// Answers `GET _cat/tasks`. With `detailed` there is a column for descriptions.
pub fn tasks(app: &App, request: &Request) -> Result<Response> {
    let columns = match request.flag_or("detailed", false)? {
        true => COLUMNS,
        false => &COLUMNS[..COLUMNS.len() - 1],
    };
    let mut table = Table::new(columns);
    if request.flag_or("help", false)? {
        return table.render(request);
    }
    let node_id = app.node.node_id();
    let (host, port) = app.config.http_address.rsplit_once(':').unwrap_or(("127.0.0.1", "0"));
    for task in crate::rest::server::tasks::listed(app, request)? {
        let body = app.node.tasks().show(&task, node_id, true);
        let started = read(&body, "start_time_in_millis");
        let of_day = started / 1000 % 86_400;
        let mut row = vec![
            Cell::Count(task.id),
            Cell::from(task.action),
            Cell::from(format!("{node_id}:{}", task.id)),
            Cell::from(body["parent_task_id"].as_str().unwrap_or("-")),
            Cell::from(body["type"].as_str().unwrap_or("transport")),
            Cell::Count(started),
            Cell::from(format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)),
            Cell::Count(read(&body, "running_time_in_nanos")),
            Cell::Millis(read(&body, "running_time_in_nanos") / 1_000_000),
            Cell::from(node_id.get(..4).unwrap_or(node_id)),
            Cell::from(host),
            Cell::from(port),
            Cell::from(app.node.config().node_name.as_str()),
            Cell::from(app.config.compat_version.as_str()),
            Cell::from(body["headers"]["X-Opaque-Id"].as_str().unwrap_or("-")),
            Cell::from(body["description"].as_str().map_or(String::new(), str::to_owned)),
        ];
        row.truncate(columns.len());
        table.rows.push(row);
    }
    table.render(request)
}
