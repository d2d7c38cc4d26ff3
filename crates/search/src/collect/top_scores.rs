//! The `k` highest scores; equal scores in document order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use limber_segment::DocId;

use super::{Bar, Hit};

/// Lowest first: (score, document numbers descending, segment).
type Entry = Reverse<(u32, Reverse<u64>, u32)>;

pub(crate) struct TopScores {
    count_max: usize,
    /// Only scores above this are wanted.
    floor: Option<f32>,
    heap: BinaryHeap<Entry>,
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
            false => self.heap.peek().map(|Reverse((bits, ..))| f32::from_bits(*bits)),
        };
        match (worst, self.floor) {
            (Some(worst), Some(floor)) => Some(worst.max(floor)),
            (worst, floor) => worst.or(floor),
        }
    }

    /// Documents ascend within a segment, segments within the shard.
    pub fn collect(&mut self, segment: u32, base: u64, docs: &[DocId], scores: &[f32]) {
        let mut threshold = self.threshold();
        for (doc, score) in docs.iter().zip(scores) {
            if threshold.is_some_and(|threshold| *score <= threshold) {
                continue;
            }
            // Scores are never negative, so their bits sort like them.
            self.heap.push(Reverse((score.max(0.0).to_bits(), Reverse(base + u64::from(*doc)), segment)));
            if self.heap.len() > self.count_max {
                self.heap.pop();
            }
            threshold = self.threshold();
        }
    }

    /// The hits, best first; `bases[segment]` is the number of the segment's first document.
    pub fn finish(self, bases: &[u64]) -> Vec<Hit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse((bits, Reverse(shard_doc), segment))| Hit {
                segment,
                doc: (shard_doc - bases[segment as usize]) as DocId,
                shard_doc,
                score: f32::from_bits(bits),
                keys: Box::default(),
                group: None,
            })
            .collect()
    }
}
