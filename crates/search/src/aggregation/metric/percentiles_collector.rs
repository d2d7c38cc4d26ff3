//! The collector of `percentiles` and `percentile_ranks`.

use std::cell::RefCell;

use limber_mapping::RequestError;
use limber_mapping::number::java_double;
use limber_segment::SegmentView;

use super::super::answer::partial::Partial;
use super::super::buckets::entries::{Entries, Values};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::CollectorContext;
use super::super::findings::Findings;
use super::super::source::{NumberReader, Source};
use super::distribution::Distribution;
use super::percentiles::Percentiles;
use super::value_counts::ValueCounts;
use crate::error::Result;

/// Collects the values of each bucket in a distribution.
#[derive(Debug)]
pub struct PercentilesCollector<'s> {
    request: &'s Percentiles,
    source: &'s Source,
    reader: NumberReader<'s>,
    /// Indexed by bucket; made at the bucket's first value.
    distributions: RefCell<Vec<Option<Box<Distribution>>>>,
    /// Counted values that have not been added to the distributions yet.
    counts: ValueCounts<'s>,
    /// Whether there is only one parent bucket.
    is_alone: bool,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    /// The bytes charged for each bucket; `touched`: the buckets that got values in this batch.
    charged_bytes: Vec<u64>,
    touched: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> PercentilesCollector<'s> {
    pub(crate) fn new(
        request: &'s Percentiles,
        source: &'s Source,
        context: &CollectorContext<'s>,
    ) -> Result<PercentilesCollector<'s>> {
        let budget = context.budget;
        Ok(PercentilesCollector {
            request,
            source,
            reader: NumberReader::new(source)?,
            distributions: RefCell::default(),
            counts: ValueCounts::new(source, context.shard, budget)?,
            is_alone: context.is_alone,
            doubles: Vec::new(),
            starts: Vec::new(),
            charged_bytes: Vec::new(),
            touched: Vec::new(),
            budget,
        })
    }

    fn grow(&mut self, bucket_count: usize) -> Result<()> {
        let distributions = self.distributions.get_mut();
        if bucket_count > distributions.len() {
            self.budget.spend((bucket_count - distributions.len()) as u64 * 16)?;
            distributions.resize_with(bucket_count, || None);
            self.charged_bytes.resize(bucket_count, 0);
        }
        Ok(())
    }

    /// Adds the counted values to the distributions.
    fn flush_counts(&mut self) -> Result<()> {
        let (source, request, distributions) = (self.source, self.request, self.distributions.get_mut());
        let touched = &mut self.touched;
        self.counts.each(|bucket, counted| {
            touched.push(bucket);
            if bucket as usize >= distributions.len() {
                distributions.resize_with(bucket as usize + 1, || None);
            }
            let own = distributions[bucket as usize].get_or_insert_with(|| Box::new(request.empty()));
            let decoded = counted.iter().map(|&(value, count)| (source.decode(value), count));
            if own.add_counted(decoded) { Ok(()) } else { Err(negative().into()) }
        })?;
        let bucket_count = self.distributions.get_mut().len();
        self.charged_bytes.resize(bucket_count.max(self.charged_bytes.len()), 0);
        self.charge()
    }

    /// Charges the growth of this batch. Until then, the values of at most 4,096 documents are not charged.
    fn charge(&mut self) -> Result<()> {
        self.touched.sort_unstable();
        self.touched.dedup();
        for &bucket in &self.touched {
            let Some(own) = &self.distributions.get_mut()[bucket as usize] else { continue };
            let (bytes, charged) =
                (own.bytes() + size_of::<Distribution>() as u64, &mut self.charged_bytes[bucket as usize]);
            if bytes > *charged {
                self.budget.spend(bytes - *charged)?;
                *charged = bytes;
            }
        }
        self.touched.clear();
        Ok(())
    }
}

impl<'s> Collector<'s> for PercentilesCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.reader.set_scores(entries.scores);
        self.grow(entries.bucket_count)?;
        if self.counts.takes(entries.bucket_count)? {
            return self.counts.add(&self.reader.load(entries.docs)?, entries, &mut self.starts);
        }
        let positions = self.reader.load_doubles(entries.docs, &mut self.doubles)?;
        // Fields hold finite values only.
        if self.source.script.is_some()
            && let Some(value) = self.doubles.iter().find(|value| !value.is_finite())
        {
            let reason = format!("Invalid value: {}", java_double(*value));
            return Err(RequestError::illegal_argument(reason).into());
        }
        let values = Values { values: self.doubles.as_slice(), positions };
        let (distributions, touched, request) =
            (self.distributions.get_mut(), &mut self.touched, self.request);
        let mut is_refused = false;
        if let Some(bucket) = entries.only_bucket().filter(|_| !values.values.is_empty()) {
            touched.push(bucket);
            let own = distributions[bucket as usize].get_or_insert_with(|| Box::new(request.empty()));
            return match own.add_all(values.values) {
                true => self.charge(),
                false => Err(negative().into()),
            };
        }
        values.join(entries, &mut self.starts, |_, bucket, value| {
            if touched.last() != Some(&bucket) {
                touched.push(bucket);
            }
            let own = distributions[bucket as usize].get_or_insert_with(|| Box::new(request.empty()));
            is_refused |= !own.add(value);
        })?;
        if is_refused {
            return Err(negative().into());
        }
        self.charge()
    }

    fn can_split(&self) -> bool {
        // A digest depends on the order in which values are added; counts do not.
        self.is_alone && self.counts.takes_one()
    }

    fn takes_windows_again(&self) -> bool {
        self.counts.takes_one()
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Counted(Box::new(self.counts.take())))
    }

    fn absorb(&mut self, findings: Findings, _: &[u32]) -> Result<()> {
        let Findings::Counted(counted) = findings else { unreachable!("findings of another collector") };
        self.counts.absorb(*counted)
    }

    fn settle(&mut self) -> Result<()> {
        self.flush_counts()
    }

    fn order_value(&self, _path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        let mut distributions = self.distributions.borrow_mut();
        let Some(Some(own)) = distributions.get_mut(bucket as usize) else { return f64::NAN };
        own.prepare();
        self.request.order_value(own, value)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.flush_counts()?;
        let distributions = self.distributions.get_mut();
        let mut take = |bucket: u32| distributions.get_mut(bucket as usize).and_then(Option::take);
        let empty = || Box::new(self.request.empty());
        Ok(buckets.iter().map(|&bucket| Partial::Distribution(take(bucket).unwrap_or_else(empty))).collect())
    }
}

/// Returns the error about a value that an HDR histogram cannot store.
pub(super) fn negative() -> RequestError {
    RequestError::bad_request(
        "illegal_argument_exception",
        "Negative values are not supported by HDR aggregation",
    )
}
