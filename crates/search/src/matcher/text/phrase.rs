//! Matches documents with a phrase, and computes its frequency.
//!
//! Source: Lucene's `ExactPhraseMatcher` and `SloppyPhraseMatcher`, with the same matches, weights and
//! treatment of repeated terms.

use limber_segment::DocId;
use limber_segment::postings::Postings;

use crate::error::Result;
use crate::matcher::confirmed::Confirm;

/// Cursors over the positions of a phrase's terms.
pub(crate) struct PhraseCursor {
    slots: Vec<Slot>,
    slop: u32,
    positions: Vec<Vec<u32>>,
    offsets: Vec<u32>,
    groups: Vec<Option<u32>>,
    scratch: Vec<u32>,
}

pub(crate) struct Slot {
    /// The position in the phrase.
    pub offset: u32,
    pub postings: Vec<Postings>,
    /// The group of slots with the same term.
    pub group: Option<u32>,
}

impl PhraseCursor {
    pub(crate) fn new(slots: Vec<Slot>, slop: u32) -> PhraseCursor {
        let positions = slots.iter().map(|_| Vec::new()).collect();
        let offsets = slots.iter().map(|slot| slot.offset).collect();
        let groups = slots.iter().map(|slot| slot.group).collect();
        PhraseCursor { slots, slop, positions, offsets, groups, scratch: Vec::new() }
    }

    /// Returns the frequency of the phrase in `doc`, in which a sloppy match counts for less than one.
    /// Documents must ascend from call to call.
    pub fn freq(&mut self, doc: DocId) -> Result<f32> {
        for (slot, positions) in self.slots.iter_mut().zip(&mut self.positions) {
            positions.clear();
            for postings in &mut slot.postings {
                if postings.advance(doc) == doc {
                    postings.positions(&mut self.scratch);
                    positions.extend_from_slice(&self.scratch);
                }
                postings.status()?;
            }
            if slot.postings.len() > 1 {
                positions.sort_unstable();
                positions.dedup();
            }
            if positions.is_empty() {
                return Ok(0.0);
            }
        }
        Ok(phrase_freq(&self.positions, &self.offsets, &self.groups, self.slop))
    }
}

/// Returns the frequency of a phrase in a document. `positions[i]` has the ascending positions of the i-th
/// term; `offsets[i]` is its position in the phrase, ascending; `groups[i]` is the same for equal terms that
/// occur in the phrase more than once.
pub(crate) fn phrase_freq(positions: &[Vec<u32>], offsets: &[u32], groups: &[Option<u32>], slop: u32) -> f32 {
    if slop == 0 {
        exact_freq(positions, offsets) as f32
    } else {
        Sloppy::new(positions, offsets, groups).freq(slop)
    }
}

fn exact_freq(positions: &[Vec<u32>], offsets: &[u32]) -> u32 {
    let lead = (0..positions.len()).min_by_key(|at| positions[*at].len()).unwrap_or(0);
    let mut cursors = vec![0usize; positions.len()];
    let mut freq = 0;
    'lead: for position in &positions[lead] {
        let Some(start) = position.checked_sub(offsets[lead]) else { continue };
        for (at, list) in positions.iter().enumerate() {
            let wanted = start + offsets[at];
            let cursor = &mut cursors[at];
            *cursor += list[*cursor..].partition_point(|position| *position < wanted);
            match list.get(*cursor) {
                None => break 'lead,
                Some(found) if *found != wanted => continue 'lead,
                Some(_) => {}
            }
        }
        freq += 1;
    }
    freq
}

/// One term's cursor in its positions; `position` is relative to the term's offset in the phrase.
#[derive(Clone, Copy)]
struct Walk {
    at: usize,
    position: i64,
}

struct Sloppy<'p> {
    positions: &'p [Vec<u32>],
    offsets: &'p [u32],
    groups: &'p [Option<u32>],
    walks: Vec<Walk>,
    /// The terms that are queued; the one with the least position comes first.
    queue: Vec<usize>,
    end: i64,
}

impl<'p> Sloppy<'p> {
    fn new(positions: &'p [Vec<u32>], offsets: &'p [u32], groups: &'p [Option<u32>]) -> Sloppy<'p> {
        let walks = (0..positions.len())
            .map(|term| Walk { at: 0, position: i64::from(positions[term][0]) - i64::from(offsets[term]) })
            .collect();
        Sloppy { positions, offsets, groups, walks, queue: Vec::new(), end: i64::MIN }
    }

    fn freq(&mut self, slop: u32) -> f32 {
        let mut freq = 0.0f32;
        if !self.start() {
            return freq;
        }
        while let Some(length) = self.next_match(i64::from(slop)) {
            freq += 1.0f32 / (1.0f32 + length as f32);
        }
        freq
    }

    /// Moves every term to its first position; repeated terms start at later ones.
    fn start(&mut self) -> bool {
        for term in 0..self.walks.len() {
            let Some(group) = self.groups[term] else { continue };
            let earlier = self.groups[..term].iter().filter(|other| **other == Some(group)).count();
            for _ in 0..earlier {
                if !self.step(term) {
                    return false;
                }
            }
        }
        for term in 0..self.walks.len() {
            self.end = self.end.max(self.walks[term].position);
            self.queue.push(term);
        }
        true
    }

    fn step(&mut self, term: usize) -> bool {
        let walk = &mut self.walks[term];
        walk.at += 1;
        match self.positions[term].get(walk.at) {
            Some(position) => {
                walk.position = i64::from(*position) - i64::from(self.offsets[term]);
                true
            }
            None => false,
        }
    }

    fn advance(&mut self, term: usize) -> bool {
        if !self.step(term) {
            return false;
        }
        self.end = self.end.max(self.walks[term].position);
        true
    }

    fn least(&self) -> usize {
        let key = |term: usize| (self.walks[term].position, self.offsets[term], term);
        (0..self.queue.len()).min_by_key(|at| key(self.queue[*at])).expect("a phrase has several terms")
    }

    fn pop(&mut self) -> usize {
        let least = self.least();
        self.queue.swap_remove(least)
    }

    fn next_match(&mut self, slop: i64) -> Option<i64> {
        if self.queue.len() < self.walks.len() {
            return None;
        }
        let mut term = self.pop();
        let mut length = self.end - self.walks[term].position;
        let mut next = self.walks[self.queue[self.least()]].position;
        while self.advance(term) {
            if self.groups[term].is_some() && !self.advance_equal(&mut term) {
                break;
            }
            let position = self.walks[term].position;
            if position > next {
                // This match cannot become shorter.
                self.queue.push(term);
                if length <= slop {
                    return Some(length);
                }
                term = self.pop();
                next = self.walks[self.queue[self.least()]].position;
                length = self.end - self.walks[term].position;
            } else {
                length = length.min(self.end - position);
            }
        }
        // The term without a further position is not queued again, which ends the iteration.
        (length <= slop).then_some(length)
    }

    /// Moves equal terms that are at the same position apart. `term` is the one that moved, which is not
    /// queued; it is replaced by the one that moved last.
    fn advance_equal(&mut self, term: &mut usize) -> bool {
        let mut current = *term;
        while let Some(other) = self.collision(current) {
            // The lesser of the two moves on.
            let key = |term: usize| (self.walks[term].position, self.offsets[term]);
            current = if key(current) <= key(other) { current } else { other };
            if !self.advance(current) {
                return false;
            }
        }
        true
    }

    fn collision(&self, term: usize) -> Option<usize> {
        let text_position = |term: usize| self.positions[term][self.walks[term].at];
        (0..self.walks.len()).find(|other| {
            *other != term
                && self.groups[*other] == self.groups[term]
                && text_position(*other) == text_position(term)
        })
    }
}

impl Confirm for PhraseCursor {
    /// Reading the positions of a candidate is expensive.
    const COST_FACTOR: u64 = 2;

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        Ok(self.freq(doc)? != 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the positions of each term of `phrase` in `text`, and the groups of equal terms.
    fn freq(text: &str, phrase: &str, slop: u32) -> f32 {
        let words: Vec<&str> = text.split(' ').collect();
        let terms: Vec<&str> = phrase.split(' ').collect();
        let positions: Vec<Vec<u32>> = terms
            .iter()
            .map(|term| (0..words.len() as u32).filter(|at| words[*at as usize] == *term).collect())
            .collect();
        if positions.iter().any(Vec::is_empty) {
            return 0.0;
        }
        let groups: Vec<Option<u32>> = terms
            .iter()
            .map(|term| {
                (terms.iter().filter(|other| *other == term).count() > 1)
                    .then(|| terms.iter().position(|other| other == term).unwrap() as u32)
            })
            .collect();
        phrase_freq(&positions, &(0..terms.len() as u32).collect::<Vec<_>>(), &groups, slop)
    }

    /// The frequencies that Elasticsearch 8.19 explains for these texts.
    #[test]
    fn frequencies_are_lucenes() {
        for (text, phrase, slop, expected) in [
            ("brown fox brown fox quick fox", "brown fox", 0, 2.0),
            ("brown fox brown fox quick fox", "fox brown", 0, 1.0),
            ("a b a b a", "a b a", 0, 2.0),
            ("a b", "b a", 0, 0.0),
            ("b a", "a b", 1, 0.0),
            ("b a", "a b", 2, 1.0 / 3.0),
            ("a x b", "a b", 1, 0.5),
            ("a", "a a", 5, 0.0),
            ("a a", "a a", 5, 1.0),
        ] {
            assert_eq!(freq(text, phrase, slop), expected, "{phrase} in {text}");
        }
    }
}
