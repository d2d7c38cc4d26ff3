//! Commits that are copied: "which files make up this shard's last commit, and can they be kept for a while?"

use std::collections::HashMap;
use std::sync::Arc;

use limber_codec::checksum::crc32;
use limber_mapping::RequestError;
use limber_segment::LiveDocs;
use limber_store::Directory;
use limber_store::sync::Mutex;
use serde::{Deserialize, Serialize};

use super::commit::{Commit, CommittedSegment};
use super::core::Shard;
use super::error::{segment_error, store_error};
use crate::api::Result;
use crate::environment::Environment;
use crate::translog;

/// Files of a shard that are being read by name, with the number of readers. They are not deleted meanwhile.
#[derive(Default)]
pub(crate) struct Pins(Mutex<HashMap<String, u32>>);

impl Pins {
    pub(super) fn holds(&self, name: &str) -> bool {
        self.0.lock().contains_key(name)
    }

    fn add(&self, files: &[CommitFile]) {
        let mut pins = self.0.lock();
        files.iter().for_each(|file| *pins.entry(file.name.clone()).or_default() += 1);
    }

    fn remove(&self, files: &[CommitFile]) {
        let mut pins = self.0.lock();
        for file in files {
            if let Some(count) = pins.get_mut(&file.name) {
                *count -= 1;
                if *count == 0 {
                    pins.remove(&file.name);
                }
            }
        }
    }
}

/// The content of a commit that does not depend on other commits: enough to create a shard from the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitPoint {
    /// Identity of the shard's history. Within one history, a segment number always means the same segment.
    pub history: String,
    pub generation: u64,
    pub primary_term: u64,
    pub max_seq_no: Option<u64>,
    pub next_segment: u64,
    pub segments: Vec<CommittedSegment>,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitFile {
    pub name: String,
    pub bytes: u64,
    /// The CRC of the whole file.
    pub crc: u32,
    /// The checksum that a file of live docs ends with: see [`File::own_crc`](crate::snapshot::format::File).
    pub own_crc: Option<u32>,
}

/// A commit whose files are not deleted while this exists.
pub(crate) struct PinnedCommit {
    pub point: CommitPoint,
    pub files: Vec<CommitFile>,
    pub directory: Arc<dyn Directory>,
    /// `None` when the index is closed, so that nothing is deleted anyway.
    pins: Option<Arc<Pins>>,
}

impl Drop for PinnedCommit {
    fn drop(&mut self) {
        if let Some(pins) = &self.pins {
            pins.remove(&self.files);
        }
    }
}

impl Shard {
    /// Commits what was acknowledged so far, and pins the files of that commit or of a later one.
    pub(crate) fn pin_commit(&self) -> Result<PinnedCommit> {
        let core = self.core()?;
        self.flush_core(&core, false)?;
        // Deleting files requires this lock too.
        let committed = core.committed.lock();
        core.check()?;
        let files = files_of(&committed, &*self.directory)?;
        self.pins.add(&files);
        Ok(PinnedCommit {
            point: point_of(&committed),
            files,
            directory: self.directory.clone(),
            pins: Some(self.pins.clone()),
        })
    }
}

/// Returns the commit of a shard that is not open.
///
/// # Errors
/// Fails when the translog has operations that the commit lacks: a snapshot would silently lose them.
pub(crate) fn commit_of_closed(directory: Arc<dyn Directory>) -> Result<PinnedCommit> {
    let commit = Commit::read(&*directory).map_err(|error| store_error(&error))?;
    let mut missing = 0u64;
    let count = |record: &translog::Record<'_>| {
        missing += u64::from(commit.max_seq_no.is_none_or(|committed| record.identity.seq_no > committed));
        Ok::<(), limber_store::Error>(())
    };
    translog::recover(&directory, commit.translog_generation, &commit.history_bytes(), count)
        .map_err(|error| store_error(&error))?;
    if missing > 0 {
        let reason = format!(
            "the closed shard has [{missing}] operations in its translog that its commit lacks; open and close its index"
        );
        return Err(RequestError::internal("illegal_state_exception", reason));
    }
    let files = files_of(&commit, &*directory)?;
    Ok(PinnedCommit { point: point_of(&commit), files, directory, pins: None })
}

fn point_of(commit: &Commit) -> CommitPoint {
    CommitPoint {
        history: commit.history.clone(),
        generation: commit.generation,
        primary_term: commit.primary_term,
        max_seq_no: commit.max_seq_no,
        next_segment: commit.next_segment,
        segments: commit.segments.clone(),
    }
}

fn files_of(commit: &Commit, directory: &dyn Directory) -> Result<Vec<CommitFile>> {
    let mut files = Vec::new();
    for CommittedSegment { meta, live_generation, .. } in &commit.segments {
        for file in &meta.files {
            let (name, bytes, crc) = (file.name.clone(), file.len, file.crc);
            files.push(CommitFile { name, bytes, crc, own_crc: None });
        }
        if let Some(generation) = live_generation {
            // Live docs are verified by their own checksum, so that damage is not copied.
            LiveDocs::open(directory, meta.id, *generation, meta.doc_count)
                .map_err(|error| segment_error(&error))?;
            let name = LiveDocs::file_name(meta.id, *generation);
            let content = directory.read_whole(&name).map_err(|error| store_error(&error))?;
            let own_crc = content.last_chunk().map(|own| u32::from_le_bytes(*own));
            files.push(CommitFile { name, bytes: content.len() as u64, crc: crc32(&content), own_crc });
        }
    }
    Ok(files)
}

/// Turns files that are already in a folder into a shard. The commit is written last. It gets a new history,
/// because the shard's further operations differ from those of the original.
pub(crate) fn restore_commit(
    directory: &dyn Directory,
    environment: &Environment,
    point: &CommitPoint,
) -> limber_store::Result<()> {
    let mut history = [0u8; 16];
    environment.randomness.fill(&mut history);
    let commit = Commit {
        generation: point.generation,
        segments: point.segments.clone(),
        translog_generation: 1,
        max_seq_no: point.max_seq_no,
        primary_term: point.primary_term,
        history: format!("{:032x}", u128::from_be_bytes(history)),
        next_segment: point.next_segment,
    };
    commit.write(directory)
}
