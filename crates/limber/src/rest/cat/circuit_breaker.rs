//! `_cat/circuit_breaker`: the pools of memory, which `_nodes/stats/breaker` shows too.

use limber_engine::Result;
use limber_text::wildcard;

use super::App;
use super::rows::number as read;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::server::node_sections;

const COLUMNS: &[Column] = &[
    text("node_id", "id", "persistent node id"),
    text("node_name", "nn", "node name").hidden(),
    text("breaker", "br", "breaker name"),
    text("limit", "l", "limit size"),
    number("limit_bytes", "lb", "limit size in bytes").hidden(),
    text("estimated", "e", "estimated size"),
    number("estimated_bytes", "eb", "estimated size in bytes").hidden(),
    number("tripped", "t", "tripped count"),
    number("overhead", "o", "overhead").hidden(),
];

/// Answers `GET _cat/circuit_breaker`, for all breakers or those whose names match.
pub fn circuit_breaker(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let patterns = request.list("breakers");
    let breakers = node_sections::breakers(app.node.ledger());
    for (name, breaker) in breakers.as_object().into_iter().flatten() {
        if !patterns.is_empty() && !patterns.iter().any(|pattern| wildcard::matches(pattern, name)) {
            continue;
        }
        let size = |member: &str| Cell::from(breaker[member].as_str().unwrap_or_default());
        table.rows.push(vec![
            Cell::from(app.node.node_id()),
            Cell::from(app.node.config().node_name.as_str()),
            Cell::from(name.as_str()),
            size("limit_size"),
            Cell::Count(read(breaker, "limit_size_in_bytes")),
            size("estimated_size"),
            Cell::Count(read(breaker, "estimated_size_in_bytes")),
            Cell::Count(read(breaker, "tripped")),
            Cell::from(breaker["overhead"].to_string()),
        ]);
    }
    table.render(request)
}
