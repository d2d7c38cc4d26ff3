//! Documents put aside: "which documents belong to the buckets that are left once all were seen?"
//!
//! Some aggregations know their buckets only at the end (they merge or drop them). They note each (document,
//! bucket) pair and hand the pairs to the aggregations below afterwards, segment by segment, in the order in
//! which they came.

use std::fmt;

use limber_segment::{DocId, SegmentView};

use super::entries::Entries;
use crate::aggregation::budget::Budget;
use crate::aggregation::collector::Subs;
use crate::error::Result;

/// Documents of a batch.
const BATCH: usize = 4096;

/// One pair with its score, in bytes.
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

/// The pairs of one shard.
#[derive(Debug, Default)]
pub struct Deferred<'s> {
    segments: Vec<Noted<'s>>,
}

impl<'s> Deferred<'s> {
    /// The next batches are of this segment.
    pub fn begin_segment(&mut self, view: &'s SegmentView) {
        self.segments.push(Noted { view, docs: Vec::new(), buckets: Vec::new(), scores: Vec::new() });
    }

    /// Notes a batch: all pairs of its entries.
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

    /// Notes one pair; documents ascend.
    pub fn push(&mut self, doc: DocId, bucket: u32, score: Option<f32>) {
        if let Some(noted) = self.segments.last_mut() {
            noted.docs.push(doc);
            noted.buckets.push(bucket);
            noted.scores.extend(score);
        }
    }

    /// Hands every pair to `subs` with the bucket that `bucket` gives for the noted one; pairs without are
    /// dropped. Called once.
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
