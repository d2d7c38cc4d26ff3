//! `_cat/repositories`: always empty, as snapshots are not here yet.

use limber_engine::Result;

use super::App;
use super::table::{Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] =
    &[text("id", "id,repoId", "unique repository id"), text("type", "t,type", "repository type")];

pub fn repositories(_app: &App, request: &Request) -> Result<Response> {
    Table::new(COLUMNS).render(request)
}
