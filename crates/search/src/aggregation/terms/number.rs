//! `terms` of numbers, booleans and dates.

use limber_segment::SegmentView;
use limber_segment::columns::Batch;

use super::super::answer::partial::{Partial, TermKey};
use super::super::bucket::stored_range;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::Entries;
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::CollectorContext;
use super::super::findings::Findings;
use super::super::source::{NumberReader, Source};
use super::include::TermFilter;
use super::request::Terms;
use super::select::{finish_kept, select_all, terms_partials};
use super::sorted_numbers::{SORTED_FROM, SortedNumbers};
use super::visible::visible_docs;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Key indexes of numbers within a narrow range.
#[derive(Debug, Default)]
struct KeyIndexes {
    first: i64,
    /// 0 if the range is too wide.
    width: usize,
    /// The key indexes of the current batch.
    key_indexes: Vec<u32>,
}

impl KeyIndexes {
    const WIDTH_MAX: u64 = 1 << 16;

    fn of(range: Option<(i64, i64)>) -> KeyIndexes {
        match range {
            Some((first, last)) if last.abs_diff(first) < Self::WIDTH_MAX => {
                KeyIndexes { first, width: last.abs_diff(first) as usize + 1, key_indexes: Vec::new() }
            }
            _ => KeyIndexes::default(),
        }
    }
}

/// The largest number that has a slot if the range of a field's numbers is unknown.
const SMALL_MAX: i64 = 1023;

/// Counts numbers, booleans and dates as terms.
#[derive(Debug)]
pub struct NumberTerms<'s> {
    request: &'s Terms,
    filter: &'s TermFilter,
    source: &'s Source,
    reader: NumberReader<'s>,
    key_indexes: KeyIndexes,
    buckets: KeyedBuckets<'s>,
    /// Whether numbers may be counted by sorting, and the numbers that were collected for that.
    can_sort: bool,
    sorted: SortedNumbers,
    shard: &'s ShardSnapshot,
    budget: &'s Budget,
}

impl<'s> NumberTerms<'s> {
    pub(crate) fn new(
        request: &'s Terms,
        filter: &'s TermFilter,
        source: &'s Source,
        context: CollectorContext<'s>,
    ) -> Result<NumberTerms<'s>> {
        let CollectorContext { subs, shard, is_alone, budget, .. } = context;
        let can_sort = is_alone && subs.is_empty() && filter.allows_all() && request.min_doc_count > 0;
        let reader = NumberReader::new(source)?;
        let range = stored_range(source, shard, reader.missing())?;
        let key_indexes = KeyIndexes::of(range);
        // Numbers of unknown range often have few, small values: hours, ratings, booleans.
        let dense = range.or(Some((0, SMALL_MAX)));
        let mut buckets = KeyedBuckets::new(BucketTable::with_range(dense, budget)?, subs, budget);
        buckets.begin_key_indexes(key_indexes.width);
        if request.min_doc_count > 0 {
            buckets.reserve_buckets();
        }
        let sorted = SortedNumbers::default();
        Ok(NumberTerms {
            request,
            filter,
            source,
            reader,
            key_indexes,
            buckets,
            can_sort,
            sorted,
            shard,
            budget,
        })
    }

    /// Adds a bucket for every value of the field under every parent, which `min_doc_count: 0` asks for.
    fn add_values_without_documents(&mut self, parents: &[u32]) -> Result<()> {
        if self.request.min_doc_count > 0 || !self.source.is_column() {
            return Ok(());
        }
        let mut buffer = Box::new([0i64; 128]);
        let shard = self.shard;
        for view in &shard.segments {
            let Some(column) = view.segment.numbers(self.source.path())? else { continue };
            if shard.hides_documents {
                let mut batch = Batch::default();
                for docs in visible_docs(view) {
                    column.gather(&docs, &mut batch)?;
                    self.add_values(&batch.values, parents)?;
                }
                continue;
            }
            for block in 0..column.block_count() {
                let count = column.read_block(block, &mut buffer)?;
                self.add_values(&buffer[..count], parents)?;
            }
        }
        Ok(())
    }

    fn add_values(&mut self, stored: &[i64], parents: &[u32]) -> Result<()> {
        let resolution = self.source.resolution();
        let values = stored.iter().map(|&value| resolution.millis(value));
        for value in values.filter(|&value| self.filter.allows_number(value)) {
            for &parent in parents {
                self.buckets.table.bucket(parent, value, self.budget)?;
            }
        }
        Ok(())
    }

    fn key(&self, stored: i64) -> TermKey {
        if self.source.is_floating() {
            TermKey::Double(self.source.decode(stored))
        } else {
            TermKey::Long(stored)
        }
    }
}

impl<'s> Collector<'s> for NumberTerms<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.reader.has_one_at_most() && self.buckets.takes_key_indexes(entries)? {
            let values = self.reader.load(entries.docs)?;
            let KeyIndexes { first, key_indexes, .. } = &mut self.key_indexes;
            key_indexes.clear();
            key_indexes.extend(values.values.iter().map(|&value| value.wrapping_sub(*first) as u32));
            let (first, filter, budget) = (*first, self.filter, self.budget);
            return self.buckets.collect_key_indexes(
                key_indexes,
                values.positions,
                entries,
                |table, parent, key_index| {
                    let value = first + i64::from(key_index);
                    filter.allows_number(value).then(|| table.bucket(parent, value, budget)).transpose()
                },
            );
        }
        let has_one_at_most = self.reader.has_one_at_most();
        let values = self.reader.load(entries.docs)?;
        if self.can_sort && has_one_at_most && self.buckets.table.len() >= SORTED_FROM {
            return self.sorted.add(values.values, self.budget);
        }
        let filter = (!self.filter.allows_all()).then_some(self.filter);
        let allows = |value: i64| filter.is_none_or(|filter| filter.allows_number(value));
        if self.buckets.collect_keys(values.values, values.positions, entries, allows)? {
            return Ok(());
        }
        // The values of a document ascend, so equal ones are adjacent and count once.
        let mut last = (usize::MAX, 0);
        self.buckets.collect(&values, entries, |entry, value| {
            let is_new = std::mem::replace(&mut last, (entry, value)) != (entry, value);
            (is_new && allows(value)).then_some(value)
        })
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn can_split(&self) -> bool {
        self.buckets.subs.can_split()
    }

    fn takes_windows_again(&self) -> bool {
        self.buckets.subs.takes_windows_again()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        match self.buckets.take_findings()? {
            Findings::Keyed(table, below) => Ok(Findings::Numbers(table, self.sorted.take(), below)),
            other => Ok(other),
        }
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Numbers(table, sorted, below) = findings else {
            unreachable!("findings of another collector")
        };
        self.sorted.absorb(sorted, self.budget)?;
        self.buckets.absorb(Findings::Keyed(table, below), bucket_of)
    }

    /// Numbers that are counted by sorting are not known yet.
    fn bucket_count(&self) -> Option<u64> {
        self.sorted.is_empty().then(|| self.buckets.table.len() as u64)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        self.add_values_without_documents(parents)?;
        self.buckets.subs.settle()?;
        if !self.sorted.is_empty() {
            let KeyedBuckets { table, subs, .. } = &self.buckets;
            let (selected, keys) = self.sorted.select(table, self.request, subs, self.budget)?;
            return terms_partials(vec![selected], |bucket| self.key(keys[bucket as usize]), Vec::new());
        }
        let table = &self.buckets.table;
        let selected =
            select_all(&self.buckets.table, parents, self.request, &self.buckets.subs, |left, right| {
                table.key(left).cmp(&table.key(right))
            });
        let below = finish_kept(&mut self.buckets.subs, &selected)?;
        terms_partials(selected, |bucket| self.key(self.buckets.table.key(bucket)), below)
    }
}
