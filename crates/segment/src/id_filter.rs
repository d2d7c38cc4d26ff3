//! A filter over a segment's `_id`s: "is this id certainly absent?", so that an update need not look into
//! every segment.
//!
//! The section `IdFilter`, which ids that are runs do not need ([`crate::id_runs`]), is a split-block Bloom
//! filter ([`limber_codec::bloom`]) over [`limber_codec::hash64`] of the ids' bytes, and nothing else. About
//! 0.5 % of absent ids pass it.

use limber_codec::bloom;
use limber_codec::hash64::hash64;
use limber_store::FileBytes;

use crate::file::{SectionEntry, SectionKind, SegmentFile, SegmentWriter};
use crate::id_runs::{IdRuns, RunsBuilder};
use crate::zeros::zeros;
use crate::{Error, Result};

/// Hash of an id, computed once and asked of every segment.
#[inline]
pub fn id_hash(id: &[u8]) -> u64 {
    hash64(id)
}

/// Returns the section for `hashes`, of which there are at most `count`.
pub fn encode(count: usize, hashes: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut filter = zeros(bloom::filter_bytes(count));
    bloom::insert_all(&mut filter, hashes);
    filter
}

/// Returns the section for ids in ascending order: runs if they are that, else a Bloom filter.
pub(crate) fn section<'a>(ids: impl ExactSizeIterator<Item = &'a [u8]> + Clone) -> (SectionKind, Vec<u8>) {
    let mut runs = RunsBuilder::new(ids.len());
    ids.clone().for_each(|id| runs.push(id));
    match runs.finish() {
        Some(runs) => (SectionKind::IdRuns, runs),
        None => (SectionKind::IdFilter, encode(ids.len(), ids.map(id_hash))),
    }
}

/// Builds a section of ids that come in ascending order: runs if they are that, else a Bloom filter.
pub(crate) struct IdFilterBuilder {
    bloom: Vec<u8>,
    runs: RunsBuilder,
}

impl IdFilterBuilder {
    /// Creates a builder for at most `count` ids.
    pub fn new(count: usize) -> IdFilterBuilder {
        IdFilterBuilder { bloom: zeros(bloom::filter_bytes(count)), runs: RunsBuilder::new(count) }
    }

    /// Adds an id, which is greater than all before.
    #[inline]
    pub fn insert(&mut self, id: &[u8]) {
        bloom::insert(&mut self.bloom, id_hash(id));
        self.runs.push(id);
    }

    /// Writes the section of the field of ids, which has this number.
    pub fn write(self, number: u32, writer: &mut SegmentWriter<'_>) -> Result<()> {
        let (kind, bytes) = self.finish();
        writer.put(kind, number, &bytes)
    }

    fn finish(self) -> (SectionKind, Vec<u8>) {
        match self.runs.finish() {
            Some(runs) => (SectionKind::IdRuns, runs),
            None => (SectionKind::IdFilter, self.bloom),
        }
    }

    /// Returns the heap bytes of a builder for `count` ids.
    pub fn heap_bytes(count: usize) -> usize {
        bloom::filter_bytes(count) + RunsBuilder::heap_bytes(count)
    }
}

/// What says about the ids of one segment which others are absent.
pub struct IdFilter(Form);

enum Form {
    Bloom(FileBytes),
    Runs(IdRuns),
}

impl IdFilter {
    /// Opens the section `IdFilter` of a segment.
    ///
    /// # Errors
    /// Fails for bytes that are not a filter.
    pub fn open(bytes: FileBytes) -> Result<IdFilter> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(bloom::BLOCK_BYTES) {
            return Err(Error::corrupt("id filter", bytes.len() as u64, "whole blocks of a filter"));
        }
        Ok(IdFilter(Form::Bloom(bytes)))
    }

    /// Opens the section `IdRuns` of a segment.
    ///
    /// # Errors
    /// Fails for bytes that are no runs.
    pub fn open_runs(bytes: FileBytes) -> Result<IdFilter> {
        Ok(IdFilter(Form::Runs(IdRuns::open(bytes)?)))
    }

    /// Returns the filter of a segment, or the runs in its place; `None` if the segment has neither.
    ///
    /// # Errors
    /// Fails for bytes that are neither.
    pub(crate) fn of(file: &SegmentFile) -> Result<Option<IdFilter>> {
        let find = |kind| file.sections().iter().find(|section| section.kind == kind);
        let shared = |entry: &SectionEntry| file.shared(entry.kind, entry.field);
        if let Some(runs) = find(SectionKind::IdRuns).and_then(shared) {
            return IdFilter::open_runs(runs).map(Some);
        }
        find(SectionKind::IdFilter).and_then(shared).map(IdFilter::open).transpose()
    }

    /// Returns `false` if the id, which has this [`id_hash`], is certainly not in the segment.
    #[inline]
    pub fn may_contain(&self, id: &[u8], hash: u64) -> bool {
        match &self.0 {
            Form::Bloom(bytes) => bloom::may_contain(bytes, hash),
            Form::Runs(runs) => runs.may_contain(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_added() {
        let ids: Vec<String> = (0..1000).map(|i| format!("id-{i}")).collect();
        let bytes = encode(ids.len(), ids.iter().map(|id| id_hash(id.as_bytes())));
        let filter = IdFilter::open(FileBytes::from_vec(bytes)).expect("sound");
        assert!(ids.iter().all(|id| filter.may_contain(id.as_bytes(), id_hash(id.as_bytes()))));
        let mut one_by_one = IdFilterBuilder::new(ids.len());
        ids.iter().for_each(|id| one_by_one.insert(id.as_bytes()));
        let Form::Bloom(bytes) = &filter.0 else { panic!("a Bloom filter") };
        assert_eq!(one_by_one.finish(), (SectionKind::IdFilter, bytes.to_vec()));
        assert!(IdFilter::open(FileBytes::from_vec(vec![0; 33])).is_err());
        assert!(IdFilter::open(FileBytes::from_vec(vec![])).is_err());
    }
}
