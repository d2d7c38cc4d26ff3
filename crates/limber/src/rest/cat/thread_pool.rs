//! `_cat/thread_pool`.

use limber_engine::Result;

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("node_name", "nn", "node name"),
    text("node_id", "id", "persistent node id").hidden(),
    text("ephemeral_node_id", "eid", "ephemeral node id").hidden(),
    number("pid", "p", "process id").hidden(),
    text("host", "h", "host name").hidden(),
    text("ip", "i", "ip address").hidden(),
    number("port", "po", "bound transport port").hidden(),
    text("name", "n", "thread pool name"),
    text("type", "t", "thread pool type").hidden(),
    number("active", "a", "number of active threads"),
    number("pool_size", "psz", "number of threads").hidden(),
    number("queue", "q", "number of tasks currently in queue"),
    number("queue_size", "qs", "maximum number of tasks permitted in queue").hidden(),
    number("rejected", "r", "number of rejected tasks"),
    number("largest", "l", "highest number of seen active threads").hidden(),
    number("completed", "c", "number of completed tasks").hidden(),
    number("core", "cr", "core number of threads in a scaling thread pool").hidden(),
    number("max", "mx", "maximum number of threads in a scaling thread pool").hidden(),
    number("size", "sz", "number of threads in a fixed thread pool").hidden(),
    text("keep_alive", "ka", "thread keep alive time").hidden(),
];

/// Elasticsearch's pools that have no work on a single node, because nothing is fetched from other nodes.
const IDLE: &[&str] = &["fetch_shard_started", "fetch_shard_store"];

/// Answers `GET _cat/thread_pool`.
pub fn thread_pool(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let wanted = request.list("pools");
    let is_wanted = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|pattern| limber_text::wildcard::matches(pattern, name))
    };
    let (host, port) = app.config.http_address.rsplit_once(':').unwrap_or(("127.0.0.1", "0"));
    let whose = || {
        vec![
            Cell::from(app.node.config().node_name.as_str()),
            Cell::from(app.node.node_id()),
            Cell::from(app.node.node_id()),
            Cell::from(std::process::id()),
            Cell::from(host),
            Cell::from(host),
            Cell::from(port),
        ]
    };
    // Sorted by name.
    for name in IDLE.iter().copied().filter(|name| is_wanted(name)) {
        let mut row = whose();
        row.extend([Cell::from(name), Cell::from("scaling")]);
        row.extend((0..3).map(|_| Cell::Count(0)));
        row.push(Cell::from("-1"));
        row.extend((0..5).map(|_| Cell::Count(0)));
        row.extend([Cell::Null, Cell::Null]);
        table.rows.push(row);
    }
    for pool in app.pools.stats().into_iter().filter(|pool| is_wanted(pool.name)) {
        let mut row = whose();
        row.extend([
            Cell::from(pool.name),
            Cell::from("fixed"),
            Cell::Count(pool.active as u64),
            Cell::Count(pool.threads as u64),
            Cell::Count(pool.queue as u64),
            Cell::Count(pool.queue_size as u64),
            Cell::Count(pool.rejected),
            Cell::Count(pool.largest as u64),
            Cell::Count(pool.completed),
            Cell::Null,
            Cell::Null,
            Cell::Count(pool.threads as u64),
            Cell::Null,
        ]);
        table.rows.push(row);
    }
    table.render(request)
}
