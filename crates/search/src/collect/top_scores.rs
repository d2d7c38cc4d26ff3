//! The `k` highest scores; equal scores in document order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use limber_segment::DocId;

use super::{Bar, Hit};

/// A hit as one number, the better one greater: the bits of its score above the complement of the document's number within the shard.
/// Scores are never negative, so that their bits sort like them.
type Entry = u128;

fn entry(score: f32, shard_doc: u64) -> Entry {
    u128::from(score.max(0.0).to_bits()) << 64 | u128::from(!shard_doc)
}

fn score_of(entry: Entry) -> f32 {
    f32::from_bits((entry >> 64) as u32)
}

pub(crate) struct TopScores {
    count_max: usize,
    /// Only scores above this are wanted.
    floor: Option<f32>,
    /// The worst on top.
    heap: BinaryHeap<Reverse<Entry>>,
}

impl TopScores {
    /// Bytes a hit takes while it is collected and returned; charged by the caller.
    pub const HIT_BYTES: u64 = 128;

    pub(crate) fn new(count_max: usize, bar: Option<&Bar>) -> TopScores {
        let floor = bar.map(Bar::threshold);
        TopScores { count_max, floor, heap: BinaryHeap::with_capacity(count_max.min(10_000) + 1) }
    }

    /// A later document must score more than this to matter.
    pub fn threshold(&self) -> Option<f32> {
        if self.count_max == 0 {
            return Some(f32::INFINITY);
        }
        let worst = match self.heap.len() < self.count_max {
            true => None,
            false => self.heap.peek().map(|Reverse(worst)| score_of(*worst)),
        };
        match (worst, self.floor) {
            (Some(worst), Some(floor)) => Some(worst.max(floor)),
            (worst, floor) => worst.or(floor),
        }
    }

    /// Documents ascend within a segment, segments within the shard.
    pub fn collect(&mut self, base: u64, docs: &[DocId], scores: &[f32]) {
        let mut threshold = self.threshold();
        for (doc, score) in docs.iter().zip(scores) {
            if threshold.is_some_and(|threshold| *score <= threshold) {
                continue;
            }
            let entry = entry(*score, base + u64::from(*doc));
            if self.heap.len() < self.count_max {
                self.heap.push(Reverse(entry));
            } else if let Some(mut worst) = self.heap.peek_mut()
                && entry > worst.0
            {
                worst.0 = entry;
            }
            threshold = self.threshold();
        }
    }

    /// The hits, best first; `bases[segment]` is the number of the segment's first document.
    pub fn finish(self, bases: &[u64]) -> Vec<Hit> {
        let mut entries = self.heap.into_vec();
        // Greater numbers are better, and `Reverse` sorts them first.
        entries.sort_unstable();
        let hit = |Reverse(entry): Reverse<Entry>| {
            let shard_doc = !(entry as u64);
            // The last segment that begins at the document or before it; empty ones begin where the next one does.
            let segment = bases.partition_point(|base| *base <= shard_doc) - 1;
            Hit {
                segment: segment as u32,
                doc: (shard_doc - bases[segment]) as DocId,
                shard_doc,
                score: score_of(entry),
                keys: Box::default(),
                group: None,
            }
        };
        entries.into_iter().map(hit).collect()
    }
}
