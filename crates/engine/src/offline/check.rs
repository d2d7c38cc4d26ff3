//! `limber check` verifies a data folder offline: "is every byte what was written?"

use std::path::Path;
use std::sync::Arc;

use limber_segment::{LiveDocs, Segment};
use limber_store::Directory;
use limber_store::term_index::TermIndexCache;

use crate::api::Result;
use crate::offline::data_folder::{Found, for_each_shard};
use crate::shard::Commit;
use crate::translog;

/// What a check found.
#[derive(Debug, Default)]
pub struct DataFolderReport {
    /// One line per shard or problem, for people.
    pub lines: Vec<String>,
    /// How many of the lines report problems.
    pub problem_count: usize,
}

impl DataFolderReport {
    fn problem(&mut self, line: String) {
        self.lines.push(format!("PROBLEM {line}"));
        self.problem_count += 1;
    }
}

/// Verifies the metadata, commits, segments, live docs and translogs of a data folder that no server uses.
/// Changes nothing.
///
/// Errors: the folder cannot be read, or a running server has locked it. Damage inside is reported, not an
/// error.
pub fn check_data_folder(path: &Path) -> Result<DataFolderReport> {
    let cache = TermIndexCache::native();
    let mut report = DataFolderReport::default();
    for_each_shard(path, |found| match found {
        Found::Note(line) => report.lines.push(line),
        Found::Shard { place, directory, .. } => check_shard(&directory, &place, &cache, &mut report),
        Found::Broken(problem) => report.problem(problem),
    })?;
    Ok(report)
}

fn check_shard(
    directory: &Arc<dyn Directory>,
    place: &str,
    cache: &Arc<TermIndexCache>,
    report: &mut DataFolderReport,
) {
    let commit = match Commit::read(&**directory) {
        Ok(commit) => commit,
        Err(error) => return report.problem(format!("{place}: {error}")),
    };
    let (mut docs, mut bytes) = (0u64, 0u64);
    for committed in &commit.segments {
        let meta = &committed.meta;
        let segment = match Segment::open(directory, meta, cache) {
            Ok(segment) => segment,
            Err(error) => {
                report.problem(format!("{place} segment _{}: {error}", meta.id));
                continue;
            }
        };
        let checked = segment.check();
        bytes += checked.bytes;
        docs += checked.document_count;
        for problem in checked.problems {
            report.problem(format!("{place} {} {}: {}", problem.file, problem.field, problem.message));
        }
        if let Some(generation) = committed.live_generation
            && let Err(error) = LiveDocs::open(&**directory, meta.id, generation, meta.doc_count)
        {
            report.problem(format!("{place}: {error}"));
        }
    }
    let mut operations = 0u64;
    let replayed = translog::recover(directory, commit.translog_generation, &commit.history_bytes(), |_| {
        operations += 1;
        Ok::<(), limber_store::Error>(())
    });
    match replayed {
        Ok(recovered) => report.lines.push(format!(
            "{place}: {} segments, {docs} documents, {bytes} bytes verified; translog {operations} operations, torn tail {} bytes",
            commit.segments.len(),
            recovered.torn_bytes
        )),
        Err(error) => report.problem(format!("{place}: {error}")),
    }
}
