//! `_cat/count`.

use limber_engine::{IndicesOptions, Result};

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;

const COLUMNS: &[Column] = &[
    text("epoch", "t,time", "seconds since 1970-01-01 00:00:00"),
    text("timestamp", "ts,hms,hhmmss", "time in HH:MM:SS"),
    number("count", "dc,docs.count,docsCount", "the document count"),
];

/// Answers `GET _cat/count`.
pub fn count(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if !request.flag_or("help", false)? {
        let options = indices_options(request, IndicesOptions::SEARCH)?;
        let count =
            crate::rest::searches::count::count_all(app, request.param("index").unwrap_or("_all"), options)?;
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
