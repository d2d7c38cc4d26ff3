//! Measures how long each aggregation takes to collect and to build its result (`profile`).
//!
//! Source: Elasticsearch's `ProfilingAggregator` and `AggregationProfileBreakdown`. A profiled aggregation
//! collects every document; it never answers from the statistics of a segment.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use limber_mapping::Representation;
use limber_segment::SegmentView;
use limber_segment::columns::Cardinality;
use serde_json::{Map, Value, json};

use super::answer::partial::Partial;
use super::buckets::entries::Entries;
use super::collector::Collector;
use super::source::Source;
use crate::context::timers::Timers;
use crate::error::Result;

/// A step in the execution of an aggregation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Initialize,
    BuildLeafCollector,
    Collect,
    PostCollection,
    BuildAggregation,
}

/// In the order of [`Step`].
const STEPS: [&str; 5] =
    ["initialize", "build_leaf_collector", "collect", "post_collection", "build_aggregation"];

/// The reduce is not part of a shard's profile; Elasticsearch shows nothing for it, either.
const NO_STEP: &str = "reduce";

/// Counts how the values of segments are read.
#[derive(Debug, Default)]
struct Segments {
    numbers: AtomicU64,
    single_ordinals: AtomicU64,
    multi_ordinals: AtomicU64,
    empty: AtomicU64,
}

/// What a profile tells of an aggregation besides its times: how Elasticsearch collects it.
#[derive(Debug, Default)]
pub struct ProfileNotes {
    /// Elasticsearch's class, if it depends on more than the types of the aggregation and its field.
    pub class: Option<&'static str>,
    /// Members of `debug`.
    pub debug: Map<String, Value>,
}

impl ProfileNotes {
    /// Makes the notes of an aggregation of whose sub-aggregations these are deferred.
    pub fn deferring(names: &[&str]) -> ProfileNotes {
        let mut notes = ProfileNotes::default();
        if !names.is_empty() {
            notes.debug.insert("deferred_aggregators".into(), names.into());
        }
        notes
    }
}

/// The execution times of one aggregation on a shard.
#[derive(Debug)]
pub struct AggregationTimes {
    name: String,
    type_name: &'static str,
    class: String,
    field: Option<Arc<limber_mapping::Field>>,
    timers: Timers<{ STEPS.len() }>,
    segments: Segments,
    notes: OnceLock<ProfileNotes>,
    /// Number of buckets of all parent buckets.
    buckets: OnceLock<u64>,
    /// Number of results that were built, one for each parent bucket.
    built: AtomicU64,
    pub(super) children: Vec<Arc<AggregationTimes>>,
}

impl AggregationTimes {
    pub(super) fn of(
        name: &str,
        type_name: &'static str,
        sources: &[Source],
        children: Vec<Arc<AggregationTimes>>,
    ) -> Arc<AggregationTimes> {
        let field = sources.first().and_then(|source| source.field.clone());
        Arc::new(AggregationTimes {
            name: name.to_owned(),
            type_name,
            class: class_of(type_name, field.as_deref()),
            field,
            timers: Timers::default(),
            segments: Segments::default(),
            notes: OnceLock::new(),
            buckets: OnceLock::new(),
            built: AtomicU64::new(0),
            children,
        })
    }

    /// Sets what the profile tells of how the aggregation is collected, once.
    pub(super) fn note(&self, notes: ProfileNotes) {
        self.notes.get_or_init(|| notes);
    }

    fn noted_class(&self) -> Option<&'static str> {
        self.notes.get().and_then(|notes| notes.class)
    }

    pub(super) fn measure<T>(&self, step: Step, count: u64, body: impl FnOnce() -> T) -> T {
        self.timers.measure(step as usize, count, body)
    }

    /// Returns the time of all steps, including those of the sub-aggregations.
    pub fn nanos(&self) -> u64 {
        self.timers.nanos()
    }

    /// Returns the time of the steps that collect documents.
    pub fn nanos_of_collecting(&self) -> u64 {
        let steps = [Step::BuildLeafCollector, Step::Collect];
        steps.into_iter().map(|step| self.timers.nanos_of(step as usize)).sum()
    }

    /// Returns the name of the aggregation in the request.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn see(&self, view: &SegmentView) -> Result<()> {
        let Some(field) = &self.field else { return Ok(()) };
        let counter = match field.representation() {
            Representation::Terms => match view.segment.ordinals(&field.path)? {
                None => &self.segments.empty,
                Some(column) if column.cardinality() != Cardinality::Multi => &self.segments.single_ordinals,
                Some(_) => &self.segments.multi_ordinals,
            },
            _ if view.segment.numbers(&field.path)?.is_none() => &self.segments.empty,
            _ => &self.segments.numbers,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn debug(&self) -> Map<String, Value> {
        let mut debug = Map::new();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let segments = &self.segments;
        let (single, multi) = (count(&segments.single_ordinals), count(&segments.multi_ordinals));
        match self.type_name {
            "cardinality" => {
                debug.insert("empty_collectors_used".into(), count(&segments.empty).into());
                debug.insert("numeric_collectors_used".into(), count(&segments.numbers).into());
                debug.insert("ordinals_collectors_used".into(), (single + multi).into());
                debug.insert("ordinals_collectors_overhead_too_high".into(), 0.into());
                debug.insert("string_hashing_collectors_used".into(), 0.into());
            }
            "terms" if single + multi > 0 && self.noted_class().is_none() => {
                debug.insert("segments_with_single_valued_ords".into(), single.into());
                debug.insert("segments_with_multi_valued_ords".into(), multi.into());
            }
            _ => {}
        }
        if let Some(buckets) = self.buckets.get() {
            let name = match self.type_name {
                "auto_date_histogram" => "surviving_buckets",
                _ => "total_buckets",
            };
            debug.insert(name.into(), (*buckets).into());
        }
        debug.extend(self.notes.get().map(|notes| notes.debug.clone()).unwrap_or_default());
        debug.insert("built_buckets".into(), count(&self.built).into());
        debug
    }

    /// Renders the times as Elasticsearch does.
    pub fn to_json(&self) -> Value {
        let breakdown = self.timers.breakdown(&STEPS, NO_STEP);
        let mut shown = json!({
            "type": self.noted_class().unwrap_or(&self.class),
            "description": self.name,
            "time_in_nanos": self.nanos(),
            "breakdown": breakdown,
            "debug": self.debug(),
        });
        if !self.children.is_empty() {
            shown["children"] = self.children.iter().map(|child| child.to_json()).collect();
        }
        shown
    }
}

/// Returns Elasticsearch's class name of the aggregator of this type for such a field.
fn class_of(type_name: &str, field: Option<&limber_mapping::Field>) -> String {
    let is_number = field.is_some_and(limber_mapping::Field::is_numeric);
    let is_range = field.is_some_and(|field| field.range_kind().is_some());
    let named = match type_name {
        "terms" if is_number => "NumericTermsAggregator",
        "terms" if field.is_some() => "GlobalOrdinalsStringTermsAggregator",
        "terms" => "MapStringTermsAggregator",
        "significant_terms" if is_number => "NumericTermsAggregator",
        "significant_terms" => "GlobalOrdinalsStringTermsAggregator.SignificantTerms",
        "rare_terms" if is_number => "LongRareTermsAggregator",
        "rare_terms" => "StringRareTermsAggregator",
        "histogram" if is_range => "RangeHistogramAggregator",
        "histogram" => "NumericHistogramAggregator",
        "date_histogram" if is_range => "DateRangeHistogramAggregator",
        "range" | "date_range" | "geo_distance" => "RangeAggregator.NoOverlap",
        "ip_range" => "BinaryRangeAggregator",
        "cardinality" if is_number || field.is_none() => "CardinalityAggregator",
        "cardinality" => "GlobalOrdCardinalityAggregator",
        "percentiles" => "TDigestPercentilesAggregator",
        "percentile_ranks" => "TDigestPercentileRanksAggregator",
        "children" => "ParentToChildrenAggregator",
        "parent" => "ChildrenToParentAggregator",
        "filters" => "FiltersAggregator.Compatible",
        "filter" => "FilterAggregator",
        "geotile_grid" => "GeoTileGridAggregator",
        "geohash_grid" => "GeoHashGridAggregator",
        "geohex_grid" => "GeoHexGridAggregator",
        "diversified_sampler" => "DiversifiedOrdinalsSamplerAggregator",
        "auto_date_histogram" => "AutoDateHistogramAggregator.FromSingle",
        _ => "",
    };
    match named {
        "" => {
            let words = type_name.split('_').map(|word| {
                let mut letters = word.chars();
                letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
            });
            words.collect::<String>() + "Aggregator"
        }
        named => named.to_owned(),
    }
}

/// A collector whose steps are measured.
#[derive(Debug)]
pub(super) struct ProfiledCollector<'s> {
    pub inner: Box<dyn Collector<'s> + 's>,
    pub times: &'s AggregationTimes,
}

impl<'s> Collector<'s> for ProfiledCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.times.see(view)?;
        self.times.measure(Step::BuildLeafCollector, 1, || self.inner.begin_segment(view))
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.times.measure(Step::Collect, entries.docs.len() as u64, || self.inner.collect(entries))
    }

    fn end_segment(&mut self) -> Result<()> {
        self.times.measure(Step::PostCollection, 0, || self.inner.end_segment())
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.inner.order_value(path, value, bucket)
    }

    fn take_keys(&mut self, buckets: &[u32], key_of: &dyn Fn(u32) -> i64) {
        self.inner.take_keys(buckets, key_of);
    }

    fn settle(&mut self) -> Result<()> {
        self.times.measure(Step::PostCollection, 0, || self.inner.settle())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.times.built.fetch_add(buckets.len() as u64, Ordering::Relaxed);
        if let Some(count) = self.inner.bucket_count() {
            self.times.buckets.get_or_init(|| count);
        }
        self.times.measure(Step::PostCollection, 1, || ());
        self.times.measure(Step::BuildAggregation, 1, || self.inner.finish(buckets))
    }
}
