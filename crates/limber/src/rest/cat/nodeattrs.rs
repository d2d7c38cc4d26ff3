//! `_cat/nodeattrs`: the attributes of the node (`node.attr.*`).

use limber_engine::Result;

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::server::nodes;

const COLUMNS: &[Column] = &[
    text("node", "name", "node name"),
    text("id", "id,nodeId", "unique node id").hidden(),
    number("pid", "p", "process id").hidden(),
    text("host", "h", "host name"),
    text("ip", "i", "ip address"),
    number("port", "po", "bound transport port").hidden(),
    text("attr", "attr.name", "attribute description"),
    text("value", "attr.value", "attribute value"),
];

/// Answers `GET _cat/nodeattrs`.
pub fn nodeattrs(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let id = app.node.node_id();
    let id = id.get(..4).unwrap_or(id);
    let port = app.config.http_address.rsplit_once(':').map_or("0", |(_, port)| port);
    for (name, value) in &app.config.node_attributes {
        table.rows.push(vec![
            Cell::from(app.node.config().node_name.as_str()),
            Cell::from(id),
            Cell::from(std::process::id()),
            Cell::from(nodes::host(app)),
            Cell::from(nodes::host(app)),
            Cell::from(port),
            Cell::from(name.as_str()),
            Cell::from(value.as_str()),
        ]);
    }
    table.render(request)
}
