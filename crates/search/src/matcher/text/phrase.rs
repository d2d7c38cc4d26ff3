//! Matches documents with a phrase, and computes its frequency.
//!
//! Source: Lucene's `ExactPhraseMatcher` and `SloppyPhraseMatcher`, with the same matches, weights and
//! treatment of repeated terms.

use std::collections::HashMap;

use limber_segment::DocId;
use limber_segment::postings::Postings;

use crate::error::Result;
use crate::matcher::confirmed::Confirm;
use crate::primitives::PhrasePlaces;

/// Cursors over the positions of a phrase's terms.
pub(crate) struct PhraseCursor {
    places: PhrasePlaces,
    /// The postings of the alternatives of each list of occurrences.
    lists: Vec<Vec<Postings>>,
    slop: u32,
    positions: Vec<Vec<u32>>,
    scratch: Vec<u32>,
}

impl PhraseCursor {
    /// Creates the cursor of a phrase. `lists` has the postings of the alternatives of each list in `places`.
    pub(crate) fn new(places: PhrasePlaces, lists: Vec<Vec<Postings>>, slop: u32) -> PhraseCursor {
        let positions = lists.iter().map(|_| Vec::new()).collect();
        PhraseCursor { places, lists, slop, positions, scratch: Vec::new() }
    }

    /// Returns the frequency of the phrase in `doc`, in which a sloppy match counts for less than one.
    /// Documents must ascend from call to call.
    pub fn freq(&mut self, doc: DocId) -> Result<f32> {
        for (list, positions) in self.lists.iter_mut().zip(&mut self.positions) {
            positions.clear();
            let has_alternatives = list.len() > 1;
            for postings in list {
                if postings.advance(doc) == doc {
                    postings.positions(&mut self.scratch);
                    positions.extend_from_slice(&self.scratch);
                }
                postings.status()?;
            }
            if has_alternatives {
                positions.sort_unstable();
                // Exact matches count once for each alternative of the first place, as in Lucene.
                if self.slop > 0 {
                    positions.dedup();
                }
            }
            if positions.is_empty() {
                return Ok(0.0);
            }
        }
        phrase_freq(&self.positions, &self.places, self.slop)
    }
}

/// Steps over positions, of a few nanoseconds each, between two checks.
const STEPS_PER_CHECK: usize = 1 << 16;

/// Counts steps over positions: a long phrase in a long text takes very many.
#[derive(Default)]
struct Steps {
    count: usize,
}

impl Steps {
    /// Adds steps. Fails if the request must end.
    #[inline]
    fn take(&mut self, steps: usize) -> Result<()> {
        self.count += steps;
        if self.count >= STEPS_PER_CHECK {
            self.count = 0;
            limber_work::check()?;
        }
        Ok(())
    }
}

/// Returns the frequency of a phrase in a document. `positions[i]` has the ascending positions of the i-th
/// list of occurrences.
///
/// # Errors
/// The request must end.
pub(crate) fn phrase_freq(positions: &[Vec<u32>], places: &PhrasePlaces, slop: u32) -> Result<f32> {
    match slop {
        0 => Ok(exact_freq(positions, places)? as f32),
        _ => Sloppy::new(positions, places).freq(slop),
    }
}

fn exact_freq(positions: &[Vec<u32>], places: &PhrasePlaces) -> Result<u32> {
    let (offsets, lists) = (&places.offsets, &places.lists);
    let lead = (0..lists.len()).min_by_key(|slot| positions[lists[*slot]].len()).unwrap_or(0);
    let mut cursors = vec![0usize; lists.len()];
    let (mut freq, mut steps) = (0, Steps::default());
    'lead: for same in positions[lists[lead]].chunk_by(|left, right| left == right) {
        let position = same[0];
        let Some(start) = position.checked_sub(offsets[lead]) else { continue };
        for (slot, list) in lists.iter().enumerate() {
            steps.take(1)?;
            let (wanted, list) = (start + offsets[slot], &positions[*list]);
            let cursor = &mut cursors[slot];
            *cursor += list[*cursor..].partition_point(|position| *position < wanted);
            match list.get(*cursor) {
                None => break 'lead,
                Some(found) if *found != wanted => continue 'lead,
                Some(_) => {}
            }
        }
        let first = &positions[lists[0]][cursors[0]..];
        freq += first.iter().take_while(|position| **position == start + offsets[0]).count() as u32;
    }
    Ok(freq)
}

/// One term's cursor in its positions; `position` is relative to the term's offset in the phrase.
#[derive(Clone, Copy)]
struct Walk {
    at: usize,
    position: i64,
}

struct Sloppy<'p> {
    positions: &'p [Vec<u32>],
    places: &'p PhrasePlaces,
    walks: Vec<Walk>,
    /// The terms that are queued; the one with the least position comes first.
    queue: Vec<usize>,
    end: i64,
    steps: Steps,
}

impl<'p> Sloppy<'p> {
    fn new(positions: &'p [Vec<u32>], places: &'p PhrasePlaces) -> Sloppy<'p> {
        let first = |(list, offset): (&usize, &u32)| i64::from(positions[*list][0]) - i64::from(*offset);
        let places_of_terms = places.lists.iter().zip(&places.offsets);
        let walks = places_of_terms.map(|place| Walk { at: 0, position: first(place) }).collect();
        Sloppy { positions, places, walks, queue: Vec::new(), end: i64::MIN, steps: Steps::default() }
    }

    fn freq(&mut self, slop: u32) -> Result<f32> {
        let mut freq = 0.0f32;
        if !self.start()? {
            return Ok(freq);
        }
        while let Some(length) = self.next_match(i64::from(slop))? {
            freq += 1.0f32 / (1.0f32 + length as f32);
        }
        Ok(freq)
    }

    /// Moves every term to its first position; repeated terms start at later ones.
    fn start(&mut self) -> Result<bool> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for term in 0..self.walks.len() {
            let Some(group) = self.places.groups[term] else { continue };
            let earlier = counts.entry(group).or_default();
            self.steps.take(*earlier)?;
            for _ in 0..*earlier {
                if !self.step(term) {
                    return Ok(false);
                }
            }
            *earlier += 1;
        }
        for term in 0..self.walks.len() {
            self.end = self.end.max(self.walks[term].position);
            self.queue.push(term);
        }
        Ok(true)
    }

    fn step(&mut self, term: usize) -> bool {
        let walk = &mut self.walks[term];
        walk.at += 1;
        match self.positions[self.places.lists[term]].get(walk.at) {
            Some(position) => {
                walk.position = i64::from(*position) - i64::from(self.places.offsets[term]);
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
        let key = |term: usize| (self.walks[term].position, self.places.offsets[term], term);
        (0..self.queue.len()).min_by_key(|at| key(self.queue[*at])).expect("a phrase has several terms")
    }

    fn pop(&mut self) -> usize {
        let least = self.least();
        self.queue.swap_remove(least)
    }

    fn next_match(&mut self, slop: i64) -> Result<Option<i64>> {
        if self.queue.len() < self.walks.len() {
            return Ok(None);
        }
        let mut term = self.pop();
        let mut length = self.end - self.walks[term].position;
        let mut next = self.walks[self.queue[self.least()]].position;
        while self.advance(term) {
            self.steps.take(self.walks.len())?;
            if self.places.groups[term].is_some() && !self.advance_equal(&mut term)? {
                break;
            }
            let position = self.walks[term].position;
            if position > next {
                // This match cannot become shorter.
                self.queue.push(term);
                if length <= slop {
                    return Ok(Some(length));
                }
                term = self.pop();
                next = self.walks[self.queue[self.least()]].position;
                length = self.end - self.walks[term].position;
            } else {
                length = length.min(self.end - position);
            }
        }
        // The term without a further position is not queued again, which ends the iteration.
        Ok((length <= slop).then_some(length))
    }

    /// Moves equal terms that are at the same position apart. `term` is the one that moved, which is not
    /// queued; it is replaced by the one that moved last.
    fn advance_equal(&mut self, term: &mut usize) -> Result<bool> {
        let mut current = *term;
        while let Some(other) = self.collision(current) {
            self.steps.take(self.walks.len())?;
            // The lesser of the two moves on.
            let key = |term: usize| (self.walks[term].position, self.places.offsets[term]);
            current = if key(current) <= key(other) { current } else { other };
            if !self.advance(current) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn collision(&self, term: usize) -> Option<usize> {
        let groups = &self.places.groups;
        let text_position = |term: usize| self.positions[self.places.lists[term]][self.walks[term].at];
        (0..self.walks.len()).find(|other| {
            *other != term && groups[*other] == groups[term] && text_position(*other) == text_position(term)
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
        let numbered = |term: &str| terms.iter().position(|other| *other == term).expect("its first place");
        let lists: Vec<usize> = terms.iter().map(|term| numbered(term)).collect();
        let positions: Vec<Vec<u32>> = terms
            .iter()
            .map(|term| (0..words.len() as u32).filter(|at| words[*at as usize] == *term).collect())
            .collect();
        if positions.iter().any(Vec::is_empty) {
            return 0.0;
        }
        let is_repeated = |list: &usize| lists.iter().filter(|other| *other == list).count() > 1;
        let groups = lists.iter().map(|list| is_repeated(list).then_some(*list as u32)).collect();
        let places = PhrasePlaces { offsets: (0..terms.len() as u32).collect(), groups, lists };
        phrase_freq(&positions, &places, slop).expect("no request to end")
    }

    /// As in Lucene's `UnionPostingsEnum`, whose positions are those of all alternatives.
    #[test]
    fn alternatives_of_the_first_place_count() {
        let places = PhrasePlaces { offsets: vec![0, 1], groups: vec![None, None], lists: vec![0, 1] };
        let freq = |first: &[u32], second: &[u32]| {
            phrase_freq(&[first.to_vec(), second.to_vec()], &places, 0).expect("no request to end")
        };
        assert_eq!(freq(&[0, 0, 0, 3], &[1, 1, 4]), 4.0);
        assert_eq!(freq(&[0, 3], &[1, 1, 1, 1, 4]), 2.0);
        assert_eq!(freq(&[0, 0], &[2]), 0.0);
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
