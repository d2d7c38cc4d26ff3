//! `_cat/pending_tasks`: queued changes of the cluster state. Always empty, because each request carries out
//! its change itself.

use limber_engine::Result;

use super::App;
use super::table::{Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    number("insertOrder", "o", "task insertion order"),
    number("timeInQueue", "t", "how long task has been in queue"),
    text("priority", "p", "task priority"),
    text("source", "s", "task source"),
];

/// Answers `GET _cat/pending_tasks`.
pub fn pending_tasks(_: &App, request: &Request) -> Result<Response> {
    Table::new(COLUMNS).render(request)
}
