//! Aggregations bound to a shard, and the collectors made from them.

use super::bucket::{
    DateHistogramCollector, DateShape, FilterCollector, FiltersCollector, HistogramCollector,
    MissingCollector, RangeCollector, ShownRange,
};
use super::budget::Budget;
use super::collector::{Collector, Subs};
use super::format::Format;
use super::metric::{CardinalityCollector, MetricCollector, MetricKind, PercentilesCollector};
use super::options::ValuesOptions;
use super::source::{Accepts, Source};
use super::terms::{KeywordTerms, NumberTerms, TermFilter};
use super::tree::{Aggregation, Kind};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{self, BoundQuery, Query};

/// What the answer needs to know of a shard's field: how values are shown and what dates and ranges mean.
#[derive(Debug, Clone)]
pub struct Shape {
    pub format: Format,
    /// Whether the shard has the field.
    pub is_mapped: bool,
    pub date: Option<DateShape>,
    pub ranges: Vec<ShownRange>,
    pub subs: Vec<Shape>,
}

/// One aggregation on one shard.
#[derive(Debug)]
pub struct Bound {
    name: String,
    kind: Kind,
    source: Option<Source>,
    filter: TermFilter,
    queries: Vec<BoundQuery>,
    pub shape: Shape,
    subs: Vec<Bound>,
}

pub fn bind_all(list: &[Aggregation], shard: &ShardSnapshot, now_millis: i64) -> Result<Vec<Bound>> {
    list.iter().map(|aggregation| bind(aggregation, shard, now_millis)).collect()
}

fn bind(aggregation: &Aggregation, shard: &ShardSnapshot, now_millis: i64) -> Result<Bound> {
    let source = match values_of(&aggregation.kind) {
        Some((values, accepts)) => {
            Some(Source::bind(values, accepts, aggregation.type_name, shard, now_millis)?)
        }
        None => None,
    };
    let mut bound = Bound {
        name: aggregation.name.clone(),
        kind: aggregation.kind.clone(),
        filter: TermFilter::default(),
        queries: Vec::new(),
        shape: Shape {
            format: source.as_ref().map_or(Format::Raw, |source| source.format.clone()),
            is_mapped: source.as_ref().is_none_or(Source::is_mapped),
            date: None,
            ranges: Vec::new(),
            subs: Vec::new(),
        },
        subs: bind_all(&aggregation.subs, shard, now_millis)?,
        source,
    };
    let bind_query = |query: &Query| query::bind(query, shard, now_millis);
    match (&aggregation.kind, &bound.source) {
        (Kind::Terms(terms), Some(source)) => {
            bound.filter = TermFilter::bind(&terms.include, &terms.exclude, source, &terms.name)?;
        }
        (Kind::Histogram(histogram), _) => histogram.check_on_shard(&aggregation.subs)?,
        (Kind::DateHistogram(histogram), Some(source)) => {
            histogram.order.check_on_shard(&aggregation.subs)?;
            bound.shape.date = Some(histogram.shape(source)?);
        }
        (Kind::Range(ranges), Some(source)) => bound.shape.ranges = ranges.shown(source)?,
        (Kind::Filter(query), _) => bound.queries = vec![bind_query(query)?],
        (Kind::Filters(filters), _) => {
            bound.queries =
                filters.filters.iter().map(|(_, query)| bind_query(query)).collect::<Result<_>>()?;
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
        Kind::Terms(terms) => (&terms.values, Accepts::Anything),
        Kind::Histogram(histogram) => (&histogram.values, Accepts::Numbers),
        Kind::DateHistogram(histogram) => (&histogram.values, Accepts::Numbers),
        Kind::Range(ranges) => (&ranges.values, Accepts::Numbers),
        Kind::Missing(values) => (values, Accepts::Anything),
        Kind::Filter(_) | Kind::Filters(_) => return None,
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
    let subs = collectors(&bound.subs, shard, budget)?;
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
        (Kind::Terms(terms), Some(source)) => {
            Box::new(KeywordTerms::new(terms, &bound.filter, source, subs, shard, budget)?)
        }
        (Kind::Histogram(histogram), Some(source)) => {
            Box::new(HistogramCollector::new(histogram, source, subs, shard, budget)?)
        }
        (Kind::DateHistogram(histogram), Some(source)) => {
            let shape = bound.shape.date.as_ref().expect("the shape of a date histogram is bound with it");
            Box::new(DateHistogramCollector::new(histogram, shape, source, subs, shard, budget)?)
        }
        (Kind::Range(ranges), Some(source)) => {
            Box::new(RangeCollector::new(ranges, &bound.shape.ranges, source, subs, budget)?)
        }
        (Kind::Missing(values), Some(source)) => {
            Box::new(MissingCollector::new(&values.field, source, subs, budget))
        }
        (Kind::Filter(_), _) => Box::new(FilterCollector::new(&bound.queries[0], subs, budget)),
        (Kind::Filters(filters), _) => {
            Box::new(FiltersCollector::new(&bound.queries, filters.other.is_some(), subs, budget))
        }
        (_, None) => unreachable!("every aggregation over values is bound with its source"),
    })
}
