//! `terms` of keywords and IP addresses: counts by ordinal, and looks terms up as late as possible.

mod breadth_first;
mod by_ordinal;

use breadth_first::{BreadthFirstWindow, can_defer};
use limber_segment::columns::Batch;
use limber_segment::{Segment, SegmentView};

use super::super::answer::partial::{Partial, TermKey};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::Entries;
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::CollectorContext;
use super::super::findings::Findings;
use super::super::source::{OrdinalReader, Source};
use super::include::TermFilter;
use super::pool::TermPool;
use super::request::Terms;
use super::select::{Candidate, finish_kept, select, select_all, term_key, terms_partial, terms_partials};
use super::term_numbers::{REFUSED, TermNumbers};
use super::visible::{Ordinals, visible_docs};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// The index of a segment that the snapshot does not list.
const UNLISTED: usize = usize::MAX;

/// Document counts by ordinal of one segment.
#[derive(Debug)]
struct CountedSegment<'s> {
    segment: &'s Segment,
    counts: Vec<u32>,
}

/// The findings of one part of a shard's documents.
#[derive(Debug)]
pub struct TermsFindings {
    table: BucketTable,
    /// The terms whose numbers are the table's keys, if these are not ordinals of one segment.
    pool: TermPool,
    keyed_by: Option<usize>,
    /// Document counts by ordinal of the segment with this index in the snapshot, if no other documents were
    /// counted.
    counted_only: Option<(usize, Vec<u32>)>,
    /// Whether documents are deferred; then the sub-aggregations have not collected anything yet.
    is_breadth_first: bool,
    windows: Vec<BreadthFirstWindow>,
    below: Vec<Findings>,
}

/// Counts terms by their ordinals in each segment, and merges the counts of segments by term.
#[derive(Debug)]
pub struct KeywordTerms<'s> {
    request: &'s Terms,
    filter: &'s TermFilter,
    source: &'s Source,
    reader: OrdinalReader<'s>,
    segment: Option<&'s Segment>,
    ordinal_count: usize,
    numbers: TermNumbers<'s>,
    /// The key indexes are ordinals of the current segment.
    buckets: KeyedBuckets<'s>,
    /// If the keys of the table are ordinals: the index of their segment, which is the only one so far.
    /// Otherwise the keys are numbers of terms.
    keyed_by: Option<usize>,
    /// Document counts by ordinal of the current segment, while all documents belong to the only bucket and
    /// there is nothing to collect below it. Empty if unused.
    ordinal_counts: Vec<u32>,
    /// Whether every document of the current segment counts; then `ordinal_counts` is not used.
    is_whole: bool,
    /// The first segment that was only counted by ordinal. Its terms are looked up when there is a second
    /// segment; otherwise only those that are shown are looked up.
    counted_only: Option<CountedSegment<'s>>,
    /// Whether documents are deferred until it is known which terms have buckets.
    is_breadth_first: bool,
    windows: Vec<BreadthFirstWindow>,
    /// The index of the current segment in the snapshot.
    segment_place: usize,
    starts: Vec<u32>,
    term: Vec<u8>,
    shard: &'s ShardSnapshot,
    budget: &'s Budget,
}

impl<'s> KeywordTerms<'s> {
    pub(crate) fn new(
        request: &'s Terms,
        source: &'s Source,
        context: CollectorContext<'s>,
    ) -> Result<KeywordTerms<'s>> {
        let CollectorContext { bound, subs, shard, is_alone, budget } = context;
        let filter = &bound.filter;
        let missing = source.missing_term()?;
        let is_breadth_first = is_alone && can_defer(request, source, &subs, shard)?;
        let mut buckets = KeyedBuckets::new(BucketTable::default(), subs, budget);
        if request.min_doc_count > 0 {
            buckets.reserve_buckets();
        }
        Ok(KeywordTerms {
            request,
            filter,
            source,
            reader: OrdinalReader::new(source.path(), missing.is_some()),
            segment: None,
            ordinal_count: 0,
            numbers: TermNumbers::new(filter, source, missing, budget),
            buckets,
            keyed_by: None,
            ordinal_counts: Vec::new(),
            is_whole: false,
            counted_only: None,
            is_breadth_first,
            windows: Vec::new(),
            segment_place: 0,
            starts: Vec::new(),
            term: Vec::new(),
            shard,
            budget,
        })
    }

    /// Moves the counts of the current segment to the table.
    fn flush_counts(&mut self) -> Result<()> {
        let counts = std::mem::take(&mut self.ordinal_counts);
        let is_whole = std::mem::take(&mut self.is_whole);
        if counts.is_empty() && !is_whole {
            return Ok(());
        }
        if let Some(missing) = self.reader.missing_ordinal()
            && let Some(&count) = counts.get(missing as usize)
            && count > 0
        {
            let number = self.numbers.number_of_missing()?;
            if number != REFUSED {
                let bucket = self.buckets.table.bucket(0, i64::from(number), self.budget)?;
                self.buckets.table.counts[bucket as usize] += u64::from(count);
            }
        }
        let Some(segment) = self.segment.filter(|_| self.source.is_mapped()) else { return Ok(()) };
        let Some(terms) = segment.terms(self.source.path())? else { return Ok(()) };
        let mut counts = counts;
        if is_whole {
            self.budget.spend(terms.len() * 4)?;
            counts.clear();
            counts.reserve(terms.len() as usize);
            let mut cursor = terms.cursor();
            while cursor.advance()? {
                counts.push(cursor.info()?.doc_freq);
            }
        }
        counts.truncate(terms.len() as usize);
        self.hold(CountedSegment { segment, counts }, 0)
    }

    /// Keeps counts by ordinal while they belong to the first parent and one segment, and nothing else was
    /// counted. Otherwise moves them to the buckets of their terms.
    fn hold(&mut self, next: CountedSegment<'s>, parent: u32) -> Result<()> {
        if parent > 0 {
            return self.name(&next, parent);
        }
        match self.counted_only.take() {
            None if self.buckets.table.len() == 0 => self.counted_only = Some(next),
            Some(mut first) if std::ptr::eq(first.segment, next.segment) => {
                first.counts.iter_mut().zip(next.counts).for_each(|(count, more)| *count += more);
                self.counted_only = Some(first);
            }
            first => {
                for counted_only in first.into_iter().chain([next]) {
                    self.name(&counted_only, 0)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the counts to the buckets of their terms under a parent.
    fn name(&mut self, counted_only: &CountedSegment<'s>, parent: u32) -> Result<()> {
        self.name_table()?;
        let Some(terms) = counted_only.segment.terms(self.source.path())? else { return Ok(()) };
        let mut cursor = terms.cursor();
        while cursor.advance()? {
            let count = counted_only.counts[cursor.ord() as usize];
            if count > 0 && self.filter.allows_term(cursor.term()) {
                let number = self.numbers.pool.number(cursor.term(), self.budget)?;
                let bucket = self.buckets.table.bucket(parent, i64::from(number), self.budget)?;
                self.buckets.table.counts[bucket as usize] += u64::from(count);
            }
        }
        Ok(())
    }

    /// Makes the result if only one segment was counted: buckets are selected by ordinal, and only their
    /// terms are looked up.
    fn finish_held(&mut self, counted_only: &CountedSegment<'s>) -> Result<Partial> {
        let candidates = (0u32..)
            .zip(&counted_only.counts)
            .filter(|(_, count)| **count > 0)
            .map(|(ordinal, &count)| Candidate { bucket: ordinal, doc_count: u64::from(count) })
            .collect();
        if !self.is_breadth_first {
            self.buckets.subs.settle()?;
        }
        let selected = select(candidates, self.request, &self.buckets.subs, |left, right| left.cmp(&right));
        let mut keys = Vec::with_capacity(selected.kept.len());
        for kept in &selected.kept {
            if let Some(terms) = counted_only.segment.terms(self.source.path())? {
                terms.term(u64::from(kept.bucket), &mut self.term)?;
            }
            keys.push(term_key(&self.term)?);
        }
        let below = if self.is_breadth_first { self.below_chosen(&keys)? } else { Vec::new() };
        let mut next = keys.into_iter();
        let key = |_| next.next().unwrap_or(TermKey::Long(0));
        terms_partial(selected, key, &mut below.into_iter())
    }

    /// Adds a bucket for every term of the field under every parent, which `min_doc_count: 0` asks for.
    fn add_terms_without_documents(&mut self, parents: &[u32]) -> Result<()> {
        if self.request.min_doc_count > 0 || !self.source.is_mapped() {
            return Ok(());
        }
        self.name_table()?;
        for view in &self.shard.segments {
            let Some(terms) = view.segment.terms(self.source.path())? else { continue };
            let visible = self.visible_ordinals(view, terms.len() as usize)?;
            let mut cursor = terms.cursor();
            while cursor.advance()? {
                let is_hidden = visible.as_ref().is_some_and(|visible| !visible.has(cursor.ord() as usize));
                if is_hidden || !self.filter.allows_term(cursor.term()) {
                    continue;
                }
                let number = self.numbers.pool.number(cursor.term(), self.budget)?;
                for &parent in parents {
                    self.buckets.table.bucket(parent, i64::from(number), self.budget)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the terms of the documents that the user may see; `None` if all may be seen.
    ///
    /// Source: `TermsAggregationBuilder#excludeDeletedDocs`, which document level security sets.
    fn visible_ordinals(&self, view: &SegmentView, term_count: usize) -> Result<Option<Ordinals>> {
        if !self.shard.hides_documents {
            return Ok(None);
        }
        self.budget.spend(term_count as u64 / 8)?;
        let mut visible = Ordinals::new(term_count);
        let Some(column) = view.segment.ordinals(self.source.path())? else { return Ok(Some(visible)) };
        let mut batch = Batch::default();
        for docs in visible_docs(view) {
            column.gather(&docs, &mut batch)?;
            batch.values.iter().for_each(|ordinal| visible.add(*ordinal as usize));
        }
        Ok(Some(visible))
    }

    /// Whether a batch is only counted, at least for now.
    fn is_counting_only(&mut self, entries: &Entries<'_>) -> Result<bool> {
        if self.buckets.subs.is_empty() {
            return Ok(entries.bucket_count == 1);
        }
        if !self.is_breadth_first {
            return Ok(false);
        }
        if entries.bucket_count == 1 && entries.is_single_bucket() && entries.scores.is_empty() {
            self.windows.extend(BreadthFirstWindow::of(self.segment_place, entries, self.budget)?);
            return Ok(true);
        }
        self.collect_all_deferred(Some(self.segment_place))?;
        Ok(false)
    }

    /// Starts the segment with this index.
    fn begin(&mut self, place: usize) -> Result<()> {
        let view = &self.shard.segments[place];
        self.segment_place = place;
        self.ordinal_count = self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.segment = Some(&*view.segment);
        self.numbers.begin(&view.segment, self.reader.missing_ordinal());
        self.buckets.begin_key_indexes(self.ordinal_count);
        // Deferred documents are collected later, with their segments.
        if self.is_breadth_first { Ok(()) } else { self.buckets.subs.begin_segment(view) }
    }
}

impl<'s> Collector<'s> for KeywordTerms<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let is_it = |one: &SegmentView| std::ptr::eq(&*one.segment, &*view.segment);
        let place = self.shard.segments.iter().position(is_it);
        if let Some(place) = place {
            return self.begin(place);
        }
        // A segment that the snapshot does not list cannot be collected again later.
        if self.is_breadth_first {
            self.collect_all_deferred(None)?;
        }
        self.segment_place = UNLISTED;
        self.ordinal_count = self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.segment = Some(&*view.segment);
        self.numbers.begin(&view.segment, self.reader.missing_ordinal());
        self.buckets.begin_key_indexes(self.ordinal_count);
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.ordinal_count == 0 {
            return Ok(());
        }
        if self.is_counting_only(entries)? {
            if self.ordinal_counts.is_empty() {
                self.budget.spend(self.ordinal_count as u64 * 4)?;
                self.ordinal_counts.resize(self.ordinal_count, 0);
            }
            let counts = &mut self.ordinal_counts;
            let values = self.reader.load(entries.docs)?;
            if entries.is_single_bucket() {
                values.values.iter().for_each(|&ordinal| counts[ordinal as usize] += 1);
            } else {
                values.join(entries, &mut self.starts, |_, _, ordinal| counts[ordinal as usize] += 1)?;
            }
            return Ok(());
        }
        self.prepare_keys()?;
        let takes_key_indexes = self.buckets.takes_key_indexes(entries)?;
        let values = self.reader.load(entries.docs)?;
        let (buckets, numbers, budget) = (&mut self.buckets, &mut self.numbers, self.budget);
        let by_ordinal = self.keyed_by.is_some();
        if takes_key_indexes {
            return buckets.collect_key_indexes(
                values.values,
                values.positions,
                entries,
                |table, parent, ordinal| match numbers.key(ordinal, by_ordinal)? {
                    REFUSED => Ok(None),
                    number => table.bucket(parent, i64::from(number), budget).map(Some),
                },
            );
        }
        buckets.begin();
        values.try_join(entries, &mut self.starts, |entry, parent, ordinal| {
            match numbers.key(ordinal, by_ordinal)? {
                REFUSED => Ok(()),
                number => {
                    let bucket = buckets.table.bucket(parent, i64::from(number), budget)?;
                    buckets.add(entry, bucket)
                }
            }
        })?;
        buckets.hand_on(entries)
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        if !self.buckets.subs.is_empty() && !self.is_breadth_first {
            return Ok(false);
        }
        let Some(column) = self.reader.column() else { return Ok(self.reader.missing_ordinal().is_none()) };
        if self.reader.missing_ordinal().is_some() && column.doc_count_with_value() < column.doc_count() {
            return Ok(false);
        }
        // Without postings the dictionary has no document frequencies.
        self.is_whole = self.source.field.as_ref().is_some_and(|field| field.index);
        if self.is_whole && self.is_breadth_first {
            let windows = BreadthFirstWindow::whole(self.segment_place, column.doc_count());
            self.windows.extend(windows);
        }
        Ok(self.is_whole)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.flush_counts()?;
        if self.is_breadth_first { Ok(()) } else { self.buckets.end_segment() }
    }

    fn can_split(&self) -> bool {
        self.buckets.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.buckets.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let segments = &self.shard.segments;
        let place = |counted_only: &CountedSegment<'s>| {
            segments.iter().position(|view| std::ptr::eq(&*view.segment, counted_only.segment))
        };
        let counted_only = match self.counted_only.take() {
            Some(counted_only) => match place(&counted_only) {
                Some(place) => Some((place, counted_only.counts)),
                None => {
                    self.name(&counted_only, 0)?;
                    None
                }
            },
            None => None,
        };
        let table = std::mem::take(&mut self.buckets.table);
        let pool = std::mem::take(&mut self.numbers.pool);
        let (windows, below) = (std::mem::take(&mut self.windows), self.buckets.subs.take_findings()?);
        let (is_breadth_first, keyed_by) = (self.is_breadth_first, self.keyed_by.take());
        let found = TermsFindings { table, pool, keyed_by, counted_only, is_breadth_first, windows, below };
        Ok(Findings::Terms(Box::new(found)))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Terms(found) = findings else { unreachable!("findings of another collector") };
        let TermsFindings { table, pool, keyed_by, counted_only, is_breadth_first, mut windows, below } =
            *found;
        match (self.is_breadth_first, is_breadth_first) {
            (true, true) => self.windows.append(&mut windows),
            (true, false) => self.collect_all_deferred(None)?,
            (false, true) => return self.collect_deferred(&windows, None),
            (false, false) => {}
        }
        if let Some((place, counts)) = counted_only {
            self.budget.spend(counts.len() as u64 * 4)?;
            // The only parent of the other collector is one of many here.
            let parent = bucket_of.first().copied().unwrap_or(0);
            self.hold(CountedSegment { segment: &self.shard.segments[place].segment, counts }, parent)?;
        }
        if table.len() > 0
            && let Some(counted_only) = self.counted_only.take()
        {
            self.name(&counted_only, 0)?;
        }
        let buckets = match keyed_by {
            Some(place) if table.len() > 0 => self.absorb_by_ordinal(&table, place, bucket_of)?,
            _ => {
                self.name_table()?;
                let (numbers, budget) = (&mut self.numbers, self.budget);
                let key_of = |key: i64| numbers.pool.number(pool.term(key as u32), budget).map(i64::from);
                self.buckets.table.absorb(&table, bucket_of, key_of, budget)?
            }
        };
        self.buckets.subs.absorb(below, &buckets)
    }

    /// What was counted by ordinal has not been filtered.
    fn bucket_count(&self) -> Option<u64> {
        let counted = self.counted_only.iter().flat_map(|one| &one.counts).filter(|count| **count > 0);
        let is_known = self.counted_only.is_none() || self.filter.allows_all();
        is_known.then(|| (counted.count() + self.buckets.table.len()) as u64)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        if let Some(counted_only) = self.counted_only.take() {
            let is_alone = parents == [0] && self.buckets.table.len() == 0;
            if is_alone && self.filter.allows_all() && self.request.min_doc_count > 0 {
                return Ok(vec![self.finish_held(&counted_only)?]);
            }
            self.name(&counted_only, 0)?;
        }
        self.add_terms_without_documents(parents)?;
        if !self.is_breadth_first {
            self.buckets.subs.settle()?;
        }
        let selected = {
            let (table, pool, by_ordinal) =
                (&self.buckets.table, &self.numbers.pool, self.keyed_by.is_some());
            let term = |bucket: u32| pool.term(table.key(bucket) as u32);
            select_all(table, parents, self.request, &self.buckets.subs, |left, right| match by_ordinal {
                true => table.key(left).cmp(&table.key(right)),
                false => term(left).cmp(term(right)),
            })
        };
        let kept = selected.iter().flat_map(|selected| &selected.kept);
        let keys = kept.map(|kept| self.term_of(kept.bucket)).collect::<Result<Vec<TermKey>>>()?;
        let below = match self.is_breadth_first {
            true => self.below_chosen(&keys)?,
            false => finish_kept(&mut self.buckets.subs, &selected)?,
        };
        let mut next = keys.into_iter();
        terms_partials(selected, |_| next.next().unwrap_or(TermKey::Long(0)), below)
    }
}
