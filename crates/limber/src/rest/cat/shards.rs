//! `_cat/shards`: every primary, and every replica as unassigned.

use std::sync::LazyLock;

use limber_engine::{HealthRequest, IndicesOptions, Result, StatsLevel, StatsRequest};
use limber_mapping::date::DateFormat;

use super::App;
use super::rows::Source;
use super::statistics;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;
use crate::rest::server::nodes;

const LEADING: &[Column] = &[
    text("index", "i,idx", "index name"),
    text("shard", "s,sh", "shard name"),
    text("prirep", "p,pr,primaryOrReplica", "primary or replica"),
    text("state", "st", "shard state"),
    number("docs", "d,dc", "number of docs in shard"),
    number("store", "sto", "store size of shard (how much disk it uses)"),
    number("dataset", "", "total size of dataset"),
    text("ip", "", "ip of node where it lives"),
    text("id", "", "unique id of node where it lives").hidden(),
    text("node", "n", "name of node where it lives"),
    text("sync_id", "sync_id", "sync id").hidden(),
    text("unassigned.reason", "ur", "reason shard became unassigned").hidden(),
    text("unassigned.at", "ua", "time shard became unassigned (UTC)").hidden(),
    number("unassigned.for", "uf", "time has been unassigned").hidden(),
    text("unassigned.details", "ud", "additional details as to why the shard became unassigned").hidden(),
    text("recoverysource.type", "rs", "recovery source type").hidden(),
];

/// The places of cells in a row, as in [`LEADING`].
const INDEX: usize = 0;
const SHARD: usize = 1;
const KIND: usize = 2;
const STATE: usize = 3;
const DOCS: usize = 4;
const STORE: usize = 5;
const DATA_SET: usize = 6;
const IP: usize = 7;
const ID: usize = 8;
const NODE: usize = 9;
const REASON: usize = 11;
const AT: usize = 12;
const FOR: usize = 13;
const DETAILS: usize = 14;
const RECOVERY: usize = 15;

static COLUMNS: LazyLock<Vec<Column>> =
    LazyLock::new(|| LEADING.iter().copied().chain(statistics::columns_of_shards()).collect());

/// Returns the table without rows.
pub fn empty() -> Table {
    Table::new(&COLUMNS)
}

/// Reads which indices are selected.
pub fn options(request: &Request) -> Result<IndicesOptions> {
    let all = IndicesOptions { expand_hidden: true, expand_closed: true, ..IndicesOptions::SEARCH };
    indices_options(request, IndicesOptions { forbid_closed_indices: false, ..all })
}

/// Answers `GET _cat/shards`.
pub fn shards(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("help", false)? {
        return empty().render(request);
    }
    table(app, request.param("index").unwrap_or("_all"), options(request)?)?.render(request)
}

/// Returns the table of the shards of the selected indices.
pub fn table(app: &App, expression: &str, options: IndicesOptions) -> Result<Table> {
    let mut table = empty();
    let lenient = IndicesOptions { ignore_unavailable: true, ..options };
    let wanted = StatsRequest { level: StatsLevel::Shards, ..StatsRequest::default() };
    let stats = app.node.stats(expression, lenient, &wanted)?;
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let at = DateFormat::parse_list("strict_date_time")?;
    for info in app.node.show_index(expression, options)? {
        let body = &stats["indices"][&*info.name];
        let Some(index_health) = health.indices.iter().find(|health| health.name == info.name) else {
            continue;
        };
        for shard in &index_health.shards {
            let primary = &body["shards"][shard.shard.to_string().as_str()][0];
            let copy = |kind: &str, is_started: bool| {
                let mut row = vec![Cell::Null; COLUMNS.len()];
                row[INDEX] = Cell::from(&*info.name);
                row[SHARD] = Cell::from(shard.shard.to_string());
                row[KIND] = Cell::from(kind);
                row[STATE] = Cell::from(if is_started { "STARTED" } else { "UNASSIGNED" });
                if !is_started {
                    put_unassigned(&mut row, info.created_millis(), &at);
                }
                row
            };
            let mut row = copy("p", shard.primary_active);
            row[DOCS] = Source::Count("docs.count").read(primary);
            row[STORE] = Source::Bytes("store.size_in_bytes").read(primary);
            row[DATA_SET] = row[STORE].clone();
            // A shard with a damaged file may go on.
            row[DETAILS] = shard.reason.as_deref().map_or(Cell::Null, Cell::from);
            if shard.primary_active {
                row[IP] = Cell::from(nodes::host(app));
                row[ID] = Cell::from(app.node.node_id());
                row[NODE] = Cell::from(app.node.config().node_name.as_str());
            } else {
                row[REASON] = Cell::from("ALLOCATION_FAILED");
                row[RECOVERY] = Cell::from("existing_store");
            }
            for (cell, statistic) in row[LEADING.len()..].iter_mut().zip(statistics::cells_of_shard(primary))
            {
                *cell = statistic;
            }
            table.rows.push(row);
            for _ in 0..index_health.number_of_replicas {
                let mut row = copy("r", false);
                row[REASON] = Cell::from("INDEX_CREATED");
                row[RECOVERY] = Cell::from("peer");
                table.rows.push(row);
            }
        }
    }
    Ok(table)
}

/// Puts since when a copy is unassigned into its row: since the index exists.
fn put_unassigned(row: &mut [Cell], created_millis: u64, at: &DateFormat) {
    row[AT] = Cell::from(at.format_millis(created_millis as i64));
    row[FOR] = Cell::Millis(nodes::now_millis().saturating_sub(created_millis));
}
