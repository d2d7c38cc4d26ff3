//! OpenSearch's `_cat/segment_replication`: copies of shards that lag behind their primaries. The list is
//! always empty, because a shard has one copy.

use limber_engine::{IndicesOptions, Result};

use super::App;
use super::table::{Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;

const COLUMNS: &[Column] = &[
    text("shardId", "s", "shard Id"),
    text("target_node", "tnode", "target node name"),
    text("target_host", "thost", "target host"),
    number("checkpoints_behind", "cpb", "checkpoints behind primary"),
    number("bytes_behind", "bb", "bytes behind primary"),
    text("current_lag", "clag", "ongoing time elapsed waiting for replica to catch up to primary"),
    text("last_completed_lag", "lcl", "time taken for replica to catch up to latest primary refresh"),
    number("rejected_requests", "rr", "count of rejected requests for the replication group"),
];

/// Answers `GET _cat/segment_replication`.
pub fn segment_replication(app: &App, request: &Request) -> Result<Response> {
    let table = Table::new(COLUMNS);
    if !request.flag_or("help", false)? {
        let options = indices_options(request, IndicesOptions::BROADCAST)?;
        app.node.check_names(request.param("index").unwrap_or("_all"), options)?;
    }
    table.render(request)
}
