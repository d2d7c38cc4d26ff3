//! The documents of one window as a bit set.

use limber_segment::DocId;

use crate::error::Result;

/// Documents in a window.
pub(crate) const WINDOW: u32 = 4096;
const WORDS: usize = WINDOW as usize / 64;

/// A bit for every document of a segment; its length is a whole number of windows.
pub(crate) struct SegmentBits(Vec<u64>);

impl SegmentBits {
    /// Creates a set without documents, for a segment of `doc_count` documents.
    pub fn none_of(doc_count: u32) -> SegmentBits {
        SegmentBits(vec![0; doc_count.div_ceil(WINDOW) as usize * WORDS])
    }

    /// Creates a set of all documents of a segment. Bits beyond its last document are set too.
    pub fn all_of(doc_count: u32) -> SegmentBits {
        SegmentBits(vec![u64::MAX; doc_count.div_ceil(WINDOW) as usize * WORDS])
    }

    /// Returns the bytes that the bits of `doc_count` documents take.
    pub fn bytes_of(doc_count: u32) -> u64 {
        u64::from(doc_count.div_ceil(WINDOW)) * u64::from(WINDOW / 8)
    }

    /// Whether a document of the segment is in the set. Panics beyond the segment.
    #[inline]
    pub fn contains(&self, doc: DocId) -> bool {
        self.0[doc as usize / 64] >> (doc % 64) & 1 != 0
    }

    /// Removes a document from the set.
    #[inline]
    pub fn clear(&mut self, doc: DocId) {
        self.0[doc as usize / 64] &= !(1 << (doc % 64));
    }

    /// Returns the words; bit `doc % 64` of word `doc / 64` stands for a document.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }

    /// Returns the words of the window at `start`.
    pub fn window(&self, start: DocId) -> &[u64] {
        &self.0[start as usize / 64..][..WORDS]
    }

    /// Returns the words of each window of [`WINDOW`] documents, in order.
    pub fn windows_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.0.chunks_exact_mut(WORDS)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Bits(pub [u64; WORDS]);

impl Default for Bits {
    fn default() -> Bits {
        Bits([0; WORDS])
    }
}

/// Moves the lowest bit of each byte to the highest byte, that of the first byte lowest.
const LOWEST_BITS: u64 = 0x0102_0408_1020_4080;

/// Returns up to 64 flags as the bits of a word.
#[inline]
fn packed(flags: &[bool]) -> u64 {
    let (eights, rest) = flags.as_chunks::<8>();
    let mut word = 0;
    for (at, eight) in eights.iter().enumerate() {
        let bytes = u64::from_le_bytes(eight.map(u8::from));
        word |= (bytes.wrapping_mul(LOWEST_BITS) >> 56) << (8 * at);
    }
    rest.iter().zip(8 * eights.len()..).fold(word, |word, (flag, at)| word | u64::from(*flag) << at)
}

/// Words with at least this many set bits are read run by run, not bit by bit.
const RUNS_FROM: u32 = 56;

impl Bits {
    /// Adds a document by its index in the window, which is less than [`WINDOW`].
    #[inline]
    pub fn set(&mut self, index: u32) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    /// Whether the document at this index of the window is in the set.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        self.0[index as usize / 64] >> (index % 64) & 1 != 0
    }

    /// Returns the first set index at or after `from`.
    #[inline]
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut at = from as usize / 64;
        let mut word = self.0.get(at)? & (u64::MAX << (from % 64));
        while word == 0 {
            at += 1;
            word = *self.0.get(at)?;
        }
        Some(at as u32 * 64 + word.trailing_zeros())
    }

    /// Removes all documents from the set.
    pub fn clear(&mut self) {
        self.0 = [0; WORDS];
    }

    /// Whether no document is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns how many documents are in the set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Keeps the bits that `other` has too.
    pub fn and(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// Clears the bits that `other` has.
    pub fn and_not(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
    }

    /// Adds the bits of `other`.
    pub fn or(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Sets the bits `from..to` of the window.
    pub fn set_range(&mut self, from: u32, to: u32) {
        for (at, word) in self.0.iter_mut().enumerate() {
            let base = at as u32 * 64;
            let (low, high) = (from.clamp(base, base + 64) - base, to.clamp(base, base + 64) - base);
            if low < high {
                *word |= (u64::MAX >> (64 - (high - low))) << low;
            }
        }
    }

    /// Clears the bits for whose index `holds` returns `false`; it is called in ascending order.
    #[inline]
    pub fn retain(&mut self, mut holds: impl FnMut(u32) -> Result<bool>) -> Result<()> {
        for (at, word) in self.0.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !holds(at as u32 * 64 + bit)? {
                    *word &= !(1 << bit);
                }
            }
        }
        Ok(())
    }

    /// Appends the documents of the set bits to `docs`; `start` is the window's first document.
    pub fn append_to(&self, start: DocId, docs: &mut Vec<DocId>) {
        docs.reserve(self.count() as usize);
        for (at, &word) in self.0.iter().enumerate() {
            let (mut rest, mut doc) = (word, start + at as u32 * 64);
            if word.count_ones() < RUNS_FROM {
                while rest != 0 {
                    docs.push(doc + rest.trailing_zeros());
                    rest &= rest - 1;
                }
                continue;
            }
            while rest != 0 {
                let gap = rest.trailing_zeros();
                let run = (rest >> gap).trailing_ones();
                docs.extend(doc + gap..doc + gap + run);
                rest = rest.checked_shr(gap + run).unwrap_or(0);
                doc += gap + run;
            }
        }
    }

    /// Adds those of `docs`, which ascend within the window at `start`, whose flag is set.
    pub fn set_flagged(&mut self, docs: &[DocId], start: DocId, flags: &[bool]) {
        let is_run = match docs {
            [first, .., last] => (last - first) as usize == docs.len() - 1,
            _ => false,
        };
        if is_run && (docs[0] - start).is_multiple_of(64) {
            let words = &mut self.0[(docs[0] - start) as usize / 64..];
            words.iter_mut().zip(flags.chunks(64)).for_each(|(word, flags)| *word |= packed(flags));
            return;
        }
        // A word is kept in a register until a document of another one comes.
        let (mut at, mut word) = (0, 0);
        for (doc, flag) in docs.iter().zip(flags) {
            let place = doc - start;
            if place as usize / 64 != at {
                self.0[at] |= std::mem::take(&mut word);
                at = place as usize / 64;
            }
            word |= u64::from(*flag) << (place % 64);
        }
        self.0[at] |= word;
    }

    /// Returns the bits of `docs`, which are all in the window at `start`.
    pub fn of(docs: &[DocId], start: DocId) -> Bits {
        let mut bits = Bits::default();
        match docs {
            [first, .., last] if (last - first) as usize == docs.len() - 1 => {
                bits.set_range(first - start, last - start + 1);
            }
            _ => docs.iter().for_each(|doc| bits.set(doc - start)),
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_agree() {
        for (from, to) in [(0, 0), (0, 1), (0, 64), (5, 64), (63, 65), (0, 4096), (100, 4000), (4095, 4096)] {
            let mut bits = Bits::default();
            bits.set_range(from, to);
            let mut docs = Vec::new();
            bits.append_to(0, &mut docs);
            assert_eq!(docs, (from..to).collect::<Vec<_>>());
            assert_eq!(bits.count(), to - from);
        }
    }

    #[test]
    fn flagged_documents_are_those_set_one_by_one() {
        let runs = [(0, 4096), (64, 200), (3, 300), (128, 129), (4032, 4096)];
        let gaps: Vec<DocId> = (0..4096).filter(|doc| doc % 7 != 2).collect();
        for docs in runs.map(|(from, to)| (from..to).collect()).into_iter().chain([gaps, vec![]]) {
            let docs: Vec<DocId> = docs.into_iter().map(|doc| 8192 + doc).collect();
            let flags: Vec<bool> = docs.iter().map(|doc| doc % 3 == 0 || doc % 11 == 1).collect();
            let (mut bits, mut expected) = (Bits::default(), Bits::default());
            bits.set_flagged(&docs, 8192, &flags);
            docs.iter().zip(&flags).filter(|(_, flag)| **flag).for_each(|(doc, _)| expected.set(doc - 8192));
            assert_eq!(bits.0, expected.0);
        }
    }

    #[test]
    fn words_with_gaps_are_listed_whole() {
        for gaps in [
            &[][..],
            &[0],
            &[63],
            &[1, 2, 62],
            &[0, 7, 8, 9, 31, 32, 33, 63],
            &[0, 2, 4, 6, 8, 10, 12, 14, 16],
        ] {
            let kept = |index: &u32| !gaps.contains(&(index % 64));
            let expected: Vec<DocId> = (0..4096).filter(kept).map(|index| 8192 + index).collect();
            let mut docs = Vec::new();
            Bits::of(&expected, 8192).append_to(8192, &mut docs);
            assert_eq!(docs, expected, "{gaps:?}");
        }
    }
}
