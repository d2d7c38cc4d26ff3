//! Repairs shard by shard, and reports the damage, the repairs and the losses.

use std::path::Path;
use std::sync::Arc;

use limber_mapping::Mapping;
use limber_segment::{LiveDocs, Segment};
use limber_store::term_index::TermIndexCache;
use limber_store::{Directory, Error as StoreError};

use super::folders::RepairFolders;
use super::log;
use super::segments::{Destination, salvage};
use crate::analysis::AnalysisOf;
use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::environment::{Clock, SystemClock, format_utc_millis};
use crate::offline::data_folder::{Found, for_each_shard};
use crate::shard::{COMMIT_NAME, Commit, CommittedSegment};

/// What repair did, or would do.
#[derive(Debug, Default)]
pub struct RepairReport {
    /// Lines for people, in order.
    pub lines: Vec<String>,
    /// Number of shards that were damaged.
    pub repaired_count: usize,
    /// Whether documents or operations are missing from an index afterwards.
    pub has_losses: bool,
    /// Number of problems that repair cannot fix.
    pub unrepaired_count: usize,
}

/// The lines of the report about one shard.
pub(super) struct Lines {
    place: String,
    applies: bool,
    lines: Vec<String>,
    pub loses: bool,
}

impl Lines {
    /// Adds a line about something that is done, or would be done.
    pub fn plan(&mut self, what: String) {
        let verb = if self.applies { "REPAIRED" } else { "WOULD REPAIR" };
        self.lines.push(format!("{verb} {}: {what}", self.place));
    }
}

/// Repairs the damage in a data folder that no server uses. Without `applies`, only reports what it would do.
///
/// Errors: the folder cannot be read, or a running server has locked it. What cannot be repaired is reported,
/// not an error.
pub fn repair_data_folder(path: &Path, applies: bool) -> Result<RepairReport> {
    let cache = TermIndexCache::native();
    let mut report = RepairReport::default();
    let time = format_utc_millis(SystemClock::default().now_millis()).replace([':', '.'], "-");
    for_each_shard(path, |found| match found {
        Found::Note(_) => {}
        Found::Broken(problem) => {
            report.unrepaired_count += 1;
            report.lines.push(format!("NOT REPAIRED {problem}"));
        }
        Found::Shard { place, directory, metadata, folder, disk, .. } => {
            let folders = RepairFolders::new(disk, time.clone(), applies);
            let mut lines = Lines { place: place.clone(), applies, lines: Vec::new(), loses: false };
            let shard = DamagedShard {
                directory: &directory,
                folder: &folder,
                metadata: &metadata,
                cache: &cache,
                folders: &folders,
            };
            if let Err(error) = shard.repair(&mut lines) {
                report.unrepaired_count += 1;
                lines.lines.push(format!("NOT REPAIRED {place}: {error}"));
            }
            report.repaired_count += usize::from(!lines.lines.is_empty());
            report.has_losses |= lines.loses;
            report.lines.append(&mut lines.lines);
        }
    })?;
    Ok(report)
}

/// A shard that may be damaged.
struct DamagedShard<'s> {
    directory: &'s Arc<dyn Directory>,
    /// The shard's folder, relative to the data folder.
    folder: &'s str,
    metadata: &'s IndexMetadata,
    cache: &'s Arc<TermIndexCache>,
    folders: &'s RepairFolders,
}

impl DamagedShard<'_> {
    fn repair(&self, lines: &mut Lines) -> limber_segment::Result<()> {
        let commit = match Commit::read(&**self.directory) {
            Ok(commit) => self.without_damaged_segments(commit, lines)?,
            Err(StoreError::Corrupt { .. }) => self.rebuilt_commit(lines)?,
            Err(error) if error.is_not_found() => self.rebuilt_commit(lines)?,
            Err(error) => return Err(error.into()),
        };
        let history = commit.history_bytes();
        if let Some(damaged) = log::find_damage(self.directory, commit.translog_generation, &history)? {
            lines.plan(damaged.error.clone());
            log::repair(
                self.directory,
                self.folder,
                &history,
                &self.metadata.name,
                &damaged,
                self.folders,
                lines,
            )?;
        }
        Ok(())
    }

    fn keep(&self, name: &str) -> limber_store::Result<()> {
        self.folders.keep(self.folder, &**self.directory, name)
    }

    /// Builds a commit from the segments that pass verification.
    fn rebuilt_commit(&self, lines: &mut Lines) -> limber_segment::Result<Commit> {
        let rebuilt = super::commit::rebuild(self.directory, self.cache)?;
        lines.plan(format!(
            "the commit cannot be read; a new one lists the {} segments that verify, {} documents. Documents that were deleted since the \
             live docs of their segment were written may be back",
            rebuilt.commit.segments.len(),
            rebuilt.documents
        ));
        lines.loses |= !rebuilt.unreadable.is_empty();
        rebuilt.unreadable.iter().for_each(|file| lines.plan(format!("left out: {file}")));
        if self.folders.applies {
            self.keep(COMMIT_NAME)?;
            let listed = |name: &String| {
                rebuilt
                    .commit
                    .segments
                    .iter()
                    .any(|segment| segment.meta.files.iter().any(|file| file.name == *name))
            };
            // Segments that the new commit does not list are deleted when the shard opens, so copies are
            // kept.
            for name in self.directory.list()?.iter().filter(|name| name.starts_with('_') && !listed(name)) {
                self.keep(name)?;
            }
            for (id, generation, live) in &rebuilt.live {
                self.directory.delete_if_present(&LiveDocs::file_name(*id, *generation))?;
                let file = live.write(&**self.directory, *id, *generation)?;
                self.directory.sync(&file.name)?;
            }
            rebuilt.commit.write(&**self.directory)?;
        }
        Ok(rebuilt.commit)
    }

    /// Removes damaged segments from the commit. Their readable documents are saved.
    fn without_damaged_segments(&self, commit: Commit, lines: &mut Lines) -> limber_segment::Result<Commit> {
        let mut repaired =
            Commit { generation: commit.generation + 1, segments: Vec::new(), ..commit.clone() };
        for committed in &commit.segments {
            match self.examine(committed, lines)? {
                Some(kept) => repaired.segments.push(kept),
                None => lines.loses = true,
            }
        }
        if repaired.segments == commit.segments {
            return Ok(commit);
        }
        if self.folders.applies {
            self.keep(COMMIT_NAME)?;
            repaired.write(&**self.directory)?;
            // The damaged files are deleted when the shard opens; copies of them were kept.
        }
        Ok(repaired)
    }

    /// Returns the segment as it stays in the commit; `None` when it is removed.
    fn examine(
        &self,
        committed: &CommittedSegment,
        lines: &mut Lines,
    ) -> limber_segment::Result<Option<CommittedSegment>> {
        let CommittedSegment { meta, live_generation, .. } = committed;
        let (live, live_error) = match live_generation {
            None => (Some(LiveDocs::all(meta.doc_count)), None),
            Some(number) => match LiveDocs::open(&**self.directory, meta.id, *number, meta.doc_count) {
                Ok(live) => (Some(live), None),
                Err(error) => (None, Some(refused_if_newer(error)?)),
            },
        };
        let problem = match Segment::open(self.directory, meta, self.cache) {
            Err(error) => Some(refused_if_newer(error)?),
            Ok(segment) => {
                let report = segment.check();
                report
                    .problems
                    .first()
                    .map(|problem| format!("{} {}: {}", problem.file, problem.field, problem.message))
            }
        };
        if problem.is_none() && live_error.is_none() {
            return Ok(Some(committed.clone()));
        }
        if let Some(problem) = problem {
            self.take_out(committed, live.as_ref(), &problem, lines)?;
            return Ok(None);
        }
        let error = live_error.unwrap_or_default();
        let was_live = committed.live_doc_count;
        let back = was_live
            .map_or_else(|| "an unknown number".to_owned(), |live| (meta.doc_count - live).to_string());
        lines.plan(format!("segment _{}: {error}; {back} of its deleted documents are back", meta.id));
        lines.loses = true;
        if let (true, Some(number)) = (self.folders.applies, live_generation) {
            self.keep(&LiveDocs::file_name(meta.id, *number))?;
        }
        Ok(Some(CommittedSegment {
            live_generation: None,
            live_doc_count: Some(meta.doc_count),
            meta: meta.clone(),
        }))
    }

    fn take_out(
        &self,
        committed: &CommittedSegment,
        live: Option<&LiveDocs>,
        problem: &str,
        lines: &mut Lines,
    ) -> limber_segment::Result<()> {
        let meta = &committed.meta;
        let mapping = self.mapping()?;
        let name = |kind: &str| format!("segment-{}{kind}", meta.id);
        let mut verified = self.folders.saved_file(self.folder, &name(""));
        let mut suspect = self.folders.saved_file(self.folder, &name("-unverified"));
        let mut to = Destination {
            index: &self.metadata.name,
            mapping: &mapping,
            verified: &mut verified,
            suspect: &mut suspect,
            folders: self.folders,
        };
        let found = salvage(self.directory, meta, live, self.cache, &mut to)?;
        let places = [verified.finish(self.folders)?, suspect.finish(self.folders)?];
        let places: Vec<String> = places.into_iter().flatten().collect();
        let between = match (meta.min_seq_no, meta.max_seq_no) {
            (Some(least), Some(most)) => format!(", sequence numbers {least} to {most}"),
            _ => String::new(),
        };
        let deletes = if live.is_some() { "" } else { ", deleted ones among them" };
        lines.plan(format!(
            "segment _{} leaves the index with {} documents{deletes}{between}: {problem}",
            meta.id,
            live.map_or(meta.doc_count, LiveDocs::live_count)
        ));
        lines.plan(format!(
            "of segment _{}: {} documents are saved and verified, {} are saved and may be wrong, {} are lost{}{}",
            meta.id,
            found.verified,
            found.suspect,
            found.lost,
            ranges(&found.lost_seq_nos),
            if places.is_empty() { String::new() } else { format!("; see {}", places.join(", ")) }
        ));
        for file in &meta.files {
            self.keep(&file.name)?;
        }
        if let Some(number) = committed.live_generation {
            self.keep(&LiveDocs::file_name(meta.id, number))?;
        }
        Ok(())
    }

    fn mapping(&self) -> limber_segment::Result<Mapping> {
        let metadata = self.metadata;
        let mapping = metadata
            .typed
            .mapping_settings(&metadata.settings, &AnalysisOf::default().get())
            .and_then(|settings| Mapping::restore(&metadata.mappings, &settings));
        mapping.map_err(|error| {
            let (file, expected) = ("index.json".to_owned(), "a mapping".to_owned());
            StoreError::Corrupt { file, offset: 0, expected, found: error.reason }.into()
        })
    }
}

/// Refuses to repair what a newer version wrote.
fn refused_if_newer(error: limber_segment::Error) -> limber_segment::Result<String> {
    match error {
        limber_segment::Error::Store(error @ StoreError::Newer { .. }) => Err(error.into()),
        other => Ok(other.to_string()),
    }
}

/// Formats ` (sequence numbers 3, 5 to 9)`.
pub(super) fn ranges(seq_nos: &[u64]) -> String {
    let mut sorted = seq_nos.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    let runs: Vec<String> = runs.collect();
    if runs.is_empty() { String::new() } else { format!(" (sequence numbers {})", runs.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn runs_of_numbers() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[7]), " (sequence numbers 7)");
        assert_eq!(ranges(&[9, 3, 4, 5, 5]), " (sequence numbers 3 to 5, 9)");
    }
}
