//! `_cat/count`.

use limber_engine::Result;

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("epoch", "t,time", "seconds since 1970-01-01 00:00:00"),
    text("timestamp", "ts,hms,hhmmss", "time in HH:MM:SS"),
    number("count", "dc,docs.count,docsCount", "the document count"),
];

/// Answers `GET _cat/count`: all documents, or those that match the query in the body or the URL.
pub fn count(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if !request.flag_or("help", false)? {
        let count = crate::rest::searches::count::count_matching(app, request)?;
        let (epoch, clock) = epoch_and_clock();
        table.rows.push(vec![Cell::from(epoch), Cell::from(clock), Cell::Count(count)]);
    }
    table.render(request)
}

/// Returns the seconds since 1970 and the UTC time of day.
pub fn epoch_and_clock() -> (String, String) {
    let seconds = crate::rest::server::nodes::now_millis() / 1000;
    let of_day = seconds % 86_400;
    (seconds.to_string(), format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60))
}
