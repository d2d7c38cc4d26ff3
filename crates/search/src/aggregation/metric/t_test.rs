//! `t_test`: the probability that two means differ by chance. Source: Elasticsearch's
//! `TTestAggregationBuilder`, `TTestState`.

use limber_mapping::RequestError;
use limber_segment::{DocId, SegmentView};

use super::super::answer::members::Members;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bucket::{Docs, mark};
use super::super::buckets::entries::{Entries, Values};
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::findings::Findings;
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::numeric::single;
use super::student::two_sided;
use crate::error::Result;
use crate::query::{BoundQuery, MatchingDocs, Query};
use crate::request::read_query;

#[derive(Debug, Clone, Copy, PartialEq)]
enum TestType {
    Paired,
    Homoscedastic,
    Heteroscedastic,
}

/// The options of a `t_test`: two populations and the kind of test.
#[derive(Debug, Clone)]
pub struct TTest {
    populations: [ValuesOptions; 2],
    filters: [Option<Query>; 2],
    kind: TestType,
}

impl TTest {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let format = options.text("format")?;
        let kind = match options.text("type")?.as_deref() {
            None | Some("heteroscedastic") => TestType::Heteroscedastic,
            Some("homoscedastic") => TestType::Homoscedastic,
            Some("paired") => TestType::Paired,
            Some(other) => {
                let reason = format!("Unknown t_test type [{other}]");
                return Err(options.refused("type", reason));
            }
        };
        let mut population = |name: &'static str| {
            let Some(map) = options.object(name)? else {
                return Err(RequestError::illegal_argument(format!(
                    "Could not find field name [{name}] in multiValuesSource"
                )));
            };
            let mut own = Options::new("t_test", &options.name, map);
            let filter = match own.take("filter") {
                None => None,
                Some(query) => Some(read_query(&query)?),
            };
            let values = ValuesOptions::parse(&mut own).and_then(|values| own.finish().map(|()| values));
            Ok((values.map_err(|cause| options.failed(name, cause))?, filter))
        };
        let ((mut a, first), (b, second)) = (population("a")?, population("b")?);
        if kind == TestType::Paired && (first.is_some() || second.is_some()) {
            return Err(RequestError::illegal_argument("Paired t-test doesn't support filters"));
        }
        a.format = format;
        Ok(Kind::own(TTest { populations: [a, b], filters: [first, second], kind }))
    }
}

/// The count, mean and squared differences of one population's values.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Sample {
    fn merge(&mut self, other: Sample) {
        let count = self.count + other.count;
        if other.count == 0.0 {
            return;
        }
        let distance = other.mean - self.mean;
        self.squares += other.squares + distance * distance * self.count * other.count / count;
        self.mean += distance * other.count / count;
        self.count = count;
    }

    /// Adds many values in two passes: the mean first, then the squared differences from it.
    fn add_all(&mut self, values: &[f64]) {
        let count = values.len() as f64;
        if count == 0.0 {
            return;
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        self.merge(Sample { count, mean, squares });
    }

    fn add(&mut self, value: f64) {
        self.merge(Sample { count: 1.0, mean: value, squares: 0.0 });
    }

    fn variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }
}

/// From this number of values of one bucket on, they are added as a batch. The rounding differs.
const BATCH_FROM: usize = 512;

/// The state of one bucket: both populations, or the differences of a paired test in the first one.
pub type Samples = [Sample; 2];

impl OwnFinding for Samples {}

fn probability([a, b]: &Samples, kind: TestType) -> f64 {
    if a.count < 2.0 || (kind != TestType::Paired && b.count < 2.0) {
        return f64::NAN;
    }
    let (error_a, error_b) = (a.variance() / a.count, b.variance() / b.count);
    match kind {
        TestType::Paired => two_sided(a.mean / error_a.sqrt(), a.count - 1.0),
        TestType::Homoscedastic => {
            let degrees = a.count + b.count - 2.0;
            let pooled = (a.squares + b.squares) / degrees;
            two_sided((a.mean - b.mean) / (pooled * (1.0 / a.count + 1.0 / b.count)).sqrt(), degrees)
        }
        TestType::Heteroscedastic => {
            let error = error_a + error_b;
            // The Welch-Satterthwaite equation.
            let degrees =
                error * error / (error_a * error_a / (a.count - 1.0) + error_b * error_b / (b.count - 1.0));
            two_sided((a.mean - b.mean) / error.sqrt(), degrees)
        }
    }
}

impl Request for TTest {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.populations.iter().map(|values| (values, Accepts::Numbers)).collect()
    }

    fn queries(&self) -> Vec<&Query> {
        self.filters.iter().flatten().collect()
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for TTest {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let mut queries = context.bound.queries.iter();
        let mut populations = Vec::with_capacity(2);
        for (source, filter) in context.bound.sources().iter().zip(&self.filters) {
            populations.push(Population {
                source,
                reader: NumberReader::new(source)?,
                filter: filter.as_ref().and_then(|_| queries.next()),
                docs: Docs(None),
                marks: Vec::new(),
            });
        }
        Ok(Box::new(TTestCollector {
            kind: self.kind,
            populations,
            samples: Vec::new(),
            sums: [Vec::new(), Vec::new()],
            matching: Vec::new(),
            doubles: Vec::new(),
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for TTest {
    type Finding = Samples;

    fn reduce(&self, _: &Aggregation, parts: Vec<Samples>, _: &mut Reducer<'_>) -> Result<Samples> {
        let mut all = Samples::default();
        for part in parts.iter() {
            all.iter_mut().zip(part).for_each(|(own, other)| own.merge(*other));
        }
        Ok(all)
    }
}

impl Render for TTest {
    fn render(&self, finding: &Samples, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let value = probability(finding, self.kind);
        single(out, value, !value.is_nan(), &renderer.shape.format)
    }

    fn number(&self, finding: &Samples, _: Option<&str>) -> Option<f64> {
        Some(probability(finding, self.kind))
    }
}

#[derive(Debug)]
struct Population<'s> {
    source: &'s Source,
    reader: NumberReader<'s>,
    filter: Option<&'s BoundQuery>,
    docs: Docs<'s>,
    /// Whether each document of a batch matches the filter.
    marks: Vec<bool>,
}

#[derive(Debug)]
struct TTestCollector<'s> {
    kind: TestType,
    populations: Vec<Population<'s>>,
    samples: Vec<Samples>,
    /// The sum of each document's values, for the paired test; NaN if it has none.
    sums: [Vec<f64>; 2],
    matching: Vec<DocId>,
    doubles: Vec<f64>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for TTestCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        for population in &mut self.populations {
            population.reader.begin(&view.segment, population.source.is_mapped())?;
            population.docs = match population.filter {
                Some(filter) => Docs(Some(MatchingDocs::open(filter, &view.segment)?)),
                None => Docs(None),
            };
        }
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.samples.len() {
            let more = (entries.bucket_count - self.samples.len()) as u64;
            self.budget.spend(more * size_of::<Samples>() as u64)?;
            self.samples.resize(entries.bucket_count, Samples::default());
        }
        for (number, population) in self.populations.iter_mut().enumerate() {
            if let Docs(Some(docs)) = &mut population.docs {
                docs.retain(entries.docs, &mut self.matching)?;
                mark(entries.docs, &self.matching, &mut population.marks);
            }
            let stored = population.reader.load(entries.docs)?;
            population.source.decode_all(stored.values, &mut self.doubles);
            if self.kind == TestType::Paired {
                let sums = &mut self.sums[number];
                sums.clear();
                sums.resize(entries.docs.len(), f64::NAN);
                for (at, &value) in self.doubles.iter().enumerate() {
                    let sum = &mut sums[stored.positions.map_or(at, |positions| positions[at] as usize)];
                    *sum = if sum.is_nan() { value } else { *sum + value };
                }
                continue;
            }
            if let Some(bucket) = entries.only_bucket()
                && population.filter.is_none()
                && self.doubles.len() >= BATCH_FROM
            {
                self.samples[bucket as usize][number].add_all(&self.doubles);
                continue;
            }
            let values = Values { values: self.doubles.as_slice(), positions: stored.positions };
            let (samples, marks) = (&mut self.samples, &population.marks);
            let has_filter = population.filter.is_some();
            values.join(entries, &mut self.starts, |entry, bucket, value| {
                if !has_filter || marks[entries.position(entry)] {
                    samples[bucket as usize][number].add(value);
                }
            })?;
        }
        if self.kind == TestType::Paired {
            for entry in 0..entries.len() {
                let position = entries.position(entry);
                let difference = self.sums[0][position] - self.sums[1][position];
                if !difference.is_nan() {
                    self.samples[entries.bucket(entry) as usize][0].add(difference);
                }
            }
        }
        Ok(())
    }

    fn can_split(&self) -> bool {
        true
    }

    fn take_findings(&mut self) -> Result<Findings> {
        Ok(Findings::Own(std::mem::take(&mut self.samples).into_iter().map(Finding::into_partial).collect()))
    }

    fn absorb(&mut self, findings: Findings, bucket_of: &[u32]) -> Result<()> {
        let Findings::Own(found) = findings else { unreachable!("findings of another collector") };
        let most = bucket_of[..found.len()].iter().max().map_or(0, |most| *most as usize + 1);
        if most > self.samples.len() {
            self.budget.spend(((most - self.samples.len()) * size_of::<Samples>()) as u64)?;
            self.samples.resize(most, Samples::default());
        }
        for (found, &bucket) in found.iter().zip(bucket_of) {
            if let Some(samples) = Samples::in_partial(found) {
                let own = &mut self.samples[bucket as usize];
                own.iter_mut().zip(samples).for_each(|(own, other)| own.merge(*other));
            }
        }
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let samples = |bucket: u32| self.samples.get(bucket as usize).copied().unwrap_or_default();
        Ok(buckets.iter().map(|&bucket| Finding::into_partial(samples(bucket))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        let mut sample = Sample::default();
        values.iter().for_each(|value| sample.add(*value));
        sample
    }

    #[test]
    fn every_type() {
        // The startup times of the example in Elasticsearch's reference.
        let before = [89.0, 99.0, 111.0, 97.0, 108.0, 65.0, 72.0, 34.0, 23.0, 55.0];
        let after = [89.0, 94.0, 110.0, 99.0, 103.0, 60.0, 70.0, 35.0, 20.0, 50.0];
        let both = [sample(&before), sample(&after)];
        let equal = probability(&both, TestType::Homoscedastic);
        let unequal = probability(&both, TestType::Heteroscedastic);
        assert!((equal - unequal).abs() < 1e-4 && (0.8..0.9).contains(&equal), "{equal} {unequal}");
        let differences: Vec<f64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
        let paired = probability(&[sample(&differences), Sample::default()], TestType::Paired);
        assert!(paired < 0.05, "{paired}");
        assert!(probability(&[sample(&[1.0]), sample(&[2.0])], TestType::Homoscedastic).is_nan());
    }
}
