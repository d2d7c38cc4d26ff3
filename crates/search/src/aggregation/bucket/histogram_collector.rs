//! `histogram` at work.

use limber_segment::SegmentView;

use super::super::bucket_table::BucketTable;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::entries::{Entries, Values};
use super::super::keyed_buckets::KeyedBuckets;
use super::super::partial::{KeyedBucket, Partial};
use super::super::source::{NumberReader, Source};
use super::histogram::Histogram;
use crate::context::ShardSnapshot;
use crate::error::Result;

#[derive(Debug)]
pub struct HistogramCollector<'s> {
    request: &'s Histogram,
    source: &'s Source,
    reader: NumberReader<'s>,
    buckets: KeyedBuckets<'s>,
    doubles: Vec<f64>,
    known: KnownBuckets,
    budget: &'s Budget,
}

/// Bucket + 1 under parent 0 by stored number, where those are within a narrow range: a division less a value. 0: not met yet.
#[derive(Debug, Default)]
struct KnownBuckets {
    first: i64,
    buckets: Vec<u32>,
    /// What `buckets` says of each document of the batch at hand.
    of_batch: Vec<u32>,
}

impl KnownBuckets {
    const WIDTH_MAX: u64 = 1 << 16;
    /// The value's bucket is not wanted.
    const REFUSED: u32 = u32::MAX;

    fn new(range: Option<(i64, i64)>, budget: &Budget) -> Result<KnownBuckets> {
        match range {
            Some((first, last)) if last.abs_diff(first) < Self::WIDTH_MAX => {
                let width = last.abs_diff(first) + 1;
                budget.spend(width * 4)?;
                Ok(KnownBuckets { first, buckets: vec![0; width as usize], of_batch: Vec::new() })
            }
            _ => Ok(KnownBuckets::default()),
        }
    }
}

impl<'s> HistogramCollector<'s> {
    pub fn new(
        request: &'s Histogram,
        source: &'s Source,
        subs: Subs<'s>,
        shard: &ShardSnapshot,
        budget: &'s Budget,
    ) -> Result<HistogramCollector<'s>> {
        let reader = NumberReader::new(source)?;
        let stored = stored_range(source, shard)?;
        let known = KnownBuckets::new(stored, budget)?;
        let range =
            stored.map(|(min, max)| (request.number(source.decode(min)), request.number(source.decode(max))));
        Ok(HistogramCollector {
            request,
            source,
            reader,
            buckets: KeyedBuckets::new(BucketTable::with_range(range, budget)?, subs, budget),
            doubles: Vec::new(),
            known,
            budget,
        })
    }

    /// Takes documents that have one value each, all under one parent, by what is known of their stored numbers.
    fn collect_known(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (request, source) = (self.request, self.source);
        let KnownBuckets { first, buckets: known, of_batch } = &mut self.known;
        let values = self.reader.load(entries.docs)?;
        // In range: it is that of all the shard's values.
        let place = |stored: i64| stored.wrapping_sub(*first) as usize;
        of_batch.clear();
        of_batch.extend(values.values.iter().map(|&stored| known[place(stored)]));
        for (bucket, &stored) in of_batch.iter_mut().zip(values.values) {
            if *bucket == 0 {
                // The value may have come in this very batch.
                let known = &mut known[place(stored)];
                if *known == 0 {
                    let number = request.number(source.decode(stored));
                    *known = match request.allows(number) {
                        true => self.buckets.table.bucket(0, number, self.budget)? + 1,
                        false => KnownBuckets::REFUSED,
                    };
                }
                *bucket = *known;
            }
        }
        if !of_batch.contains(&KnownBuckets::REFUSED) {
            return self.buckets.collect_each(of_batch.iter().map(|bucket| bucket - 1), entries);
        }
        self.buckets.begin();
        for (entry, &bucket) in of_batch.iter().enumerate() {
            if bucket != KnownBuckets::REFUSED {
                self.buckets.add(entry, bucket - 1);
            }
        }
        self.buckets.hand_on(entries)
    }
}

/// Smallest and largest stored number of a field in a shard's segments; dates in milliseconds.
pub fn stored_range(source: &Source, shard: &ShardSnapshot) -> Result<Option<(i64, i64)>> {
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
    Ok(range.map(|(min, max)| (resolution.millis(min), resolution.millis(max))))
}

impl<'s> Collector<'s> for HistogramCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let request = self.request;
        // All documents of the window may be in one bucket.
        if self.buckets.subs.is_empty()
            && entries.is_single_bucket()
            && let Some((min, max)) = self.reader.window_range(entries.docs[0])?
        {
            let (first, last) =
                (request.number(self.source.decode(min)), request.number(self.source.decode(max)));
            if first == last {
                if request.allows(first) {
                    let bucket = self.buckets.table.bucket(0, first, self.budget)?;
                    self.buckets.table.counts[bucket as usize] += entries.docs.len() as u64;
                }
                return Ok(());
            }
        }
        if entries.is_single_bucket() && self.reader.is_single() && !self.known.buckets.is_empty() {
            return self.collect_known(entries);
        }
        let stored = self.reader.load(entries.docs)?;
        self.source.decode_all(stored.values, &mut self.doubles);
        let values = Values { values: self.doubles.as_slice(), positions: stored.positions };
        if self.buckets.subs.is_empty()
            && values.positions.is_none()
            && entries.is_single_bucket()
            && !request.has_hard_bounds()
            && let Some((first, tally)) = self.buckets.table.tally(self.budget)?
        {
            for &value in values.values {
                if let Some(count) = tally.get_mut(request.number(value).wrapping_sub(first) as usize) {
                    *count += 1;
                }
            }
            return Ok(());
        }
        // Values of a document ascend: equal buckets follow one another and count once.
        let (mut last_entry, mut last_number) = (usize::MAX, i64::MIN);
        self.buckets.collect(&values, entries, |entry, value| {
            let number = request.number(value);
            if (entry == last_entry && number == last_number) || !request.allows(number) {
                return None;
            }
            (last_entry, last_number) = (entry, number);
            Some(number)
        })
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.subs.end_segment()
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.buckets.table.settle(self.budget)?;
        keyed_partials(&self.buckets.table, &mut self.buckets.subs, buckets)
    }
}

/// The buckets of every parent by ascending key.
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
