//! Damage in the files of a shard: "which of them are damaged, and was it reported?"
//!
//! Merges, scrubs and readers discover damage, and the segment remembers it while it is open
//! ([`limber_segment::Segment::damage`]). It is logged once, shown in the shard's health, and excludes the
//! segment from merges. Nothing is repaired or deleted here: intact parts stay readable, and reading a
//! damaged part fails. Repairing is done by `limber check --repair`.

use std::collections::HashSet;
use std::sync::Arc;

use limber_segment::{Damage, LiveDocs, SegmentView};
use limber_store::Error as StoreError;
use limber_store::sync::Mutex;

use super::commit::{COMMIT_NAME, Commit};
use super::core::Shard;
use super::error::segment_error;
use crate::api::Result;

/// Damage outside of segments.
#[derive(Default)]
pub(crate) struct KnownDamage {
    /// Damage in the commit and live docs that the last scrub found. Every commit writes these files again,
    /// which repairs them.
    beside_segments: Mutex<Vec<Damage>>,
    logged: Mutex<HashSet<String>>,
}

impl Shard {
    /// Returns all known damage in the files of the shard.
    pub(crate) fn damage(&self) -> Vec<Damage> {
        let mut all: Vec<Damage> = self.known_damage.beside_segments.lock().clone();
        if let Ok(core) = self.core() {
            let segments = core.segments.load();
            all.extend(
                segments
                    .iter()
                    .filter(|entry| entry.segment.is_damaged())
                    .flat_map(|entry| entry.segment.damage()),
            );
        }
        all
    }

    /// Returns for people why the shard does not serve, or which parts are damaged.
    pub(crate) fn problem(&self) -> Option<String> {
        if let Err(error) = self.core().and_then(|core| core.check()) {
            return Some(error.reason);
        }
        let damage = self.damage();
        let first = damage.first()?;
        let more = damage.len() - 1;
        let rest = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        Some(format!("corrupt file {first}{rest}"))
    }

    /// Fails with the first damage, with index and shard.
    pub(crate) fn check_damage(&self) -> Result<()> {
        match self.damage().first() {
            None => Ok(()),
            Some(damage) => Err(self.located(segment_error(&damage.to_error()))),
        }
    }

    /// Logs damage that was not logged before.
    pub(crate) fn report_damage(&self) {
        for damage in self.damage() {
            if self.known_damage.logged.lock().insert(damage.to_string()) {
                tracing::error!(
                    index = %self.index.name,
                    shard = self.number,
                    folder = %self.directory.path().display(),
                    file = damage.file,
                    offset = damage.offset,
                    expected = damage.expected,
                    found = damage.found,
                    "a file is damaged; what is intact is read on, the segment is not merged"
                );
            }
        }
    }

    /// Finds the damaged segment after a merge of `views` failed because of corrupt bytes. A damaged segment
    /// is not merged again. If none is found, all of `views` are marked as damaged, because otherwise the
    /// same merge would be tried forever.
    pub(super) fn blame(&self, views: &[SegmentView], error: &limber_segment::Error) {
        let is_known = || views.iter().any(|view| view.segment.is_damaged());
        let is_about_bytes = matches!(
            error,
            limber_segment::Error::Corrupt { .. } | limber_segment::Error::Store(StoreError::Corrupt { .. })
        );
        if is_about_bytes && !is_known() {
            for view in views {
                for problem in view.segment.check().problems {
                    view.segment
                        .note_unsound(&format!("{} {}", problem.file, problem.field), &problem.message);
                }
            }
            if !is_known() {
                views.iter().for_each(|view| view.segment.note_unsound("its merge", &error.to_string()));
            }
        }
        self.report_damage();
    }

    /// Reads every byte of the committed files, from the disk and not from memory maps. Holds no lock while
    /// it reads, and skips files that are deleted meanwhile. `pace` is called with the number of bytes before
    /// they are read and may sleep; its error ends the scrub.
    pub(crate) fn scrub(
        &self,
        pace: &mut dyn FnMut(u64) -> limber_segment::Result<()>,
    ) -> limber_segment::Result<()> {
        let Ok(core) = self.core() else { return Ok(()) };
        let entries = core.segments.load_full();
        // Dropped, so that the core and other segments can be freed while one segment is read.
        drop(core);
        let segments: Vec<_> = entries
            .iter()
            .filter(|entry| entry.synced.load(std::sync::atomic::Ordering::Acquire))
            .map(|entry| {
                (Arc::downgrade(&entry.segment), entry.live.lock().committed.as_ref().map(|live| live.0))
            })
            .collect();
        drop(entries);
        let mut beside_segments = Vec::new();
        note_corrupt(Commit::read(&*self.directory).map_err(Into::into), COMMIT_NAME, &mut beside_segments)?;
        for (segment, live_generation) in segments {
            let Some(segment) = segment.upgrade() else { continue };
            match segment.scrub(pace) {
                // The segment was merged or dropped meanwhile.
                Err(limber_segment::Error::Store(error)) if error.is_not_found() => continue,
                outcome => outcome?,
            }
            if let Some(generation) = live_generation {
                let meta = segment.meta();
                let live = LiveDocs::open(&*self.directory, meta.id, generation, meta.doc_count);
                note_corrupt(live, &LiveDocs::file_name(meta.id, generation), &mut beside_segments)?;
            }
            self.report_damage();
        }
        *self.known_damage.beside_segments.lock() = beside_segments;
        self.report_damage();
        Ok(())
    }
}

/// Adds damage of a small file that was read as a whole. A missing file was replaced by a newer one.
fn note_corrupt<T>(
    read: limber_segment::Result<T>,
    file: &str,
    damage: &mut Vec<Damage>,
) -> limber_segment::Result<()> {
    match read {
        Ok(_) => Ok(()),
        Err(limber_segment::Error::Store(StoreError::Corrupt { file, offset, expected, found })) => {
            damage.push(Damage { file, offset, expected, found });
            Ok(())
        }
        Err(limber_segment::Error::Store(error)) if error.is_not_found() && file != COMMIT_NAME => Ok(()),
        Err(error) => Err(error),
    }
}
