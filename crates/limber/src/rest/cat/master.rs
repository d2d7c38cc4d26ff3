//! `_cat/master`: the node itself.

use limber_engine::Result;

use super::App;
use super::table::{Cell, Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::server::nodes;

const COLUMNS: &[Column] = &[
    text("id", "", "node id"),
    text("host", "h", "host name"),
    text("ip", "", "ip address "),
    text("node", "n", "node name"),
];

/// Answers `GET _cat/master`.
pub fn master(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    table.rows.push(vec![
        Cell::from(app.node.node_id()),
        Cell::from(nodes::host(app)),
        Cell::from(nodes::host(app)),
        Cell::from(app.node.config().node_name.as_str()),
    ]);
    table.render(request)
}
