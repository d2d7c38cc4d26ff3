//! Terms that are looked up together, so that the processor waits for many cache misses at once: "not yet,
//! wait for the others".

use super::chunk_log::ChunkLog;
use super::table::{BATCH_TERMS, TermTable};

/// Tables up to this many terms stay in the processor's caches by themselves.
const CACHED_TERMS_MAX: usize = 1024;
/// Longer terms are looked up at once; bounds what is copied.
const BYTES_MAX: usize = 128;

/// Whether `term` is worth waiting for others.
#[inline]
pub fn suits(table: &TermTable, term: &[u8]) -> bool {
    table.len() > CACHED_TERMS_MAX && term.len() <= BYTES_MAX
}

/// Terms that a log has no numbers of yet: at most [`BATCH_TERMS`].
#[derive(Default)]
pub struct Unsettled {
    /// The terms, back to back.
    bytes: Vec<u8>,
    /// Of each: its place in the log, and where it ends.
    places: Vec<(u32, u32)>,
}

impl Unsettled {
    /// Appends a number to `log` that [`Unsettled::settle`] will replace by that of `term`.
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
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Looks up what was put off.
    #[inline(never)]
    pub fn settle(&mut self, table: &mut TermTable, log: &mut ChunkLog<u32>) {
        let Unsettled { bytes, places } = self;
        let term = |at: usize| {
            let start = if at == 0 { 0 } else { places[at - 1].1 };
            &bytes[start as usize..places[at].1 as usize]
        };
        table.intern_all(places.len(), term, |at, number| log.set(places[at].0 as usize, number));
        bytes.clear();
        places.clear();
    }

    /// Forgets what lies in the log at or after `len`.
    pub fn truncate(&mut self, len: usize) {
        let Unsettled { bytes, places } = self;
        places.truncate(places.partition_point(|(place, _)| (*place as usize) < len));
        bytes.truncate(places.last().map_or(0, |(_, end)| *end as usize));
    }

    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.places.capacity() * size_of::<(u32, u32)>()
    }
}
