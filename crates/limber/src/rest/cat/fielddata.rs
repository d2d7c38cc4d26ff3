//! `_cat/fielddata`: what the tables of text fields with `fielddata` took, as the last requests built them.

use limber_engine::{Result, StatsRequest};

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::server::nodes;

const COLUMNS: &[Column] = &[
    text("id", "", "node id"),
    text("host", "h", "host name"),
    text("ip", "", "ip address"),
    text("node", "n", "node name"),
    text("field", "f", "field name"),
    number("size", "s", "field data usage"),
];

/// Answers `GET _cat/fielddata`.
pub fn fielddata(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if request.flag_or("help", false)? {
        return table.render(request);
    }
    let asked = request.list("fields");
    let fielddata_fields = if asked.is_empty() { vec!["*".to_owned()] } else { asked };
    let stats = app.node.node_indices_stats(&StatsRequest {
        sections: vec!["fielddata".to_owned()],
        fielddata_fields,
        ..StatsRequest::default()
    })?;
    for (field, memory) in stats["fielddata"]["fields"].as_object().into_iter().flatten() {
        table.rows.push(vec![
            Cell::from(app.node.node_id()),
            Cell::from(nodes::host(app)),
            Cell::from(nodes::host(app)),
            Cell::from(app.node.config().node_name.as_str()),
            Cell::from(field.as_str()),
            Cell::Bytes(memory["memory_size_in_bytes"].as_u64().unwrap_or(0)),
        ]);
    }
    table.render(request)
}
