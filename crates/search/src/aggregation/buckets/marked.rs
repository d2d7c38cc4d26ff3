//! Collects the documents of a window that are marked in a bit set, filter by filter.
//!
//! A document that matches several filters is in several buckets. If the sub-aggregations accept the
//! documents of a window repeatedly ([`Subs::takes_windows_again`]), the documents of each filter are a batch
//! of their own: ascending, without duplicates, and all in one bucket if the parent has only one.
//! Sub-aggregations collect such batches fastest.

use limber_segment::DocId;

use super::entries::Entries;
use crate::aggregation::collector::Subs;
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};

/// Makes batches of marked documents, in reused buffers.
#[derive(Debug, Default)]
pub struct MarkedDocs {
    docs: Vec<DocId>,
    buckets: Vec<u32>,
    scores: Vec<f32>,
}

/// Which of a parent's buckets the marked documents belong to.
#[derive(Debug, Clone, Copy)]
pub struct MarkedPlace {
    pub place: usize,
    /// Number of buckets of a parent.
    pub width: usize,
}

/// Returns the start of the window that contains a batch, and its documents as a bit set.
pub fn window_bits(docs: &[DocId]) -> Option<(DocId, Bits)> {
    let start = docs.first()? / WINDOW * WINDOW;
    Some((start, Bits::of(docs, start)))
}

impl MarkedDocs {
    /// Counts the entries whose documents are set in `bits`, for the window at `start`, and passes them on to
    /// `subs`. Each document must occur only once in the entries.
    pub fn collect(
        &mut self,
        (start, bits): (DocId, &Bits),
        MarkedPlace { place, width }: MarkedPlace,
        entries: &Entries<'_>,
        counts: &mut [u64],
        subs: &mut Subs<'_>,
    ) -> Result<()> {
        // There may be half a million filters and pairs of them for each window.
        subs.check()?;
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

    /// Collects the marked documents and their buckets without a branch for each document.
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
