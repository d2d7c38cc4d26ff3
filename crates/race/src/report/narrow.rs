//! Prints a table on a terminal that is narrower than it: a few short lines per row, instead of one line that
//! wraps anywhere.

use super::table::{Cell, Row};
use crate::notation::number::Number;
use crate::notation::shown::plain;

const INDENT: &str = "    ";

/// Returns the width of the terminal of standard output in columns; `None` if the output goes elsewhere or
/// the width is unknown.
pub fn terminal_width() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `size` is valid for the answer of this request and outlives the call; without a terminal the
    // call fails.
    let result = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Whether a rendered table fits into `width` columns.
pub(crate) fn fits(table: &str, width: Option<usize>) -> bool {
    let longest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    width.is_none_or(|width| longest <= width)
}

/// Formats each row as its first two cells (a metric and its task), followed by the others. Empty cells are
/// left out.
pub(crate) fn records(headers: &[&str], rows: &[Row], width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let cell = |place: usize| row.get(place).map(shown).unwrap_or_default();
        let title = match cell(1) {
            second if second.is_empty() => cell(0),
            second => format!("{}  [{second}]", cell(0)),
        };
        // This is Rally's summary: one value with its unit.
        if let ["Value", "Unit"] = headers.get(2..).unwrap_or_default() {
            let value = format!("{} {}", cell(2), cell(3));
            let gap = width.saturating_sub(title.chars().count() + value.chars().count());
            match gap {
                0 | 1 => text.push_str(&format!("{title}\n{value:>width$}\n")),
                gap => text.push_str(&format!("{title}{}{value}\n", " ".repeat(gap))),
            }
            continue;
        }
        // If there is a unit, it applies to all values of the row.
        let unit = headers.iter().position(|header| *header == "Unit");
        let title = match unit.map(cell).filter(|unit| !unit.is_empty()) {
            Some(unit) => format!("{title}, {unit}"),
            None => title,
        };
        text.push_str(&title);
        text.push('\n');
        let places = (2..headers.len()).filter(|place| Some(*place) != unit);
        add_wrapped(parts(headers, row, places), width, &mut text);
    }
    text
}

/// Formats each row as its first cell, followed by the others. Empty cells are left out.
pub(crate) fn cards(headers: &[&str], rows: &[Row], width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&format!("{}\n", row.first().map(shown).unwrap_or_default()));
        add_wrapped(parts(headers, row, 1..headers.len()), width, &mut text);
    }
    text
}

/// Returns `Header value` for each column with a value.
fn parts<'a>(
    headers: &'a [&str],
    row: &'a Row,
    places: impl Iterator<Item = usize> + 'a,
) -> impl Iterator<Item = String> + 'a {
    let pairs = places.filter_map(|place| Some((headers.get(place)?, row.get(place).map(shown)?)));
    pairs.filter(|(_, value)| !value.is_empty()).map(|(header, value)| format!("{header} {value}"))
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Number(Number::Float(value)) => plain(*value),
        cell => cell.to_string().trim().to_owned(),
    }
}

/// Returns the number of characters that are visible on a terminal: all except escapes, which begin with ESC
/// and end with `m`.
fn columns(text: &str) -> usize {
    let mut is_escape = false;
    let takes_room = |c: &char| {
        let was_escape = is_escape;
        is_escape = *c == '\u{1b}' || (was_escape && *c != 'm');
        !is_escape && !was_escape
    };
    text.chars().filter(takes_room).count()
}

/// Joins `parts` by commas into indented lines of at most `width` characters. A part that is longer than a
/// line is broken between words.
fn add_wrapped(parts: impl Iterator<Item = String>, width: usize, text: &mut String) {
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && INDENT.len() + columns(&line) + 2 + columns(&part) > width {
            text.push_str(&format!("{INDENT}{line},\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        for (place, word) in part.split(' ').enumerate() {
            if place > 0 && INDENT.len() + columns(&line) + 1 + columns(word) >= width {
                text.push_str(&format!("{INDENT}{line}\n"));
                line.clear();
            } else if place > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    if !line.is_empty() {
        text.push_str(&format!("{INDENT}{line}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Row {
        cells.iter().map(|cell| Cell::from(*cell)).collect()
    }

    #[test]
    fn nothing_wraps_at_eighty_columns() {
        let metric = "Median cumulative indexing throttle time across primary shards";
        let rows =
            [row(&[metric, "", "0.123456", "min"]), row(&["Median Throughput", "bulk", "170840", "docs/s"])];
        let text = records(&["Metric", "Task", "Value", "Unit"], &rows, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.ends_with("170840 docs/s\n") && text.contains("Median Throughput  [bulk] "), "{text}");
        let headers = ["Metric", "Task", "Baseline", "Contender", "Diff", "Unit"];
        let text = records(&headers, &[row(&["error rate", "bulk", "1", "2", "+1", ""])], 40);
        assert_eq!(text, "error rate  [bulk]\n    Baseline 1, Contender 2, Diff +1\n");
        let colored = row(&["Latency", "bulk", "1", "2", "\u{1b}[32;1m+1\u{1b}[0m", "ms"]);
        assert_eq!(
            records(&headers, &[colored], 40),
            "Latency  [bulk], ms\n    Baseline 1, Contender 2, Diff \u{1b}[32;1m+1\u{1b}[0m\n"
        );
        let long =
            "Events with keys of high cardinality in several hundred segments: how fast is the term index?";
        let text =
            cards(&["Name", "Description", "Documents", "Size"], &[row(&["events", long, "1,000", ""])], 50);
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        assert!(
            text.starts_with("events\n    Description Events with") && text.ends_with("Documents 1,000\n"),
            "{text}"
        );
        assert!(fits("abc\n", None) && fits("abc\n", Some(3)) && !fits("abcd\n", Some(3)));
    }
}
