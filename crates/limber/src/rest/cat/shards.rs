//! `_cat/shards`: every primary, and every replica as unassigned.

use std::sync::LazyLock;

use limber_engine::{HealthRequest, IndicesOptions, Result, StatsLevel, StatsRequest};

use super::App;
use super::rows::Source;
use super::statistics;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;

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
    text("unassigned.for", "uf", "time has been unassigned").hidden(),
    text("unassigned.details", "ud", "additional details as to why the shard became unassigned").hidden(),
    text("recoverysource.type", "rs", "recovery source type").hidden(),
];

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
    let open = IndicesOptions { expand_closed: false, ignore_unavailable: true, ..options };
    let stats = app.node.stats(
        expression,
        open,
        &StatsRequest { level: StatsLevel::Shards, ..StatsRequest::default() },
    )?;
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let host = app.config.http_address.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
    for info in app.node.show_index(expression, options)? {
        let (index, body) = (&*info.name, &stats["indices"][&*info.name]);
        let Some(index_health) = health.indices.iter().find(|health| health.name == info.name) else {
            continue;
        };
        for shard in &index_health.shards {
            let number = shard.shard.to_string();
            let primary = &body["shards"][number.as_str()][0];
            let mut row = vec![
                Cell::from(index),
                Cell::from(number.as_str()),
                Cell::from("p"),
                Cell::from(if shard.primary_active { "STARTED" } else { "UNASSIGNED" }),
                Source::Count("docs.count").read(primary),
                Source::Bytes("store.size_in_bytes").read(primary),
                Source::Bytes("store.size_in_bytes").read(primary),
                Cell::from(host),
                Cell::from(app.node.node_id()),
                Cell::from(app.node.config().node_name.as_str()),
                Cell::Null,
                if shard.primary_active { Cell::Null } else { Cell::from("ALLOCATION_FAILED") },
                Cell::Null,
                Cell::Null,
                shard.reason.as_deref().map_or(Cell::Null, Cell::from),
                if shard.primary_active { Cell::Null } else { Cell::from("EXISTING_STORE") },
            ];
            row.extend(statistics::cells_of_shard(primary));
            table.rows.push(row);
            for _ in 0..index_health.number_of_replicas {
                let mut row = vec![Cell::Null; COLUMNS.len()];
                row[0] = Cell::from(index);
                row[1] = Cell::from(number.as_str());
                row[2] = Cell::from("r");
                row[3] = Cell::from("UNASSIGNED");
                row[11] = Cell::from("INDEX_CREATED");
                row[15] = Cell::from("PEER");
                table.rows.push(row);
            }
        }
    }
    Ok(table)
}
