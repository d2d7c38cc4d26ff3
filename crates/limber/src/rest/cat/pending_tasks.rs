//! `_cat/pending_tasks`: changes of the cluster's state that wait. Each is made by the request that asks for
//! it, so none ever does.

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
