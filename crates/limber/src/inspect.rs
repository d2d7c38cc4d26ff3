//! `limber inspect`: shows the sizes of a data folder's term indices, offline.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use limber_engine::TermIndexReport;
use limber_text::byte_size;

use crate::told::{closed_is_fine, in_words, say};

/// Show how large the term indices (FSTs) of a data folder are whose server is not running
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What `indices.segment_memory.off_heap.enable: false` would keep in memory is the total; with `true` it is \
at most `indices.segment_memory.off_heap.size`, whatever the total."
)]
pub struct InspectCommand {
    /// The data folder
    #[arg(value_name = "DIR")]
    data: PathBuf,
}

impl InspectCommand {
    /// Prints the report. Fails if the folder cannot be read.
    pub fn run(self) -> Result<()> {
        let report = limber_engine::inspect_data_folder(&self.data).map_err(in_words)?;
        closed_is_fine(print(&mut std::io::stdout().lock(), &report))?;
        for note in &report.notes {
            say(note);
        }
        for problem in &report.problems {
            eprintln!("PROBLEM {problem}");
        }
        if !report.problems.is_empty() {
            bail!("{} problems found in {}; see limber check", report.problems.len(), self.data.display());
        }
        Ok(())
    }
}

fn print(out: &mut impl Write, report: &TermIndexReport) -> std::io::Result<()> {
    let total = report.index_bytes();
    writeln!(
        out,
        "{} segments, {} documents, {} on disk, term index {}",
        report.segment_count,
        report.document_count,
        byte_size::show(report.disk_bytes),
        byte_size::show(total)
    )?;
    if total == 0 {
        return Ok(());
    }
    writeln!(out, "\n{:>12}  {:>8}  {:>12}  index / field", "term index", "segments", "largest")?;
    let mut fields: Vec<_> = report.fields.iter().collect();
    fields.sort_by_key(|(_, field)| std::cmp::Reverse(field.index_bytes));
    for ((index, path), field) in fields {
        writeln!(
            out,
            "{:>12}  {:>8}  {:>12}  {index} / {path}",
            byte_size::show(field.index_bytes),
            field.segment_count,
            byte_size::show(field.largest_bytes)
        )?;
    }
    writeln!(out, "\n{:>12}  FSTs", "smaller than")?;
    let most = report.histogram.iter().copied().max().unwrap_or(0).max(1);
    for (class, &count) in report.histogram.iter().enumerate() {
        let bound = match class + 1 < report.histogram.len() {
            true => byte_size::show(1024 << (2 * class)),
            false => "any".to_owned(),
        };
        let bar = "#".repeat((count * 50).div_ceil(most) as usize);
        writeln!(out, "{bound:>12}  {count:>6} {bar}")?;
    }
    Ok(())
}
