//! Documents of a window that bits say are in a bucket: handed to the aggregations below, filter by filter.
//!
//! A document that several filters match is in several buckets. Where the aggregations below take the
//! documents of a window again and again ([`Subs::takes_windows_again`]), each filter's documents are a batch
//! of their own: ascending, each once, and all in one bucket where that is so of the parent. That is what
//! they are fast at.

use limber_segment::DocId;

use super::entries::Entries;
use crate::aggregation::collector::Subs;
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};

/// Batches of marked documents; the buffers are used again.
#[derive(Debug, Default)]
pub struct MarkedDocs {
    docs: Vec<DocId>,
    buckets: Vec<u32>,
    scores: Vec<f32>,
}

/// Which of a parent's buckets the marked documents are in.
#[derive(Debug, Clone, Copy)]
pub struct MarkedPlace {
    pub place: usize,
    /// Buckets of a parent.
    pub width: usize,
}

/// The window of a batch, and its documents as bits.
pub fn window_bits(docs: &[DocId]) -> Option<(DocId, Bits)> {
    let start = docs.first()? / WINDOW * WINDOW;
    Some((start, Bits::of(docs, start)))
}

impl MarkedDocs {
    /// Counts the entries whose documents are set in `bits`, the window at `start`, and hands them to `subs`.
    /// No document is in the entries twice.
    pub fn collect(
        &mut self,
        (start, bits): (DocId, &Bits),
        MarkedPlace { place, width }: MarkedPlace,
        entries: &Entries<'_>,
        counts: &mut [u64],
        subs: &mut Subs<'_>,
    ) -> Result<()> {
        let bucket_count = entries.bucket_count * width;
        let Some(parents) = entries.buckets else {
            let bucket = entries.bucket * width as u32 + place as u32;
            let count = bits.count() as usize;
            counts[bucket as usize] += count as u64;
            if subs.is_empty() || count == 0 {
                return Ok(());
            }
            if count == entries.docs.len() {
                return subs.collect(&Entries { bucket, bucket_count, ..*entries });
            }
            self.docs.clear();
            bits.append_to(start, &mut self.docs);
            self.keep_scores(start, bits, entries);
            let marked = Entries { docs: &self.docs, scores: &self.scores, bucket, bucket_count, ..*entries };
            return subs.collect(&marked);
        };
        self.keep_docs(start, bits, entries.docs, parents, MarkedPlace { place, width });
        self.buckets.iter().for_each(|&bucket| counts[bucket as usize] += 1);
        if subs.is_empty() || self.docs.is_empty() {
            return Ok(());
        }
        self.keep_scores(start, bits, entries);
        subs.collect(&Entries {
            docs: &self.docs,
            buckets: Some(&self.buckets),
            scores: &self.scores,
            bucket_count,
            ..*entries
        })
    }

    /// The marked documents with their buckets, without a branch a document.
    fn keep_docs(
        &mut self,
        start: DocId,
        bits: &Bits,
        docs: &[DocId],
        parents: &[u32],
        MarkedPlace { place, width }: MarkedPlace,
    ) {
        self.docs.resize(docs.len(), 0);
        self.buckets.resize(docs.len(), 0);
        let mut kept = 0;
        for (&doc, &parent) in docs.iter().zip(parents) {
            self.docs[kept] = doc;
            self.buckets[kept] = parent * width as u32 + place as u32;
            kept += usize::from(bits.contains(doc - start));
        }
        self.docs.truncate(kept);
        self.buckets.truncate(kept);
    }

    fn keep_scores(&mut self, start: DocId, bits: &Bits, entries: &Entries<'_>) {
        self.scores.clear();
        let scored = entries.docs.iter().zip(entries.scores);
        self.scores.extend(scored.filter(|(doc, _)| bits.contains(**doc - start)).map(|(_, score)| *score));
    }
}
