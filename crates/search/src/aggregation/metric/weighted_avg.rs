//! `weighted_avg`: the mean of one field weighted by another. Source: Elasticsearch's
//! `WeightedAvgAggregator`.

use limber_mapping::RequestError;
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::order::OrderValues;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Bound;
use super::super::buckets::entries::{Entries, Values};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::kahan::KahanSum;
use super::numeric::single;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Names of numeric types. Source: `ValueType#lenientParse`.
const VALUE_TYPES: [&str; 10] =
    ["double", "float", "long", "integer", "short", "byte", "number", "numeric", "date", "boolean"];

/// The options of a `weighted_avg`: the field of the values and that of their weights.
#[derive(Debug, Clone)]
pub struct WeightedAvg {
    value: ValuesOptions,
    weight: ValuesOptions,
}

impl WeightedAvg {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let format = options.text("format")?;
        // Says how values are read that have no field, of which there are none here.
        if let Some(kind) = options.text("value_type")?
            && !VALUE_TYPES.contains(&kind.as_str())
        {
            let cause = RequestError::illegal_argument(format!("Unknown value type [{kind}]"));
            return Err(options.failed("value_type", cause));
        }
        let mut part = |name: &'static str| {
            let Some(map) = options.object(name)? else { return Ok(None) };
            let mut own = Options::new("weighted_avg", &options.name, map);
            if own.has("value_type") {
                return Err(
                    options.failed(name, super::super::options::unknown_field("field_config", "value_type"))
                );
            }
            let values = ValuesOptions::parse(&mut own).and_then(|values| own.finish().map(|()| values));
            values.map(Some).map_err(|cause| options.failed(name, cause))
        };
        let (value, weight) = (part("value")?, part("weight")?);
        if let Some(option) = options.first_left() {
            return Err(super::super::options::unknown_field(options.kind, option));
        }
        match (value, weight) {
            (Some(value), Some(weight)) => {
                let value = ValuesOptions { format: format.or(value.format), ..value };
                Ok(Kind::own(WeightedAvg { value, weight }))
            }
            (value, _) => {
                let missing = if value.is_none() { "value" } else { "weight" };
                Err(RequestError::illegal_argument(format!(
                    "Could not find field name [{missing}] in multiValuesSource"
                )))
            }
        }
    }
}

/// The sums of one bucket.
#[derive(Debug, Clone, Copy, Default)]
pub struct WeightedSums {
    weighted: KahanSum,
    weights: KahanSum,
}

impl OwnFinding for WeightedSums {}

impl WeightedSums {
    fn avg(&self) -> f64 {
        self.weighted.value / self.weights.value
    }
}

impl Request for WeightedAvg {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.value, Accepts::Anything), (&self.weight, Accepts::Anything)]
    }

    fn check_on_shard(&self, bound: &Bound, _: &ShardSnapshot) -> Result<()> {
        let fields = bound.sources().iter().filter_map(|source| source.field.as_ref());
        match fields.into_iter().find(|field| !field.is_numeric()) {
            None => Ok(()),
            Some(field) => Err(RequestError::illegal_argument(format!(
                "Expected numeric type on field [{}], but got [{}]",
                field.path,
                field.type_name()
            ))
            .into()),
        }
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::One
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for WeightedAvg {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let [value, weight] = [0, 1].map(|part| &context.bound.sources()[part]);
        Ok(Box::new(WeightedCollector {
            value: (value, NumberReader::new(value)?),
            weight: (weight, NumberReader::new(weight)?),
            weights: Vec::new(),
            doubles: Vec::new(),
            sums: Vec::new(),
            stored: Vec::new(),
            is_exact: false,
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for WeightedAvg {
    type Finding = WeightedSums;

    fn reduce(&self, _: &Aggregation, parts: Vec<WeightedSums>, _: &mut Reducer<'_>) -> Result<WeightedSums> {
        let mut all = WeightedSums::default();
        for part in parts.into_iter() {
            all.weighted.add(part.weighted.value);
            all.weights.add(part.weights.value);
        }
        Ok(all)
    }
}

impl Render for WeightedAvg {
    fn render(&self, finding: &WeightedSums, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let avg = finding.avg();
        single(out, avg, !avg.is_nan(), &renderer.shape.format)
    }

    fn number(&self, finding: &WeightedSums, _: Option<&str>) -> Option<f64> {
        Some(finding.avg())
    }
}

/// From this number of documents of one bucket on, sums are computed in several lanes. Their rounding
/// differs.
const LANES_FROM: usize = 512;

/// Upper bound of sums of stored numbers, within which they are exact.
const EXACT_SUM_MAX: u128 = 1 << 62;

/// The least number of values of a segment for which values with a factor are added as they are stored; see
/// `numeric_collector`.
const FACTOR_VALUES_MIN: u64 = 1024;

/// The sums of stored numbers of one bucket in the current segment.
#[derive(Debug, Clone, Copy, Default)]
struct StoredSums {
    weighted: i64,
    weights: i64,
}

/// Stands for the weight of a document that has several; no field can have this value.
const SEVERAL: f64 = f64::NEG_INFINITY;

#[derive(Debug)]
struct WeightedCollector<'s> {
    value: (&'s Source, NumberReader<'s>),
    weight: (&'s Source, NumberReader<'s>),
    /// The weight of each document in a batch; NaN if it has none.
    weights: Vec<f64>,
    doubles: Vec<f64>,
    sums: Vec<WeightedSums>,
    /// Indexed by bucket, while the current segment's numbers are added as they are stored.
    stored: Vec<StoredSums>,
    is_exact: bool,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl WeightedCollector<'_> {
    /// Whether the products of the current segment's stored numbers, one for each document, can be added
    /// without overflow.
    fn takes_exact(&self) -> bool {
        let size = |(source, reader): &(&Source, NumberReader<'_>)| {
            let column = reader.column().filter(|_| reader.is_single() && source.is_linear())?;
            let is_alike = source.factor() == 1.0 || column.value_count() >= FACTOR_VALUES_MIN;
            let ends = [column.min()?, column.max()?].map(|end| source.resolution().millis(end));
            is_alike.then(|| {
                (u128::from(ends[0].unsigned_abs().max(ends[1].unsigned_abs())), column.value_count())
            })
        };
        match (size(&self.value), size(&self.weight)) {
            (Some((value, count)), Some((weight, _))) => {
                // The weights alone come first: where they are small, the products cannot overflow either.
                weight * u128::from(count) < EXACT_SUM_MAX
                    && value * weight.max(1) * u128::from(count) < EXACT_SUM_MAX
            }
            _ => false,
        }
    }

    /// Collects a batch in which every document has one value and one weight.
    fn collect_exact(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.stored.len() {
            self.budget
                .spend(((entries.bucket_count - self.stored.len()) * size_of::<StoredSums>()) as u64)?;
            self.stored.resize(entries.bucket_count, StoredSums::default());
        }
        let weights = self.weight.1.load(entries.docs)?.values;
        let values = self.value.1.load(entries.docs)?.values;
        let pairs = values.iter().zip(weights);
        let stored = &mut self.stored;
        if let Some(bucket) = entries.only_bucket() {
            let add = |(weighted, all): (i64, i64), (value, weight): (&i64, &i64)| {
                (weighted.wrapping_add(value.wrapping_mul(*weight)), all.wrapping_add(*weight))
            };
            let (weighted, all) = pairs.fold((0, 0), add);
            stored[bucket as usize].weighted += weighted;
            stored[bucket as usize].weights += all;
        } else if let (None, Some(buckets)) = (entries.positions, entries.buckets) {
            for ((value, weight), &bucket) in pairs.zip(buckets) {
                stored[bucket as usize].weighted += value * weight;
                stored[bucket as usize].weights += weight;
            }
        } else {
            for entry in 0..entries.len() {
                let (position, sums) = (entries.position(entry), &mut stored[entries.bucket(entry) as usize]);
                sums.weighted += values[position] * weights[position];
                sums.weights += weights[position];
            }
        }
        Ok(())
    }

    /// Converts the sums of stored numbers to doubles.
    fn settle_stored(&mut self) {
        let (value, weight) = (self.value.0.factor(), self.weight.0.factor());
        for (sums, stored) in self.sums.iter_mut().zip(&mut self.stored) {
            sums.weighted.add(stored.weighted as f64 / (value * weight));
            sums.weights.add(stored.weights as f64 / weight);
            *stored = StoredSums::default();
        }
    }
}

impl<'s> Collector<'s> for WeightedCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.value.1.begin(&view.segment, self.value.0.is_mapped())?;
        self.weight.1.begin(&view.segment, self.weight.0.is_mapped())?;
        self.is_exact = self.takes_exact();
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.sums.len() {
            let more = (entries.bucket_count - self.sums.len()) as u64;
            self.budget.spend(more * size_of::<WeightedSums>() as u64)?;
            self.sums.resize(entries.bucket_count, WeightedSums::default());
        }
        if self.is_exact {
            return self.collect_exact(entries);
        }
        let stored = self.weight.1.load(entries.docs)?;
        self.weight.0.decode_all(stored.values, &mut self.doubles);
        if stored.positions.is_none()
            && entries.docs.len() >= LANES_FROM
            && let Some(bucket) = entries.only_bucket()
            && self.value.1.is_single()
        {
            // Every document has exactly one value and one weight.
            std::mem::swap(&mut self.doubles, &mut self.weights);
            self.value.0.decode_all(self.value.1.load(entries.docs)?.values, &mut self.doubles);
            self.doubles.iter_mut().zip(&self.weights).for_each(|(value, weight)| *value *= weight);
            let sums = &mut self.sums[bucket as usize];
            sums.weighted.add_all(&self.doubles);
            sums.weights.add_all(&self.weights);
            return Ok(());
        }
        self.weights.clear();
        self.weights.resize(entries.docs.len(), f64::NAN);
        let mut last = usize::MAX;
        for (at, &weight) in self.doubles.iter().enumerate() {
            let position = stored.positions.map_or(at, |positions| positions[at] as usize);
            (self.weights[position], last) = (if position == last { SEVERAL } else { weight }, position);
        }
        let stored = self.value.1.load(entries.docs)?;
        self.value.0.decode_all(stored.values, &mut self.doubles);
        let values = Values { values: self.doubles.as_slice(), positions: stored.positions };
        let (sums, weights) = (&mut self.sums, &self.weights);
        let mut is_refused = false;
        values.join(entries, &mut self.starts, |entry, bucket, value| {
            let weight = weights[entries.position(entry)];
            is_refused |= weight == SEVERAL;
            if !weight.is_nan() {
                sums[bucket as usize].weighted.add(value * weight);
                sums[bucket as usize].weights.add(weight);
            }
        })?;
        if is_refused {
            return Err(RequestError::illegal_argument(
                "Encountered more than one weight for a single document. Use a script to combine multiple weights-per-doc into a single value.",
            )
            .into());
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.settle_stored();
        Ok(())
    }

    fn can_split(&self) -> bool {
        true
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Weighted(std::mem::take(&mut self.sums)))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Weighted(sums) = findings else { unreachable!("findings of another collector") };
        let most = bucket_of[..sums.len()].iter().max().map_or(0, |most| *most as usize + 1);
        if most > self.sums.len() {
            self.budget.spend(((most - self.sums.len()) * size_of::<WeightedSums>()) as u64)?;
            self.sums.resize(most, WeightedSums::default());
        }
        for (other, &bucket) in sums.iter().zip(bucket_of) {
            self.sums[bucket as usize].weighted.add_sum(&other.weighted);
            self.sums[bucket as usize].weights.add_sum(&other.weights);
        }
        Ok(())
    }

    fn order_value(&self, _: &[String], _: Option<&str>, bucket: u32) -> f64 {
        self.sums.get(bucket as usize).map_or(f64::NAN, WeightedSums::avg)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let sums = |bucket: u32| self.sums.get(bucket as usize).copied().unwrap_or_default();
        Ok(buckets.iter().map(|&bucket| Finding::into_partial(sums(bucket))).collect())
    }
}
