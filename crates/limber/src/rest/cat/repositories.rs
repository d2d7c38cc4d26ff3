//! `_cat/repositories`.

use limber_engine::Result;

use super::App;
use super::table::{Cell, Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] =
    &[text("id", "id,repoId", "unique repository id"), text("type", "t,type", "repository type")];

/// Answers `GET _cat/repositories`.
pub fn repositories(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    let types = app.node.repository_types();
    table.rows.extend(types.into_iter().map(|(name, kind)| vec![Cell::from(name), Cell::from(kind)]));
    table.render(request)
}
