//! Defers documents until it is known which buckets remain.
//!
//! Some aggregations know their buckets only at the end, because they merge or drop them. They record each
//! (document, bucket) pair, and replay the pairs to the sub-aggregations afterwards, segment by segment, in
//! the order in which they were recorded.

use std::fmt;

use limber_segment::{DocId, SegmentView};

use super::entries::Entries;
use crate::aggregation::budget::Budget;
use crate::aggregation::collector::Subs;
use crate::error::Result;

/// Number of documents in a batch.
const BATCH: usize = 4096;

/// Bytes of one pair with its score.
const PAIR_BYTES: u64 = 8;

struct Noted<'s> {
    view: &'s SegmentView,
    docs: Vec<DocId>,
    buckets: Vec<u32>,
    scores: Vec<f32>,
}

impl fmt::Debug for Noted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} noted documents", self.docs.len())
    }
}

/// The recorded pairs of one shard.
#[derive(Debug, Default)]
pub struct Deferred<'s> {
    segments: Vec<Noted<'s>>,
}

impl<'s> Deferred<'s> {
    /// Starts a segment, which the next batches belong to.
    pub fn begin_segment(&mut self, view: &'s SegmentView) {
        self.segments.push(Noted { view, docs: Vec::new(), buckets: Vec::new(), scores: Vec::new() });
    }

    /// Returns the segment that was started last.
    pub fn segment(&self) -> Option<&'s SegmentView> {
        self.segments.last().map(|noted| noted.view)
    }

    /// Records all entries of a batch.
    pub fn note(&mut self, entries: &Entries<'_>, budget: &Budget) -> Result<()> {
        let Some(noted) = self.segments.last_mut() else { return Ok(()) };
        let has_scores = !entries.scores.is_empty();
        budget.spend(entries.len() as u64 * (PAIR_BYTES + 4 * u64::from(has_scores)))?;
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            noted.docs.push(entries.docs[position]);
            noted.buckets.push(entries.bucket(entry));
            if has_scores {
                noted.scores.push(entries.score(position));
            }
        }
        Ok(())
    }

    /// Records one pair; documents must ascend.
    pub fn push(&mut self, doc: DocId, bucket: u32, score: Option<f32>) {
        if let Some(noted) = self.segments.last_mut() {
            noted.docs.push(doc);
            noted.buckets.push(bucket);
            noted.scores.extend(score);
        }
    }

    /// Replays the pairs to `subs`. `bucket` maps a recorded bucket to its final one; pairs without one are
    /// dropped. Must be called only once.
    pub fn replay(
        &mut self,
        subs: &mut Subs<'s>,
        bucket_count: usize,
        budget: &Budget,
        bucket: impl Fn(u32) -> Option<u32>,
    ) -> Result<()> {
        let (mut docs, mut positions) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let (mut buckets, mut scores) = (Vec::with_capacity(BATCH), Vec::new());
        for noted in std::mem::take(&mut self.segments) {
            subs.begin_segment(noted.view)?;
            let mut at = 0;
            while at < noted.docs.len() {
                budget.check()?;
                docs.clear();
                positions.clear();
                buckets.clear();
                scores.clear();
                let window = noted.docs[at] as usize / BATCH;
                while at < noted.docs.len() && noted.docs[at] as usize / BATCH == window {
                    if let Some(bucket) = bucket(noted.buckets[at]) {
                        let doc = noted.docs[at];
                        if docs.last() != Some(&doc) {
                            docs.push(doc);
                            scores.extend(noted.scores.get(at));
                        }
                        positions.push(docs.len() as u32 - 1);
                        buckets.push(bucket);
                    }
                    at += 1;
                }
                if docs.is_empty() {
                    continue;
                }
                let is_plain = positions.len() == docs.len();
                subs.collect(&Entries {
                    docs: &docs,
                    positions: (!is_plain).then_some(&positions),
                    buckets: Some(&buckets),
                    bucket: 0,
                    bucket_count,
                    scores: &scores,
                })?;
            }
            subs.end_segment()?;
        }
        Ok(())
    }
}
