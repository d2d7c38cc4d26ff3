//! `ip_range`: ranges of addresses. Source: Elasticsearch's `IpRangeAggregationBuilder`,
//! `BinaryRangeAggregator`, `InternalBinaryRange`.

use limber_mapping::RequestError;
use limber_mapping::ip::{self, IpBytes};
use limber_segment::SegmentView;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Partial, with_places};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Shape;
use super::super::buckets::entries::{Emitted, Entries, Pace, Values};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions, unknown_field};
use super::super::source::{Accepts, ComputedTerms, OrdinalReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::filter::fixed_partials;
use crate::error::Result;
use crate::values::json;

/// Largest number of ranges of one aggregation.
const RANGE_COUNT_MAX: usize = 10_000;

/// A range of addresses: `from` is included, `to` is excluded, and a missing end is open.
#[derive(Debug, Clone, PartialEq)]
struct IpRange {
    key: String,
    from: Option<IpBytes>,
    to: Option<IpBytes>,
}

/// The options of an `ip_range`: ranges of addresses, each of which is a bucket.
#[derive(Debug, Clone)]
pub struct IpRanges {
    values: ValuesOptions,
    /// Sorted by start, then by end.
    ranges: Vec<IpRange>,
    keyed: bool,
}

impl IpRanges {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take("ranges") {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(options.wrong_type("ranges", &other)),
        };
        if list.len() > RANGE_COUNT_MAX {
            return Err(options.refused("ranges", format!("more than {RANGE_COUNT_MAX} ranges")));
        }
        let mut ranges = Vec::with_capacity(list.len());
        for range in list {
            ranges.push(parse_range(range).map_err(|cause| options.failed("ranges", cause))?);
        }
        if ranges.is_empty() {
            return Err(RequestError::illegal_argument(format!(
                "No [ranges] specified for the [{}] aggregation",
                options.name
            )));
        }
        ranges.sort_by(|left, right| {
            // An open start comes first, an open end last.
            let ends = (left.to.is_none(), left.to).cmp(&(right.to.is_none(), right.to));
            left.from.cmp(&right.from).then(ends)
        });
        let keyed = options.boolean("keyed")?.unwrap_or(false);
        Ok(Kind::own(IpRanges { values: ValuesOptions::parse(options)?, ranges, keyed }))
    }
}

fn parse_range(range: Value) -> std::result::Result<IpRange, RequestError> {
    let Value::Object(members) = range else {
        let reason =
            format!("[ip_range] Malformed, expected [START_OBJECT] but got [{}]", json::token(&range));
        return Err(RequestError::parsing(reason));
    };
    let (mut key, mut from, mut to, mut mask) = (None, None, None, None);
    for (name, value) in members {
        let place = match name.as_str() {
            "key" => &mut key,
            "from" => &mut from,
            "to" => &mut to,
            "mask" => &mut mask,
            _ => return Err(unknown_field("range", &name)),
        };
        *place = match value {
            Value::Null => None,
            value => Some(json::text(&value)?),
        };
    }
    if let Some(mask) = mask {
        let (first, last) = ip::parse_cidr(&mask).ok_or_else(|| {
            RequestError::illegal_argument(format!("Expected [ip/prefix] but was [{mask}]"))
        })?;
        let to = ip::next(&last);
        let from = (first != [0; 16]).then_some(first);
        return Ok(IpRange { key: key.unwrap_or(mask), from, to });
    }
    let address = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => ip::parse(text.as_bytes())
            .map(Some)
            .ok_or_else(|| RequestError::illegal_argument(format!("'{text}' is not an IP string literal."))),
    };
    let (first, end) = (address(&from)?, address(&to)?);
    let shown = |end: &Option<IpBytes>| end.as_ref().map_or_else(|| "*".to_owned(), ip::format);
    let key = key.unwrap_or_else(|| format!("{}-{}", shown(&first), shown(&end)));
    Ok(IpRange { key, from: first, to: end })
}

impl IpRange {
    fn contains(&self, address: &[u8]) -> bool {
        self.from.is_none_or(|from| address >= &from[..]) && self.to.is_none_or(|to| address < &to[..])
    }
}

impl Request for IpRanges {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Addresses)]
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for IpRanges {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &context.bound.sources()[0];
        let missing = source.missing_term()?;
        Ok(Box::new(IpRangeCollector {
            ranges: &self.ranges,
            source,
            reader: OrdinalReader::new(source.path(), missing.is_some()),
            made: match source.computes_terms() {
                true => Some(ComputedTerms::new(source)?),
                false => None,
            },
            missing,
            spans: Vec::new(),
            counts: Vec::new(),
            counted: vec![0; self.ranges.len()],
            subs: context.subs,
            emitted: Emitted::default(),
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for IpRanges {
    type Finding = Vec<Bucket>;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Vec<Bucket>>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Vec<Bucket>> {
        reducer.fixed(own, parts, self.ranges.len())
    }
}

impl Render for IpRanges {
    fn bucket_text(&self, place: usize, _: &Shape) -> Result<Option<String>> {
        self.ranges.get(place).map(|range| claimed::name(&range.key)).transpose()
    }

    fn render(&self, buckets: &Vec<Bucket>, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let with_ranges =
            with_places(buckets).filter_map(|(place, bucket)| Some((self.ranges.get(place)?, bucket)));
        out.buckets(self.keyed, |buckets| {
            for (range, bucket) in with_ranges {
                buckets.add(&range.key, |out| {
                    if !self.keyed {
                        out.insert("key", &range.key)?;
                    }
                    for (name, end) in [("from", &range.from), ("to", &range.to)] {
                        if let Some(end) = end {
                            out.insert(name, &ip::format(end))?;
                        }
                    }
                    renderer.bucket(bucket.doc_count, &bucket.subs, out)
                })?;
            }
            Ok(())
        })
    }
}

#[derive(Debug)]
struct IpRangeCollector<'s> {
    ranges: &'s [IpRange],
    source: &'s Source,
    reader: OrdinalReader<'s>,
    /// The values of a runtime field.
    made: Option<ComputedTerms<'s>>,
    missing: Option<Vec<u8>>,
    /// For each range: the ordinals of this segment that lie in it, and whether the replacement for missing
    /// values does.
    spans: Vec<(std::ops::Range<u32>, bool)>,
    counts: Vec<u64>,
    /// For each range, the last counted entry plus one: a document counts once in a range.
    counted: Vec<usize>,
    subs: Subs<'s>,
    emitted: Emitted,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for IpRangeCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        if let Some(made) = &mut self.made {
            made.begin(&view.segment)?;
            return self.subs.begin_segment(view);
        }
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        let terms = match self.source.is_mapped() {
            true => view.segment.terms(self.source.path())?,
            false => None,
        };
        let place = |end: &Option<IpBytes>, open: u32| -> Result<u32> {
            match (end, terms) {
                (Some(end), Some(terms)) => {
                    Ok(terms.ordinal(end)?.map_or_else(|place| place as u32, |ordinal| ordinal as u32))
                }
                _ => Ok(open),
            }
        };
        let count = terms.map_or(0, |terms| terms.len() as u32);
        self.spans.clear();
        for range in self.ranges {
            let has_missing = self.missing.as_deref().is_some_and(|missing| range.contains(missing));
            self.spans.push((place(&range.from, 0)?..place(&range.to, count)?, has_missing));
        }
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let width = self.ranges.len();
        let bucket_count = entries.bucket_count * width;
        if bucket_count > self.counts.len() {
            self.budget.spend((bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(bucket_count, 0);
        }
        self.emitted.clear();
        self.counted.fill(0);
        let mut pace = Pace::default();
        if let Some(made) = &mut self.made {
            let loaded = made.load(entries.docs)?;
            let values = Values { values: loaded.numbers, positions: Some(&loaded.terms.positions) };
            let (ranges, counts, counted, emitted) =
                (self.ranges, &mut self.counts, &mut self.counted, &mut self.emitted);
            values.try_join(entries, &mut self.starts, |entry, parent, number| {
                pace.step(ranges.len())?;
                let term = loaded.terms.term(number as usize);
                for (place, range) in ranges.iter().enumerate() {
                    if range.contains(term) && counted[place] != entry + 1 {
                        counted[place] = entry + 1;
                        let bucket = parent as usize * width + place;
                        counts[bucket] += 1;
                        emitted.push(entry, bucket as u32)?;
                    }
                }
                Ok(())
            })?;
            if !self.subs.is_empty() {
                self.subs.collect(&self.emitted.batch(entries, bucket_count)?)?;
            }
            return Ok(());
        }
        let missing_ordinal = self.reader.missing_ordinal();
        let values = self.reader.load(entries.docs)?;
        let (spans, counts, counted, emitted) =
            (&self.spans, &mut self.counts, &mut self.counted, &mut self.emitted);
        values.try_join(entries, &mut self.starts, |entry, parent, ordinal| {
            pace.step(spans.len())?;
            let is_missing = Some(ordinal) == missing_ordinal;
            for (range, (span, has_missing)) in spans.iter().enumerate() {
                let is_inside = if is_missing { *has_missing } else { span.contains(&ordinal) };
                if is_inside && counted[range] != entry + 1 {
                    counted[range] = entry + 1;
                    let bucket = parent as usize * width + range;
                    counts[bucket] += 1;
                    emitted.push(entry, bucket as u32)?;
                }
            }
            Ok(())
        })?;
        if !self.subs.is_empty() {
            self.subs.collect(&self.emitted.batch(entries, bucket_count)?)?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        fixed_partials(&self.counts, self.ranges.len(), &mut self.subs, buckets)
    }
}
