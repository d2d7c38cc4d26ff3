//! Defers documents until it is known which terms have buckets.
//!
//! Most terms of a field with many terms are dropped when the best are selected. If the selection does not
//! depend on sub-aggregations, documents are only counted at first, and the sub-aggregations collect those of
//! the selected terms afterwards. Source: Elasticsearch's collect mode `breadth_first`.

use limber_segment::DocId;

use super::super::super::answer::order::OrderBy;
use super::super::super::answer::partial::{Partial, TermKey};
use super::super::super::buckets::bucket_table::BucketTable;
use super::super::super::buckets::entries::{Emitted, Entries};
use super::super::super::budget::Budget;
use super::super::super::collector::{Collector, Subs};
use super::super::super::source::Source;
use super::super::request::Terms;
use super::super::term_numbers::REFUSED;
use super::KeywordTerms;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};

/// The deferred documents of one window of a segment.
#[derive(Debug)]
pub struct BreadthFirstWindow {
    /// The index of the segment in the snapshot.
    pub segment: usize,
    start: DocId,
    docs: WindowDocs,
}

#[derive(Debug)]
enum WindowDocs {
    /// All documents from the first to the last one (included).
    Run(DocId, DocId),
    Bits(Box<Bits>),
}

/// Bytes of a window whose documents are a bit set.
const WINDOW_BYTES: u64 = (size_of::<Bits>() + size_of::<BreadthFirstWindow>()) as u64;

impl BreadthFirstWindow {
    /// Makes a window of the documents of a batch, which must be in one bucket and without duplicates.
    pub fn of(segment: usize, entries: &Entries<'_>, budget: &Budget) -> Result<Option<BreadthFirstWindow>> {
        let (Some(&first), Some(&last)) = (entries.docs.first(), entries.docs.last()) else {
            return Ok(None);
        };
        budget.spend(WINDOW_BYTES)?;
        let start = first / WINDOW * WINDOW;
        let docs = match (last - first) as usize == entries.docs.len() - 1 {
            true => WindowDocs::Run(first, last),
            false => WindowDocs::Bits(Box::new(Bits::of(entries.docs, start))),
        };
        Ok(Some(BreadthFirstWindow { segment, start, docs }))
    }

    /// Returns the deferred documents of a segment in which every document counts.
    pub fn whole(segment: usize, doc_count: u32) -> impl Iterator<Item = BreadthFirstWindow> {
        (0..doc_count).step_by(WINDOW as usize).map(move |start| BreadthFirstWindow {
            segment,
            start,
            docs: WindowDocs::Run(start, (start + (WINDOW - 1)).min(doc_count - 1)),
        })
    }

    /// Returns the key by which deferred documents are sorted.
    pub fn place(&self) -> (usize, DocId) {
        (self.segment, self.start)
    }

    /// Replaces the contents of `out` by the documents.
    pub fn docs(&self, out: &mut Vec<DocId>) {
        out.clear();
        match &self.docs {
            WindowDocs::Run(first, last) => out.extend(*first..=*last),
            WindowDocs::Bits(bits) => bits.append_to(self.start, out),
        }
    }
}

/// With this many terms, the tables of a field do not fit in the processor's caches, and with this many terms
/// for each selected one, reading the documents twice is worthwhile.
const DEFERRED_TERMS_MIN: u64 = 1 << 11;
const DEFERRED_TERMS_PER_KEPT_MIN: u64 = 4;

/// Whether documents, which are all in one bucket, can be deferred until the terms are selected.
pub(super) fn can_defer(
    request: &Terms,
    source: &Source,
    subs: &Subs<'_>,
    shard: &ShardSnapshot,
) -> Result<bool> {
    let needs_subs = request.order.keys.iter().any(|key| matches!(key.by, OrderBy::Path(_)));
    if subs.is_empty() || needs_subs || request.min_doc_count == 0 || !source.is_column() {
        return Ok(false);
    }
    let mut most = 0;
    for view in &shard.segments {
        most = most.max(view.segment.terms(source.path())?.map_or(0, |terms| terms.len()));
    }
    Ok(most >= DEFERRED_TERMS_MIN && most / DEFERRED_TERMS_PER_KEPT_MIN >= request.shard_size as u64)
}

impl KeywordTerms<'_> {
    /// Collects the deferred documents now and stops deferring, because there are several parent buckets.
    /// `current`: the segment that is not finished yet.
    pub(super) fn collect_all_deferred(&mut self, current: Option<usize>) -> Result<()> {
        self.is_breadth_first = false;
        let windows = std::mem::take(&mut self.windows);
        self.ordinal_counts = Vec::new();
        self.counted_only = None;
        self.buckets.table = BucketTable::default();
        self.collect_deferred(&windows, current)
    }

    /// Collects deferred documents. `current`: a segment that is not finished yet.
    pub(super) fn collect_deferred(
        &mut self,
        windows: &[BreadthFirstWindow],
        current: Option<usize>,
    ) -> Result<()> {
        let mut docs = Vec::new();
        // The sub-aggregations may depend on the number of segments, so they get all of them.
        let end = current.map_or(self.shard.segments.len(), |current| current + 1);
        for place in 0..end {
            self.begin(place)?;
            for window in windows.iter().filter(|window| window.segment == place) {
                window.docs(&mut docs);
                Collector::collect(self, &Entries::of(&docs))?;
            }
            if Some(place) != current {
                self.buckets.end_segment()?;
            }
        }
        Ok(())
    }

    /// Passes the deferred documents of the selected terms to the sub-aggregations; the bucket of `chosen[b]`
    /// is `b`.
    fn collect_chosen(&mut self, chosen: &[TermKey]) -> Result<()> {
        let mut windows = std::mem::take(&mut self.windows);
        windows.sort_unstable_by_key(BreadthFirstWindow::place);
        let (mut docs, mut emitted) = (Vec::new(), Emitted::default());
        for place in 0..self.shard.segments.len() {
            self.begin(place)?;
            self.buckets.subs.begin_segment(&self.shard.segments[place])?;
            let segment = windows.iter().filter(|window| window.segment == place);
            let mut segment = segment.peekable();
            let bucket_of = match segment.peek() {
                Some(_) => self.chosen_ordinals(chosen)?,
                None => Vec::new(),
            };
            for window in segment {
                self.budget.check()?;
                window.docs(&mut docs);
                let values = self.reader.load(&docs)?;
                let fill = |out: &mut Vec<u32>| {
                    out.extend(values.values.iter().map(|&ordinal| bucket_of[ordinal as usize]));
                    Ok(out.iter().fold(false, |any, bucket| any | (*bucket == REFUSED)))
                };
                emitted.fill(values.positions, fill, REFUSED)?;
                if !emitted.buckets().is_empty() {
                    self.buckets.subs.collect(&emitted.batch(&Entries::of(&docs), chosen.len())?)?;
                }
            }
            self.buckets.subs.end_segment()?;
        }
        Ok(())
    }

    /// Returns, for each ordinal of the current segment, its index among the selected terms, or [`REFUSED`].
    fn chosen_ordinals(&self, chosen: &[TermKey]) -> Result<Vec<u32>> {
        self.budget.spend(self.ordinal_count as u64 * 4)?;
        let mut bucket_of = vec![REFUSED; self.ordinal_count];
        let terms = match self.segment {
            Some(segment) => segment.terms(self.source.path())?,
            None => None,
        };
        let missing = self.reader.missing_ordinal().zip(self.source.missing_term()?);
        for (bucket, key) in (0u32..).zip(chosen) {
            let TermKey::Term(term) = key else { continue };
            if let Some(terms) = &terms
                && let Ok(ordinal) = terms.ordinal(term)?
            {
                bucket_of[ordinal as usize] = bucket;
            }
            if let Some((ordinal, missing)) = &missing
                && missing.as_slice() == &**term
            {
                bucket_of[*ordinal as usize] = bucket;
            }
        }
        Ok(bucket_of)
    }

    /// Returns the sub-aggregations' results of the selected buckets, whose terms are `keys`.
    pub(super) fn below_chosen(&mut self, keys: &[TermKey]) -> Result<Vec<Vec<Partial>>> {
        self.collect_chosen(keys)?;
        self.buckets.subs.settle()?;
        let buckets: Vec<u32> = (0..keys.len() as u32).collect();
        self.buckets.subs.finish(&buckets)
    }
}
