//! The ids of a segment as runs: "is this id certainly absent?", for ids that count up.
//!
//! The ids that the server generates follow each other, so the first and the last of each run say as much as
//! a Bloom filter of twelve bits an id. The section `IdRuns`, since version 4 of the format, stands in place
//! of the section `IdFilter`:
//!
//! ```text
//! u8   length of the ids
//! per run, ascending: its first id, its last id
//! ```
//!
//! An id between both ends of a run may still be absent: the ids of other shards lie between those of this
//! one. Only a lookup in the dictionary tells.

use limber_codec::{bloom, ordered64};
use limber_store::FileBytes;

use crate::{Error, Result};

/// Ids of one run are at most so far apart: those of an index of that many shards, and of as many indices.
const GAP_MAX: u64 = 64;
/// Finds runs in the ids of a segment, which come in ascending order.
pub(crate) struct RunsBuilder {
    bytes_max: usize,
    /// First and last id of each run.
    ids: Vec<u8>,
    id_len: usize,
    /// The last characters of the last id, as a number.
    last: Option<u64>,
    is_given_up: bool,
}

impl RunsBuilder {
    /// Creates a builder for at most `count` ids.
    pub fn new(count: usize) -> RunsBuilder {
        let bytes_max = RunsBuilder::heap_bytes(count);
        RunsBuilder { bytes_max, ids: Vec::new(), id_len: 0, last: None, is_given_up: false }
    }

    /// Returns the maximum of heap bytes for `count` ids: half of a Bloom filter, which excludes more.
    pub fn heap_bytes(count: usize) -> usize {
        bloom::filter_bytes(count) / 2
    }

    /// Adds an id, which is greater than all before.
    #[inline]
    pub fn push(&mut self, id: &[u8]) {
        if self.is_given_up {
            return;
        }
        let (start, tail) = id.split_at(id.len().saturating_sub(ordered64::CHARACTERS_MAX));
        let number = ordered64::decode(tail);
        let end = self.ids.len();
        if let (Some(last), Some(number)) = (self.last, number)
            && id.len() == self.id_len
            && number.wrapping_sub(last) <= GAP_MAX
            && self.ids[end - self.id_len..].starts_with(start)
        {
            self.ids[end - tail.len()..].copy_from_slice(tail);
            self.last = Some(number);
            return;
        }
        self.start_run(id, number);
    }

    #[cold]
    fn start_run(&mut self, id: &[u8], number: Option<u64>) {
        if self.ids.is_empty() {
            self.id_len = id.len();
        }
        let has_room = id.len() == self.id_len && self.ids.len() + 2 * id.len() < self.bytes_max;
        if !has_room || id.is_empty() || id.len() > usize::from(u8::MAX) || number.is_none() {
            self.is_given_up = true;
            self.ids = Vec::new();
            return;
        }
        self.ids.extend_from_slice(id);
        self.ids.extend_from_slice(id);
        self.last = number;
    }

    /// Returns the bytes of the section; `None` if the ids are not in few runs.
    pub fn finish(mut self) -> Option<Vec<u8>> {
        if self.is_given_up || self.ids.is_empty() {
            return None;
        }
        self.ids.insert(0, self.id_len as u8);
        Some(self.ids)
    }
}

/// The runs of one segment.
pub(crate) struct IdRuns {
    bytes: FileBytes,
    id_len: usize,
}

impl IdRuns {
    /// Opens the section `IdRuns` of a segment.
    ///
    /// # Errors
    /// Fails for bytes that are no list of runs.
    pub fn open(bytes: FileBytes) -> Result<IdRuns> {
        let id_len = bytes.first().copied().map_or(0, usize::from);
        if id_len == 0 || bytes.len() == 1 || !(bytes.len() - 1).is_multiple_of(2 * id_len) {
            return Err(Error::corrupt("id runs", 0, "runs of ids"));
        }
        Ok(IdRuns { bytes, id_len })
    }

    /// Returns `false` if the id is certainly not in the segment.
    #[inline]
    pub fn may_contain(&self, id: &[u8]) -> bool {
        if id.len() != self.id_len {
            return false;
        }
        let runs = &self.bytes[1..];
        let run_bytes = 2 * self.id_len;
        let (mut low, mut high) = (0, runs.len() / run_bytes);
        while low < high {
            let middle = (low + high) / 2;
            let (first, last) = runs[middle * run_bytes..][..run_bytes].split_at(self.id_len);
            if id < first {
                high = middle;
            } else if id > last {
                low = middle + 1;
            } else {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(numbers: impl IntoIterator<Item = u64>) -> Vec<Vec<u8>> {
        let id = |number| {
            let mut id = b"start-of-ids".to_vec();
            ordered64::encode(number, 6, &mut id);
            id
        };
        numbers.into_iter().map(id).collect()
    }

    fn runs(ids: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut builder = RunsBuilder::new(ids.len());
        ids.iter().for_each(|id| builder.push(id));
        builder.finish()
    }

    #[test]
    fn ids_that_count_are_few_runs() {
        let list = ids((0..500).map(|n| n * 3).chain((1 << 30)..(1 << 30) + 300));
        let bytes = runs(&list).expect("two runs");
        assert_eq!(bytes.len(), 1 + 2 * 2 * 18);
        let found = IdRuns::open(FileBytes::from_vec(bytes.clone())).expect("sound");
        assert!(list.iter().all(|id| found.may_contain(id)));
        let absent = ids([1498, 1 << 29, (1 << 30) - 1, (1 << 30) + 300]);
        assert!(absent.iter().all(|id| !found.may_contain(id)));
        assert!(!found.may_contain(b"") && !found.may_contain(&list[0][..17]));
        for len in 0..bytes.len() {
            let opened = IdRuns::open(FileBytes::from_vec(bytes[..len].to_vec()));
            assert_eq!(opened.is_ok(), len == 37, "cut at {len}");
        }
    }

    #[test]
    fn other_ids_have_no_runs() {
        assert!(runs(&ids((0..500).map(|n| n * 65))).is_none());
        assert!(runs(&ids(0..20)).is_none());
        assert!(runs(&[]).is_none());
        assert!(runs(&vec![vec![b'a'; 300]; 1]).is_none());
        let mut list = ids(0..500);
        list.push(b"t".to_vec());
        assert!(runs(&list).is_none());
        list[499] = vec![b'~'; 18];
        assert!(runs(&list[..500]).is_none());
        let bare: Vec<Vec<u8>> = (0..500)
            .map(|n| {
                let mut id = Vec::new();
                ordered64::encode(n, 2, &mut id);
                id
            })
            .collect();
        let bytes = runs(&bare).expect("one run");
        assert_eq!(bytes, b"\x02--6n");
    }
}
