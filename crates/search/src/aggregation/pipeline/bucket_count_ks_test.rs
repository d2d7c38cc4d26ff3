//! `bucket_count_ks_test`: the probability that the document counts of buckets come from a given
//! distribution, by the two-sample test of Kolmogorov and Smirnov.
//!
//! Source: Elasticsearch's documentation of the aggregation. Both distributions are read at the same 55
//! points; the buckets at which they reach these points are the two samples. The one-sided probabilities are
//! equation 5.3 of Hodges, "The significance probability of the Smirnov two-sample test", 1958; the two-sided
//! one is exact.

use limber_mapping::{ObjectParser, RequestError};
use limber_store::random::SplitMix64;
use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::double;
use super::bucket_metric::values;
use super::check::bucket_counts;
use super::definition::{Level, Pipeline, PipelineValue};
use super::options::{GapPolicy, check_only_zeros, doubles, single_path};
use super::path::BucketsPath;
use crate::error::{Result, check_request};

/// Number of points at which the distributions are read: 1 + 2 + ... + 10.
const POINT_COUNT: usize = 55;

/// Below this number of documents the probabilities are NaN, as in Elasticsearch.
const DOC_COUNT_MIN: u64 = 23;

/// How often fewer documents than there are points are tested, each time at other points. Elasticsearch's
/// number.
const ROUND_COUNT: u32 = 20;

/// The points are chosen by chance in Elasticsearch; here they are the same for every request.
const SEED: u64 = 55;

/// Differences of a statistic that come from rounding.
const TOLERANCE: f64 = 1e-12;

type Parsed<T> = std::result::Result<T, RequestError>;

/// The options of a `bucket_count_ks_test`: the path of the counts, the distribution to compare with, and the
/// alternatives.
#[derive(Debug, Clone)]
pub struct BucketCountKsTest {
    path: BucketsPath,
    /// `None` for equal shares of all buckets.
    fractions: Option<Vec<f64>>,
    alternatives: Vec<Alternative>,
    /// The shares at which the distributions are read.
    points: Vec<f64>,
}

/// In which direction the counts may differ from the distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Alternative {
    Less,
    Greater,
    TwoSided,
}

const ALTERNATIVES: [Alternative; 3] = [Alternative::Less, Alternative::Greater, Alternative::TwoSided];

impl BucketCountKsTest {
    pub(crate) fn parse(options: &mut Options) -> Parsed<Kind> {
        let path = single_path(options)?;
        let fractions = doubles(options, "fractions")?;
        let alternatives = alternatives(options)?;
        check_only_zeros(options)?;
        let points = match options.text("sampling_method")?.map(|method| method.to_lowercase()).as_deref() {
            None | Some("upper_tail") => upper_tail(),
            Some("lower_tail") => upper_tail().into_iter().map(|point| 1.0 - point).collect(),
            Some("uniform") => uniform(),
            Some(other) => {
                let reason = format!("Unrecognized sampling_method [{other}]");
                return Err(options.refused("sampling_method", reason));
            }
        };
        Ok(Kind::pipeline(BucketCountKsTest { path, fractions, alternatives, points }))
    }
}

/// Takes `alternative`, a list of names or a single one; all alternatives if it is absent.
fn alternatives(options: &mut Options) -> Parsed<Vec<Alternative>> {
    let list = match options.take_typed("alternative")? {
        None => return Ok(ALTERNATIVES.to_vec()),
        Some(Value::Array(list)) => list,
        Some(name @ Value::String(_)) => vec![name],
        Some(value) => return Err(options.wrong_type("alternative", &value)),
    };
    let unbuilt = |reason: String| {
        ObjectParser::new(options.kind).failed_to_build(RequestError::illegal_argument(reason))
    };
    if list.is_empty() {
        return Err(unbuilt(format!("[alternative] must not be empty for aggregation [{}]", options.name)));
    }
    let mut wanted = Vec::new();
    for value in &list {
        let Some(name) = value.as_str() else { return Err(options.wrong_type("alternative", value)) };
        let name = name.to_lowercase();
        let found = ALTERNATIVES.into_iter().find(|alternative| alternative.name() == name);
        let unknown = || {
            let class = "org.elasticsearch.xpack.ml.aggs.kstest.Alternative";
            unbuilt(format!("No enum constant {class}.{}", name.to_uppercase()))
        };
        wanted.push(found.ok_or_else(unknown)?);
    }
    Ok(ALTERNATIVES.into_iter().filter(|alternative| wanted.contains(alternative)).collect())
}

/// Returns points that are denser at the upper end: one in the first tenth, two in the second, and so on.
fn upper_tail() -> Vec<f64> {
    let point = |(tenth, place): (u32, u32)| {
        let (tenth, place) = (f64::from(tenth), f64::from(place));
        0.1 * (tenth - 1.0) + 0.05 / tenth + 0.1 * place / tenth
    };
    (1..=10).flat_map(|tenth| (0..tenth).map(move |place| (tenth, place))).map(point).collect()
}

/// Returns points with equal distances.
fn uniform() -> Vec<f64> {
    let distance = 1.0 / (POINT_COUNT + 1) as f64;
    let next = |sum: &mut f64, _: usize| {
        *sum += distance;
        Some(*sum)
    };
    (0..POINT_COUNT).scan(0.0, next).collect()
}

/// Returns the shares up to the end of each bucket, starting with 0; `None` if all buckets are empty.
fn cumulative(buckets: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let mut sum = 0.0;
    let mut shares = vec![0.0];
    shares.extend(buckets.map(|bucket| {
        sum += bucket;
        sum
    }));
    if sum > 0.0 {
        shares.iter_mut().for_each(|share| *share /= sum);
    }
    (sum > 0.0).then_some(shares)
}

/// Returns at which bucket, counted from 1, a distribution reaches `point`. `shares` has at least two values.
fn bucket_at(shares: &[f64], point: f64) -> f64 {
    let above = shares.partition_point(|&share| share <= point).clamp(1, shares.len() - 1);
    let (low, high) = (shares[above - 1], shares[above]);
    ((point - low) * (above + 1) as f64 + (high - point) * above as f64) / (high - low)
}

impl Alternative {
    fn name(self) -> &'static str {
        match self {
            Alternative::Less => "less",
            Alternative::Greater => "greater",
            Alternative::TwoSided => "two_sided",
        }
    }

    /// Returns the largest distance between the distributions of two sorted samples of the same size.
    fn statistic(self, first: &[f64], second: &[f64]) -> f64 {
        let count = first.len();
        let distance = |first: usize, second: usize| {
            let distance = first as f64 / count as f64 - second as f64 / count as f64;
            match self {
                Alternative::Less => (-distance).max(0.0),
                Alternative::Greater => distance.max(0.0),
                Alternative::TwoSided => distance.abs(),
            }
        };
        let (mut before, mut before_other) = if first[0] < second[0] { (1, 0) } else { (0, 1) };
        let mut largest: f64 = 0.0;
        while before < count && before_other < count {
            largest = largest.max(distance(before, before_other));
            let order = first[before].total_cmp(&second[before_other]);
            before += usize::from(order.is_le());
            before_other += usize::from(order.is_ge());
        }
        largest.max(distance(before, before_other))
    }

    /// Returns the probability of a statistic at least as large, for two samples of `count` values each.
    fn probability(self, statistic: f64, count: usize) -> f64 {
        if self == Alternative::TwoSided {
            return two_sided(statistic, count);
        }
        let count = count as f64;
        let z = (count * count / (count + count)).sqrt() * statistic;
        let continuity = (count + 2.0 * count) / (count * count * (count + count)).sqrt();
        (-2.0 * z * z - 2.0 * z * continuity / 3.0).exp().clamp(0.0, 1.0)
    }
}

/// Returns the share of the orders of two samples of `count` values that differ by at least `statistic`. Each
/// order is a path through a grid, one step for each value; the paths that leave the diagonal far enough are
/// counted.
fn two_sided(statistic: f64, count: usize) -> f64 {
    let far = ((statistic - TOLERANCE) * (count * count) as f64).ceil();
    // The paths to the places of one row of the grid: all of them, and those that were far away.
    let (mut all, mut away) = (vec![0.0; count + 1], vec![0.0; count + 1]);
    all[0] = 1.0;
    for row in 0..=count {
        for column in 0..=count {
            if column > 0 {
                all[column] += all[column - 1];
                away[column] += away[column - 1];
            }
            if (row.abs_diff(column) * count) as f64 >= far {
                away[column] = all[column];
            }
        }
    }
    away[count] / all[count]
}

impl BucketCountKsTest {
    /// Returns the probability of each alternative, for the share of the documents that is reached in each
    /// bucket.
    fn at(&self, points: &[f64], [counted, expected]: [&[f64]; 2]) -> Vec<f64> {
        let sample = |shares: &[f64]| {
            let mut sample: Vec<f64> = points.iter().map(|&point| bucket_at(shares, point)).collect();
            sample.sort_unstable_by(f64::total_cmp);
            sample
        };
        let (counted, expected) = (sample(counted), sample(expected));
        let probability = |alternative: &Alternative| {
            let statistic = alternative.statistic(&counted, &expected);
            alternative.probability(statistic, points.len())
        };
        self.alternatives.iter().map(probability).collect()
    }

    /// Returns the probability of each alternative for the number of documents in each bucket.
    fn probabilities(&self, counts: &[f64], doc_count: u64) -> Result<Vec<f64>> {
        let expected = match &self.fractions {
            Some(fractions) => cumulative(fractions.iter().copied()),
            None => cumulative(counts.iter().map(|_| 1.0 / counts.len() as f64)),
        };
        let counted = cumulative(counts.iter().copied());
        let (Some(counted), Some(expected)) = (counted, expected) else {
            return Ok(vec![f64::NAN; self.alternatives.len()]);
        };
        if doc_count < DOC_COUNT_MIN {
            return Ok(vec![f64::NAN; self.alternatives.len()]);
        }
        let shares = [counted.as_slice(), expected.as_slice()];
        let sample_count = usize::try_from(doc_count).unwrap_or(usize::MAX);
        if sample_count >= self.points.len() {
            return Ok(self.at(&self.points, shares));
        }
        let (mut points, mut random) = (self.points.clone(), SplitMix64::new(SEED));
        let mut sums = vec![0.0f64; self.alternatives.len()];
        for round in 0..ROUND_COUNT {
            check_request()?;
            for place in 0..sample_count {
                points.swap(place, place + random.below((self.points.len() - place) as u64) as usize);
            }
            // Elasticsearch adds the first probability itself to the logarithms of the others.
            let added = |probability: f64| match round {
                0 => probability,
                _ if probability == 0.0 => 0.0,
                _ => probability.ln(),
            };
            let found = self.at(&points[..sample_count], shares);
            sums.iter_mut().zip(found).for_each(|(sum, probability)| *sum += added(probability));
        }
        Ok(sums.into_iter().map(|sum| (sum / f64::from(ROUND_COUNT)).exp().clamp(0.0, 1.0)).collect())
    }
}

impl Pipeline for BucketCountKsTest {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, _: Option<&Aggregation>, siblings: &[Aggregation]) -> Option<String> {
        bucket_counts(own, &self.path, siblings, |_| {
            "[bucket_count_ks_test] requires that buckets_path points to bucket [_count]".to_owned()
        })
    }

    fn is_beside(&self) -> bool {
        true
    }

    fn beside(&self, level: &Level<'_>) -> Result<Partial> {
        check_request()?;
        let found = values(&self.path, GapPolicy::InsertZeros, level)?;
        let counts: Vec<f64> = found.iter().map(|(_, count)| *count).collect();
        if let Some(fractions) = &self.fractions
            && fractions.len() < counts.len()
        {
            return Err(RequestError::bad_request(
                "aggregation_execution_exception",
                format!("[fractions] has [{}] values for [{}] buckets", fractions.len(), counts.len()),
            )
            .into());
        }
        let doc_count: u64 = found.iter().map(|(row, _)| row.doc_count).sum();
        let names = self.alternatives.iter().map(|alternative| alternative.name().to_owned());
        let numbers: Vec<(String, f64)> = names.zip(self.probabilities(&counts, doc_count)?).collect();
        let shown = |value: f64| if value.is_nan() { "NaN".into() } else { double(value) };
        let body: Map<String, Value> =
            numbers.iter().map(|(name, value)| (name.clone(), shown(*value))).collect();
        Ok(PipelineValue { typed_name: "bucket_count_ks_test", body, numbers, bucket: None }.into_partial())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probabilities(points: Vec<f64>, counts: &[f64], doc_count: u64) -> Vec<f64> {
        let (path, alternatives) = (BucketsPath::parse("r>_count"), ALTERNATIVES.to_vec());
        let test = BucketCountKsTest { path, fractions: None, alternatives, points };
        test.probabilities(counts, doc_count).expect("nothing ends it")
    }

    /// The example of Elasticsearch's documentation.
    #[test]
    fn latencies_of_two_versions() {
        for (counts, expected) in [
            (
                [0.0, 1.0, 9.0, 0.0, 0.0, 0.0, 10.0, 20.0, 20.0, 20.0, 20.0],
                [2.248_673_241_788_478e-4, 1.0, 5.791_639_181_800_257e-4],
            ),
            (
                [0.0, 19.0, 11.0, 20.0, 20.0, 20.0, 10.0, 0.0, 0.0, 0.0, 0.0],
                [0.964_289_578_964_724_4, 4.587_181_746_647_54e-9, 5.916_656_831_139_733e-9],
            ),
        ] {
            let found = probabilities(upper_tail(), &counts, 100);
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-14, "{found} instead of {expected}");
            }
        }
    }

    #[test]
    fn the_same_distribution_is_certain() {
        for points in [upper_tail(), uniform()] {
            assert_eq!(points.len(), POINT_COUNT);
            for doc_count in [40, 1_000] {
                let found = probabilities(points.clone(), &[10.0; 4], doc_count);
                assert!(found.iter().all(|probability| *probability > 0.9), "{found:?}");
            }
        }
    }

    #[test]
    fn few_documents_are_not_tested() {
        for (counts, doc_count) in [([5.0, 5.0], 10), ([0.0, 0.0], 0)] {
            let found = probabilities(upper_tail(), &counts, doc_count);
            assert!(found.len() == 3 && found.iter().all(|probability| probability.is_nan()));
        }
        let found = probabilities(upper_tail(), &[30.0, 1.0], 31);
        assert!(found[1] < 0.05 && found[0] > 0.5, "{found:?}");
        assert_eq!(found, probabilities(upper_tail(), &[30.0, 1.0], 31));
    }

    #[test]
    fn every_order_is_counted_once() {
        // Of the six orders of two and two values, two differ by a whole sample, and all by half of one.
        assert!((two_sided(1.0, 2) - 2.0 / 6.0).abs() < 1e-12);
        assert!((two_sided(0.5, 2) - 1.0).abs() < 1e-12);
    }
}
