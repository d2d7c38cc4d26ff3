//! Prints rows of strings and numbers as Rally does.
//!
//! Rally prints with Python's `tabulate` 0.8 (formats `pipe` and `simple`) and `csv`. Readers depend on these
//! rules: a column whose cells can all be parsed as numbers is a number column, even if the cells are
//! strings. If one of them is a fraction, all its cells are printed with six significant digits and aligned
//! at the decimal point. Everything else is unchanged.

use crate::notation::number::{self, Number};
use crate::notation::shown::plain;

/// One cell. Colors are terminal escapes inside a string and have no width.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Missing,
    Number(Number),
    /// A number with six significant digits and never an exponent. Rally does not have it; it is for tables
    /// that only people read.
    Plain(f64),
    Text(String),
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

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Cell {
        cell.map_or(Cell::Missing, Into::into)
    }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Cell {
        Cell::Number(number)
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Missing => Ok(()),
            Cell::Number(number) => number.fmt(formatter),
            Cell::Plain(value) => formatter.write_str(&plain(*value)),
            Cell::Text(text) => formatter.write_str(text),
        }
    }
}

pub(crate) type Row = Vec<Cell>;

/// Alignment of cells in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Align {
    Left,
    Right,
    Center,
    /// Decimal points below each other.
    #[default]
    Decimal,
}

/// Returns a Markdown table (`tabulate`'s `pipe`) with right-aligned strings, ending with a newline.
pub(crate) fn markdown(headers: &[&str], rows: &[Row], numbers: Align) -> String {
    let columns = Columns::new(headers, rows, numbers, Align::Right);
    let padded = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut text = padded(columns.headers());
    text.push_str("\n|");
    for column in &columns.columns {
        let dashes = column.width + 2;
        match column.align {
            _ if rows.is_empty() => text.push_str(&"-".repeat(dashes)),
            Align::Right | Align::Decimal => text.push_str(&format!("{}:", "-".repeat(dashes - 1))),
            Align::Center => text.push_str(&format!(":{}:", "-".repeat(dashes - 2))),
            Align::Left => text.push_str(&format!(":{}", "-".repeat(dashes - 1))),
        }
        text.push('|');
    }
    text.push('\n');
    for row in 0..rows.len() {
        text.push_str(&padded(columns.row(row)));
        text.push('\n');
    }
    text
}

/// Returns a plain table (`tabulate`'s `simple`) with left-aligned strings, ending with a newline.
pub(crate) fn simple(headers: &[&str], rows: &[Row]) -> String {
    let columns = Columns::new(headers, rows, Align::Decimal, Align::Left);
    let line = |cells: Vec<String>| format!("{}\n", cells.join("  ").trim_end());
    let mut text = line(columns.headers());
    text.push_str(&line(columns.columns.iter().map(|column| "-".repeat(column.width)).collect()));
    for row in 0..rows.len() {
        text.push_str(&line(columns.row(row)));
    }
    text
}

/// Returns comma-separated values as Python's `csv.writer` writes them: lines end with CR LF, and quotes are
/// used only if needed.
pub(crate) fn csv(headers: &[&str], rows: &[Row]) -> String {
    let mut text = String::new();
    let headers: Row = headers.iter().map(|header| Cell::from(*header)).collect();
    for row in std::iter::once(&headers).chain(rows) {
        for (position, cell) in row.iter().enumerate() {
            if position > 0 {
                text.push(',');
            }
            let cell = cell.to_string();
            if cell.contains([',', '"', '\r', '\n']) {
                text.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")));
            } else {
                text.push_str(&cell);
            }
        }
        text.push_str("\r\n");
    }
    text
}

struct Columns<'a> {
    headers: &'a [&'a str],
    columns: Vec<Column>,
}

struct Column {
    align: Align,
    width: usize,
    cells: Vec<String>,
}

/// The common type of all cells of a column, from the most special to the most general.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Kind {
    Missing,
    Int,
    Float,
    Text,
}

impl<'a> Columns<'a> {
    fn new(headers: &'a [&'a str], rows: &[Row], numbers: Align, texts: Align) -> Columns<'a> {
        // tabulate makes every column at least two characters wider than its header.
        const HEADER_PADDING: usize = 2;
        let columns = headers
            .iter()
            .enumerate()
            .map(|(position, header)| {
                let cells: Vec<&Cell> =
                    rows.iter().map(|row| row.get(position).unwrap_or(&Cell::Missing)).collect();
                let kind = cells.iter().map(|cell| kind(cell)).max().unwrap_or(Kind::Text);
                let align = if matches!(kind, Kind::Int | Kind::Float) { numbers } else { texts };
                let texts: Vec<String> = cells.iter().map(|cell| format_as(cell, kind)).collect();
                let texts = match align {
                    Align::Decimal => pad_decimals(texts),
                    _ => texts.iter().map(|text| text.trim().to_owned()).collect(),
                };
                let widest = texts.iter().map(|text| width(text)).max().unwrap_or(0);
                let column_width = widest.max(header.chars().count() + HEADER_PADDING);
                Column { align, width: column_width, cells: texts }
            })
            .collect();
        Columns { headers, columns }
    }

    fn headers(&self) -> Vec<String> {
        self.columns.iter().zip(self.headers).map(|(column, header)| column.pad(header)).collect()
    }

    fn row(&self, row: usize) -> Vec<String> {
        self.columns.iter().map(|column| column.pad(&column.cells[row])).collect()
    }
}

impl Column {
    fn pad(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(width(text));
        let left = match self.align {
            Align::Left => 0,
            Align::Center => missing / 2,
            Align::Right | Align::Decimal => missing,
        };
        format!("{}{text}{}", " ".repeat(left), " ".repeat(missing - left))
    }
}

fn kind(cell: &Cell) -> Kind {
    match cell {
        Cell::Missing => Kind::Missing,
        Cell::Number(Number::Int(_)) => Kind::Int,
        Cell::Number(Number::Float(_)) | Cell::Plain(_) => Kind::Float,
        Cell::Text(text) => {
            let text = without_escapes(text);
            match (number::is_int(&text), number::parse(&text)) {
                (true, _) => Kind::Int,
                (_, Some(_)) => Kind::Float,
                _ => Kind::Text,
            }
        }
    }
}

fn format_as(cell: &Cell, kind: Kind) -> String {
    match (kind, cell) {
        (Kind::Float, Cell::Number(number)) => number::general(number.as_f64()),
        (Kind::Float, Cell::Text(text)) => {
            let bare = without_escapes(text);
            let formatted = number::parse(&bare).map_or_else(|| bare.clone(), number::general);
            text.replace(&bare, &formatted)
        }
        _ => cell.to_string(),
    }
}

/// Appends spaces so that decimal points are below each other when the strings are right-aligned.
fn pad_decimals(texts: Vec<String>) -> Vec<String> {
    let decimals: Vec<i64> = texts.iter().map(|text| digits_after_point(&without_escapes(text))).collect();
    let most = decimals.iter().copied().max().unwrap_or(-1);
    texts
        .into_iter()
        .zip(decimals)
        .map(|(text, decimals)| format!("{text}{}", " ".repeat((most - decimals) as usize)))
        .collect()
}

/// Returns the number of characters after the point (or, without a point, after the `e`); -1 for integers and
/// other strings.
fn digits_after_point(text: &str) -> i64 {
    if number::is_int(text) || number::parse(text).is_none() {
        return -1;
    }
    let text = text.to_lowercase();
    text.rfind('.').or_else(|| text.rfind('e')).map_or(-1, |position| (text.len() - position - 1) as i64)
}

fn width(text: &str) -> usize {
    without_escapes(text).chars().count()
}

/// Returns the string without terminal escapes (`ESC [ ... m`).
fn without_escapes(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\u{1b}[") {
        bare.push_str(&rest[..start]);
        rest = match rest[start..].find('m') {
            Some(end) => &rest[start + end + 1..],
            None => "",
        };
    }
    bare.push_str(rest);
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> impl proptest::strategy::Strategy<Value = Cell> {
        use proptest::prelude::*;
        prop_oneof![
            Just(Cell::Missing),
            any::<i32>().prop_map(|value| Cell::Number(Number::Int(i64::from(value)))),
            (-1e9..1e9).prop_map(|value: f64| Cell::Number(Number::Float(value))),
            (-1e9..1e9).prop_map(Cell::Plain),
            "[0-9]{0,3}[.]?[0-9]{0,3}(e[0-9])?".prop_map(Cell::Text),
            "[a-z\u{e9} +-]{0,9}".prop_map(Cell::Text),
            "\u{1b}\\[32;1m[+-]?[0-9]\\.[0-9]{1,4}\u{1b}\\[0m".prop_map(Cell::Text),
        ]
    }

    proptest::proptest! {
        #[test]
        fn all_lines_are_equally_wide(
            rows in proptest::collection::vec(proptest::collection::vec(cell(), 3), 0..6),
            align in proptest::sample::select(vec![Align::Left, Align::Right, Align::Center, Align::Decimal]),
        ) {
            let text = markdown(&["A", "Longer header", "C"], &rows, align);
            let widths: Vec<usize> = text.lines().map(width).collect();
            proptest::prop_assert_eq!(widths.len(), rows.len() + 2);
            proptest::prop_assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{}", text);
            csv(&["A"], &rows);
            simple(&["A", "B", "C"], &rows);
        }
    }
}
