//! A table of `_cat`: its columns have aliases, are selected by `h` and sorted by `s`. It is printed aligned,
//! as help or as `format=json|yaml`.
//!
//! Source: `org.elasticsearch.rest.action.cat.RestTable`.

use limber_engine::Result;
use limber_mapping::RequestError;
use limber_text::{byte_size, time_value};
use limber_work::{self as work, Stop};
use serde_json::{Map, Value};

use crate::http::request::Request;
use crate::http::response::{Response, TextOrValue};
use crate::rest::router::unrecognized;

const NANOS_PER_MILLI: u128 = 1_000_000;

/// A column: name, comma-separated aliases, description. Columns with `default` are shown without `h`.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub aliases: &'static str,
    pub description: &'static str,
    pub right: bool,
    pub default: bool,
}

/// Makes a left-aligned column that is shown by default.
pub const fn text(name: &'static str, aliases: &'static str, description: &'static str) -> Column {
    Column { name, aliases, description, right: false, default: true }
}

/// Makes a right-aligned column that is shown by default.
pub const fn number(name: &'static str, aliases: &'static str, description: &'static str) -> Column {
    Column { name, aliases, description, right: true, default: true }
}

impl Column {
    /// Makes the column hidden unless a request asks for it.
    pub const fn hidden(mut self) -> Column {
        self.default = false;
        self
    }
}

/// OpenSearch's names of columns that Elasticsearch names otherwise. They are no aliases, because
/// Elasticsearch's `help` does not list them.
const OPEN_SEARCH_NAMES: &[(&str, &str)] = &[("cluster_manager", "master")];

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Text(String),
    Count(u64),
    /// A whole number that may be below 0, such as the sequence number of a shard without writes.
    Whole(i64),
    Float(f64),
    Bytes(u64),
    Millis(u64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Cell {
        Cell::Count(u64::from(count))
    }
}

/// A table. Rows have one cell per column, in the columns' order.
#[derive(Debug)]
pub struct Table {
    pub columns: &'static [Column],
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(columns: &'static [Column]) -> Table {
        Table { columns, rows: Vec::new() }
    }

    /// Renders the response to `request`. `help` does not look at the rows, so they may be empty.
    pub fn render(self, request: &Request) -> Result<Response> {
        if request.flag_or("help", false)? {
            refuse_selection(request)?;
            return Ok(Response::text(help(self.columns)));
        }
        Ok(Response::shown(self.chosen(request)?))
    }

    /// Sorts the rows and selects the columns, as `request` asks.
    pub fn chosen(mut self, request: &Request) -> Result<Chosen> {
        self.sort(request)?;
        let (mut chosen, units) = (self.choose(request), Units::of(request));
        // Source: `RestTable#checkOutputTimestamp`.
        if !request.flag_or("ts", true)? {
            chosen.retain(|(_, column)| !matches!(self.columns[*column].name, "epoch" | "timestamp"));
        }
        let has_titles = request.flag_or("v", false)?;
        Ok(Chosen { table: self, chosen, units, has_titles })
    }

    /// Returns pairs of title and column index. A column may be shown under several of its names.
    fn choose(&self, request: &Request) -> Vec<(String, usize)> {
        let wanted = request.list("h");
        if wanted.is_empty() {
            return (0..self.columns.len())
                .filter(|&c| self.columns[c].default)
                .map(|c| (self.columns[c].name.to_owned(), c))
                .collect();
        }
        let mut chosen: Vec<(String, usize)> = Vec::new();
        for name in wanted {
            if name.contains('*') {
                let matches = |text: &str| !text.is_empty() && limber_text::wildcard::matches(&name, text);
                for (number, column) in self.columns.iter().enumerate() {
                    if (matches(column.name) || column.aliases.split(',').any(matches))
                        && !chosen.iter().any(|(title, _)| title == column.name)
                    {
                        chosen.push((column.name.to_owned(), number));
                    }
                }
            } else if let Some(column) = self.find(&name)
                && !chosen.iter().any(|(title, _)| *title == name)
            {
                chosen.push((name, column));
            }
        }
        chosen
    }

    /// Finds a column by its name, by one of its aliases, or by OpenSearch's name for it.
    fn find(&self, name: &str) -> Option<usize> {
        let name =
            OPEN_SEARCH_NAMES.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours);
        self.columns.iter().position(|c| c.name == name || c.aliases.split(',').any(|alias| alias == name))
    }

    fn sort(&mut self, request: &Request) -> Result<()> {
        let mut keys = Vec::new();
        for key in request.list("s") {
            let (name, descending) = match key.rsplit_once(':') {
                Some((name, "desc")) => (name, true),
                Some((name, "asc")) => (name, false),
                _ => (key.as_str(), false),
            };
            let Some(column) = self.find(name) else {
                return Err(RequestError::illegal_argument(format!(
                    "Unable to sort by unknown sort key `{name}`"
                )));
            };
            keys.push((column, descending));
        }
        self.rows.sort_by(|a, b| {
            keys.iter()
                .map(|&(column, descending)| {
                    let order = compare(&a[column], &b[column]);
                    if descending { order.reverse() } else { order }
                })
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        Ok(())
    }

    /// Prints the chosen columns. A request may name a column a thousand times, and each of its cells is as
    /// wide as the longest.
    fn print(
        &self,
        chosen: &[(String, usize)],
        units: &Units,
        titles: bool,
    ) -> std::result::Result<String, Stop> {
        let shown = |row: &[Cell], column: usize| units.show(&row[column]).unwrap_or_default();
        let mut once: Vec<usize> = chosen.iter().map(|(_, column)| *column).collect();
        once.sort_unstable();
        once.dedup();
        let mut width_of = vec![0; self.columns.len()];
        for row in &self.rows {
            work::check_beyond_deadline()?;
            for &column in &once {
                width_of[column] = width_of[column].max(shown(row, column).chars().count());
            }
        }
        let title_width = |title: &str| if titles { title.chars().count() } else { 0 };
        let widths: Vec<usize> =
            chosen.iter().map(|(title, column)| title_width(title).max(width_of[*column])).collect();
        let line_bytes = widths.iter().sum::<usize>() + widths.len();
        let mut out = String::new();
        if titles {
            let cells = chosen.iter().map(|(title, column)| (*column, title.clone()));
            self.print_line(&mut out, cells, &widths);
        }
        for row in &self.rows {
            work::check_growth(out.len(), out.capacity(), line_bytes)?;
            work::check_beyond_deadline()?;
            let cells = chosen.iter().map(|&(_, column)| (column, shown(row, column)));
            self.print_line(&mut out, cells, &widths);
        }
        Ok(out)
    }

    /// Appends a line of cells, each with its column.
    fn print_line(
        &self,
        out: &mut String,
        cells: impl ExactSizeIterator<Item = (usize, String)>,
        widths: &[usize],
    ) {
        let last = cells.len().saturating_sub(1);
        for (position, (column, cell)) in cells.enumerate() {
            if position > 0 {
                out.push(' ');
            }
            let padding = widths[position].saturating_sub(cell.chars().count());
            if self.columns[column].right {
                out.extend(std::iter::repeat_n(' ', padding));
                out.push_str(&cell);
            } else {
                out.push_str(&cell);
                if position < last {
                    out.extend(std::iter::repeat_n(' ', padding));
                }
            }
        }
        out.push('\n');
    }
}

/// A sorted table with the requested columns.
#[derive(Debug)]
pub struct Chosen {
    table: Table,
    /// Pairs of title and column index.
    chosen: Vec<(String, usize)>,
    units: Units,
    has_titles: bool,
}

impl TextOrValue for Chosen {
    fn text(&self) -> std::result::Result<String, Stop> {
        self.table.print(&self.chosen, &self.units, self.has_titles)
    }

    fn value(&self) -> std::result::Result<Value, Stop> {
        let rows = self.table.rows.iter().map(|row| {
            work::check_beyond_deadline()?;
            let members = self.chosen.iter().map(|(title, column)| {
                let cell = self.units.show(&row[*column]);
                (title.clone(), cell.map_or(Value::Null, Value::String))
            });
            Ok(Value::Object(members.collect::<Map<_, _>>()))
        });
        Ok(Value::Array(rows.collect::<std::result::Result<_, Stop>>()?))
    }
}

fn compare(a: &Cell, b: &Cell) -> std::cmp::Ordering {
    let number = |cell: &Cell| match cell {
        Cell::Count(n) | Cell::Bytes(n) | Cell::Millis(n) => Some(*n as f64),
        Cell::Whole(n) => Some(*n as f64),
        Cell::Float(x) => Some(*x),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => match (a, b) {
            (Cell::Null, Cell::Null) => std::cmp::Ordering::Equal,
            (Cell::Null, _) => std::cmp::Ordering::Less,
            (_, Cell::Null) => std::cmp::Ordering::Greater,
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        },
    }
}

/// Refuses what a path selects beside `help`, which reads nothing of it. As in Elasticsearch, pools and
/// breakers are passed over.
fn refuse_selection(request: &Request) -> Result<()> {
    let given = request.path_values.iter().filter(|(name, _)| !matches!(*name, "pools" | "breakers"));
    let mut parts = given.map(|(name, _)| if *name == "node" { "nodes" } else { *name });
    match parts.next() {
        None => Ok(()),
        Some(name) => Err(unrecognized(&request.uri, "parameter", &[name], &[])),
    }
}

fn help(columns: &[Column]) -> String {
    let width = |of: fn(&Column) -> usize| columns.iter().map(of).max().unwrap_or(0);
    let (names, aliases) = (width(|c| c.name.len()), width(|c| c.aliases.len()));
    let descriptions = width(|c| c.description.len());
    columns
        .iter()
        .map(|c| format!("{:names$} | {:aliases$} | {:descriptions$}\n", c.name, c.aliases, c.description))
        .collect()
}

/// How sizes and times are printed: in a fixed unit, or human-readable.
#[derive(Debug)]
struct Units {
    /// Bytes per unit.
    size: Option<u64>,
    /// Nanoseconds per unit.
    time: Option<u64>,
}

impl Units {
    /// Like Elasticsearch, ignores unknown units.
    fn of(request: &Request) -> Units {
        Units {
            size: request.param("bytes").and_then(byte_size::unit_bytes),
            time: request.param("time").and_then(time_value::unit_nanos),
        }
    }

    fn show(&self, cell: &Cell) -> Option<String> {
        Some(match cell {
            Cell::Null => return None,
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Whole(number) => number.to_string(),
            Cell::Float(value) => format!("{value:.2}"),
            Cell::Bytes(bytes) => match self.size {
                Some(unit) => (bytes / unit).to_string(),
                None => byte_size::show(*bytes),
            },
            Cell::Millis(millis) => match self.time {
                Some(unit) => (u128::from(*millis) * NANOS_PER_MILLI / u128::from(unit)).to_string(),
                None => time_value::show_millis(*millis),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        const COLUMNS: &[Column] = &[text("index", "i,idx", "index name"), number("docs", "d", "documents")];
        let table = Table {
            columns: COLUMNS,
            rows: vec![vec!["a".into(), 5u64.into()], vec!["long".into(), 12u64.into()]],
        };
        let chosen = [("index".to_owned(), 0), ("docs".to_owned(), 1)];
        let print = |chosen: &[(String, usize)], titles: bool| {
            table.print(chosen, &Units { size: None, time: None }, titles)
        };
        assert_eq!(print(&chosen, true).expect("no request"), "index docs\na        5\nlong    12\n");
        let again: Vec<(String, usize)> = [chosen.clone(), chosen.clone()].concat();
        assert_eq!(print(&again, false).expect("no request"), "a     5 a     5\nlong 12 long 12\n");
        let work = work::Work::default();
        work.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let _entered = work.enter();
        assert!(print(&again, true).is_err());
        assert_eq!(help(COLUMNS), "index | i,idx | index name\ndocs  | d     | documents \n");
    }
}
