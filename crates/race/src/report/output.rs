//! Prints a table and appends it to the report file. The summary and the comparison share these conventions
//! (`esrally/reporter.py`).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::narrow;
use super::table::{self, Align, Row};

/// Format of the printed table and of the report file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    #[default]
    Markdown,
    Csv,
}

/// Which rows the summary shows (`--show-in-report`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Show {
    /// Rows with a value.
    #[default]
    Available,
    /// Also percentiles that the number of samples does not support.
    AllPercentiles,
    /// Every row.
    All,
}

/// How reports are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportOptions {
    pub format: Format,
    pub numbers: Align,
    pub show: Show,
    /// Whether to print the rows of the processing time (which includes time in the client).
    pub processing_time: bool,
    /// Whether to use terminal escapes for headings and (in comparisons) for better and worse values.
    pub color: bool,
    /// Number of terminal columns that tables have to fit; `None` if the output does not go to a terminal.
    pub width: Option<usize>,
    /// Report file, to which the table is appended.
    pub file: Option<PathBuf>,
}

/// Prints the heading above a final table.
pub(crate) fn write_heading(options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let line = "-".repeat(54);
    let heading = format!("\n{line}\n{:>32}\n{line}\n", "Final Score");
    if options.color { writeln!(out, "\u{1b}[1m{heading}\u{1b}[0m") } else { writeln!(out, "{heading}") }
}

/// Prints `shown` and appends `plain` (the same table without colors) to the report file.
pub(crate) fn write_table(
    headers: &[&str],
    shown: &[Row],
    plain: &[Row],
    options: &ReportOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let render = |rows: &[Row]| match options.format {
        Format::Markdown => table::markdown(headers, rows, options.numbers),
        Format::Csv => table::csv(headers, rows),
    };
    let printed = render(shown);
    match options.width {
        Some(width) if options.format == Format::Markdown && !narrow::fits(&render(plain), Some(width)) => {
            writeln!(out, "{}", narrow::records(headers, shown, width))?;
        }
        _ => writeln!(out, "{printed}")?,
    }
    match &options.file {
        Some(path) => append(path, &render(plain)),
        None => Ok(()),
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
