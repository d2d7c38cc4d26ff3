//! `_cat/transforms`.
//!
//! Source: `org.elasticsearch.xpack.transform.rest.action.RestCatTransformAction`.

use limber_engine::Result;
use limber_mapping::date::DateFormat;
use serde_json::Value;

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;

const COLUMNS: &[Column] = &[
    text("id", "id", "the id"),
    text("state", "s", "transform state"),
    number("checkpoint", "c", "checkpoint"),
    number(
        "documents_processed",
        "docp,documentsProcessed",
        "the number of documents read from source indices and processed",
    ),
    number("checkpoint_progress", "cp", "progress of the checkpoint"),
    text("last_search_time", "lst", "last time transform searched for updates"),
    text("changes_last_detection_time", "cldt", "changes last detected time"),
    text("create_time", "ct,createTime", "transform creation time").hidden(),
    text("version", "v", "the version of Elasticsearch when the transform was created").hidden(),
    text("source_index", "si,sourceIndex", "source index").hidden(),
    text("dest_index", "di,destIndex", "destination index").hidden(),
    text("pipeline", "p", "transform pipeline").hidden(),
    text("description", "d", "description").hidden(),
    text("transform_type", "tt", "batch or continuous transform").hidden(),
    text("frequency", "f", "frequency of transform").hidden(),
    number("max_page_search_size", "mpsz", "max page search size").hidden(),
    number("docs_per_second", "dps", "docs per second").hidden(),
    text("reason", "r,reason", "reason for the current state").hidden(),
    number("search_total", "st", "total number of search phases").hidden(),
    number("search_failure", "sf", "total number of search failures").hidden(),
    number("search_time", "stime", "total search time").hidden(),
    number("index_total", "it", "total number of index phases done by the transform").hidden(),
    number("index_failure", "if", "total number of index failures").hidden(),
    number("index_time", "itime", "total time spent indexing documents").hidden(),
    number("documents_indexed", "doci", "the number of documents written to the destination index").hidden(),
    number("delete_time", "dtime", "total time spent deleting documents").hidden(),
    number("documents_deleted", "docd", "the number of documents deleted from the destination index")
        .hidden(),
    number("trigger_count", "tc", "the number of times the transform has been triggered").hidden(),
    number("pages_processed", "pp", "the number of pages processed").hidden(),
    number("processing_time", "pt", "the total time spent processing documents").hidden(),
    number(
        "checkpoint_duration_time_exp_avg",
        "cdtea,checkpointTimeExpAvg",
        "exponential average checkpoint processing time (milliseconds)",
    )
    .hidden(),
    number("indexed_documents_exp_avg", "idea", "exponential average number of documents indexed").hidden(),
    number("processed_documents_exp_avg", "pdea", "exponential average number of documents processed")
        .hidden(),
];

/// Answers `GET _cat/transforms`.
pub fn transforms(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if !request.flag_or("help", false)? {
        let ids = request.param("transform_id").unwrap_or("");
        let allow_no_match = request.flag_or("allow_no_match", true)?;
        let page = crate::rest::automation::transform::page(request)?;
        let configured = app.node.get_transforms(ids, allow_no_match, false, page)?;
        let stats = app.node.transform_stats(ids, allow_no_match, page)?;
        let time = DateFormat::parse_list("strict_date_time")?;
        let none = Vec::new();
        let stats = stats["transforms"].as_array().unwrap_or(&none);
        for config in configured["transforms"].as_array().unwrap_or(&none) {
            // A transform that was deleted between the two calls has no row.
            if let Some(stats) = stats.iter().find(|stats| stats["id"] == config["id"]) {
                table.rows.push(row(config, stats, &time));
            }
        }
    }
    table.render(request)
}

fn row(config: &Value, stats: &Value, time: &DateFormat) -> Vec<Cell> {
    let words = |value: &Value| match value {
        Value::Null => Cell::Null,
        Value::String(text) => Cell::from(text.as_str()),
        Value::Array(names) => {
            Cell::from(names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","))
        }
        other => Cell::from(other.to_string()),
    };
    let at = |ms: &Value| ms.as_i64().map_or(Cell::Null, |ms| Cell::from(time.format_millis(ms)));
    let figures = &stats["stats"];
    let count = |name: &str| figures[name].as_u64().map_or(Cell::Null, Cell::Count);
    let millis = |name: &str| figures[name].as_u64().map_or(Cell::Null, Cell::Millis);
    let average =
        |name: &str| figures[name].as_f64().map_or(Cell::Null, |mean| Cell::from(format!("{mean:.2}")));
    let checkpoint = &stats["checkpointing"];
    let kind = if config["sync"].is_null() { "batch" } else { "continuous" };
    let progress = checkpoint["next"]["checkpoint_progress"]["percent_complete"].as_f64();
    vec![
        words(&config["id"]),
        words(&stats["state"]),
        checkpoint["last"]["checkpoint"].as_u64().map_or(Cell::Null, Cell::Count),
        count("documents_processed"),
        progress.map_or(Cell::Null, |percent| Cell::from(format!("{percent:.2}"))),
        at(&checkpoint["last_search_time"]),
        at(&checkpoint["changes_last_detected_at"]),
        at(&config["create_time"]),
        words(&config["version"]),
        words(&config["source"]["index"]),
        words(&config["dest"]["index"]),
        words(&config["dest"]["pipeline"]),
        words(&config["description"]),
        Cell::from(kind),
        words(&config["frequency"]),
        config["settings"]["max_page_search_size"].as_u64().map_or(Cell::Null, Cell::Count),
        config["settings"]["docs_per_second"].as_f64().map_or(Cell::from("-"), Cell::Float),
        words(&stats["reason"]),
        count("search_total"),
        count("search_failures"),
        millis("search_time_in_ms"),
        count("index_total"),
        count("index_failures"),
        millis("index_time_in_ms"),
        count("documents_indexed"),
        millis("delete_time_in_ms"),
        count("documents_deleted"),
        count("trigger_count"),
        count("pages_processed"),
        millis("processing_time_in_ms"),
        average("exponential_avg_checkpoint_duration_ms"),
        average("exponential_avg_documents_indexed"),
        average("exponential_avg_documents_processed"),
    ]
}
