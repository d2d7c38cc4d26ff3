//! The best documents of every bucket by score. They are kept until all documents were seen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use limber_segment::{DocId, SegmentView};

use super::super::buckets::deferred::Deferred;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Subs;
use crate::error::Result;

/// A document's rank: the bits of the score, whose order is that of scores since these are never negative; on
/// a tie the earlier segment and document come first.
pub type Ranked = (u32, Reverse<u32>, Reverse<DocId>);

pub(crate) fn ranked(score: f32, segment: u32, doc: DocId) -> Ranked {
    (score.max(0.0).to_bits(), Reverse(segment), Reverse(doc))
}

/// The segments that were begun so far, in order.
#[derive(Default)]
pub struct Segments<'s>(pub Vec<&'s SegmentView>);

impl Segments<'_> {
    /// Returns the index of the current segment.
    pub fn last(&self) -> u32 {
        self.0.len() as u32 - 1
    }
}

impl fmt::Debug for Segments<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} segments", self.0.len())
    }
}

/// Adds a document to a bucket's heap, which keeps a limited number; the worst is on top.
pub fn keep(
    heap: &mut BinaryHeap<Reverse<Ranked>>,
    most: usize,
    found: Ranked,
    budget: &Budget,
) -> Result<()> {
    if heap.len() < most {
        budget.spend(size_of::<Ranked>() as u64)?;
        heap.push(Reverse(found));
    } else if let Some(mut worst) = heap.peek_mut()
        && worst.0 < found
    {
        *worst = Reverse(found);
    }
    Ok(())
}

/// Passes the chosen documents of all buckets to `subs`, segment by segment.
pub fn replay<'s>(
    chosen: Vec<(u32, Ranked)>,
    segments: &Segments<'s>,
    bucket_count: usize,
    subs: &mut Subs<'s>,
    budget: &Budget,
) -> Result<()> {
    let mut order: Vec<(u32, DocId, u32, u32)> = chosen
        .into_iter()
        .map(|(bucket, (score, Reverse(segment), Reverse(doc)))| (segment, doc, bucket, score))
        .collect();
    order.sort_unstable();
    let mut from = order.into_iter().peekable();
    let mut deferred = Deferred::default();
    for (number, view) in segments.0.iter().enumerate() {
        deferred.begin_segment(view);
        while let Some((_, doc, bucket, score)) = from.next_if(|entry| entry.0 == number as u32) {
            deferred.push(doc, bucket, Some(f32::from_bits(score)));
        }
    }
    deferred.replay(subs, bucket_count, budget, Some)
}

/// Iterates over the entries of a batch: the index of the document, its bucket, and its rank.
pub fn each<'e>(entries: &'e Entries<'_>, segment: u32) -> impl Iterator<Item = (usize, u32, Ranked)> + 'e {
    (0..entries.len()).map(move |entry| {
        let position = entries.position(entry);
        (position, entries.bucket(entry), ranked(entries.score(position), segment, entries.docs[position]))
    })
}
