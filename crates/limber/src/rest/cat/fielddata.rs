//! `_cat/fielddata`: always empty, because Limber keeps no field data in memory.

use limber_engine::Result;

use super::App;
use super::table::{Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("id", "", "node id"),
    text("host", "h", "host name"),
    text("ip", "", "ip address"),
    text("node", "n", "node name"),
    text("field", "f", "field name"),
    number("size", "s", "field data usage"),
];

/// Answers `GET _cat/fielddata`.
pub fn fielddata(_app: &App, request: &Request) -> Result<Response> {
    Table::new(COLUMNS).render(request)
}
