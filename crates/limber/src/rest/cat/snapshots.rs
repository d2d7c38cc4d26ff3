//! `_cat/snapshots`.

use limber_engine::{ListedSnapshot, Result};
use limber_mapping::date::DateFormat;

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("id", "id,snapshot", "unique snapshot"),
    text("repository", "re,repo", "repository name"),
    text("status", "s,status", "snapshot name"),
    number("start_epoch", "ste,startEpoch", "start time in seconds since 1970-01-01 00:00:00"),
    text("start_time", "sti,startTime", "start time in HH:MM:SS"),
    number("end_epoch", "ete,endEpoch", "end time in seconds since 1970-01-01 00:00:00"),
    text("end_time", "eti,endTime", "end time in HH:MM:SS"),
    number("duration", "dur,duration", "duration"),
    number("indices", "i,indices", "number of indices"),
    number("successful_shards", "ss,successful_shards", "number of successful shards"),
    number("failed_shards", "fs,failed_shards", "number of failed shards"),
    number("total_shards", "ts,total_shards", "number of total shards"),
    text("reason", "r,reason", "reason for failures").hidden(),
];

/// Answers `GET _cat/snapshots`.
pub fn snapshots(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if !request.flag_or("help", false)? {
        let time = DateFormat::parse_list("HH:mm:ss")?;
        let ignore_unavailable = request.flag_or("ignore_unavailable", false)?;
        let repository = request.param("repository").unwrap_or("_all");
        let listed = app.node.list_snapshots(repository, ignore_unavailable)?;
        table.rows.extend(listed.into_iter().map(|one| row(one, &time)));
    }
    table.render(request)
}

fn row(one: ListedSnapshot, time: &DateFormat) -> Vec<Cell> {
    let at = |ms: u64| Cell::from(time.format_millis(ms as i64));
    vec![
        Cell::from(one.name),
        Cell::from(one.repository),
        Cell::from(one.state),
        Cell::from(one.start_ms / 1000),
        at(one.start_ms),
        Cell::from(one.end_ms / 1000),
        at(one.end_ms),
        Cell::Millis(one.end_ms.saturating_sub(one.start_ms)),
        Cell::from(one.index_count),
        Cell::from(one.shard_count - one.failed_shard_count),
        Cell::from(one.failed_shard_count),
        Cell::from(one.shard_count),
        Cell::Null,
    ]
}
