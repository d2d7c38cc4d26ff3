//! A table of `_cat`: its columns have aliases, are selected by `h` and sorted by `s`. It is printed aligned,
//! as help or as `format=json|yaml`.
//!
//! Source: `org.elasticsearch.rest.action.cat.RestTable`.

use limber_engine::Result;
use limber_mapping::RequestError;
use limber_text::{byte_size, time_value};
use serde_json::{Map, Value};

use crate::http::request::Request;
use crate::http::response::{Response, TextOrValue};

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

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Text(String),
    Count(u64),
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
            return Ok(Response::text(help(self.columns)));
        }
        Ok(Response::shown(self.chosen(request)?))
    }

    /// Sorts the rows and selects the columns, as `request` asks.
    pub fn chosen(mut self, request: &Request) -> Result<Chosen> {
        self.sort(request)?;
        let (chosen, units) = (self.choose(request), Units::of(request));
        let has_titles = request.flag_or("v", false)?;
        Ok(Chosen { table: self, chosen, units, has_titles })
    }

    /// Returns pairs of title and column index.
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
                for (number, column) in self.columns.iter().enumerate() {
                    if limber_text::wildcard::matches(&name, column.name)
                        && !chosen.iter().any(|(_, c)| *c == number)
                    {
                        chosen.push((column.name.to_owned(), number));
                    }
                }
            } else if let Some(column) = self.find(&name) {
                chosen.push((name, column));
            }
        }
        chosen
    }

    fn find(&self, name: &str) -> Option<usize> {
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

    fn print(&self, chosen: &[(String, usize)], units: &Units, titles: bool) -> String {
        let mut lines: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if titles {
            lines.push(chosen.iter().map(|(title, _)| title.clone()).collect());
        }
        for row in &self.rows {
            lines.push(chosen.iter().map(|&(_, c)| units.show(&row[c]).unwrap_or_default()).collect());
        }
        let widths: Vec<usize> = (0..chosen.len())
            .map(|c| lines.iter().map(|line| line[c].chars().count()).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for line in &lines {
            for (position, cell) in line.iter().enumerate() {
                if position > 0 {
                    out.push(' ');
                }
                let padding = widths[position].saturating_sub(cell.chars().count());
                let last = position + 1 == line.len();
                if self.columns[chosen[position].1].right {
                    out.extend(std::iter::repeat_n(' ', padding));
                    out.push_str(cell);
                } else {
                    out.push_str(cell);
                    if !last {
                        out.extend(std::iter::repeat_n(' ', padding));
                    }
                }
            }
            out.push('\n');
        }
        out
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
    fn text(&self) -> String {
        self.table.print(&self.chosen, &self.units, self.has_titles)
    }

    fn value(&self) -> Value {
        let rows = self.table.rows.iter().map(|row| {
            let members = self.chosen.iter().map(|(title, column)| {
                let cell = self.units.show(&row[*column]);
                (title.clone(), cell.map_or(Value::Null, Value::String))
            });
            Value::Object(members.collect::<Map<_, _>>())
        });
        Value::Array(rows.collect())
    }
}

fn compare(a: &Cell, b: &Cell) -> std::cmp::Ordering {
    let number = |cell: &Cell| match cell {
        Cell::Count(n) | Cell::Bytes(n) | Cell::Millis(n) => Some(*n as f64),
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
        let printed = table.print(&chosen, &Units { size: None, time: None }, true);
        assert_eq!(printed, "index docs\na        5\nlong    12\n");
        assert_eq!(help(COLUMNS), "index | i,idx | index name\ndocs  | d     | documents \n");
    }
}
