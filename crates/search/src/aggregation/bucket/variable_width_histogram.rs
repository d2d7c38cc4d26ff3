//! `variable_width_histogram`: buckets whose centres are clusters of values.
//!
//! Source: Elasticsearch's `VariableWidthHistogramAggregationBuilder`, `InternalVariableWidthHistogram`. A
//! shard sorts its first values into clusters, and adds later ones to the nearest cluster or, if that is far
//! away, to a new one. The reduce merges the two nearest clusters until only the requested number is left.

use limber_mapping::RequestError;
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::deferred::Deferred;
use super::super::buckets::entries::{Emitted, Entries, Values, push_checked};
use super::super::buckets::list::Group;
use super::super::buckets::nearest::{merge, merge_nearest, set_span, span};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::double;
use crate::error::Result;

const BUCKETS: i32 = 10;

/// Largest number of clusters of one shard, so that finding the nearest stays fast.
const CLUSTERS_MAX: i32 = 5_000;

/// The options of a `variable_width_histogram`: the number of buckets; their bounds follow from the values.
#[derive(Debug, Clone)]
pub struct VariableWidthHistogram {
    values: ValuesOptions,
    buckets: usize,
    shard_size: usize,
    initial_buffer: usize,
}

impl VariableWidthHistogram {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let buckets = options.int("buckets")?;
        if let Some(buckets) = buckets
            && buckets <= 0
        {
            return Err(options
                .refused("buckets", format!("buckets must be greater than [0] for [{}]", options.name)));
        }
        let shard_size = options.int("shard_size")?;
        if let Some(shard_size) = shard_size
            && shard_size <= 1
        {
            let reason = format!("shard_size must be greater than [1] for [{}]", options.name);
            return Err(options.refused("shard_size", reason));
        }
        let initial_buffer = options.int("initial_buffer")?;
        if let Some(initial_buffer) = initial_buffer
            && initial_buffer <= 0
        {
            let reason = format!("initial_buffer must be greater than [0] for [{}]", options.name);
            return Err(options.refused("initial_buffer", reason));
        }
        let buckets = buckets.unwrap_or(BUCKETS);
        let shard_size = shard_size.unwrap_or(buckets.saturating_mul(50));
        let initial_buffer = initial_buffer.unwrap_or(shard_size.saturating_mul(10).min(50_000));
        let values = ValuesOptions::parse(options)?;
        let name = &options.name;
        let clusters = shard_size / 4 * 3 + shard_size % 4 * 3 / 4;
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        if shard_size > CLUSTERS_MAX {
            return refused(format!(
                "[shard_size] must not be greater than [{CLUSTERS_MAX}] but was [{shard_size}] for [{name}]"
            ));
        }
        if initial_buffer < shard_size {
            return refused(format!(
                "initial_buffer must be at least shard_size but was [{initial_buffer}<{shard_size}] for [{name}]"
            ));
        }
        if clusters < buckets {
            return refused(format!(
                "3/4 of shard_size must be at least buckets but was [{clusters}<{buckets}] for [{name}]"
            ));
        }
        let [buckets, shard_size, initial_buffer] =
            [buckets, shard_size, initial_buffer].map(|count| usize::try_from(count).unwrap_or(1));
        Ok(Kind::own(VariableWidthHistogram { values, buckets, shard_size, initial_buffer }))
    }
}

impl Request for VariableWidthHistogram {
    fn defers_subs(&self) -> bool {
        true
    }

    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Quantities)]
    }

    fn check_place(
        &self,
        own: &Aggregation,
        parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        let is_single = |parent: &&Aggregation| {
            parent.definition().is_some_and(|definition| definition.is_single_bucket())
        };
        match parents.iter().all(is_single) {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "[{}] cannot be nested inside an aggregation that collects more than a single bucket.",
                own.type_name
            ))),
        }
    }
}

impl Collect for VariableWidthHistogram {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &context.bound.sources()[0];
        Ok(Box::new(VariableWidthCollector {
            request: self,
            source,
            reader: NumberReader::new(source)?,
            buffered: Vec::new(),
            clusters: Vec::new(),
            by_centre: Vec::new(),
            centres: Vec::new(),
            hints: Box::new([0; HINTS]),
            is_clustered: false,
            is_direct: false,
            average_distance: 0.0,
            deferred: Deferred::default(),
            value_count: 0,
            clusters_of_values: Vec::new(),
            doubles: Vec::new(),
            found: Vec::new(),
            starts: Vec::new(),
            subs: context.subs,
            emitted: Emitted::default(),
            budget: context.budget,
        }))
    }
}

impl Reduce for VariableWidthHistogram {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let mut buckets: Vec<ListBucket> = parts.into_iter().flat_map(|list| list.buckets).collect();
        buckets.sort_by(|left, right| span(left)[0].total_cmp(&span(right)[0]));
        let mut all: Vec<Group> = Vec::new();
        for mut bucket in buckets {
            let subs = std::mem::take(&mut bucket.subs);
            match all.last_mut() {
                Some(last) if span(&last.bucket)[0] == span(&bucket)[0] => {
                    merge(last, Group { bucket, parts: vec![subs] });
                }
                _ => all.push(Group { bucket, parts: vec![subs] }),
            }
        }
        let all = merge_nearest(all, self.buckets)?;
        // Buckets with equal minima are merged; overlapping ones are separated at the middle of the overlap.
        let mut kept: Vec<Group> = Vec::new();
        for group in all {
            match kept.last_mut() {
                Some(last) if span(&last.bucket)[1] == span(&group.bucket)[1] => merge(last, group),
                _ => kept.push(group),
            }
        }
        for place in 1..kept.len() {
            let (mut before, mut own) = (span(&kept[place - 1].bucket), span(&kept[place].bucket));
            if own[1] < before[2] {
                let middle = (before[2] + own[1]) / 2.0;
                (before[2], own[1]) = (middle, middle);
                set_span(&mut kept[place - 1].bucket, before);
                set_span(&mut kept[place].bucket, own);
            }
        }
        let buckets = reducer.buckets_of(own, kept)?;
        Ok(ListPartial::of(buckets))
    }
}

impl Render for VariableWidthHistogram {
    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let format = &renderer.shape.format;
        out.bucket_list(&list.buckets, |bucket, out| {
            let [centre, min, max] = span(bucket);
            for (name, value) in [("min", min), ("key", centre), ("max", max)] {
                out.insert(name, &double(value))?;
                if !format.is_raw() {
                    out.insert(&format!("{name}_as_string"), &format.text(value)?)?;
                }
            }
            renderer.bucket(bucket.doc_count, &bucket.subs, out)
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Cluster {
    centre: f64,
    min: f64,
    max: f64,
    count: u64,
}

impl Cluster {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.centre += (value - self.centre) / self.count as f64;
        (self.min, self.max) = (self.min.min(value), self.max.max(value));
    }
}

/// Returns the index of the centre nearest to a value, and of two that are equally near the lesser one's.
/// `after` is the number of centres below the value. There is at least one centre.
///
/// Which of two neighbours is nearer cannot be predicted, so there is no branch for it.
#[inline]
fn nearest(centres: &[f64], after: usize, value: f64) -> usize {
    let (before, after) = (after.saturating_sub(1), after.min(centres.len() - 1));
    let distance = |at: usize| (centres[at] - value).abs();
    // The two are neighbours, or the same at either end.
    after - (usize::from(distance(before) <= distance(after)) & (after - before))
}

/// Entries of the table of hints, a power of two: more than most columns of amounts have values. It fits
/// into the second-level cache.
const HINTS: usize = 1 << 14;
/// How far a hint may be off before the centre is searched. New clusters shift the centres after them.
const HINT_STEPS: usize = 4;
/// 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4).
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug)]
struct VariableWidthCollector<'s> {
    request: &'s VariableWidthHistogram,
    source: &'s Source,
    reader: NumberReader<'s>,
    /// The first values, until there are enough of them to form clusters.
    buffered: Vec<f64>,
    clusters: Vec<Cluster>,
    /// Clusters by ascending centre, and their centres in this order.
    by_centre: Vec<u32>,
    centres: Vec<f64>,
    /// By the hash of a value: the number of centres below it when it was last seen. Columns repeat their
    /// values.
    hints: Box<[u32; HINTS]>,
    is_clustered: bool,
    /// Whether documents are passed on as they come, because there are clusters.
    is_direct: bool,
    average_distance: f64,
    /// Documents with the ordinals of their values; `clusters_of_values` has the clusters.
    deferred: Deferred<'s>,
    value_count: u32,
    clusters_of_values: Vec<u32>,
    doubles: Vec<f64>,
    /// The entries and values of the current batch.
    found: Vec<(usize, f64)>,
    starts: Vec<u32>,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

impl VariableWidthCollector<'_> {
    /// Forms clusters from the buffered values: sorted, in runs of equal length.
    fn cluster(&mut self) {
        self.is_clustered = true;
        let values = std::mem::take(&mut self.buffered);
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by(|&left, &right| values[left as usize].total_cmp(&values[right as usize]));
        let run = values.len().div_ceil((self.request.shard_size * 3 / 4).max(1)).max(1);
        self.clusters_of_values.resize(values.len(), 0);
        for (rank, &place) in order.iter().enumerate() {
            let value = values[place as usize];
            if rank % run == 0 {
                self.by_centre.push(self.clusters.len() as u32);
                self.clusters.push(Cluster { centre: value, min: value, max: value, count: 0 });
            }
            self.clusters_of_values[place as usize] = self.clusters.len() as u32 - 1;
            if let Some(cluster) = self.clusters.last_mut() {
                cluster.add(value);
            }
        }
        self.centres = self.clusters.iter().map(|cluster| cluster.centre).collect();
        let range = self.centres.last().unwrap_or(&0.0) - self.centres.first().unwrap_or(&0.0);
        self.average_distance = range / (self.clusters.len().max(2) - 1) as f64;
    }

    /// Adds a value to the nearest cluster, or to a new one if the nearest is far away and there can be more.
    /// Returns the cluster.
    fn place(&mut self, value: f64) -> u32 {
        let after = self.centres_below(value);
        let nearest = nearest(&self.centres, after, value);
        let distance = (self.centres[nearest] - value).abs();
        if distance > 2.0 * self.average_distance && self.clusters.len() < self.request.shard_size {
            let cluster = self.clusters.len() as u32;
            self.clusters.push(Cluster { centre: value, min: value, max: value, count: 1 });
            self.by_centre.insert(after, cluster);
            self.centres.insert(after, value);
            return cluster;
        }
        let number = self.by_centre[nearest];
        let cluster = &mut self.clusters[number as usize];
        cluster.add(value);
        self.centres[nearest] = cluster.centre;
        number
    }

    /// Returns the number of centres below a value.
    fn centres_below(&mut self, value: f64) -> usize {
        let hint = &mut self.hints
            [(value.to_bits().wrapping_mul(HASH_FACTOR) >> (u64::BITS - HINTS.ilog2())) as usize];
        let is_below = |at: usize| self.centres.get(at).is_some_and(|centre| *centre < value);
        let mut at = (*hint as usize).min(self.centres.len());
        for _ in 0..HINT_STEPS {
            if is_below(at) {
                at += 1;
            } else if at > 0 && !is_below(at - 1) {
                at -= 1;
            } else {
                *hint = at as u32;
                return at;
            }
        }
        *hint = self.centres.partition_point(|centre| *centre < value) as u32;
        *hint as usize
    }
}

impl<'s> VariableWidthCollector<'s> {
    /// Adds values to clusters, or buffers them. Documents are noted until there are clusters.
    fn collect_deferred(&mut self, found: &[(usize, f64)], entries: &Entries<'_>) -> Result<()> {
        self.budget.spend(found.len() as u64 * 12)?;
        for &(entry, value) in found {
            self.emitted.push(entry, self.value_count)?;
            self.value_count += 1;
            if self.is_clustered {
                let cluster = self.place(value);
                self.clusters_of_values.push(cluster);
            } else {
                self.buffered.push(value);
                if self.buffered.len() >= self.request.initial_buffer {
                    self.cluster();
                }
            }
        }
        if !self.subs.is_empty() {
            self.deferred.note(&self.emitted.batch(entries, self.value_count as usize)?, self.budget)?;
        }
        if let Some(view) =
            self.deferred.segment().filter(|_| self.is_clustered && self.subs.takes_windows_again())
        {
            self.replay()?;
            self.subs.begin_segment(view)?;
            self.is_direct = true;
        }
        Ok(())
    }

    /// Adds values to clusters and passes their documents on: a value's cluster does not change any more.
    fn collect_directly(&mut self, found: &[(usize, f64)], entries: &Entries<'_>) -> Result<()> {
        let has_subs = !self.subs.is_empty();
        for &(entry, value) in found {
            let cluster = self.place(value);
            if has_subs {
                self.emitted.push(entry, cluster)?;
            }
        }
        if has_subs {
            self.subs.collect(&self.emitted.batch(entries, self.clusters.len())?)?;
        }
        Ok(())
    }

    /// Passes the documents that were noted on to the sub-aggregations.
    fn replay(&mut self) -> Result<()> {
        let clusters = &self.clusters_of_values;
        let cluster = |value: u32| clusters.get(value as usize).copied();
        self.deferred.replay(&mut self.subs, self.clusters.len(), self.budget, cluster)
    }
}

impl<'s> Collector<'s> for VariableWidthCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())?;
        if self.is_direct {
            return self.subs.begin_segment(view);
        }
        self.deferred.begin_segment(view);
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let mut doubles = std::mem::take(&mut self.doubles);
        let positions = self.reader.load_doubles(entries.docs, &mut doubles)?;
        let values = Values { values: doubles.as_slice(), positions };
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        values.try_join(entries, &mut self.starts, |entry, _, value| {
            push_checked(&mut found, (entry, value))
        })?;
        self.emitted.clear();
        self.doubles = doubles;
        let outcome = match self.is_direct {
            true => self.collect_directly(&found, entries),
            false => self.collect_deferred(&found, entries),
        };
        self.found = found;
        outcome
    }

    fn end_segment(&mut self) -> Result<()> {
        if self.is_direct { self.subs.end_segment() } else { Ok(()) }
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        if !self.is_clustered {
            self.cluster();
        }
        if !self.is_direct {
            self.replay()?;
        }
        let subs = self.subs.finish(&self.by_centre)?;
        let bucket = |(&number, subs): (&u32, Vec<Partial>)| {
            let Cluster { centre, min, max, count } = self.clusters[number as usize];
            ListBucket::new([centre, min, max].map(Key::Double).into(), count, subs)
        };
        let buckets = self.by_centre.iter().zip(subs).map(bucket).collect();
        // There is only one parent.
        let mut partials = vec![Partial::List(ListPartial::of(buckets))];
        partials.resize_with(parents.len(), || Partial::List(ListPartial::default()));
        Ok(partials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_centre_of_a_value() {
        let centres = [-3.0, 0.5, 0.5, 4.0];
        let of = |value: f64| nearest(&centres, centres.partition_point(|centre| *centre < value), value);
        let values = [-9.0, -3.0, -1.25, -1.0, 0.5, 2.25, 2.5, 4.0, 9.0];
        assert_eq!(values.map(of), [0, 0, 0, 1, 1, 2, 3, 3, 3]);
        assert_eq!([f64::NEG_INFINITY, f64::INFINITY, f64::NAN].map(of), [0, 3, 0]);
        assert_eq!(nearest(&[1.0], 0, f64::NAN), 0);
        assert_eq!(nearest(&[f64::NAN], 1, 1.0), 0);
    }
}
