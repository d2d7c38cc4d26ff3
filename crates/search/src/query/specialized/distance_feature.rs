//! `distance_feature`: scores that increase with the proximity to a point or an instant.
//!
//! Source: Elasticsearch's `DistanceFeatureQueryBuilder`, Lucene's `LatLonPointDistanceFeatureQuery`,
//! `LongDistanceFeatureQuery`.

use std::sync::Arc;

use limber_mapping::date::{NANOS_PER_MILLI, Resolution, Zone};
use limber_mapping::geo::{ArcFrom, Unit, parse_distance, parse_point};
use limber_mapping::number::java_double;
use limber_mapping::{Field, ObjectParser, RequestError, ValueKind};
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::geo::degrees;
use crate::matcher::{self, BoxedMatcher, BoxedScorer, Scorer, SegmentBits};
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, constant_scorer, score_of};
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::{Explanation, MaxScores, Span};
use crate::script::{NumberSource, RuntimeField};
use crate::values::json;

#[derive(Debug)]
struct DistanceFeature {
    field: String,
    origin: Value,
    pivot: String,
}

/// The bound query: the score is `boost * pivot / (pivot + distance)`, with distances from a column.
#[derive(Debug)]
pub(crate) struct FeatureNode {
    pub field: Arc<Field>,
    /// What computes the values of a runtime field, and the documents that have one.
    runtime: Option<(Arc<RuntimeField>, Docs)>,
    pub origin: FeatureOrigin,
    /// In meters, or in the resolution of the field's dates.
    pub pivot: f64,
    pub boost: f32,
}

#[derive(Debug)]
pub(crate) enum FeatureOrigin {
    Place(ArcFrom),
    Instant(i64),
}

impl FeatureNode {
    /// Returns the score of a stored value.
    #[inline]
    pub fn score(&self, stored: i64) -> f32 {
        let distance = match &self.origin {
            FeatureOrigin::Place(from) => {
                let point = limber_mapping::geo::GeoPoint::decode(stored);
                from.meters(point.latitude, point.longitude)
            }
            FeatureOrigin::Instant(origin) => stored.abs_diff(*origin) as f64,
        };
        (f64::from(self.boost) * (self.pivot / (self.pivot + distance))) as f32
    }
}

impl MaxScores for FeatureNode {
    fn field(&self) -> &Field {
        &self.field
    }

    fn is_of_best_value(&self) -> bool {
        true
    }

    fn max_score(&self, span: &Span) -> f64 {
        let distance = match (&self.origin, span) {
            (FeatureOrigin::Place(from), Span::Places(cell)) => {
                let (longitudes, latitudes) = degrees(cell);
                from.least_meters(latitudes, longitudes)
            }
            (FeatureOrigin::Instant(origin), Span::Numbers(min, max)) => {
                (*origin).clamp(*min, *max).abs_diff(*origin) as f64
            }
            _ => return f64::INFINITY,
        };
        f64::from(self.boost) * (self.pivot / (self.pivot + distance))
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("distance_feature");

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut field, mut origin, mut pivot) = (None, None, None);
    for (key, value) in members {
        match key.as_str() {
            "field" if value.is_boolean() => {
                return Err(PARSER.unsupported("field", value));
            }
            "field" => field = json::scalar_text(value),
            "origin" => {
                if value.is_array() || value.is_object() {
                    parse_point(value, true).map_err(|cause| PARSER.failed("origin", cause))?;
                }
                origin = Some(value.clone());
            }
            "pivot" => match value {
                Value::String(text) => pivot = Some(text.clone()),
                other => {
                    return Err(PARSER.unsupported("pivot", other));
                }
            },
            key if common.take(key, value)? => {}
            key => {
                let known = ["field", "origin", "pivot", "boost", "_name"];
                return Err(PARSER.unknown_among(key, &known));
            }
        }
    }
    Ok(common.query(DistanceFeature {
        field: field.ok_or_else(|| ObjectParser::required("field"))?,
        origin: origin.ok_or_else(|| ObjectParser::required("origin"))?,
        pivot: pivot.ok_or_else(|| ObjectParser::required("pivot"))?,
    }))
}

impl QueryNode for DistanceFeature {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing("Can't run [distance_feature] query on unmapped fields!"));
        };
        let runtime = RuntimeField::bind(&field, binder.shard())?.map(|runtime| {
            let docs = Box::new(Docs::Exists { path: field.path.clone() });
            (runtime.clone(), Docs::Runtime { field: runtime, docs })
        });
        if runtime.is_none() && !field.doc_values {
            return Err(RequestError::unsupported(format_args!(
                "[distance_feature] on field [{}] without doc values",
                field.path
            ))
            .into());
        }
        let not_positive =
            |pivot: String| RequestError::illegal_argument(format!("pivotDistance must be > 0, got {pivot}"));
        let (origin, pivot) = match &field.values {
            ValueKind::Point => {
                let point = parse_point(&self.origin, true)?.checked("")?;
                let pivot = parse_distance(&self.pivot, Unit::METERS)?;
                if pivot.is_nan() || pivot <= 0.0 {
                    return Err(not_positive(java_double(pivot)).into());
                }
                (FeatureOrigin::Place(ArcFrom::new(point.latitude, point.longitude)), pivot)
            }
            ValueKind::Date { format, resolution } => {
                let text = json::scalar_text(&self.origin).unwrap_or_default();
                // As in Elasticsearch, an origin without a time means the last instant of the period that it
                // names.
                let now_millis = binder.dates().now_millis;
                let instant = format.parse_instant_with_math(&text, now_millis, true, &Zone::Utc)?;
                let pivot = json::time_nanos(&self.pivot, "pivot").map_err(|_| {
                    RequestError::illegal_argument(format!("failed to parse [{}]", self.pivot))
                })?;
                let per_milli = resolution.per_milli();
                let units = match (pivot, resolution) {
                    (None, _) => -per_milli,
                    (Some(nanos), Resolution::Millis) => (nanos / NANOS_PER_MILLI as u64) as i64,
                    (Some(nanos), Resolution::Nanos) => nanos.min(i64::MAX as u64) as i64,
                };
                if units <= 0 {
                    return Err(not_positive(units.to_string()).into());
                }
                let origin = resolution.stored(instant).map_err(|error| binder.wrapped(error))?;
                (FeatureOrigin::Instant(origin), units as f64)
            }
            _ => {
                return Err(RequestError::illegal_argument(format!(
                    "Illegal data type of [{}]![distance_feature] query can only be run on a date, date_nanos or geo_point \
                     field type!",
                    binder.type_name(&field)
                ))
                .into());
            }
        };
        Ok(FeatureNode { field, runtime, origin, pivot, boost }.into())
    }
}

impl BoundNode for FeatureNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        match &self.runtime {
            None => matcher::with_field(segment, &self.field.path),
            Some((_, docs)) => matcher::set(docs, segment),
        }
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        let runtime = self.runtime.as_ref().map(|(runtime, _)| runtime);
        match NumberSource::open(segment, &self.field.path, runtime)? {
            None => constant_scorer(self, 0.0, segment, is_known),
            Some(source) => Ok(Box::new(FeatureScorer { node: self, source, batch: Batch::default() })),
        }
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let details = vec![
            Explanation::leaf(self.boost, "weight"),
            Explanation::leaf(self.pivot as f32, "pivotDistance"),
        ];
        let text = format!(
            "Distance score, computed as weight * pivotDistance / (pivotDistance + abs(value - origin)) from: {}",
            self.text()
        );
        Ok(Explanation::of(score_of(self, segment, doc)?, text, details))
    }

    fn class(&self) -> &'static str {
        match (&self.origin, &self.runtime) {
            (FeatureOrigin::Place(_), None) => "LatLonPointDistanceFeatureQuery",
            (FeatureOrigin::Instant(_), None) => "LongDistanceFeatureQuery",
            (FeatureOrigin::Place(_), Some(_)) => "GeoPointScriptFieldDistanceFeatureQuery",
            (FeatureOrigin::Instant(_), Some(_)) => "LongScriptFieldDistanceFeatureQuery",
        }
    }

    fn text(&self) -> String {
        let class = self.class();
        let origin = match &self.origin {
            FeatureOrigin::Place(from) => {
                format!("{},{}", java_double(from.latitude()), java_double(from.longitude()))
            }
            FeatureOrigin::Instant(instant) => instant.to_string(),
        };
        let (path, pivot) = (&self.field.path, java_double(self.pivot));
        format!("{class}(field={path},origin={origin},pivotDistance={pivot})")
    }
}

/// Scores by the distance from an origin. The nearest of several values counts.
struct FeatureScorer<'a> {
    node: &'a FeatureNode,
    source: NumberSource<'a>,
    batch: Batch<i64>,
}

impl Scorer for FeatureScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        self.source.gather(docs, &mut self.batch)?;
        let (mut best, mut of) = (0.0, usize::MAX);
        for (position, value) in self.batch.iter() {
            if position != of {
                if let Some(sum) = sums.get_mut(of) {
                    *sum += f64::from(best);
                }
                (best, of) = (0.0, position);
            }
            best = self.node.score(value).max(best);
        }
        if let Some(sum) = sums.get_mut(of) {
            *sum += f64::from(best);
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(self.node.boost)
    }

    fn contenders(&self, score: f32, segment: &Segment) -> Result<Option<SegmentBits>> {
        // No segment knows bounds of computed values.
        if self.node.runtime.is_some() {
            return Ok(None);
        }
        matcher::contenders(self.node, segment, |most| (most as f32).next_up() >= score)
    }
}
