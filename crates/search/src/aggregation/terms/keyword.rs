//! `terms` over keywords and addresses: counting by ordinal, naming terms as late as possible.

use limber_segment::{Segment, SegmentView};

use super::super::bucket_table::BucketTable;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::entries::{Emitted, Entries};
use super::super::partial::{Partial, TermKey};
use super::super::source::{OrdinalReader, Source};
use super::include::TermFilter;
use super::numbers::{REFUSED, TermNumbers, UNKNOWN};
use super::request::Terms;
use super::select::{Candidate, finish_kept, select, select_all, terms_partial, terms_partials};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Fields of so many terms have a slot for every pair of a parent and a term, as far as a table of slots goes.
const DENSE_ORDINALS_MAX: usize = 1 << 12;

/// Documents by ordinal of one segment.
#[derive(Debug)]
struct Held<'s> {
    segment: &'s Segment,
    counts: Vec<u32>,
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
    /// Bucket under parent 0 by ordinal of this segment; [`UNKNOWN`] until it is met, [`REFUSED`] where it may have none.
    buckets: Vec<u32>,
    table: BucketTable,
    /// Documents by ordinal of this segment, while all belong to the only bucket and nothing is below it. Empty: none.
    ordinal_counts: Vec<u32>,
    /// Every document of this segment counts, and `ordinal_counts` is not kept.
    is_whole: bool,
    /// The first segment that was counted by ordinal alone: its terms are named when there is a second, or only those that are shown.
    held: Option<Held<'s>>,
    subs: Subs<'s>,
    emitted: Emitted,
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
            buckets: Vec::new(),
            table: BucketTable::default(),
            ordinal_counts: Vec::new(),
            is_whole: false,
            held: None,
            subs,
            emitted: Emitted::default(),
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
                let bucket = self.table.bucket(0, i64::from(number), self.budget)?;
                self.table.counts[bucket as usize] += u64::from(count);
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
        let next = Held { segment, counts };
        match self.held.take() {
            None if self.table.len() == 0 => self.held = Some(next),
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
                let bucket = self.table.bucket(0, i64::from(number), self.budget)?;
                self.table.counts[bucket as usize] += u64::from(count);
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
        self.subs.settle()?;
        let selected = select(candidates, self.request, &self.subs, |left, right| left.cmp(&right));
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
            let mut cursor = terms.cursor();
            while cursor.advance()? {
                if !self.filter.allows_term(cursor.term()) {
                    continue;
                }
                let number = self.numbers.pool.number(cursor.term(), self.budget)?;
                for &parent in parents {
                    self.table.bucket(parent, i64::from(number), self.budget)?;
                }
            }
        }
        Ok(())
    }

    fn is_counting_only(&self, entries: &Entries<'_>) -> bool {
        self.subs.is_empty() && entries.bucket_count == 1
    }
}

impl<'s> Collector<'s> for KeywordTerms<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.ordinal_count = self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.segment = Some(&*view.segment);
        self.numbers.begin(&view.segment, self.reader.missing_ordinal());
        self.buckets.clear();
        self.subs.begin_segment(view)
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
        let values = self.reader.load(entries.docs)?;
        self.emitted.clear();
        let (buckets, numbers, table) = (&mut self.buckets, &mut self.numbers, &mut self.table);
        if entries.bucket_count == 1 && entries.positions.is_none() {
            if buckets.is_empty() {
                self.budget.spend(self.ordinal_count as u64 * 4)?;
                buckets.resize(self.ordinal_count, UNKNOWN);
            }
            let is_any = |wanted: u32, buckets: &[u32]| {
                values.values.iter().fold(false, |any, &ordinal| any | (buckets[ordinal as usize] == wanted))
            };
            if is_any(UNKNOWN, buckets) {
                for &ordinal in values.values {
                    if buckets[ordinal as usize] == UNKNOWN {
                        buckets[ordinal as usize] = match numbers.number(ordinal)? {
                            REFUSED => REFUSED,
                            number => table.bucket(0, i64::from(number), self.budget)?,
                        };
                    }
                }
            }
            if !self.filter.allows_all() && is_any(REFUSED, buckets) {
                values.join(entries, &mut self.starts, |entry, _, ordinal| match buckets[ordinal as usize] {
                    REFUSED => {}
                    bucket => self.emitted.push(entry, bucket),
                });
            } else {
                let buckets = values.values.iter().map(|&ordinal| buckets[ordinal as usize]);
                self.emitted.fill(entries.docs.len(), values.positions, buckets);
            }
        } else {
            if self.ordinal_count <= DENSE_ORDINALS_MAX {
                table.make_dense(self.ordinal_count, self.budget)?;
            }
            let mut failed = Ok(());
            values.join(entries, &mut self.starts, |entry, parent, ordinal| {
                let bucket = match numbers.number(ordinal) {
                    Ok(REFUSED) => return,
                    Ok(number) => table.bucket(parent, i64::from(number), self.budget),
                    Err(error) => Err(error),
                };
                match bucket {
                    Ok(bucket) => self.emitted.push(entry, bucket),
                    Err(error) => failed = Err(error),
                }
            });
            failed?;
        }
        for &bucket in self.emitted.buckets() {
            self.table.counts[bucket as usize] += 1;
        }
        if !self.subs.is_empty() {
            self.subs.collect(&self.emitted.batch(entries, self.table.len()))?;
        }
        Ok(())
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        if !self.subs.is_empty() {
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
        self.subs.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        if let Some(held) = self.held.take() {
            let is_alone = parents == [0] && self.table.len() == 0;
            if is_alone && self.filter.allows_all() && self.request.min_doc_count > 0 {
                return Ok(vec![self.finish_held(&held)?]);
            }
            self.name(&held)?;
        }
        self.add_terms_without_documents(parents)?;
        self.subs.settle()?;
        let (table, pool) = (&self.table, &self.numbers.pool);
        let term = |bucket: u32| pool.term(table.key(bucket) as u32);
        let selected = select_all(&self.table, parents, self.request, &self.subs, |left, right| {
            term(left).cmp(term(right))
        });
        let below = finish_kept(&mut self.subs, &selected)?;
        let key = |bucket: u32| TermKey::Term(term(bucket).into());
        terms_partials(selected, key, below)
    }
}
