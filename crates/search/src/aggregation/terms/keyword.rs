//! `terms` over keywords and addresses: counting by ordinal, naming terms as late as possible.

use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment, SegmentView};

use super::super::bucket_table::BucketTable;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::entries::Entries;
use super::super::findings::Findings;
use super::super::keyed_buckets::KeyedBuckets;
use super::super::partial::{Partial, TermKey};
use super::super::source::{OrdinalReader, Source};
use super::include::TermFilter;
use super::numbers::{REFUSED, TermNumbers};
use super::pool::TermPool;
use super::request::Terms;
use super::select::{Candidate, finish_kept, select, select_all, terms_partial, terms_partials};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Documents by ordinal of one segment.
#[derive(Debug)]
struct Held<'s> {
    segment: &'s Segment,
    counts: Vec<u32>,
}

/// What a part of a shard's documents came to.
#[derive(Debug)]
pub struct TermsFindings {
    table: BucketTable,
    /// The terms that the table's keys are numbers of.
    pool: TermPool,
    /// Documents by ordinal of the segment at this place of the snapshot, and none elsewhere.
    held: Option<(usize, Vec<u32>)>,
    below: Vec<Findings>,
}

#[derive(Debug)]
pub struct KeywordTerms<'s> {
    request: &'s Terms,
    filter: &'s TermFilter,
    source: &'s Source,
    reader: OrdinalReader<'s>,
    segment: Option<&'s Segment>,
    ordinal_count: usize,
    numbers: TermNumbers<'s>,
    /// Places of keys are ordinals of this segment.
    buckets: KeyedBuckets<'s>,
    /// Documents by ordinal of this segment, while all belong to the only bucket and nothing is below it. Empty: none.
    ordinal_counts: Vec<u32>,
    /// Every document of this segment counts, and `ordinal_counts` is not kept.
    is_whole: bool,
    /// The first segment that was counted by ordinal alone: its terms are named when there is a second, or only those that are shown.
    held: Option<Held<'s>>,
    starts: Vec<u32>,
    term: Vec<u8>,
    shard: &'s ShardSnapshot,
    budget: &'s Budget,
}

impl<'s> KeywordTerms<'s> {
    pub fn new(
        request: &'s Terms,
        filter: &'s TermFilter,
        source: &'s Source,
        subs: Subs<'s>,
        shard: &'s ShardSnapshot,
        budget: &'s Budget,
    ) -> Result<KeywordTerms<'s>> {
        let missing = source.missing_term()?;
        Ok(KeywordTerms {
            request,
            filter,
            source,
            reader: OrdinalReader::new(source.path(), missing.is_some()),
            segment: None,
            ordinal_count: 0,
            numbers: TermNumbers::new(filter, source, missing, budget),
            buckets: KeyedBuckets::new(BucketTable::default(), subs, budget),
            ordinal_counts: Vec::new(),
            is_whole: false,
            held: None,
            starts: Vec::new(),
            term: Vec::new(),
            shard,
            budget,
        })
    }

    /// Names the terms counted by ordinal in this segment.
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
        self.hold(Held { segment, counts })
    }

    /// Keeps counts by ordinal as long as they are of one segment and nothing else was counted; names their terms otherwise.
    fn hold(&mut self, next: Held<'s>) -> Result<()> {
        match self.held.take() {
            None if self.buckets.table.len() == 0 => self.held = Some(next),
            Some(mut first) if std::ptr::eq(first.segment, next.segment) => {
                first.counts.iter_mut().zip(next.counts).for_each(|(count, more)| *count += more);
                self.held = Some(first);
            }
            first => {
                for held in first.into_iter().chain([next]) {
                    self.name(&held)?;
                }
            }
        }
        Ok(())
    }

    /// Gives every counted term its bucket.
    fn name(&mut self, held: &Held<'s>) -> Result<()> {
        let Some(terms) = held.segment.terms(self.source.path())? else { return Ok(()) };
        let mut cursor = terms.cursor();
        while cursor.advance()? {
            let count = held.counts[cursor.ord() as usize];
            if count > 0 && self.filter.allows_term(cursor.term()) {
                let number = self.numbers.pool.number(cursor.term(), self.budget)?;
                let bucket = self.buckets.table.bucket(0, i64::from(number), self.budget)?;
                self.buckets.table.counts[bucket as usize] += u64::from(count);
            }
        }
        Ok(())
    }

    /// The answer when one segment was counted and nothing else: chosen by ordinal, and only what is shown is named.
    fn finish_held(&mut self, held: &Held<'s>) -> Result<Partial> {
        let candidates = (0u32..)
            .zip(&held.counts)
            .filter(|(_, count)| **count > 0)
            .map(|(ordinal, &count)| Candidate { bucket: ordinal, doc_count: u64::from(count) })
            .collect();
        self.buckets.subs.settle()?;
        let selected = select(candidates, self.request, &self.buckets.subs, |left, right| left.cmp(&right));
        let mut keys = Vec::with_capacity(selected.kept.len());
        for kept in &selected.kept {
            if let Some(terms) = held.segment.terms(self.source.path())? {
                terms.term(u64::from(kept.bucket), &mut self.term)?;
            }
            keys.push((kept.bucket, TermKey::Term(self.term.as_slice().into())));
        }
        let mut next = keys.into_iter();
        let key = |_| next.next().map_or(TermKey::Long(0), |(_, key)| key);
        terms_partial(selected, key, &mut std::iter::empty())
    }

    /// With `min_doc_count: 0` every term of the field has a bucket under every parent.
    fn add_terms_without_documents(&mut self, parents: &[u32]) -> Result<()> {
        if self.request.min_doc_count > 0 || !self.source.is_mapped() {
            return Ok(());
        }
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

    /// The terms that documents have which may be seen; `None`: all of them.
    ///
    /// Source: `TermsAggregationBuilder#excludeDeletedDocs`, which document level security sets.
    fn visible_ordinals(&self, view: &SegmentView, term_count: usize) -> Result<Option<Ordinals>> {
        if !self.shard.hides_documents {
            return Ok(None);
        }
        self.budget.spend(term_count as u64 / 8)?;
        let mut visible = Ordinals(vec![0; term_count.div_ceil(64)]);
        let Some(column) = view.segment.ordinals(self.source.path())? else { return Ok(Some(visible)) };
        let mut batch = Batch::default();
        for docs in visible_docs(view) {
            column.gather(&docs, &mut batch)?;
            batch.values.iter().for_each(|ordinal| visible.add(*ordinal as usize));
        }
        Ok(Some(visible))
    }

    fn is_counting_only(&self, entries: &Entries<'_>) -> bool {
        self.buckets.subs.is_empty() && entries.bucket_count == 1
    }
}

/// A set of a segment's ordinals, a bit each.
struct Ordinals(Vec<u64>);

impl Ordinals {
    fn add(&mut self, ordinal: usize) {
        if let Some(word) = self.0.get_mut(ordinal / 64) {
            *word |= 1 << (ordinal % 64);
        }
    }

    fn has(&self, ordinal: usize) -> bool {
        self.0.get(ordinal / 64).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
    }
}

/// The documents of a segment that are live, some thousands at a time.
pub(super) fn visible_docs(view: &SegmentView) -> impl Iterator<Item = Vec<DocId>> {
    const DOCS_AT_ONCE: u32 = 4096;
    let count = view.doc_count();
    let starts = (0..count).step_by(DOCS_AT_ONCE as usize);
    starts
        .map(move |start| (start..count.min(start + DOCS_AT_ONCE)).filter(|doc| view.is_live(*doc)).collect())
}

impl<'s> Collector<'s> for KeywordTerms<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.ordinal_count = self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.segment = Some(&*view.segment);
        self.numbers.begin(&view.segment, self.reader.missing_ordinal());
        self.buckets.begin_places(self.ordinal_count);
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.ordinal_count == 0 {
            return Ok(());
        }
        if self.is_counting_only(entries) {
            if self.ordinal_counts.is_empty() {
                self.budget.spend(self.ordinal_count as u64 * 4)?;
                self.ordinal_counts.resize(self.ordinal_count, 0);
            }
            let counts = &mut self.ordinal_counts;
            let values = self.reader.load(entries.docs)?;
            if entries.is_single_bucket() {
                values.values.iter().for_each(|&ordinal| counts[ordinal as usize] += 1);
            } else {
                values.join(entries, &mut self.starts, |_, _, ordinal| counts[ordinal as usize] += 1);
            }
            return Ok(());
        }
        self.numbers.reserve(self.ordinal_count)?;
        let takes_places = self.buckets.takes_places(entries)?;
        let values = self.reader.load(entries.docs)?;
        let (buckets, numbers, budget) = (&mut self.buckets, &mut self.numbers, self.budget);
        if takes_places {
            return buckets.collect_places(
                values.values,
                values.positions,
                entries,
                |table, parent, ordinal| match numbers.number(ordinal)? {
                    REFUSED => Ok(None),
                    number => table.bucket(parent, i64::from(number), budget).map(Some),
                },
            );
        }
        let mut failed = Ok(());
        buckets.begin();
        values.join(entries, &mut self.starts, |entry, parent, ordinal| {
            let bucket = match numbers.number(ordinal) {
                Ok(REFUSED) => return,
                Ok(number) => buckets.table.bucket(parent, i64::from(number), budget),
                Err(error) => Err(error),
            };
            match bucket {
                Ok(bucket) => buckets.add(entry, bucket),
                Err(error) => failed = Err(error),
            }
        });
        failed?;
        buckets.hand_on(entries)
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        if !self.buckets.subs.is_empty() {
            return Ok(false);
        }
        let Some(column) = self.reader.column() else { return Ok(self.reader.missing_ordinal().is_none()) };
        if self.reader.missing_ordinal().is_some() && column.doc_count_with_value() < column.doc_count() {
            return Ok(false);
        }
        // Without postings the dictionary does not know how many documents a term has.
        self.is_whole = self.source.field.as_ref().is_some_and(|field| field.index);
        Ok(self.is_whole)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.flush_counts()?;
        self.buckets.subs.end_segment()
    }

    fn can_split(&self) -> bool {
        self.buckets.subs.can_split()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let segments = &self.shard.segments;
        let place =
            |held: &Held<'s>| segments.iter().position(|view| std::ptr::eq(&*view.segment, held.segment));
        let held = match self.held.take() {
            Some(held) => match place(&held) {
                Some(place) => Some((place, held.counts)),
                None => {
                    self.name(&held)?;
                    None
                }
            },
            None => None,
        };
        let table = std::mem::take(&mut self.buckets.table);
        let pool = std::mem::take(&mut self.numbers.pool);
        let below = self.buckets.subs.take_findings()?;
        Ok(Findings::Terms(Box::new(TermsFindings { table, pool, held, below })))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Terms(found) = findings else { return Ok(()) };
        let TermsFindings { table, pool, held, below } = *found;
        if let Some((place, counts)) = held {
            self.budget.spend(counts.len() as u64 * 4)?;
            self.hold(Held { segment: &self.shard.segments[place].segment, counts })?;
        }
        if table.len() > 0
            && let Some(held) = self.held.take()
        {
            self.name(&held)?;
        }
        let (numbers, budget) = (&mut self.numbers, self.budget);
        let key_of = |key: i64| numbers.pool.number(pool.term(key as u32), budget).map(i64::from);
        let buckets = self.buckets.table.absorb(&table, bucket_of, key_of, budget)?;
        self.buckets.subs.absorb(below, &buckets)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        if let Some(held) = self.held.take() {
            let is_alone = parents == [0] && self.buckets.table.len() == 0;
            if is_alone && self.filter.allows_all() && self.request.min_doc_count > 0 {
                return Ok(vec![self.finish_held(&held)?]);
            }
            self.name(&held)?;
        }
        self.add_terms_without_documents(parents)?;
        self.buckets.subs.settle()?;
        let (table, pool) = (&self.buckets.table, &self.numbers.pool);
        let term = |bucket: u32| pool.term(table.key(bucket) as u32);
        let selected =
            select_all(&self.buckets.table, parents, self.request, &self.buckets.subs, |left, right| {
                term(left).cmp(term(right))
            });
        let below = finish_kept(&mut self.buckets.subs, &selected)?;
        let key = |bucket: u32| TermKey::Term(term(bucket).into());
        terms_partials(selected, key, below)
    }
}
