//! `_cat/segment_memory`: the memory used by the term index, one row per index and field.

use limber_engine::{IndicesOptions, Result};

use super::App;
use super::table::{Cell, Column, Table, number, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::indices_options;

const COLUMNS: &[Column] = &[
    text("index", "i,idx", "index name"),
    text("field", "f", "field name"),
    number("segments", "sc", "segments that have terms of the field"),
    number(
        "term_index",
        "ti,size",
        "size of the term index (FSTs) on disk; what the native scheme keeps in memory",
    ),
    number("resident", "r", "memory of the term-index pages that are loaded"),
    number("resident.pages", "rp", "pages that are loaded"),
    number("pages", "p", "pages of the segments that were asked so far"),
    number("loads", "l", "pages loaded since the segments were opened"),
    number("evictions", "e", "pages evicted since the segments were opened"),
];

/// Answers `GET _cat/segment_memory`.
pub fn segment_memory(app: &App, request: &Request) -> Result<Response> {
    let mut table = Table::new(COLUMNS);
    if request.flag_or("help", false)? {
        return table.render(request);
    }
    let options = indices_options(request, IndicesOptions::BROADCAST)?;
    let rows = app.node.segment_memory(request.param("index").unwrap_or("_all"), options)?;
    for ((index, field), memory) in rows {
        table.rows.push(vec![
            Cell::from(&*index),
            Cell::from(&*field),
            Cell::from(memory.segment_count),
            Cell::Bytes(memory.index_bytes),
            Cell::Bytes(memory.resident_bytes),
            Cell::from(memory.resident_page_count),
            Cell::from(memory.page_count),
            Cell::from(memory.load_count),
            Cell::from(memory.eviction_count),
        ]);
    }
    table.render(request)
}
