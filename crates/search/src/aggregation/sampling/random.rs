//! `random_sampler`: collects a random sample of the documents; counts and sums are scaled up again.
//!
//! Source: Elasticsearch's `RandomSamplerAggregationBuilder`, `InternalRandomSampler`, `SamplingContext`.
//! Elasticsearch skips geometrically distributed numbers of documents before it evaluates the query. Here a
//! hash of each document decides, with the same probability and independently of the segments.

use limber_mapping::RequestError;
use limber_segment::SegmentView;
use limber_store::random::{INCREMENT, mix};

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::double;
use crate::error::Result;

/// The options of a `random_sampler`: the probability with which a document is collected, and the seed.
#[derive(Debug, Clone)]
pub struct RandomSampler {
    probability: f64,
    seed: Option<i32>,
    shard_seed: Option<i32>,
}

impl RandomSampler {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let is_given = options.has("probability");
        let probability = options.double("probability")?;
        let seed = options.int("seed")?;
        let shard_seed = options.int("shard_seed")?;
        // A missing `probability` is reported when the sub-aggregations have been parsed.
        let probability = probability.unwrap_or(0.0);
        let is_allowed = !is_given || (probability > 0.0 && probability <= 0.5) || probability == 1.0;
        if !is_allowed {
            let reason = format!(
                "[probability] must be between 0.0 and 0.5 or exactly 1.0, was [{}]",
                limber_mapping::number::java_double(probability)
            );
            return Err(options.refused("probability", reason));
        }
        Ok(Kind::own(RandomSampler { probability, seed, shard_seed }))
    }
}

fn check_below(own: &Aggregation, list: &[Aggregation]) -> std::result::Result<(), RequestError> {
    for below in list {
        if below.definition().is_some_and(|definition| !definition.can_be_sampled()) {
            return Err(RequestError::illegal_argument(format!(
                "[random_sampler] aggregation [{}] does not support sampling [{}] aggregation [{}]",
                own.name, below.type_name, below.name
            )));
        }
        check_below(own, &below.subs)?;
    }
    Ok(())
}

impl Request for RandomSampler {
    fn is_single_bucket(&self) -> bool {
        true
    }

    fn check_place(
        &self,
        own: &Aggregation,
        parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        let refused = |what: &str| {
            Err(RequestError::illegal_argument(format!("[random_sampler] aggregation [{}] {what}", own.name)))
        };
        if !parents.is_empty() {
            return refused("cannot have a parent aggregation");
        }
        if own.subs.is_empty() {
            return refused("must have sub-aggregations");
        }
        if self.probability == 0.0 {
            return refused("must have [probability] set");
        }
        check_below(own, &own.subs)
    }

    fn may_contain_composite(&self) -> bool {
        true
    }
}

impl Collect for RandomSampler {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let seed = self.seed.unwrap_or(context.budget.context.now_millis as i32);
        let shard = match self.shard_seed {
            Some(own) => u64::from(own as u32),
            None => u64::from(context.shard.shard) ^ mixed(foldhash_of(&context.shard.index.uuid)),
        };
        Ok(Box::new(RandomCollector {
            salt: mixed(u64::from(seed as u32) << 32 ^ shard),
            // Documents with a hash below this limit are collected.
            limit: (self.probability * 2f64.powi(64)) as u64,
            is_everything: self.probability >= 1.0,
            seed,
            base: 0,
            doc_count: 0,
            next_base: 0,
            subs: context.subs,
            emitted: Emitted::default(),
        }))
    }
}

impl Reduce for RandomSampler {
    type Finding = Sample;

    fn reduce(&self, own: &Aggregation, parts: Vec<Sample>, reducer: &mut Reducer<'_>) -> Result<Sample> {
        let seed = parts.first().map_or(0, |sample| sample.seed);
        let buckets = parts.into_iter().map(|sample| sample.bucket).collect();
        let mut bucket = reducer.bucket(own, buckets)?;
        if self.probability < 1.0 {
            bucket.doc_count = scaled(bucket.doc_count, self.probability);
            bucket.subs.iter_mut().for_each(|sub| sub.scale(self.probability));
        }
        Ok(Sample { seed, bucket })
    }
}

impl Render for RandomSampler {
    fn typed_name(&self, _: &Aggregation, _: &Sample, _: &super::super::bind::Shape) -> String {
        "random_sampler".to_owned()
    }

    fn render(&self, sample: &Sample, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.insert("seed", &sample.seed)?;
        out.insert("probability", &double(self.probability))?;
        renderer.single(&sample.bucket, out)
    }
}

/// The bucket of a random sample, and the seed with which it was drawn.
#[derive(Debug, Clone)]
pub struct Sample {
    seed: i32,
    bucket: Bucket,
}

impl OwnFinding for Sample {
    fn single(&self) -> Option<&Bucket> {
        Some(&self.bucket)
    }

    fn buckets_mut(&mut self) -> Vec<&mut Vec<Partial>> {
        vec![&mut self.bucket.subs]
    }
}

/// Scales a count of a sample up to the whole set.
pub fn scaled(count: u64, probability: f64) -> u64 {
    (count as f64 / probability).round() as u64
}

impl Partial {
    /// Scales counts and sums of a sample up to the whole set. Results that do not depend on the number of
    /// documents stay as they are.
    fn scale(&mut self, probability: f64) {
        let below = |subs: &mut Vec<Partial>| subs.iter_mut().for_each(|sub| sub.scale(probability));
        let count = |count: &mut u64| *count = scaled(*count, probability);
        match self {
            Partial::Metric(state) => {
                count(&mut state.count);
                state.sum /= probability;
                state.sum_of_squares /= probability;
            }
            Partial::Terms(terms) => {
                count(&mut terms.other_doc_count);
                if terms.error > 0 {
                    terms.error = scaled(terms.error as u64, probability) as i64;
                }
                for bucket in &mut terms.buckets {
                    count(&mut bucket.doc_count);
                    if bucket.error > 0 {
                        bucket.error = scaled(bucket.error as u64, probability) as i64;
                    }
                    below(&mut bucket.subs);
                }
            }
            Partial::Histogram(buckets) => {
                for bucket in buckets {
                    count(&mut bucket.doc_count);
                    below(&mut bucket.subs);
                }
            }
            Partial::Fixed(buckets) => {
                for bucket in buckets {
                    count(&mut bucket.doc_count);
                    below(&mut bucket.subs);
                }
            }
            Partial::Single(bucket) => {
                count(&mut bucket.doc_count);
                below(&mut bucket.subs);
            }
            Partial::List(list) => {
                count(&mut list.other_doc_count);
                count(&mut list.doc_count);
                for bucket in &mut list.buckets {
                    count(&mut bucket.doc_count);
                    below(&mut bucket.subs);
                }
            }
            Partial::Own(finding) => finding.scale(probability),
            Partial::Cardinality(_) | Partial::Distribution(_) => {}
            Partial::Simple(_) | Partial::Pipeline(_) | Partial::Absent => {}
        }
    }
}

/// Returns the first number of a [`SplitMix64`](limber_store::random::SplitMix64) with this seed.
fn mixed(seed: u64) -> u64 {
    mix(seed.wrapping_add(INCREMENT))
}

fn foldhash_of(text: &str) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::default().hash_one(text)
}

#[derive(Debug)]
struct RandomCollector<'s> {
    salt: u64,
    limit: u64,
    is_everything: bool,
    seed: i32,
    /// The number of the segment's first document among those of the shard.
    base: u64,
    next_base: u64,
    doc_count: u64,
    subs: Subs<'s>,
    emitted: Emitted,
}

impl<'s> Collector<'s> for RandomCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.base = self.next_base;
        self.next_base += u64::from(view.doc_count());
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if self.is_everything {
            self.doc_count += entries.len() as u64;
            return self.subs.collect(entries);
        }
        self.emitted.clear();
        for entry in 0..entries.len() {
            let doc = self.base + u64::from(entries.docs[entries.position(entry)]);
            if mixed(self.salt ^ doc.wrapping_mul(0x2545_f491_4f6c_dd1d)) < self.limit {
                self.doc_count += 1;
                self.emitted.push(entry, entries.bucket(entry))?;
            }
        }
        self.subs.collect(&self.emitted.batch(entries, entries.bucket_count)?)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let (seed, doc_count) = (self.seed, self.doc_count);
        let sample = |subs| Finding::into_partial(Sample { seed, bucket: Bucket::new(doc_count, subs) });
        Ok(self.subs.finish(buckets)?.into_iter().map(sample).collect())
    }
}
