//! The `k` highest scores; equal scores are in document order.

use limber_segment::DocId;

use super::{Hit, MinCompetitive};
use crate::matcher::Keeper;

/// A hit as one number, greater for better hits: the bits of its score above the complement of the
/// document's number in the shard. Scores are never negative, so their bits sort like the scores.
type Entry = u128;

fn entry(score: f32, shard_doc: u64) -> Entry {
    u128::from(score.max(0.0).to_bits()) << 64 | u128::from(!shard_doc)
}

fn score_of(entry: Entry) -> f32 {
    f32::from_bits((entry >> 64) as u32)
}

/// [`TopScores`] while documents of one segment are collected.
pub(crate) struct SegmentScores<'t> {
    top: &'t mut TopScores,
    base: u64,
    /// Number of documents collected so far.
    pub offered: u64,
}

impl Keeper for SegmentScores<'_> {
    fn threshold(&self) -> Option<f32> {
        self.top.threshold()
    }

    fn offer(&mut self, docs: &[DocId], scores: &[f32]) {
        self.offered += docs.len() as u64;
        self.top.collect(self.base, docs, scores);
    }
}

/// If at most this many hits are wanted, the entries are cut after each batch of documents, so that the
/// threshold rises at once. If more are wanted, they are cut when there are twice as many.
const CUT_AT_ONCE: usize = 64;

/// Scores that are compared with the threshold at once.
const TESTED_TOGETHER: usize = 32;

pub(crate) struct TopScores {
    count_max: usize,
    /// Only scores above this one are wanted.
    floor: Option<f32>,
    /// The worst wanted score once there are enough hits; before, the floor.
    threshold: Option<f32>,
    /// The best hits so far, among others, in no order.
    entries: Vec<Entry>,
}

impl TopScores {
    /// Bytes that a hit takes while it is collected and returned; the caller charges them.
    pub const HIT_BYTES: u64 = 128;

    pub(crate) fn new(count_max: usize, min_competitive: Option<&MinCompetitive>) -> TopScores {
        let floor = min_competitive.map(MinCompetitive::threshold);
        let threshold = if count_max == 0 { Some(f32::INFINITY) } else { floor };
        TopScores { count_max, floor, threshold, entries: Vec::new() }
    }

    /// Returns the score that a later document must exceed.
    pub fn threshold(&self) -> Option<f32> {
        self.threshold
    }

    /// Adds documents. They ascend within a segment, and segments ascend within the shard.
    pub fn collect(&mut self, base: u64, docs: &[DocId], scores: &[f32]) {
        let (room, before) = (2 * self.count_max.max(CUT_AT_ONCE), self.entries.len());
        for (docs, scores) in docs.chunks(TESTED_TOGETHER).zip(scores.chunks(TESTED_TOGETHER)) {
            // Without a branch for each: usually no document of a chunk is wanted.
            if let Some(threshold) = self.threshold
                && scores.iter().fold(true, |are_low, score| are_low & (*score <= threshold))
            {
                continue;
            }
            for (doc, score) in docs.iter().zip(scores) {
                if self.threshold.is_some_and(|threshold| *score <= threshold) {
                    continue;
                }
                self.entries.push(entry(*score, base + u64::from(*doc)));
                if self.entries.len() == room {
                    self.cut();
                }
            }
        }
        let len = self.entries.len();
        if len >= self.count_max
            && len != before
            && (self.count_max <= CUT_AT_ONCE || before < self.count_max)
        {
            self.cut();
        }
    }

    /// If there are more hits than wanted, drops the worst and updates the threshold.
    fn cut(&mut self) {
        let Some(last) = self.count_max.checked_sub(1).filter(|last| *last < self.entries.len()) else {
            return;
        };
        let (_, worst, _) = self.entries.select_nth_unstable_by(last, |left, right| right.cmp(left));
        let worst = score_of(*worst);
        self.threshold = Some(self.floor.map_or(worst, |floor| floor.max(worst)));
        self.entries.truncate(self.count_max);
    }

    /// Starts collecting the documents of a segment; `base` is the number of its first document in the
    /// shard.
    pub fn keeper(&mut self, base: u64) -> SegmentScores<'_> {
        SegmentScores { top: self, base, offered: 0 }
    }

    /// Returns the hits, best first; `bases[segment]` is the number of the segment's first document.
    pub fn finish(mut self, bases: &[u64]) -> Vec<Hit> {
        self.cut();
        let mut entries = self.entries;
        entries.sort_unstable_by(|left, right| right.cmp(left));
        let hit = |entry: Entry| {
            let shard_doc = !(entry as u64);
            // The last segment that begins at or before the document; an empty segment begins where the
            // next one does.
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
