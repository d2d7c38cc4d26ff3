//! `_cat/plugins`: installed plugins. Always empty, because all of Limber is in the binary.

use limber_engine::Result;

use super::App;
use super::table::{Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("id", "", "unique node id").hidden(),
    text("name", "n", "node name"),
    text("component", "c", "component"),
    text("version", "v", "component version"),
    text("description", "d", "plugin details").hidden(),
];

/// Answers `GET _cat/plugins`.
pub fn plugins(_: &App, request: &Request) -> Result<Response> {
    Table::new(COLUMNS).render(request)
}
