//! The `k` highest scores; equal scores in document order.

use limber_segment::DocId;

use super::{Bar, Hit};
use crate::matcher::Keeper;

/// A hit as one number, the better one greater: the bits of its score above the complement of the document's
/// number within the shard. Scores are never negative, so that their bits sort like them.
type Entry = u128;

fn entry(score: f32, shard_doc: u64) -> Entry {
    u128::from(score.max(0.0).to_bits()) << 64 | u128::from(!shard_doc)
}

fn score_of(entry: Entry) -> f32 {
    f32::from_bits((entry >> 64) as u32)
}

/// [`TopScores`] while documents of one segment are found.
pub(crate) struct SegmentScores<'t> {
    top: &'t mut TopScores,
    base: u64,
    /// Documents so far.
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

/// As many hits as this, or fewer, are cut to what is wanted after each batch of documents, so that the
/// threshold rises at once. More of them are cut when twice as many have come in.
const CUT_AT_ONCE: usize = 64;

pub(crate) struct TopScores {
    count_max: usize,
    /// Only scores above this are wanted.
    floor: Option<f32>,
    /// The worst wanted score, once there are enough, or the floor.
    threshold: Option<f32>,
    /// The best so far, among others, in no order.
    entries: Vec<Entry>,
}

impl TopScores {
    /// Bytes a hit takes while it is collected and returned; charged by the caller.
    pub const HIT_BYTES: u64 = 128;

    pub(crate) fn new(count_max: usize, bar: Option<&Bar>) -> TopScores {
        let floor = bar.map(Bar::threshold);
        let threshold = if count_max == 0 { Some(f32::INFINITY) } else { floor };
        TopScores { count_max, floor, threshold, entries: Vec::new() }
    }

    /// A later document must score more than this to matter.
    pub fn threshold(&self) -> Option<f32> {
        self.threshold
    }

    /// Documents ascend within a segment, segments within the shard.
    pub fn collect(&mut self, base: u64, docs: &[DocId], scores: &[f32]) {
        let (room, before) = (2 * self.count_max.max(CUT_AT_ONCE), self.entries.len());
        for (doc, score) in docs.iter().zip(scores) {
            if self.threshold.is_some_and(|threshold| *score <= threshold) {
                continue;
            }
            self.entries.push(entry(*score, base + u64::from(*doc)));
            if self.entries.len() == room {
                self.cut();
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

    /// Drops what is not among the best, and finds the threshold, where there are enough.
    fn cut(&mut self) {
        let Some(last) = self.count_max.checked_sub(1).filter(|last| *last < self.entries.len()) else {
            return;
        };
        let (_, worst, _) = self.entries.select_nth_unstable_by(last, |left, right| right.cmp(left));
        let worst = score_of(*worst);
        self.threshold = Some(self.floor.map_or(worst, |floor| floor.max(worst)));
        self.entries.truncate(self.count_max);
    }

    /// Takes the documents of a segment, `base` being the number of its first one in the shard.
    pub fn keeper(&mut self, base: u64) -> SegmentScores<'_> {
        SegmentScores { top: self, base, offered: 0 }
    }

    /// The hits, best first; `bases[segment]` is the number of the segment's first document.
    pub fn finish(mut self, bases: &[u64]) -> Vec<Hit> {
        self.cut();
        let mut entries = self.entries;
        entries.sort_unstable_by(|left, right| right.cmp(left));
        let hit = |entry: Entry| {
            let shard_doc = !(entry as u64);
            // The last segment that begins at the document or before it; empty ones begin where the next one
            // does.
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
