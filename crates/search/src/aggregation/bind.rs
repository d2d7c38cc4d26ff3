//! Aggregations bound to a shard, and the collectors made from them.

use limber_mapping::RequestError;
use limber_script::ContextScript;

use super::bucket::{
    DateHistogramCollector, DateShape, FilterCollector, FiltersCollector, HistogramCollector,
    MissingCollector, RangeCollector, RangeHistogramCollector, RangeKeys, Rounding, ShownRange,
};
use super::budget::Budget;
use super::collector::{Collector, NoCollector, Subs};
use super::definition::Place;
use super::format::Format;
use super::metric::{CardinalityCollector, MetricCollector, MetricKind, PercentilesCollector};
use super::options::ValuesOptions;
use super::refused::not_supported;
use super::source::{Accepts, Source};
use super::terms::{KeywordTerms, MadeTermsCollector, NumberTerms, TermFilter};
use super::tree::{Aggregation, Kind};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::query::{self, BoundQuery, Query};
use crate::script::BoundScript;

/// What the answer needs to know of a shard's field: how values are shown and what dates and ranges mean.
#[derive(Debug, Clone)]
pub struct Shape {
    pub format: Format,
    /// Whether the shard has the field.
    pub is_mapped: bool,
    /// The aggregation's fields.
    pub sources: Vec<Source>,
    pub date: Option<DateShape>,
    pub ranges: Vec<ShownRange>,
    /// What makes the answer of all shards' findings, or why nothing does.
    pub reduce_script: Option<std::result::Result<ContextScript, RequestError>>,
    pub subs: Vec<Shape>,
}

/// One aggregation on one shard.
#[derive(Debug)]
pub struct Bound {
    name: String,
    kind: Kind,
    source: Option<Source>,
    pub filter: TermFilter,
    pub queries: Vec<BoundQuery>,
    /// Those of [`Definition::scripts`](super::definition::Definition::scripts), in its order.
    pub(crate) scripts: Vec<BoundScript>,
    /// The query of the search, where hits are shown.
    pub search_query: Option<BoundQuery>,
    pub shape: Shape,
    /// The documents that `subs` see, where those are not the shard's own.
    pub inner: Option<ShardSnapshot>,
    /// The nearest buckets around that are made of dates, and whether it is directly below them.
    pub around: Option<(Width, bool)>,
    subs: Vec<Bound>,
}

impl Bound {
    /// The fields of a [`Definition`](super::definition::Definition).
    pub fn sources(&self) -> &[Source] {
        &self.shape.sources
    }
}

/// How long buckets are that are made of dates.
#[derive(Debug, Clone)]
pub enum Width {
    Dates(Rounding),
    /// They have no length, and why not.
    Unknown(RequestError),
}

/// What aggregations are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'b> {
    pub shard: &'b ShardSnapshot,
    pub context: &'b SearchContext,
    pub search_query: Option<&'b Query>,
    /// The nearest buckets around that are made of dates, and whether what is bound is directly below them.
    pub around: Option<(&'b Width, bool)>,
}

pub fn bind_all(list: &[Aggregation], binding: &Binding<'_>) -> Result<Vec<Bound>> {
    list.iter().map(|aggregation| bind(aggregation, binding)).collect()
}

fn bind(aggregation: &Aggregation, binding: &Binding<'_>) -> Result<Bound> {
    let &Binding { shard, context, search_query, around } = binding;
    let now_millis = context.now_millis;
    let source = match values_of(&aggregation.kind) {
        Some((values, accepts)) => {
            Some(Source::bind(values, accepts, aggregation.type_name, shard, now_millis)?)
        }
        None => None,
    };
    let inner = match &aggregation.kind {
        Kind::Own(definition) => definition.scope(aggregation, shard)?,
        _ => None,
    };
    let mut sources: Vec<Source> = source.iter().cloned().collect();
    let mut date = None;
    let width = match (&aggregation.kind, &source) {
        (Kind::DateHistogram(histogram), Some(source)) => {
            let shape = histogram.shape(source)?;
            let width = Width::Dates(shape.rounding.clone());
            date = Some(shape);
            Some(width)
        }
        (Kind::Own(definition), _) => {
            for (place, (values, accepts)) in definition.values().into_iter().enumerate() {
                let type_name = definition.type_name_of(place).unwrap_or(aggregation.type_name);
                let source = Source::bind(values, accepts, type_name, shard, now_millis)?;
                // A source of `composite` is named as a histogram that goes over ranges, and does not.
                if let Some(field) = source.field.as_deref().filter(|field| field.range_kind().is_some()) {
                    return Err(not_supported(field, type_name).into());
                }
                sources.push(source);
            }
            definition.width(aggregation, &sources)?
        }
        _ => None,
    };
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
        shape: Shape {
            format: source.as_ref().map_or(Format::Raw, |source| source.format.clone()),
            is_mapped: source.as_ref().is_none_or(Source::is_mapped),
            sources,
            date,
            ranges: Vec::new(),
            reduce_script: None,
            subs: Vec::new(),
        },
        subs: bind_all(&aggregation.subs, &below)?,
        inner,
        around: around.map(|(width, is_parent)| (width.clone(), is_parent)),
        source,
    };
    let bind_query = |query: &Query| query::bind_in(query, shard, context).map_err(unwrapped);
    match (&aggregation.kind, &bound.source) {
        (Kind::Terms(terms), Some(source)) => {
            bound.filter = TermFilter::bind(&terms.include, &terms.exclude, source, &terms.name)?;
            // Elasticsearch counts terms of all documents by filters, which check paths once shards are put together.
            let is_by_filters = !source.is_numeric()
                && search_query.is_none_or(Query::is_match_all)
                && !aggregation
                    .subs
                    .iter()
                    .any(|sub| matches!(sub.type_name, "top_hits" | "scripted_metric"));
            match is_by_filters {
                true => terms.order.check(&aggregation.subs)?,
                false => terms.order.check_on_shard(&aggregation.subs)?,
            }
        }
        (Kind::Histogram(histogram), _) => histogram.check_on_shard(&aggregation.subs)?,
        (Kind::DateHistogram(histogram), _) => histogram.order.check_on_shard(&aggregation.subs)?,
        (Kind::Range(ranges), Some(source)) => bound.shape.ranges = ranges.shown(source)?,
        (Kind::Filter(query), _) => bound.queries = vec![bind_query(query)?],
        (Kind::Filters(filters), _) => {
            bound.queries =
                filters.filters.iter().map(|(_, query)| bind_query(query)).collect::<Result<_>>()?;
        }
        (Kind::Own(definition), _) => {
            if let Some(first) = bound.shape.sources.first() {
                bound.shape.format = first.format.clone();
            }
            let sources = &bound.shape.sources;
            bound.shape.is_mapped = match sources.as_slice() {
                [] => definition.is_mapped(shard),
                sources => sources.iter().any(Source::is_mapped),
            };
            bound.queries = definition.queries().into_iter().map(bind_query).collect::<Result<_>>()?;
            if definition.needs_search_query() {
                bound.search_query = Some(bind_query(search_query.unwrap_or(&Query::match_all()))?);
            }
            if let (include, exclude @ Some(_)) | (include @ Some(_), exclude) = definition.includes() {
                bound.filter =
                    TermFilter::bind(include, exclude, &bound.shape.sources[0], &aggregation.name)?;
            }
            for (script, context) in definition.scripts(aggregation, shard)? {
                bound.scripts.push(BoundScript::bind(&script, context, shard)?);
            }
            bound.shape.reduce_script = definition.reduce_script(shard);
            if let Some(order) = definition.order() {
                order.check_on_shard(&aggregation.subs)?;
            }
            definition.check_subs(aggregation, &bound)?;
            definition.check_on_shard(&bound, shard)?;
        }
        _ => {}
    }
    bound.shape.subs = bound.subs.iter().map(|sub| sub.shape.clone()).collect();
    Ok(bound)
}

fn values_of(kind: &Kind) -> Option<(&ValuesOptions, Accepts)> {
    Some(match kind {
        Kind::Metric(metric) if metric.kind == MetricKind::ValueCount => (&metric.values, Accepts::Anything),
        Kind::Metric(metric) => (&metric.values, Accepts::Numbers),
        Kind::Cardinality(cardinality) => (&cardinality.values, Accepts::Anything),
        Kind::Percentiles(percentiles) => (&percentiles.values, Accepts::Numbers),
        Kind::Terms(terms) => (&terms.values, Accepts::Keys),
        Kind::Histogram(histogram) => (&histogram.values, Accepts::Numbers),
        Kind::DateHistogram(histogram) => (&histogram.values, Accepts::Dates),
        Kind::Range(ranges) if ranges.type_name == "date_range" => (&ranges.values, Accepts::Dates),
        Kind::Range(ranges) if ranges.origin.is_some() => (&ranges.values, Accepts::Places),
        Kind::Range(ranges) => (&ranges.values, Accepts::Numbers),
        Kind::Missing(values) => (values, Accepts::Anything),
        Kind::Filter(_) | Kind::Filters(_) | Kind::Own(_) | Kind::Pipeline(_) => return None,
    })
}

/// The collectors of one level.
pub fn collectors<'s>(list: &'s [Bound], shard: &'s ShardSnapshot, budget: &'s Budget) -> Result<Subs<'s>> {
    let one = |bound: &'s Bound| Ok((bound.name.clone(), collector(bound, shard, budget)?));
    Ok(Subs::new(list.iter().map(one).collect::<Result<_>>()?))
}

fn collector<'s>(
    bound: &'s Bound,
    shard: &'s ShardSnapshot,
    budget: &'s Budget,
) -> Result<Box<dyn Collector<'s> + 's>> {
    let subs = collectors(&bound.subs, bound.inner.as_ref().unwrap_or(shard), budget)?;
    Ok(match (&bound.kind, &bound.source) {
        (Kind::Metric(metric), Some(source)) => Box::new(MetricCollector::new(metric, source, budget)?),
        (Kind::Cardinality(cardinality), Some(source)) => {
            Box::new(CardinalityCollector::new(cardinality, source, budget)?)
        }
        (Kind::Percentiles(percentiles), Some(source)) => {
            Box::new(PercentilesCollector::new(percentiles, source, budget)?)
        }
        (Kind::Terms(terms), Some(source)) if source.is_numeric() => {
            Box::new(NumberTerms::new(terms, &bound.filter, source, subs, shard, budget)?)
        }
        (Kind::Terms(terms), Some(source)) if source.makes_terms() => {
            Box::new(MadeTermsCollector::new(terms, &bound.filter, source, subs, budget)?)
        }
        (Kind::Terms(terms), Some(source)) => {
            Box::new(KeywordTerms::new(terms, &bound.filter, source, subs, shard, budget)?)
        }
        (Kind::Histogram(histogram), Some(source)) => match source.range_kind() {
            Some(kind) => {
                let keys = RangeKeys::Numbers(histogram);
                Box::new(RangeHistogramCollector::new(keys, kind, source, subs, budget))
            }
            None => Box::new(HistogramCollector::new(histogram, source, subs, shard, budget)?),
        },
        (Kind::DateHistogram(_), Some(source)) => {
            let shape = bound.shape.date.as_ref().expect("the shape of a date histogram is bound with it");
            match source.range_kind() {
                Some(kind) => {
                    let keys = RangeKeys::of_dates(shape);
                    Box::new(RangeHistogramCollector::new(keys, kind, source, subs, budget))
                }
                None => Box::new(DateHistogramCollector::new(shape, source, subs, shard, budget)?),
            }
        }
        (Kind::Range(ranges), Some(source)) => {
            Box::new(RangeCollector::new(ranges, &bound.shape.ranges, source, subs, budget)?)
        }
        (Kind::Missing(_), Some(source)) => Box::new(MissingCollector::new(source, subs, budget)),
        (Kind::Filter(_), _) => Box::new(FilterCollector::new(&bound.queries[0], subs, budget)),
        (Kind::Filters(filters), _) => {
            Box::new(FiltersCollector::new(&bound.queries, filters.other.is_some(), subs, budget))
        }
        (Kind::Pipeline(_), _) => Box::new(NoCollector),
        (Kind::Own(definition), _) => definition.collector(Place { bound, subs, shard, budget })?,
        (_, None) => unreachable!("every aggregation over values is bound with its source"),
    })
}

/// What is wrong with a filter, without the words that a search puts around what is wrong with its query.
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
