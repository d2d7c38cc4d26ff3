//! Maps children to parents and back with one bit per document.
//!
//! Parents and children form one sequence in which each parent follows its children: 0 is a child, 1 is a
//! parent. So the number of ones before a child is its parent, and the number of zeros before a parent is
//! the end of its children. (Lucene's block join keeps the same bits, over documents that share one space.)

use std::ops::Range;

use crate::{DocId, LiveDocs};

/// Words per group. The ones before each group are stored, which costs half a bit for every 8 bits of the
/// sequence.
const GROUP_WORDS: usize = 8;

/// The parents and children of one path of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentBits {
    /// Bit `at % 64` of word `at / 64`; 0 after the end.
    words: Vec<u64>,
    /// Ones before each group of [`GROUP_WORDS`] words.
    ones: Vec<u32>,
    parent_count: u32,
    child_count: u32,
}

impl ParentBits {
    /// Returns `None` unless the words hold one 1 per parent and only zeros after the end.
    pub(super) fn new(words: Vec<u64>, parent_count: u32, child_count: u32) -> Option<ParentBits> {
        let bits = u64::from(parent_count) + u64::from(child_count);
        if words.len() as u64 != bits.div_ceil(64) {
            return None;
        }
        let tail = words.last().is_some_and(|last| bits % 64 != 0 && last >> (bits % 64) != 0);
        let mut count = 0u64;
        let mut ones = Vec::with_capacity(words.len().div_ceil(GROUP_WORDS));
        for group in words.chunks(GROUP_WORDS) {
            ones.push(count as u32);
            count += group.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        (count == u64::from(parent_count) && !tail).then_some(ParentBits {
            words,
            ones,
            parent_count,
            child_count,
        })
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the number of enclosing documents.
    pub fn parent_count(&self) -> u32 {
        self.parent_count
    }

    /// Returns the number of documents inside all of them.
    pub fn child_count(&self) -> u32 {
        self.child_count
    }

    /// Returns the bytes held in memory.
    pub fn heap_bytes(&self) -> u64 {
        (self.words.len() * 8 + self.ones.len() * 4) as u64
    }

    /// Returns the number of children of all parents before `parent`; of all parents, if `parent` is past the
    /// last.
    pub fn first_child(&self, parent: DocId) -> DocId {
        self.child_cursor().first_child(parent)
    }

    /// Returns the documents inside `parent`.
    pub fn children(&self, parent: DocId) -> Range<DocId> {
        self.first_child(parent)..self.first_child(parent + 1)
    }

    /// Returns the parent of a child.
    pub fn parent(&self, child: DocId) -> DocId {
        self.cursor().parent(child)
    }

    /// Returns a cursor for ascending parents.
    pub fn child_cursor(&self) -> ChildCursor<'_> {
        ChildCursor { bits: self, word: 0, ones: 0 }
    }

    /// Returns a cursor for ascending children.
    pub fn cursor(&self) -> ParentCursor<'_> {
        ParentCursor { bits: self, word: 0, ones: 0 }
    }

    /// Returns the children of live parents. `live` is about the parents.
    pub fn live_children(&self, live: &LiveDocs) -> LiveDocs {
        let mut children = LiveDocs::all(self.child_count);
        for (at, &word) in live.words().iter().enumerate() {
            let mut deleted = !word;
            while deleted != 0 {
                let parent = at as u32 * 64 + deleted.trailing_zeros();
                deleted &= deleted - 1;
                if parent >= self.parent_count {
                    break;
                }
                self.children(parent).for_each(|child| {
                    children.delete(child);
                });
            }
        }
        children
    }
}

/// Returns the position of the `n`th one, counted from 0.
#[inline]
fn nth_one(word: u64, n: u32) -> u32 {
    let mut rest = word;
    for _ in 0..n {
        rest &= rest - 1;
    }
    rest.trailing_zeros()
}

/// Maps ascending parents to their children; a step costs little if the next parent is near.
#[derive(Debug, Clone)]
pub struct ChildCursor<'a> {
    bits: &'a ParentBits,
    word: usize,
    /// Ones before `word`.
    ones: u32,
}

impl ChildCursor<'_> {
    /// Returns the same as [`ParentBits::first_child`]; slower for a parent before that of the last call.
    #[inline]
    pub fn first_child(&mut self, parent: DocId) -> DocId {
        if parent == 0 {
            return 0;
        }
        if parent >= self.bits.parent_count {
            return self.bits.child_count;
        }
        // The answer is the number of zeros up to the preceding parent: its position less the ones before it.
        let before = parent - 1;
        if before < self.ones || before - self.ones >= (GROUP_WORDS * 64) as u32 {
            let group = self.bits.ones.partition_point(|&ones| ones <= before) - 1;
            (self.word, self.ones) = (group * GROUP_WORDS, self.bits.ones[group]);
        }
        loop {
            let word = self.bits.words[self.word];
            let count = word.count_ones();
            if before - self.ones < count {
                return (self.word * 64) as u32 + nth_one(word, before - self.ones) - before;
            }
            self.ones += count;
            self.word += 1;
        }
    }
}

/// Maps ascending children to their parents; a step costs little if the next child is near.
#[derive(Debug, Clone)]
pub struct ParentCursor<'a> {
    bits: &'a ParentBits,
    word: usize,
    /// Ones before `word`.
    ones: u32,
}

impl ParentCursor<'_> {
    /// Returns the parent of `child`, which must not precede the child of the last call.
    #[inline]
    pub fn parent(&mut self, child: DocId) -> DocId {
        debug_assert!(child < self.bits.child_count);
        let words = &self.bits.words;
        let mut rest = child - ((self.word * 64) as u32 - self.ones);
        if rest as usize >= GROUP_WORDS * 64 {
            rest = self.skip(child);
        }
        loop {
            let word = words[self.word];
            let zeros = word.count_zeros();
            if rest < zeros {
                let place = nth_one(!word, rest);
                return self.ones + (word & ((1 << place) - 1)).count_ones();
            }
            rest -= zeros;
            self.ones += word.count_ones();
            self.word += 1;
        }
    }

    /// Moves to the group that holds `child`; returns how many children of the group precede it.
    #[inline(never)]
    fn skip(&mut self, child: DocId) -> u32 {
        let zeros = |group: usize, ones: u32| (group * GROUP_WORDS * 64) as u32 - ones;
        let from = self.word / GROUP_WORDS;
        let (mut low, mut high) = (from, self.bits.ones.len());
        // Finds the last group with at most `child` zeros before it.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if zeros(middle, self.bits.ones[middle]) <= child {
                low = middle;
            } else {
                high = middle;
            }
        }
        if low * GROUP_WORDS > self.word {
            (self.word, self.ones) = (low * GROUP_WORDS, self.bits.ones[low]);
        }
        child - ((self.word * 64) as u32 - self.ones)
    }
}

/// Builds the bits from parents in ascending order.
#[derive(Debug, Default)]
pub(crate) struct ParentBitsBuilder {
    words: Vec<u64>,
    bits: u64,
    parent_count: u32,
    child_count: u32,
}

impl ParentBitsBuilder {
    /// Adds the next parent, which has this number of children.
    pub fn push(&mut self, children: u32) {
        self.bits += u64::from(children);
        self.child_count += children;
        let at = (self.bits / 64) as usize;
        self.words.resize(at + 1, 0);
        self.words[at] |= 1 << (self.bits % 64);
        self.bits += 1;
        self.parent_count += 1;
    }

    /// Builds from the parent of each child, ascending.
    pub fn of_parents(parents: &[DocId], parent_count: u32) -> ParentBitsBuilder {
        let mut builder = ParentBitsBuilder::default();
        let mut rest = parents;
        for parent in 0..parent_count {
            let own = rest.iter().take_while(|&&other| other == parent).count();
            rest = &rest[own..];
            builder.push(own as u32);
        }
        builder
    }

    pub(crate) fn finish(self) -> ParentBits {
        ParentBits::new(self.words, self.parent_count, self.child_count)
            .expect("as many ones as parents were pushed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(counts: &[u32]) {
        let mut builder = ParentBitsBuilder::default();
        counts.iter().for_each(|&count| builder.push(count));
        let bits = builder.finish();
        let parents: Vec<DocId> =
            (0u32..).zip(counts).flat_map(|(parent, &count)| vec![parent; count as usize]).collect();
        assert_eq!(ParentBitsBuilder::of_parents(&parents, counts.len() as u32).finish(), bits);
        assert_eq!(
            (bits.parent_count() as usize, bits.child_count() as usize),
            (counts.len(), parents.len())
        );
        let mut first = 0;
        for (parent, &count) in (0u32..).zip(counts) {
            assert_eq!(bits.children(parent), first..first + count, "parent {parent}");
            first += count;
        }
        assert_eq!(bits.first_child(counts.len() as u32 + 5), first);
        let starts: Vec<DocId> = (0..=counts.len()).map(|at| counts[..at].iter().sum()).collect();
        for step in [1, 3, 64, 700, 5000] {
            let mut cursor = bits.child_cursor();
            for parent in (0..counts.len()).step_by(step).chain((0..counts.len()).rev().step_by(step)) {
                assert_eq!(cursor.first_child(parent as u32), starts[parent], "parent {parent} by {step}");
            }
            let mut cursor = bits.cursor();
            for child in (0..parents.len()).step_by(step) {
                assert_eq!(cursor.parent(child as u32), parents[child], "child {child} by {step}");
            }
        }
        let mut live = LiveDocs::all(counts.len() as u32);
        (0..counts.len() as u32).step_by(3).for_each(|parent| {
            live.delete(parent);
        });
        let kept = (0u32..).zip(&parents).filter(|(_, parent)| **parent % 3 != 0).map(|(child, _)| child);
        assert!(bits.live_children(&live).iter().eq(kept));
    }

    #[test]
    fn families_of_all_sizes() {
        check(&[]);
        check(&[0]);
        check(&[3]);
        check(&[0, 1, 0, 2, 0]);
        check(&[64, 0, 63, 1, 128]);
        check(&[0; 1000]);
        check(&[1; 1000]);
        check(&[10_000, 0, 0, 10_000]);
        let mut sparse = vec![0; 5000];
        sparse[4321] = 7;
        check(&sparse);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_families(counts in prop::collection::vec(prop_oneof![3 => Just(0u32), 3 => 0u32..4, 1 => 0u32..900], 0..200)) {
            check(&counts);
        }
    }
}
