//! The nodes of bound queries of terms, phrases, spans and intervals.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::{Field, Mapping};

use super::intervals::Source;
use super::spans::SpanTree;
use crate::score::Bm25;
use crate::script::{BoundScript, RuntimeField};

/// Documents with a term, scored by BM25.
#[derive(Debug)]
pub(crate) struct TermNode {
    pub field: Arc<Field>,
    pub term: Box<[u8]>,
    pub scorer: Bm25,
}

/// Terms at successive positions, or nearly so.
#[derive(Debug)]
pub(crate) struct PhraseNode {
    pub field: Arc<Field>,
    /// (position from 0, alternative terms), positions ascending.
    pub slots: Vec<(u32, Vec<Box<[u8]>>)>,
    pub slop: u32,
    pub scorer: Bm25,
    /// For a field without positions: the mapping with which sources are parsed again to confirm matches.
    pub confirms_by: Option<Arc<Mapping>>,
}

impl PhraseNode {
    /// Returns (position, term), if each position has one term, the slop is 0 and positions are indexed.
    pub fn exact_terms(&self) -> Option<Vec<(u32, &[u8])>> {
        if self.slop > 0 || self.confirms_by.is_some() || self.slots.is_empty() {
            return None;
        }
        fn only((place, terms): &(u32, Vec<Box<[u8]>>)) -> Option<(u32, &[u8])> {
            match &terms[..] {
                [only] => Some((*place, &**only)),
                _ => None,
            }
        }
        self.slots.iter().map(only).collect()
    }

    /// Returns the places of the terms, and each distinct list of alternatives: slots with the same
    /// alternatives share their occurrences.
    pub fn places(&self) -> (PhrasePlaces, Vec<&[Box<[u8]>]>) {
        let mut first_slots: HashMap<&[u8], (u32, u32)> = HashMap::new();
        for (slot, (_, terms)) in (0u32..).zip(&self.slots) {
            for term in terms {
                first_slots.entry(term).or_insert((slot, 0)).1 += 1;
            }
        }
        let (mut places, mut distinct) = (PhrasePlaces::default(), Vec::new());
        let mut numbers: HashMap<&[Box<[u8]>], usize> = HashMap::new();
        for (offset, terms) in &self.slots {
            let sharing = || terms.iter().map(|term| first_slots[&**term]);
            let is_shared = sharing().any(|(_, count)| count > 1);
            places.offsets.push(*offset);
            places.groups.push(sharing().map(|(slot, _)| slot).min().filter(|_| is_shared));
            places.lists.push(*numbers.entry(terms).or_insert_with(|| {
                distinct.push(&terms[..]);
                distinct.len() - 1
            }));
        }
        (places, distinct)
    }
}

/// The places of the terms of a phrase. Each list has an item for each slot, in the order of their offsets.
#[derive(Debug, Default)]
pub(crate) struct PhrasePlaces {
    /// The position in the phrase.
    pub offsets: Vec<u32>,
    /// A number that is equal for slots that share a term, and `None` for the others. Slots that share a term
    /// must not use the same occurrence.
    pub groups: Vec<Option<u32>>,
    /// The number of the list of occurrences.
    pub lists: Vec<usize>,
}

/// An `intervals` query on a shard.
#[derive(Debug)]
pub(crate) struct IntervalsNode {
    pub field: Arc<Field>,
    pub source: Source,
    /// Least length of its intervals, in positions.
    pub extent_min: i64,
    pub boost: f32,
}

impl IntervalsNode {
    /// Returns the score for a frequency. Source: Lucene's `IntervalScoreFunction#saturationFunction` with
    /// its pivot at 1.
    pub fn score(&self, freq: f32) -> f32 {
        self.boost * (1.0 - 1.0 / (1.0 + freq))
    }
}

/// Spans on a shard, scored by all their terms.
#[derive(Debug)]
pub(crate) struct SpansNode {
    pub span: SpanTree,
    /// The field whose lengths are used for the score.
    pub field: Option<Arc<Field>>,
    /// `None` if no term is in the shard.
    pub scorer: Option<Bm25>,
    pub boost: f32,
}

/// How many of its queries a document must match, in `terms_set`.
#[derive(Debug)]
pub(crate) enum BoundNeeded {
    Field { field: Arc<Field>, runtime: Option<Arc<RuntimeField>> },
    Script(BoundScript),
    Count(u64),
}
