//! Aggregations bound to a shard, and the collectors made from them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use limber_mapping::{RequestError, Summary};
use limber_script::{ContextScript, DetachedScript};
use limber_segment::SegmentView;
use limber_segment::points::Points;

use super::answer::hit_reader::HitReader;
use super::answer::partial::Partial;
use super::bucket::{DateShape, Rounding, ShownRange};
use super::buckets::entries::Entries;
use super::budget::Budget;
use super::collector::{Collector, Subs};
use super::definition::{CollectorContext, Definition};
use super::profiled::{AggregationTimes, ProfiledCollector, Step};
use super::source::Source;
use super::terms::TermFilter;
use super::tree::{Aggregation, Kind};
use super::values::format::Format;
use super::values::given_script::FoundScript;
use super::values::refused::not_supported;
use super::weighted::{self, MoreDocuments, WeightedCollector};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::query::{self, BoundQuery, Query};
use crate::script::BoundScript;

/// What the answer needs to know about the aggregation's field on a shard: how values are shown, and what
/// dates and ranges mean.
#[derive(Debug, Clone)]
pub struct Shape {
    pub format: Format,
    /// Whether the shard has the field.
    pub is_mapped: bool,
    /// The aggregation's fields.
    pub sources: Vec<Source>,
    pub date: Option<DateShape>,
    pub ranges: Vec<ShownRange>,
    /// The script that combines the findings of all shards, or the error that keeps it from running.
    pub reduce_script: Option<std::result::Result<ContextScript, RequestError>>,
    /// The stored script that the aggregation runs on numbers, or the error that keeps it from running.
    pub stored_script: Option<FoundScript>,
    pub subs: Vec<Shape>,
}

/// One aggregation on one shard.
#[derive(Debug)]
pub struct Bound {
    name: String,
    kind: Kind,
    pub filter: TermFilter,
    pub queries: Vec<BoundQuery>,
    /// The scripts of [`Definition::scripts`], in its order.
    pub(crate) scripts: Vec<BoundScript>,
    /// The query of the search, for aggregations that show hits.
    pub search_query: Option<BoundQuery>,
    /// Reads the hits that are shown.
    pub(crate) hit_reader: &'static dyn HitReader,
    pub shape: Shape,
    /// The snapshot that `subs` collect from, where it is not the shard's own.
    pub inner: Option<ShardSnapshot>,
    /// The width of the nearest enclosing buckets that are made of dates, and whether this aggregation is
    /// directly below them.
    pub around: Option<(Width, bool)>,
    subs: Vec<Bound>,
    /// What its execution times are added to, if the search is profiled.
    times: Option<Arc<AggregationTimes>>,
}

impl Bound {
    /// Returns what its execution times are added to, if the search is profiled.
    pub fn times(&self) -> Option<&Arc<AggregationTimes>> {
        self.times.as_ref()
    }

    /// Whether it reads summaries, which have counts of their own in place of `_doc_count`.
    pub fn reads_summaries(&self) -> bool {
        self.sources().iter().any(|source| source.summary.is_some())
    }

    /// Returns the fields that [`Definition`] names.
    pub fn sources(&self) -> &[Source] {
        &self.shape.sources
    }
}

/// The width of buckets that are made of dates.
#[derive(Debug, Clone)]
pub enum Width {
    Dates(Rounding),
    /// The buckets have no width, for this reason.
    Unknown(RequestError),
}

/// What aggregations are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'b> {
    pub shard: &'b ShardSnapshot,
    pub context: &'b SearchContext,
    pub search_query: Option<&'b Query>,
    /// Reads the hits that are shown.
    pub(crate) hit_reader: &'static dyn HitReader,
    /// The width of the nearest enclosing buckets that are made of dates, and whether the aggregation being
    /// bound is directly below them.
    pub around: Option<(&'b Width, bool)>,
}

/// Binds the aggregations of a level and their sub-aggregations.
pub fn bind_all(list: &[Aggregation], binding: &Binding<'_>) -> Result<Vec<Bound>> {
    list.iter().map(|aggregation| bind(aggregation, binding)).collect()
}

fn bind(aggregation: &Aggregation, binding: &Binding<'_>) -> Result<Bound> {
    let &Binding { shard, around, .. } = binding;
    let definition = aggregation.definition();
    let mut shape = Shape {
        format: Format::Raw,
        is_mapped: true,
        sources: Vec::new(),
        date: None,
        ranges: Vec::new(),
        reduce_script: None,
        stored_script: stored_script(aggregation, shard),
        subs: Vec::new(),
    };
    let (mut inner, mut width) = (None, None);
    if let Some(definition) = definition {
        inner = definition.scope(aggregation, shard)?;
        bind_fields(definition, aggregation, binding, &mut shape)?;
        width = definition.width(aggregation, &shape)?;
    }
    let nearest = match &width {
        Some(width) => Some((width, true)),
        None => around.map(|(width, _)| (width, false)),
    };
    let below = Binding { shard: inner.as_ref().unwrap_or(shard), around: nearest, ..*binding };
    let mut bound = Bound {
        name: aggregation.name.clone(),
        kind: aggregation.kind.clone(),
        filter: TermFilter::default(),
        queries: Vec::new(),
        scripts: Vec::new(),
        search_query: None,
        hit_reader: binding.hit_reader,
        shape,
        subs: bind_all(&aggregation.subs, &below)?,
        inner,
        around: around.map(|(width, is_parent)| (width.clone(), is_parent)),
        times: None,
    };
    if let Some(definition) = definition {
        bind_parts(definition, aggregation, binding, &mut bound)?;
    }
    bound.shape.subs = bound.subs.iter().map(|sub| sub.shape.clone()).collect();
    if binding.context.profiles && definition.is_some() {
        let below = bound.subs.iter().filter_map(|sub| sub.times.clone()).collect();
        let times = AggregationTimes::of(&bound.name, aggregation.type_name, bound.sources(), below);
        bound.times = Some(times);
    }
    Ok(bound)
}

/// Finds the stored script that an aggregation runs on numbers.
fn stored_script(aggregation: &Aggregation, shard: &ShardSnapshot) -> Option<FoundScript> {
    let (script, context) = match &aggregation.kind {
        Kind::Own(definition) => definition.stored_script(),
        Kind::Pipeline(pipeline) => pipeline.stored_script(),
    }?;
    Some(DetachedScript::find(&shard.scripts, script, context).map(Arc::new))
}

/// Resolves the fields, and what the answer must know about them.
fn bind_fields(
    definition: &dyn Definition,
    aggregation: &Aggregation,
    binding: &Binding<'_>,
    shape: &mut Shape,
) -> Result<()> {
    let &Binding { shard, context, .. } = binding;
    for (place, (values, accepts)) in definition.values().into_iter().enumerate() {
        let type_name = definition.type_name_of(place).unwrap_or(aggregation.type_name);
        let columns_of = |summary: &Summary| definition.summary_columns(summary);
        if let Some(columns) = Source::of_summary(values, type_name, shard, columns_of)? {
            shape.sources.extend(columns);
            continue;
        }
        let source = Source::bind(values, accepts, type_name, shard, context.now_millis)?;
        // A source of `composite` is refused under the name of a histogram, which reads ranges where the
        // source does not.
        let range = source.field.as_deref().filter(|field| field.range_kind().is_some());
        if let Some(field) = range.filter(|_| !definition.reads_ranges()) {
            return Err(not_supported(field, type_name).into());
        }
        shape.sources.push(source);
    }
    if let Some(first) = shape.sources.first() {
        shape.format = first.format.clone();
    }
    shape.is_mapped = match shape.sources.as_slice() {
        [] => definition.is_mapped(shard),
        sources => sources.iter().any(Source::is_mapped),
    };
    definition.complete_shape(shape)
}

/// Binds queries and scripts, and reports why the aggregation cannot run on this shard.
fn bind_parts(
    definition: &dyn Definition,
    aggregation: &Aggregation,
    binding: &Binding<'_>,
    bound: &mut Bound,
) -> Result<()> {
    let &Binding { shard, context, search_query, .. } = binding;
    let bind_query = |query: &Query| query::bind_in(query, shard, context).map_err(unwrapped);
    bound.queries = definition.queries().into_iter().map(bind_query).collect::<Result<_>>()?;
    if definition.needs_search_query() {
        bound.search_query = Some(bind_query(search_query.unwrap_or(&Query::match_all()))?);
    }
    if let (include, exclude @ Some(_)) | (include @ Some(_), exclude) = definition.includes() {
        bound.filter = TermFilter::bind(include, exclude, &bound.shape.sources[0], &aggregation.name)?;
    }
    for (script, context) in definition.scripts(aggregation, shard)? {
        bound.scripts.push(BoundScript::bind(&script, context, shard)?);
    }
    bound.shape.reduce_script = definition.reduce_script(shard);
    definition.check_order(aggregation, &bound.shape, search_query)?;
    definition.check_subs(aggregation, bound)?;
    definition.check_on_shard(bound, shard)
}

/// Makes the collectors of one level.
/// `is_alone`: there is only one parent bucket.
pub fn collectors<'s>(
    list: &'s [Bound],
    shard: &'s ShardSnapshot,
    is_alone: bool,
    budget: &'s Budget,
) -> Result<Subs<'s>> {
    let one = |bound: &'s Bound| Ok((bound.name.clone(), collector(bound, shard, is_alone, budget)?));
    Ok(Subs::new(list.iter().map(one).collect::<Result<_>>()?, budget))
}

fn collector<'s>(
    bound: &'s Bound,
    shard: &'s ShardSnapshot,
    is_alone: bool,
    budget: &'s Budget,
) -> Result<Box<dyn Collector<'s> + 's>> {
    let Kind::Own(definition) = &bound.kind else { return Ok(Box::new(NoCollector)) };
    let inner = bound.inner.as_ref().unwrap_or(shard);
    let mut subs = collectors(&bound.subs, inner, is_alone && definition.is_single_bucket(), budget)?;
    let counts_documents = definition.takes_subs() && !bound.reads_summaries();
    let is_weighted = counts_documents && weighted::is_weighted(inner)?;
    if is_weighted {
        subs.add(weighted::NAME, Box::new(MoreDocuments::new(budget)));
    }
    let make = || {
        let inner = definition.collector(CollectorContext { bound, subs, shard, is_alone, budget })?;
        Ok(if is_weighted { Box::new(WeightedCollector { inner }) } else { inner })
    };
    match &bound.times {
        None => make(),
        Some(times) => {
            let is_own = |sub: &&Bound| matches!(sub.kind, Kind::Own(_));
            let below: Vec<&str> = bound.subs.iter().filter(is_own).map(|sub| &*sub.name).collect();
            times.note(definition.profile_notes(bound, &below, shard, is_alone)?);
            let inner = times.measure(Step::Initialize, 1, make)?;
            Ok(Box::new(ProfiledCollector { inner, times }))
        }
    }
}

/// Collects nothing. Keeps the position of a pipeline aggregation among its siblings.
#[derive(Debug)]
struct NoCollector;

impl<'s> Collector<'s> for NoCollector {
    fn begin_segment(&mut self, _: &'s SegmentView) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self, _: &Entries<'_>) -> Result<()> {
        Ok(())
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn counts_numbers(&self, _: &str, _: &Points<'_>, _: &RangeInclusive<i64>) -> Result<bool> {
        Ok(true)
    }

    fn counts_places(&self, _: &str) -> bool {
        true
    }

    fn can_split(&self) -> bool {
        true
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        Ok(vec![Partial::Absent; buckets.len()])
    }
}

/// Returns the error of a filter without the exception that a search wraps errors of its query in.
fn unwrapped(error: Error) -> Error {
    match error {
        Error::Request(RequestError {
            kind: "query_shard_exception",
            reason,
            caused_by: Some(cause),
            ..
        }) if reason.starts_with("failed to create query: ") => Error::Request(*cause),
        other => other,
    }
}
