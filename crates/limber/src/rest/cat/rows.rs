//! Reads numbers from statistics in Elasticsearch's JSON shape, for the tables.

use serde_json::Value;

use super::table::Cell;

/// Returns the member at a dotted path.
pub fn member<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

/// Returns the number at a dotted path, or 0 if it is absent.
pub fn number(value: &Value, path: &str) -> u64 {
    member(value, path).and_then(Value::as_u64).unwrap_or(0)
}

/// The source of a statistics column's value, and how the value is shown.
#[derive(Clone, Copy)]
pub enum Source {
    Count(&'static str),
    Whole(&'static str),
    Bytes(&'static str),
    Millis(&'static str),
    Text(&'static str),
    /// The sum of all memory held for the shards.
    Memory,
    /// Always `false`: a state that Limber never has.
    Never,
}

/// The members that [`Source::Memory`] adds up. Source: `CommonStats#getTotalMemory`.
const IN_MEMORY: &[&str] = &[
    "fielddata.memory_size_in_bytes",
    "query_cache.memory_size_in_bytes",
    "segments.index_writer_memory_in_bytes",
    "segments.version_map_memory_in_bytes",
];

impl Source {
    /// Returns the cell; null if the section is absent, as for closed indices.
    pub fn read(self, value: &Value) -> Cell {
        let (path, cell): (_, fn(u64) -> Cell) = match self {
            Source::Count(path) => (path, Cell::Count),
            Source::Bytes(path) => (path, Cell::Bytes),
            Source::Millis(path) => (path, Cell::Millis),
            Source::Whole(path) => {
                return member(value, path).and_then(Value::as_i64).map_or(Cell::Null, Cell::Whole);
            }
            Source::Text(path) => {
                return member(value, path).and_then(Value::as_str).map_or(Cell::Null, Cell::from);
            }
            Source::Memory => return Cell::Bytes(IN_MEMORY.iter().map(|path| number(value, path)).sum()),
            Source::Never => return Cell::from("false"),
        };
        member(value, path).and_then(Value::as_u64).map_or(Cell::Null, cell)
    }
}
