//! Terms that are looked up in batches, so that the processor waits for many cache misses at once.

use super::chunk_log::ChunkLog;
use super::table::{BATCH_TERMS, TermTable};

/// Tables of up to this many terms stay in the processor's caches anyway.
const CACHED_TERMS_MAX: usize = 1024;
/// Longer terms are looked up immediately, which bounds the bytes copied.
const BYTES_MAX: usize = 128;

/// Whether looking `term` up in a batch pays.
#[inline]
pub fn suits(table: &TermTable, term: &[u8]) -> bool {
    table.len() > CACHED_TERMS_MAX && term.len() <= BYTES_MAX
}

/// Pending terms whose numbers are missing in a log; at most [`BATCH_TERMS`].
#[derive(Default)]
pub struct PendingTerms {
    /// The terms, back to back.
    bytes: Vec<u8>,
    /// For each term: the index of its number in the log, and the end of its bytes.
    places: Vec<(u32, u32)>,
}

impl PendingTerms {
    /// Appends a number to `log` that [`PendingTerms::settle`] will replace by the number of `term`.
    #[inline]
    pub fn put_off(&mut self, table: &mut TermTable, log: &mut ChunkLog<u32>, term: &[u8]) {
        if self.places.len() == BATCH_TERMS {
            self.settle(table, log);
        }
        self.bytes.extend_from_slice(term);
        self.places.push((log.len() as u32, self.bytes.len() as u32));
        log.push(0);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Looks up all pending terms.
    #[inline(never)]
    pub fn settle(&mut self, table: &mut TermTable, log: &mut ChunkLog<u32>) {
        let PendingTerms { bytes, places } = self;
        let term = |at: usize| {
            let start = if at == 0 { 0 } else { places[at - 1].1 };
            &bytes[start as usize..places[at].1 as usize]
        };
        table.intern_all(places.len(), term, |at, number| log.set(places[at].0 as usize, number));
        bytes.clear();
        places.clear();
    }

    /// Drops the pending terms at log indexes from `len` on.
    pub fn truncate(&mut self, len: usize) {
        let PendingTerms { bytes, places } = self;
        places.truncate(places.partition_point(|(place, _)| (*place as usize) < len));
        bytes.truncate(places.last().map_or(0, |(_, end)| *end as usize));
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.places.capacity() * size_of::<(u32, u32)>()
    }
}
