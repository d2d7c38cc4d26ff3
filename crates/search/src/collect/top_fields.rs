//! The first `k` hits by sort keys.
//!
//! Within a segment every key is one `i64` that sorts ascending (for terms the ordinal), so that comparing
//! needs no look-up. The few hits that survive a segment get keys that compare across segments and shards.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use limber_mapping::Field;
use limber_segment::{DocId, Segment, SegmentView, SortField};
use limber_store::Ledger;

use super::best::keep_best;
use super::computed_top::ComputedTop;
use super::index_order::follows_index_sort;
use super::key::ordered;
use super::reader::KeyReader;
use super::sort::{BoundSort, KeyKind};
use super::{Contenders, Hit, MinCompetitive};
use crate::error::Result;
use crate::matcher::{Bits, SegmentBits, WINDOW};
use crate::values::sort_key::SortKey;

/// Contenders are few if they are at most one in this many documents: setting their bits then costs less
/// than visiting all documents.
const FEW_OF: u64 = 8;

/// Segments with fewer windows are visited in order.
const WINDOWS_WORTH_SORTING: u32 = 4;

/// The best hits of a shard so far.
pub(crate) struct TopFields {
    pub sorts: Vec<BoundSort>,
    count_max: usize,
    hits: Vec<Hit>,
    /// Only hits after these keys are wanted.
    after: Option<(Box<[SortKey]>, Tie)>,
    /// The worst wanted hit of the shards searched before.
    min_competitive: Option<MinCompetitive>,
    /// Whether hits of a segment come in the order of the sorts.
    in_order: bool,
}

impl TopFields {
    pub(crate) fn new(
        sorts: Vec<BoundSort>,
        count_max: usize,
        after: Option<(Box<[SortKey]>, Tie)>,
        min_competitive: Option<MinCompetitive>,
        index_sort: &[SortField],
    ) -> TopFields {
        let min_competitive = min_competitive.filter(|min_competitive| min_competitive.fits(&sorts));
        let in_order = follows_index_sort(&sorts, index_sort);
        TopFields { sorts, count_max, hits: Vec::new(), after, min_competitive, in_order }
    }

    /// Returns the bytes that [`TopFields::segment`] keeps besides its readers.
    pub fn filter_bytes(&self, segment: &Segment) -> u64 {
        let nested = self.sorts.iter().filter_map(|sort| sort.nested.as_ref());
        nested.map(|nested| nested.filter_bytes(segment)).sum()
    }

    /// Starts a segment; pass the result to [`TopFields::absorb`] in the end.
    pub fn segment<'a>(&self, segment: &'a Segment, number: u32, base: u64) -> Result<SegmentTop<'a>> {
        let made = self.sorts.iter().any(BoundSort::computes_terms).then(|| ComputedTop {
            sorts: self.sorts.clone(),
            hits: Vec::new(),
            cutoff: match self.hits.last() {
                Some(worst) if self.hits.len() >= self.count_max => {
                    Some((worst.keys.clone(), number < worst.segment))
                }
                _ => None,
            },
            after: self.after.clone(),
            beyond: Vec::new(),
        });
        let readers =
            self.sorts.iter().map(|sort| KeyReader::open(sort, segment, base)).collect::<Result<Vec<_>>>()?;
        let local = |keys: &[SortKey], readers: &[KeyReader<'a>]| -> Result<Box<[i64]>> {
            keys.iter().zip(readers).map(|(key, reader)| reader.local(key)).collect()
        };
        if made.is_some() {
            return Ok(SegmentTop { made, ..SegmentTop::new(readers, number, base, self.count_max) });
        }
        let worst = (self.hits.len() >= self.count_max).then(|| self.hits.last()).flatten();
        let mut cutoff = match worst {
            Some(worst) => Some((local(&worst.keys, &readers)?, number < worst.segment)),
            None => None,
        };
        if let Some(min_competitive) = &self.min_competitive {
            let min_competitive = (local(&min_competitive.keys, &readers)?, min_competitive.tie_wins);
            // Where both cut off the same keys, the bound that also cuts off ties wins.
            if cutoff.as_ref().is_none_or(|own| min_competitive < *own) {
                cutoff = Some(min_competitive);
            }
        }
        let after = match &self.after {
            Some((keys, tie)) => Some((local(keys, &readers)?, *tie)),
            None => None,
        };
        let (first_field, in_order) = (self.sorts[0].field.clone(), self.in_order);
        Ok(SegmentTop {
            first_field,
            cutoff,
            after,
            in_order,
            ..SegmentTop::new(readers, number, base, self.count_max)
        })
    }

    /// Returns the segments of a shard, those with the best first keys first.
    pub fn best_segments_first(&self, segments: &[SegmentView]) -> Result<Vec<usize>> {
        let mut order: Vec<(i64, usize)> = Vec::with_capacity(segments.len());
        for (number, view) in segments.iter().enumerate() {
            match best_first_key(&self.sorts[0], std::slice::from_ref(view))? {
                Some(key) => order.push((key, number)),
                None => return Ok((0..segments.len()).collect()),
            }
        }
        order.sort_unstable();
        Ok(order.into_iter().map(|(_, number)| number).collect())
    }

    /// Adds the hits that were found in a segment.
    pub fn absorb(&mut self, segment: SegmentTop<'_>) -> Result<()> {
        let SegmentTop { readers, number, base, heap, made, .. } = segment;
        for (keys, doc, score) in made.map(|made| made.hits).unwrap_or_default() {
            let shard_doc = base + u64::from(doc);
            self.hits.push(Hit { segment: number, doc, shard_doc, score, keys, group: None });
        }
        for entry in heap {
            let keys = entry
                .keys
                .iter()
                .zip(&readers)
                .map(|(key, reader)| reader.global(*key))
                .collect::<Result<_>>()?;
            let shard_doc = base + u64::from(entry.doc);
            let Entry { doc, score, .. } = entry;
            self.hits.push(Hit { segment: number, doc, shard_doc, score, keys, group: None });
        }
        keep_best(&mut self.hits, &self.sorts, self.count_max);
        Ok(())
    }

    /// Returns the hits, best first.
    pub fn finish(self) -> Vec<Hit> {
        self.hits
    }
}

/// Returns the best key, in ascending form, that any document of these segments can have by this sort;
/// `None` if that cannot be known without reading documents. Keys of one field compare across segments and
/// shards.
pub(crate) fn best_first_key(sort: &BoundSort, segments: &[SegmentView]) -> Result<Option<i64>> {
    let (Some(field), KeyKind::Long | KeyKind::Unsigned | KeyKind::Double | KeyKind::Float, None, None, None) =
        (&sort.field, sort.kind, &sort.origins, &sort.nested, &sort.runtime)
    else {
        return Ok(None);
    };
    let missing = ordered(sort.missing_number, sort.descending);
    let mut best = i64::MAX;
    for view in segments {
        let column = view.segment.numbers(&field.path)?;
        let extreme =
            column.as_ref().and_then(|column| if sort.descending { column.max() } else { column.min() });
        best =
            best.min(extreme.map_or(missing, |value| ordered(sort.transform.apply(value), sort.descending)));
    }
    Ok(Some(best))
}

/// Which documents with exactly the keys of `search_after` were on the pages before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tie {
    Seen,
    /// Those up to this document number in the shard.
    SeenUpTo(u64),
    Unseen,
}

impl Tie {
    pub(super) fn has_seen(self, shard_doc: u64) -> bool {
        match self {
            Tie::Seen => true,
            Tie::SeenUpTo(last) => shard_doc <= last,
            Tie::Unseen => false,
        }
    }
}

struct Entry {
    keys: Box<[i64]>,
    doc: DocId,
    score: f32,
}

/// The greatest entry is the worst.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.keys.cmp(&other.keys).then(self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// The best hits of one segment while it is searched.
pub(crate) struct SegmentTop<'a> {
    /// Field of the first sort, if that is by a field and its keys are local to the segment.
    first_field: Option<Arc<Field>>,
    readers: Vec<KeyReader<'a>>,
    number: u32,
    base: u64,
    count_max: usize,
    heap: BinaryHeap<Entry>,
    /// Keys of the worst wanted hit of the segments before, and whether a tie with it wins.
    cutoff: Option<(Box<[i64]>, bool)>,
    after: Option<(Box<[i64]>, Tie)>,
    contenders: Contenders,
    columns: Vec<Vec<i64>>,
    /// Whether documents come in the order of their keys.
    in_order: bool,
    /// Whether no document after those seen can be wanted.
    is_complete: bool,
    /// Replaces all the above for sorts by strings that no dictionary holds.
    made: Option<ComputedTop>,
}

impl<'a> SegmentTop<'a> {
    fn new(readers: Vec<KeyReader<'a>>, number: u32, base: u64, count_max: usize) -> SegmentTop<'a> {
        SegmentTop {
            first_field: None,
            readers,
            number,
            base,
            count_max,
            heap: BinaryHeap::new(),
            cutoff: None,
            after: None,
            contenders: Contenders::default(),
            columns: Vec::new(),
            in_order: false,
            is_complete: false,
            made: None,
        }
    }
}

impl SegmentTop<'_> {
    /// Splits the segment's windows into those with the best first keys and the others, each ascending;
    /// `None` where that would not help. Visiting the best windows first (the newest documents of a log,
    /// say) lets nearly all others be skipped.
    pub fn best_windows_first(&self, doc_count: u32) -> Result<Option<[Vec<u32>; 2]>> {
        let window_count = doc_count.div_ceil(WINDOW);
        // Computed strings need ascending documents, and a sorted index already has the best order.
        if window_count < WINDOWS_WORTH_SORTING
            || self.in_order
            || self.made.is_some()
            || !self.readers[0].has_bounds()
        {
            return Ok(None);
        }
        let mut windows = Vec::with_capacity(window_count as usize);
        for window in 0..window_count {
            let Some(best) = self.readers[0].best_in(window * WINDOW)? else { return Ok(None) };
            windows.push((best, window));
        }
        windows.sort_unstable();
        let wanted = (self.count_max as u32 / WINDOW + 1).max(window_count / 32) as usize;
        let mut rest: Vec<u32> = windows.iter().map(|(_, window)| *window).collect();
        let mut first: Vec<u32> = rest.drain(..wanted.min(windows.len())).collect();
        first.sort_unstable();
        rest.sort_unstable();
        Ok(Some([first, rest]))
    }

    /// Adds matching documents of the segment, which ascend, with their scores.
    pub fn collect(&mut self, docs: &[DocId], scores: &[f32]) -> Result<()> {
        if self.count_max == 0 {
            return Ok(());
        }
        self.columns.resize_with(self.readers.len(), Vec::new);
        for (reader, out) in self.readers.iter_mut().zip(&mut self.columns) {
            reader.read(docs, scores, out)?;
        }
        if let Some(made) = &mut self.made {
            made.begin_batch();
            for (at, doc) in docs.iter().enumerate() {
                if made.is_beyond(&self.readers[0], self.columns[0][at], self.count_max) {
                    continue;
                }
                let keys =
                    self.readers.iter().zip(&self.columns).map(|(reader, column)| reader.global(column[at]));
                let keys = keys.collect::<Result<_>>()?;
                let score = scores.get(at).copied().unwrap_or(0.0);
                made.offer(keys, *doc, self.base + u64::from(*doc), score, self.count_max);
            }
            return Ok(());
        }
        let mut first_limit = self.first_limit();
        for (at, doc) in docs.iter().enumerate() {
            if self.columns[0][at] > first_limit {
                continue;
            }
            if let Some((after, tie)) = &self.after {
                match self.compare_at(at, after) {
                    Ordering::Less => continue,
                    Ordering::Equal if tie.has_seen(self.base + u64::from(*doc)) => continue,
                    _ => {}
                }
            }
            if let Some((cutoff, tie_wins)) = &self.cutoff {
                let is_beyond = match self.compare_at(at, cutoff) {
                    Ordering::Greater => true,
                    Ordering::Equal => !tie_wins,
                    Ordering::Less => false,
                };
                if is_beyond && self.in_order {
                    self.is_complete = true;
                    return Ok(());
                }
                if is_beyond {
                    continue;
                }
            }
            if self.heap.len() >= self.count_max
                && let Some(worst) = self.heap.peek()
                && self.compare_at(at, &worst.keys).then(doc.cmp(&worst.doc)) != Ordering::Less
            {
                continue;
            }
            let keys = self.columns.iter().map(|column| column[at]).collect();
            self.heap.push(Entry { keys, doc: *doc, score: scores.get(at).copied().unwrap_or(0.0) });
            if self.heap.len() > self.count_max {
                self.heap.pop();
            }
            first_limit = self.first_limit();
        }
        Ok(())
    }

    /// Returns the worst first key that a wanted document can have. Most documents fail this test.
    fn first_limit(&self) -> i64 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.count_max && !self.in_order => worst.keys[0],
            _ => i64::MAX,
        }
    }

    /// Whether no document after those collected can be wanted, because documents come in the order of
    /// their keys.
    pub fn is_complete(&self) -> bool {
        self.is_complete || (self.in_order && self.heap.len() >= self.count_max)
    }

    #[inline]
    fn compare_at(&self, at: usize, keys: &[i64]) -> Ordering {
        for (column, key) in self.columns.iter().zip(keys) {
            match column[at].cmp(key) {
                Ordering::Equal => {}
                other => return other,
            }
        }
        Ordering::Equal
    }

    /// Returns the first key of the worst wanted hit, and whether a document from `start` on with the same
    /// first key can still be wanted.
    fn bound(&self, start: DocId) -> Option<(i64, bool)> {
        if self.count_max == 0 {
            return Some((i64::MIN, false));
        }
        let single = self.readers.len() == 1;
        let own = match self.heap.peek() {
            // If keys are equal, the earlier document is better. Windows may be visited out of order.
            Some(worst) if self.heap.len() >= self.count_max => {
                Some((worst.keys[0], !single || start <= worst.doc))
            }
            _ => None,
        };
        let before = self.cutoff.as_ref().map(|(keys, tie_wins)| (keys[0], !single || *tie_wins));
        match (own, before) {
            (Some(own), Some(before)) => Some(if own.0 <= before.0 { own } else { before }),
            (own, before) => own.or(before),
        }
    }

    /// Returns the first document that can be wanted: pages in document order start there.
    pub fn first_doc(&self) -> DocId {
        match (&self.readers[0], &self.after) {
            (KeyReader::Doc { descending: false, base }, Some((after, _))) => {
                (after[0] - *base as i64).clamp(0, i64::from(u32::MAX - WINDOW)) as DocId
            }
            _ => 0,
        }
    }

    /// Updates the contenders, so that [`SegmentTop::can_skip`] and [`SegmentTop::mask`] drop documents
    /// that are no longer wanted according to the index of values.
    pub fn narrow(&mut self, segment: &Segment, ledger: &Ledger) -> Result<()> {
        let mut contenders = std::mem::take(&mut self.contenders);
        contenders.refresh(segment, ledger, || self.contenders(segment))?;
        self.contenders = contenders;
        Ok(())
    }

    /// Returns the documents whose first key is between the page's start and the bound, if these are few.
    fn contenders(&self, segment: &Segment) -> Result<Option<SegmentBits>> {
        let Some(field) = &self.first_field else { return Ok(None) };
        let after = self.after.as_ref().map_or(i64::MIN, |(keys, _)| keys[0]);
        let bound = self.bound(0).map_or(i64::MAX, |(bound, _)| bound);
        if (after, bound) == (i64::MIN, i64::MAX) || after > bound {
            return Ok(None);
        }
        let Some(range) = self.readers[0].numbers_of(after..=bound) else { return Ok(None) };
        let doc_count = segment.doc_count();
        match segment.points(&field.path)? {
            Some(points) if points.count_at_most(range.clone()) * FEW_OF <= u64::from(doc_count) => {
                let mut bits = SegmentBits::none_of(doc_count);
                points.fill_bits(range, bits.words_mut())?;
                Ok(Some(bits))
            }
            _ => Ok(None),
        }
    }

    /// Whether no document of the window at `start` can still be wanted.
    pub fn can_skip(&self, start: DocId) -> Result<bool> {
        if self.contenders.exclude(start) {
            return Ok(true);
        }
        if let Some((after, tie)) = &self.after
            && let Some(worst) = self.readers[0].worst_in(start)?
        {
            // Whether documents with equal keys were all on the pages before.
            let ties_seen = self.readers.len() == 1 && *tie == Tie::Seen;
            if worst < after[0] || (ties_seen && worst == after[0]) {
                return Ok(true);
            }
        }
        let Some((bound, ties)) = self.bound(start) else { return Ok(false) };
        let Some(best) = self.readers[0].best_in(start)? else { return Ok(false) };
        Ok(if ties { best > bound } else { best >= bound })
    }

    /// Clears the bits of documents, and of whole blocks, that can no longer be wanted.
    pub fn mask(&self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.contenders.mask(start, bits);
        match self.bound(start) {
            Some((bound, ties)) => self.readers[0].mask(start, bound, ties, bits),
            None => Ok(()),
        }
    }
}
