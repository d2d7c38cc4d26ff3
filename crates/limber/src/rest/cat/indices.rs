//! `_cat/indices`.

use std::sync::LazyLock;

use limber_engine::{HealthRequest, HealthStatus, IndicesOptions, Result, StatsRequest};
use limber_mapping::RequestError;
use serde_json::Value;

use super::App;
use super::rows::{Source, member};
use super::statistics;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;

const LEADING: &[Column] = &[
    text("health", "h", "current health status"),
    text("status", "s", "open/close status"),
    text("index", "i,idx", "index name"),
    text("uuid", "id,uuid", "index uuid"),
    number("pri", "p,shards.primary,shardsPrimary", "number of primary shards"),
    number("rep", "r,shards.replica,shardsReplica", "number of replica shards"),
    number("docs.count", "dc,docsCount", "available docs"),
    number("docs.deleted", "dd,docsDeleted", "deleted docs"),
    number("creation.date", "cd", "index creation date (millisecond value)").hidden(),
    text("creation.date.string", "cds", "index creation date (as string)").hidden(),
    number("store.size", "ss,storeSize", "store size of primaries & replicas"),
    number("pri.store.size", "", "store size of primaries"),
    number("dataset.size", "", "total size of dataset"),
];

static COLUMNS: LazyLock<Vec<Column>> =
    LazyLock::new(|| LEADING.iter().copied().chain(statistics::columns_of_indices()).collect());

/// Returns the table without rows.
pub fn empty() -> Table {
    Table::new(&COLUMNS)
}

/// Reads which indices are selected.
pub fn options(request: &Request) -> Result<IndicesOptions> {
    indices_options(
        request,
        IndicesOptions { expand_closed: true, forbid_closed_indices: false, ..IndicesOptions::SEARCH },
    )
}

/// Answers `GET _cat/indices`.
pub fn indices(app: &App, request: &Request) -> Result<Response> {
    if request.flag_or("help", false)? {
        return empty().render(request);
    }
    let expression = request.param("index").unwrap_or("_all");
    table(app, request, expression, options(request)?)?.render(request)
}

/// Returns the table of the selected indices.
pub fn table(app: &App, request: &Request, expression: &str, options: IndicesOptions) -> Result<Table> {
    let mut table = empty();
    let only_health = request
        .param("health")
        .map(|text| {
            HealthStatus::parse(text).map_err(|_| {
                RequestError::illegal_argument(format!("unknown cluster health status [{text}]"))
            })
        })
        .transpose()?;
    let infos = app.node.show_index(expression, options)?;
    let lenient = IndicesOptions { forbid_closed_indices: false, ..options };
    let health = app.node.cluster_health(&HealthRequest::default())?;
    let open = IndicesOptions { expand_closed: false, ignore_unavailable: true, ..lenient };
    let stats = app.node.stats(expression, open, &StatsRequest::default())?;
    for info in infos {
        let Some(index_health) = health.indices.iter().find(|index| index.name == info.name) else {
            continue;
        };
        if only_health.is_some_and(|only| only != index_health.status) {
            continue;
        }
        let index_stats =
            if info.open { stats["indices"].get(&*info.name) } else { None }.unwrap_or(&Value::Null);
        let total = index_stats.get("total").unwrap_or(&Value::Null);
        let primaries = index_stats.get("primaries").unwrap_or(&Value::Null);
        let created = info.created_millis();
        let data_set = member(total, "store.total_data_set_size_in_bytes")
            .or_else(|| member(total, "store.size_in_bytes"))
            .and_then(Value::as_u64);
        let mut row = vec![
            Cell::from(index_health.status.as_str()),
            Cell::from(if info.open { "open" } else { "close" }),
            Cell::from(&*info.name),
            Cell::from(&*info.uuid),
            Cell::from(index_health.number_of_shards),
            Cell::from(index_health.number_of_replicas),
            Source::Count("docs.count").read(primaries),
            Source::Count("docs.deleted").read(primaries),
            Cell::Count(created),
            Cell::from(limber_engine::format_utc_millis(created)),
            Source::Bytes("store.size_in_bytes").read(total),
            Source::Bytes("store.size_in_bytes").read(primaries),
            data_set.map_or(Cell::Null, Cell::Bytes),
        ];
        row.extend(statistics::cells_of_index(total, primaries));
        table.rows.push(row);
    }
    Ok(table)
}
