//! Documents set aside until it is known which terms have buckets: "what is below the few terms that are
//! kept?"
//!
//! Of a field with many terms, most buckets are dropped when the best are chosen. Where the choice does not
//! need what is below them, documents are only counted at first; those of the chosen terms are handed down
//! afterwards. Source: Elasticsearch's collect mode `breadth_first`.

use limber_segment::DocId;

use super::super::super::answer::order::OrderBy;
use super::super::super::answer::partial::{Partial, TermKey};
use super::super::super::buckets::bucket_table::BucketTable;
use super::super::super::buckets::entries::{Emitted, Entries};
use super::super::super::budget::Budget;
use super::super::super::collector::{Collector, Subs};
use super::super::super::source::Source;
use super::super::numbers::REFUSED;
use super::super::request::Terms;
use super::KeywordTerms;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};

/// Documents of one window of a segment.
#[derive(Debug)]
pub struct AsideWindow {
    /// The segment's place in the snapshot.
    pub segment: usize,
    start: DocId,
    docs: AsideDocs,
}

#[derive(Debug)]
enum AsideDocs {
    /// From the first to the last one.
    Run(DocId, DocId),
    Bits(Box<Bits>),
}

/// Bytes of a window whose documents are a bit each.
const WINDOW_BYTES: u64 = (size_of::<Bits>() + size_of::<AsideWindow>()) as u64;

impl AsideWindow {
    /// The documents of a batch, all of one bucket and each once.
    pub fn of(segment: usize, entries: &Entries<'_>, budget: &Budget) -> Result<Option<AsideWindow>> {
        let (Some(&first), Some(&last)) = (entries.docs.first(), entries.docs.last()) else {
            return Ok(None);
        };
        budget.spend(WINDOW_BYTES)?;
        let start = first / WINDOW * WINDOW;
        let docs = match (last - first) as usize == entries.docs.len() - 1 {
            true => AsideDocs::Run(first, last),
            false => AsideDocs::Bits(Box::new(Bits::of(entries.docs, start))),
        };
        Ok(Some(AsideWindow { segment, start, docs }))
    }

    /// The windows of a segment whose documents all count.
    pub fn whole(segment: usize, doc_count: u32) -> impl Iterator<Item = AsideWindow> {
        (0..doc_count).step_by(WINDOW as usize).map(move |start| AsideWindow {
            segment,
            start,
            docs: AsideDocs::Run(start, (start + (WINDOW - 1)).min(doc_count - 1)),
        })
    }

    /// By which windows are sorted.
    pub fn place(&self) -> (usize, DocId) {
        (self.segment, self.start)
    }

    /// Replaces `out` by the documents.
    pub fn docs(&self, out: &mut Vec<DocId>) {
        out.clear();
        match &self.docs {
            AsideDocs::Run(first, last) => out.extend(*first..=*last),
            AsideDocs::Bits(bits) => bits.append_to(self.start, out),
        }
    }
}

/// Fields with so many terms have tables that do not stay in the processor's caches, and so many terms a kept
/// one are worth a second look at the documents.
const ASIDE_TERMS_MIN: u64 = 1 << 11;
const ASIDE_TERMS_PER_KEPT_MIN: u64 = 4;

/// Whether documents, which are all of one bucket, can be set aside until the terms are chosen.
pub(super) fn can_set_aside(
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
    Ok(most >= ASIDE_TERMS_MIN && most / ASIDE_TERMS_PER_KEPT_MIN >= request.shard_size as u64)
}

impl KeywordTerms<'_> {
    /// There are several buckets around: documents that were set aside are handed on at once, and no more are
    /// set aside. `current`: the segment that is not over yet.
    pub(super) fn hand_all_on(&mut self, current: Option<usize>) -> Result<()> {
        self.sets_aside = false;
        let aside = std::mem::take(&mut self.aside);
        self.ordinal_counts = Vec::new();
        self.held = None;
        self.buckets.table = BucketTable::default();
        self.hand_on(&aside, current)
    }

    /// Collects documents that were set aside; `current`: a segment that is not over yet.
    pub(super) fn hand_on(&mut self, aside: &[AsideWindow], current: Option<usize>) -> Result<()> {
        let mut docs = Vec::new();
        // What is below may count segments: it sees all of them.
        let end = current.map_or(self.shard.segments.len(), |current| current + 1);
        for place in 0..end {
            self.begin(place)?;
            for window in aside.iter().filter(|window| window.segment == place) {
                window.docs(&mut docs);
                Collector::collect(self, &Entries::of(&docs))?;
            }
            if Some(place) != current {
                self.buckets.subs.end_segment()?;
            }
        }
        Ok(())
    }

    /// Hands the documents that were set aside to what is below the chosen terms; the bucket of `chosen[b]`
    /// is `b`.
    fn hand_chosen_on(&mut self, chosen: &[TermKey]) -> Result<()> {
        let mut aside = std::mem::take(&mut self.aside);
        aside.sort_unstable_by_key(AsideWindow::place);
        let (mut docs, mut emitted) = (Vec::new(), Emitted::default());
        for place in 0..self.shard.segments.len() {
            self.begin(place)?;
            self.buckets.subs.begin_segment(&self.shard.segments[place])?;
            let segment = aside.iter().filter(|window| window.segment == place);
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
                    Ok(())
                };
                emitted.fill(values.positions, fill, |bucket| bucket == REFUSED)?;
                if !emitted.buckets().is_empty() {
                    self.buckets.subs.collect(&emitted.batch(&Entries::of(&docs), chosen.len()))?;
                }
            }
            self.buckets.subs.end_segment()?;
        }
        Ok(())
    }

    /// By ordinal of the begun segment the place among the chosen terms; [`REFUSED`] of the others.
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

    /// What is below the chosen buckets, of which `keys` are the terms.
    pub(super) fn below_chosen(&mut self, keys: &[TermKey]) -> Result<Vec<Vec<Partial>>> {
        self.hand_chosen_on(keys)?;
        self.buckets.subs.settle()?;
        let buckets: Vec<u32> = (0..keys.len() as u32).collect();
        self.buckets.subs.finish(&buckets)
    }
}
