//! "The terminal is narrower than this table; how is it read all the same?" A few short lines a row instead of one that wraps anywhere.

use super::number::Number;
use super::shown::plain;
use super::table::{Cell, Row};

const INDENT: &str = "    ";

/// The width of the terminal that standard output goes to, in columns; `None` where it goes elsewhere or the terminal does not tell.
pub fn terminal_width() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `size` is a valid place for the answer of this request and outlives the call; without a terminal the call fails.
    let result = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Whether a rendered table fits.
pub fn fits(table: &str, width: Option<usize>) -> bool {
    let longest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    width.is_none_or(|width| longest <= width)
}

/// Each row as its first two cells (a metric and its task), followed by the others; those without a text are left out.
pub fn records(headers: &[&str], rows: &[Row], width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let cell = |place: usize| row.get(place).map(shown).unwrap_or_default();
        let title = match cell(1) {
            second if second.is_empty() => cell(0),
            second => format!("{}  [{second}]", cell(0)),
        };
        // Rally's summary: one value with its unit.
        if let ["Value", "Unit"] = headers.get(2..).unwrap_or_default() {
            let value = format!("{} {}", cell(2), cell(3));
            let gap = width.saturating_sub(title.chars().count() + value.chars().count());
            match gap {
                0 | 1 => text.push_str(&format!("{title}\n{value:>width$}\n")),
                gap => text.push_str(&format!("{title}{}{value}\n", " ".repeat(gap))),
            }
            continue;
        }
        text.push_str(&title);
        text.push('\n');
        let pairs = headers.iter().enumerate().skip(2).map(|(place, header)| (header, cell(place)));
        let parts =
            pairs.filter(|(_, value)| !value.is_empty()).map(|(header, value)| format!("{header} {value}"));
        add_wrapped(parts, width, &mut text);
    }
    text
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Number(Number::Float(value)) => plain(*value),
        cell => cell.to_string().trim().to_owned(),
    }
}

/// Joins `parts` by commas into indented lines of at most `width` characters where the parts allow it.
fn add_wrapped(parts: impl Iterator<Item = String>, width: usize, text: &mut String) {
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && INDENT.len() + line.chars().count() + 2 + part.chars().count() > width {
            text.push_str(&format!("{INDENT}{line},\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&part);
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
        assert!(fits("abc\n", None) && fits("abc\n", Some(3)) && !fits("abcd\n", Some(3)));
    }
}
