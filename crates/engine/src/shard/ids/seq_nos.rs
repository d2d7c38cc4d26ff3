//! A set of sequence numbers, mostly without gaps: "which of these numbers are missing?"

use std::collections::BTreeMap;

/// Disjoint and non-adjacent ranges of numbers, from start to end (exclusive).
#[derive(Debug, Default)]
pub(in crate::shard) struct SeqNos {
    ranges: BTreeMap<u64, u64>,
}

impl SeqNos {
    pub(in crate::shard) fn add(&mut self, seq_no: u64) {
        let before = self.ranges.range(..=seq_no).next_back().map(|(start, end)| (*start, *end));
        if before.is_some_and(|(_, end)| seq_no < end) {
            return;
        }
        let end = self.ranges.remove(&(seq_no + 1)).unwrap_or(seq_no + 1);
        let start = before.filter(|(_, end)| *end == seq_no).map_or(seq_no, |(start, _)| start);
        self.ranges.insert(start, end);
    }

    /// Returns the largest number plus 1; 0 when empty.
    pub(in crate::shard) fn end(&self) -> u64 {
        self.ranges.last_key_value().map_or(0, |(_, end)| *end)
    }

    /// Returns the missing numbers from `floor` to the largest number.
    pub(in crate::shard) fn holes(&self, floor: u64) -> impl Iterator<Item = u64> {
        let starts = self.ranges.keys().copied();
        let ends = std::iter::once(floor).chain(self.ranges.values().copied());
        ends.zip(starts).flat_map(move |(end, start)| end.max(floor)..start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_what_never_came() {
        let mut set = SeqNos::default();
        assert_eq!((set.end(), set.holes(3).count()), (0, 0));
        for seq_no in [7, 5, 6, 6, 12, 4, 10, 9, 5] {
            set.add(seq_no);
        }
        assert_eq!(set.end(), 13);
        assert_eq!(set.holes(3).collect::<Vec<_>>(), [3, 8, 11]);
        assert_eq!(set.holes(4).collect::<Vec<_>>(), [8, 11]);
        assert_eq!(set.ranges.len(), 3);
    }
}
