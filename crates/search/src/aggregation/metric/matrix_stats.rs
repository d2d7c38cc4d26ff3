//! `matrix_stats`: moments, covariances and correlations of several fields. Source: Elasticsearch's
//! `MatrixStatsAggregator`, `RunningStats`. The update formulas are those of Pébay, "Formulas for Robust,
//! One-Pass Parallel Computation of Covariances and Arbitrary-Order Statistical Moments".

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use serde_json::{Map, Value};

use super::super::answer::members::Members;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::super::values::format::double;
use crate::error::Result;
use crate::values::json;

/// Largest number of fields of one aggregation; every bucket has a state for each pair of them.
const FIELD_COUNT_MAX: usize = 100;

/// Which value represents a document with several values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Avg,
    Min,
    Max,
    Sum,
    Median,
}

/// The options of a `matrix_stats`: the fields, and the mode for several values.
#[derive(Debug, Clone)]
pub struct MatrixStats {
    /// Sorted by name.
    fields: Vec<ValuesOptions>,
    mode: Mode,
}

impl MatrixStats {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let given = options.take("fields");
        let is_empty_list = given.as_ref().is_some_and(|given| given == &Value::Array(Vec::new()));
        let names: Vec<String> = match given {
            Some(Value::Array(list)) => {
                let wrong = list.iter().find(|one| !one.is_string() && !one.is_number());
                if let Some(wrong) = wrong {
                    let (token, name) = (json::token(wrong), &options.name);
                    return Err(RequestError::parsing(format!(
                        "Unexpected token {token} [fields] in [{name}]."
                    )));
                }
                list.iter().filter_map(json::scalar_text).collect()
            }
            Some(Value::String(one)) => vec![one],
            Some(other) => return Err(options.wrong_type("fields", &other)),
            None => Vec::new(),
        };
        if (names.is_empty() && !is_empty_list) || names.len() > FIELD_COUNT_MAX {
            return Err(RequestError::illegal_argument(format!(
                "[matrix_stats] aggregation [{}] needs 1 to {FIELD_COUNT_MAX} [fields]",
                options.name
            )));
        }
        let missing = options.object("missing")?.unwrap_or_default();
        if let Some(name) = missing.keys().find(|name| !names.contains(name)) {
            return Err(options
                .refused("missing", format!("[missing] names the field [{name}] that is not in [fields]")));
        }
        let mode = match options.text("mode")?.map(|mode| mode.to_ascii_lowercase()).as_deref() {
            None | Some("avg") => Mode::Avg,
            Some("min") => Mode::Min,
            Some("max") => Mode::Max,
            Some("sum") => Mode::Sum,
            Some("median") => Mode::Median,
            Some(other) => return Err(RequestError::illegal_argument(format!("Unknown SortMode [{other}]"))),
        };
        let mut fields: Vec<ValuesOptions> = names
            .into_iter()
            .map(|field| ValuesOptions {
                missing: missing.get(&field).cloned(),
                field,
                ..ValuesOptions::default()
            })
            .collect();
        fields.sort_by(|left, right| left.field.cmp(&right.field));
        Ok(Kind::own(MatrixStats { fields, mode }))
    }
}

/// Moments of the documents of one bucket that have a value in all fields that the shard maps.
#[derive(Debug, Clone)]
pub struct Moments {
    doc_count: u64,
    /// Number of documents by field; 0 for a field that no shard maps.
    counts: Vec<f64>,
    means: Vec<f64>,
    /// Sums of the second, third and fourth powers of the differences from the mean.
    powers: Vec<[f64; 3]>,
    /// Sums of products of the differences from the means, at `first * width + second`, where first is less
    /// than second.
    products: Vec<f64>,
}

impl OwnFinding for Moments {}

impl Moments {
    fn new(width: usize) -> Moments {
        Moments {
            doc_count: 0,
            counts: vec![0.0; width],
            means: vec![0.0; width],
            powers: vec![[0.0; 3]; width],
            products: vec![0.0; width * width],
        }
    }

    /// Makes the moments of no document. They have no place for any field: there may be as many buckets
    /// without a document as an answer can have, and a hundred fields take 83 kB.
    fn none() -> Moments {
        Moments::new(0)
    }

    /// Makes the moments of one document; NaN marks a field that the shard does not map.
    fn of(values: &[f64]) -> Moments {
        Moments {
            doc_count: 1,
            counts: values.iter().map(|value| f64::from(u8::from(!value.is_nan()))).collect(),
            means: values.iter().map(|value| if value.is_nan() { 0.0 } else { *value }).collect(),
            ..Moments::new(values.len())
        }
    }

    /// Computes the moments of a batch of documents, given by field; all documents have all values. The first
    /// pass computes the means, the second one the powers of the differences from them.
    fn of_all(columns: &[Vec<f64>]) -> Moments {
        let (width, count) = (columns.len(), columns.first().map_or(0, Vec::len));
        let mut moments = Moments { doc_count: count as u64, ..Moments::new(width) };
        let n = count as f64;
        for (field, column) in columns.iter().enumerate() {
            let mean = column.iter().sum::<f64>() / n;
            let mut powers = [0.0; 3];
            for value in column {
                let d = value - mean;
                let square = d * d;
                powers[0] += square;
                powers[1] += square * d;
                powers[2] += square * square;
            }
            (moments.counts[field], moments.means[field], moments.powers[field]) = (n, mean, powers);
        }
        for first in 0..width {
            for second in first + 1..width {
                let (one, other) = (moments.means[first], moments.means[second]);
                let pairs = columns[first].iter().zip(&columns[second]);
                moments.products[first * width + second] = pairs.map(|(a, b)| (a - one) * (b - other)).sum();
            }
        }
        moments
    }

    fn merge(&mut self, other: &Moments) {
        if other.doc_count == 0 {
            return;
        }
        if self.doc_count == 0 {
            self.clone_from(other);
            return;
        }
        let width = self.means.len();
        let distance: Vec<f64> = (0..width).map(|field| other.means[field] - self.means[field]).collect();
        for first in 0..width {
            for second in first + 1..width {
                let place = first * width + second;
                let (a, b) = (
                    self.counts[first].min(self.counts[second]),
                    other.counts[first].min(other.counts[second]),
                );
                self.products[place] += other.products[place];
                if a > 0.0 && b > 0.0 {
                    self.products[place] += distance[first] * distance[second] * a * b / (a + b);
                }
            }
        }
        for (field, &d) in distance.iter().enumerate() {
            let (a, b) = (self.counts[field], other.counts[field]);
            let n = a + b;
            if b == 0.0 {
                continue;
            }
            let ([m2, m3, m4], [o2, o3, o4]) = (self.powers[field], other.powers[field]);
            self.powers[field] = [
                m2 + o2 + d * d * a * b / n,
                m3 + o3 + d.powi(3) * a * b * (a - b) / (n * n) + 3.0 * d * (a * o2 - b * m2) / n,
                m4 + o4
                    + d.powi(4) * a * b * (a * a - a * b + b * b) / n.powi(3)
                    + 6.0 * d * d * (a * a * o2 + b * b * m2) / (n * n)
                    + 4.0 * d * (a * o3 - b * m3) / n,
            ];
            self.means[field] += d * b / n;
            self.counts[field] = n;
        }
        self.doc_count += other.doc_count;
    }

    fn product(&self, first: usize, second: usize) -> f64 {
        let (first, second) = (first.min(second), first.max(second));
        if first == second { self.powers[first][0] } else { self.products[first * self.means.len() + second] }
    }

    fn covariance(&self, first: usize, second: usize) -> f64 {
        self.product(first, second) / (self.counts[first].min(self.counts[second]) - 1.0)
    }
}

impl Request for MatrixStats {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.fields.iter().map(|values| (values, Accepts::Numbers)).collect()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for MatrixStats {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let sources = context.bound.sources();
        let readers: Result<Vec<_>> =
            sources.iter().map(|source| Ok((source, NumberReader::new(source)?))).collect();
        Ok(Box::new(MatrixCollector {
            mode: self.mode,
            readers: readers?,
            columns: vec![Vec::new(); sources.len()],
            doubles: Vec::new(),
            moments: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for MatrixStats {
    type Finding = Moments;

    fn reduce(&self, _: &Aggregation, parts: Vec<Moments>, _: &mut Reducer<'_>) -> Result<Moments> {
        let all = parts.into_iter().reduce(|mut all, part| {
            all.merge(&part);
            all
        });
        Ok(all.unwrap_or_else(Moments::none))
    }
}

impl Render for MatrixStats {
    fn render(&self, moments: &Moments, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let doc_count = if self.fields.is_empty() { 0 } else { moments.doc_count };
        out.insert("doc_count", &doc_count)?;
        if doc_count == 0 {
            return Ok(());
        }
        let known: Vec<usize> = (0..self.fields.len()).filter(|&field| moments.counts[field] > 0.0).collect();
        // Each field names all of them twice.
        claimed::objects(2 * known.len(), known.iter().map(|&field| self.fields[field].field.as_str()))?;
        let fields = known.iter().map(|&field| self.field(field, &known, moments));
        let fields: Vec<Value> = fields.collect::<Result<_>>()?;
        out.insert("fields", &fields)
    }
}

impl MatrixStats {
    /// Renders one of the `known` fields.
    fn field(&self, field: usize, known: &[usize], moments: &Moments) -> Result<Value> {
        let name = |field: usize| claimed::name(&self.fields[field].field);
        let ([m2, m3, m4], n) = (moments.powers[field], moments.counts[field]);
        let mut shown = Map::new();
        shown.insert("name".into(), name(field)?.into());
        shown.insert("count".into(), (n as u64).into());
        for (label, value) in [
            ("mean", moments.means[field]),
            ("variance", moments.covariance(field, field)),
            ("skewness", n.sqrt() * m3 / m2.powf(1.5)),
            ("kurtosis", n * m4 / (m2 * m2)),
        ] {
            shown.insert(label.into(), double(value));
        }
        let covariance =
            known.iter().map(|&other| Ok((name(other)?, double(moments.covariance(field, other)))));
        let covariance = covariance.collect::<Result<_>>()?;
        let correlation = known.iter().map(|&other| {
            let deviations = (moments.covariance(field, field) * moments.covariance(other, other)).sqrt();
            let value = if other == field { 1.0 } else { moments.covariance(field, other) / deviations };
            Ok((name(other)?, double(value)))
        });
        let correlation = correlation.collect::<Result<_>>()?;
        shown.insert("covariance".into(), Value::Object(covariance));
        shown.insert("correlation".into(), Value::Object(correlation));
        Ok(Value::Object(shown))
    }
}

#[derive(Debug)]
struct MatrixCollector<'s> {
    mode: Mode,
    readers: Vec<(&'s Source, NumberReader<'s>)>,
    /// The value of each document in a batch, by field; NaN if it has none.
    columns: Vec<Vec<f64>>,
    doubles: Vec<f64>,
    moments: Vec<Option<Box<Moments>>>,
    budget: &'s Budget,
}

fn one_of(values: &mut [f64], mode: Mode) -> f64 {
    match mode {
        Mode::Sum => values.iter().sum(),
        Mode::Avg => values.iter().sum::<f64>() / values.len() as f64,
        Mode::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        Mode::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Mode::Median => {
            values.sort_unstable_by(f64::total_cmp);
            let middle = values.len() / 2;
            if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
        }
    }
}

/// From this number of documents of one bucket on, moments are computed for the batch. Their rounding
/// differs.
const BATCH_FROM: usize = 512;

impl MatrixCollector<'_> {
    fn merge_into(&mut self, bucket: u32, moments: &Moments) -> Result<()> {
        let width = self.readers.len();
        let place = &mut self.moments[bucket as usize];
        if place.is_none() {
            self.budget.spend((width * (width + 4) * 8) as u64)?;
        }
        place.get_or_insert_with(|| Box::new(Moments::none())).merge(moments);
        Ok(())
    }
}

impl<'s> Collector<'s> for MatrixCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.readers
            .iter_mut()
            .try_for_each(|(source, reader)| reader.begin(&view.segment, source.is_mapped()))
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let width = self.readers.len();
        if entries.bucket_count > self.moments.len() {
            self.budget.spend((entries.bucket_count - self.moments.len()) as u64 * 8)?;
            self.moments.resize_with(entries.bucket_count, || None);
        }
        let mut starts = Vec::new();
        for ((source, reader), column) in self.readers.iter_mut().zip(&mut self.columns) {
            let stored = reader.load(entries.docs)?;
            if stored.positions.is_none() {
                // If documents have one value at most, the mode does not matter.
                source.decode_all(stored.values, column);
                continue;
            }
            stored.starts(entries.docs.len(), &mut starts);
            source.decode_all(stored.values, &mut self.doubles);
            column.clear();
            for span in starts.windows(2) {
                column.push(match &mut self.doubles[span[0] as usize..span[1] as usize] {
                    [] => f64::NAN,
                    values => one_of(values, self.mode),
                });
            }
        }
        if let Some(bucket) = entries.only_bucket().filter(|_| entries.len() >= BATCH_FROM)
            && !self.columns.iter().flatten().any(|value| value.is_nan())
        {
            return self.merge_into(bucket, &Moments::of_all(&self.columns));
        }
        let mut values = vec![0.0; width];
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            values.iter_mut().zip(&self.columns).for_each(|(value, column)| *value = column[position]);
            let is_known =
                |field: usize| self.readers[field].0.is_mapped() || self.readers[field].0.missing.is_some();
            let mut missing = (0..width).filter(|&field| values[field].is_nan() && is_known(field));
            if missing.next().is_some() || values.iter().all(|value| value.is_nan()) {
                continue;
            }
            self.merge_into(entries.bucket(entry), &Moments::of(&values))?;
        }
        Ok(())
    }

    fn can_split(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        let own = |moments: Option<Box<Moments>>| moments.map_or_else(Moments::none, |own| *own);
        Ok(Findings::Own(
            std::mem::take(&mut self.moments).into_iter().map(own).map(Finding::into_partial).collect(),
        ))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Own(found) = findings else { unreachable!("findings of another collector") };
        let most = bucket_of[..found.len()].iter().max().map_or(0, |most| *most as usize + 1);
        if most > self.moments.len() {
            self.budget.spend((most - self.moments.len()) as u64 * 8)?;
            self.moments.resize_with(most, || None);
        }
        for (found, &bucket) in found.iter().zip(bucket_of) {
            if let Some(moments) = Moments::in_partial(found).filter(|moments| moments.doc_count > 0) {
                self.merge_into(bucket, moments)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut take = |bucket: u32| self.moments.get_mut(bucket as usize).and_then(Option::take);
        let own = |&bucket: &u32| take(bucket).map_or_else(Moments::none, |own| *own).into_partial();
        Ok(buckets.iter().map(own).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_no_document_take_no_place_and_change_nothing() {
        let none = Moments::none();
        assert_eq!((none.counts.capacity(), none.products.capacity()), (0, 0));
        let documents = [[1.0, 4.0], [2.0, 9.0], [5.0, 7.0]];
        let mut all = Moments::none();
        documents.iter().for_each(|values| all.merge(&Moments::of(values)));
        all.merge(&none);
        let mut again = Moments::none();
        again.merge(&all);
        let columns = [vec![1.0, 2.0, 5.0], vec![4.0, 9.0, 7.0]];
        let batch = Moments::of_all(&columns);
        for moments in [&all, &again] {
            assert_eq!(moments.doc_count, 3);
            for (field, other) in [(0, 0), (0, 1), (1, 1)] {
                let (own, wanted) = (moments.covariance(field, other), batch.covariance(field, other));
                assert!((own - wanted).abs() < 1e-12, "{field} {other}: {own} {wanted}");
            }
        }
    }
}
