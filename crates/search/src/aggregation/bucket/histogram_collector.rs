//! The collector of `histogram`.

use limber_segment::SegmentView;

use super::super::answer::partial::{KeyedBucket, Partial};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Entries, Values};
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::findings::Findings;
use super::super::source::{NumberReader, Source};
use super::histogram::Histogram;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Collects the documents of each interval of numbers on a shard.
#[derive(Debug)]
pub struct HistogramCollector<'s> {
    request: &'s Histogram,
    source: &'s Source,
    reader: NumberReader<'s>,
    buckets: KeyedBuckets<'s>,
    doubles: Vec<f64>,
    known: Slots,
    /// The slots of buckets and their number, while those of stored numbers are in use.
    fewer: Option<(Slots, usize)>,
    /// Slots of the current batch.
    slots: Vec<u32>,
    /// The numbers of the buckets of the current batch's values, if these have no slots.
    numbers: Vec<i64>,
    budget: &'s Budget,
}

/// How the slot of a value is computed.
#[derive(Debug, Clone, Copy)]
enum Slots {
    /// A slot for each stored number, counted from the smallest, where their range is narrow. This saves a
    /// division for each value.
    Stored(i64),
    /// A slot for each bucket, counted from the number of the first bucket.
    Numbers(i64),
    /// There would be too many slots.
    Unknown,
}

/// Largest range of stored numbers that have slots.
const STORED_WIDTH_MAX: u64 = 1 << 16;
/// Largest number of buckets that have slots.
const NUMBERS_MAX: u64 = 1 << 18;

impl Slots {
    /// Returns the first value of a range and the number of its values, if there are at most `most`.
    fn width((first, last): (i64, i64), most: u64) -> Option<(i64, usize)> {
        let distance = last.abs_diff(first);
        (distance < most).then(|| (first, distance as usize + 1))
    }

    /// Returns slots of stored numbers, whose range is given, and their number.
    fn of_stored(range: (i64, i64)) -> Option<(Slots, usize)> {
        Self::width(range, STORED_WIDTH_MAX).map(|(first, width)| (Slots::Stored(first), width))
    }

    /// Returns slots of buckets, the range of whose numbers is given, and their number.
    fn of_numbers(range: (i64, i64)) -> Option<(Slots, usize)> {
        Self::width(range, NUMBERS_MAX).map(|(first, width)| (Slots::Numbers(first), width))
    }
}

impl<'s> HistogramCollector<'s> {
    pub(crate) fn new(
        request: &'s Histogram,
        source: &'s Source,
        subs: Subs<'s>,
        shard: &ShardSnapshot,
        budget: &'s Budget,
    ) -> Result<HistogramCollector<'s>> {
        let reader = NumberReader::new(source)?;
        let stored = stored_range(source, shard, reader.missing())?;
        let range =
            stored.map(|(min, max)| (request.number(source.decode(min)), request.number(source.decode(max))));
        let numbers = range.and_then(Slots::of_numbers);
        let (known, width, fewer) = match (stored.and_then(Slots::of_stored), numbers) {
            (Some((slots, width)), numbers) => (slots, width, numbers),
            (None, Some((slots, width))) => (slots, width, None),
            (None, None) => (Slots::Unknown, 0, None),
        };
        let mut buckets = KeyedBuckets::new(BucketTable::with_range(range, budget)?, subs, budget);
        buckets.begin_key_indexes(width);
        if matches!(known, Slots::Numbers(_)) {
            buckets.reserve_buckets();
        }
        let (doubles, slots, numbers) = (Vec::new(), Vec::new(), Vec::new());
        Ok(HistogramCollector {
            request,
            source,
            reader,
            buckets,
            doubles,
            known,
            fewer,
            slots,
            numbers,
            budget,
        })
    }

    /// Whether a batch can be collected by slots. Where there are too many parents for slots of stored
    /// numbers, those of buckets take their place.
    fn takes_slots(&mut self, entries: &Entries<'_>) -> Result<bool> {
        if self.buckets.takes_key_indexes(entries)? {
            return Ok(true);
        }
        let Some((slots, width)) = self.fewer.take_if(|_| entries.positions.is_none()) else {
            return Ok(false);
        };
        self.known = slots;
        self.buckets.begin_key_indexes(width);
        self.buckets.takes_key_indexes(entries)
    }

    /// Collects documents that have at most one value, by its slot.
    fn collect_key_indexes(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (request, source, budget) = (self.request, self.source, self.budget);
        let values = self.reader.load(entries.docs)?;
        self.slots.clear();
        match self.known {
            Slots::Stored(first) => {
                self.slots.extend(values.values.iter().map(|&stored| stored.wrapping_sub(first) as u32));
            }
            Slots::Numbers(first) => {
                source.decode_all(values.values, &mut self.doubles);
                let slot = |&value: &f64| request.number(value).wrapping_sub(first) as u32;
                self.slots.extend(self.doubles.iter().map(slot));
            }
            Slots::Unknown => {}
        }
        let known = self.known;
        let number_of = |slot: u32| match known {
            Slots::Stored(first) => request.number(source.decode(first + i64::from(slot))),
            Slots::Numbers(first) => first + i64::from(slot),
            Slots::Unknown => 0,
        };
        self.buckets.collect_key_indexes(&self.slots, values.positions, entries, |table, parent, slot| {
            let number = number_of(slot);
            request.allows(number).then(|| table.bucket(parent, number, budget)).transpose()
        })
    }

    /// Collects documents that all have one parent and are all in one bucket. Returns false if they are not,
    /// or if that is not known.
    fn collect_one(&mut self, entries: &Entries<'_>) -> Result<bool> {
        let Some(parent) = entries.only_bucket() else { return Ok(false) };
        let Some((min, max)) = self.reader.window_range(entries.docs[0])? else { return Ok(false) };
        let number = self.request.number(self.source.decode(min));
        if number != self.request.number(self.source.decode(max)) {
            return Ok(false);
        }
        if self.request.allows(number) {
            let bucket = self.buckets.table.bucket(parent, number, self.budget)?;
            self.buckets.collect_one(bucket, entries)?;
        }
        Ok(true)
    }
}

/// Returns the range of a field's stored numbers in a shard's segments, including the replacement for
/// `missing` values; dates are in milliseconds.
pub fn stored_range(
    source: &Source,
    shard: &ShardSnapshot,
    missing: Option<i64>,
) -> Result<Option<(i64, i64)>> {
    if !source.is_column() || !source.is_numeric() {
        return Ok(None);
    }
    let mut range: Option<(i64, i64)> = None;
    for view in &shard.segments {
        if let Some(column) = view.segment.numbers(source.path())?
            && let (Some(min), Some(max)) = (column.min(), column.max())
        {
            range = Some(range.map_or((min, max), |(least, most)| (least.min(min), most.max(max))));
        }
    }
    let resolution = source.resolution();
    let in_millis = range.map(|(min, max)| (resolution.millis(min), resolution.millis(max)));
    let with = |(min, max): (i64, i64)| missing.map_or((min, max), |own| (min.min(own), max.max(own)));
    Ok(in_millis.map(with))
}

impl<'s> Collector<'s> for HistogramCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.collect_one(entries)? {
            return Ok(());
        }
        if self.reader.has_one_at_most() && self.takes_slots(entries)? {
            return self.collect_key_indexes(entries);
        }
        let request = self.request;
        let positions = self.reader.load_doubles(entries.docs, &mut self.doubles)?;
        self.numbers.clear();
        self.numbers.extend(self.doubles.iter().map(|value| request.number(*value)));
        if self.buckets.collect_keys(&self.numbers, positions, entries, |number| request.allows(number))? {
            return Ok(());
        }
        let values = Values { values: self.numbers.as_slice(), positions };
        // The values of a document ascend, so equal buckets are adjacent and are counted once.
        let (mut last_entry, mut last_number) = (usize::MAX, i64::MIN);
        self.buckets.collect(&values, entries, |entry, number| {
            if (entry == last_entry && number == last_number) || !request.allows(number) {
                return None;
            }
            (last_entry, last_number) = (entry, number);
            Some(number)
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
        self.buckets.take_findings()
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        self.buckets.absorb(findings, bucket_of)
    }

    fn bucket_count(&self) -> Option<u64> {
        Some(self.buckets.table.len() as u64)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        keyed_partials(&self.buckets.table, &mut self.buckets.subs, buckets)
    }
}

/// Makes the buckets of every parent, by ascending key.
pub fn keyed_partials(table: &BucketTable, subs: &mut Subs<'_>, parents: &[u32]) -> Result<Vec<Partial>> {
    let mut lists = table.by_parent(parents);
    for list in &mut lists {
        list.sort_unstable_by_key(|&bucket| table.key(bucket));
    }
    let all: Vec<u32> = lists.iter().flatten().copied().collect();
    let mut results = subs.finish_keyed(&all, |bucket| table.key(bucket))?.into_iter();
    let bucket = |bucket: u32, subs: Vec<Partial>| KeyedBucket {
        key: table.key(bucket),
        doc_count: table.counts[bucket as usize],
        subs,
    };
    Ok(lists
        .iter()
        .map(|list| {
            let buckets = list.iter().map(|&number| bucket(number, results.next().unwrap_or_default()));
            Partial::Histogram(buckets.collect())
        })
        .collect())
}
