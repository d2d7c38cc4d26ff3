//! `top_metrics`: values of the first documents in an order. Source: Elasticsearch's `TopMetricsAggregationBuilder`,
//! `InternalTopMetrics`. The documents are found and read as `top_hits` does.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::super::collector::Collector;
use super::super::definition::{Definition, Place};
use super::super::format::Format;
use super::super::options::{Options, ValuesOptions};
use super::super::partial::Partial;
use super::super::reduce::Reducer;
use super::super::render::Renderer;
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::top_hits::{TopHits, TopHitsFound};
use crate::error::Result;
use crate::request::{FieldFormat, SearchRequest, Sort, SourceFilter, StoredFields};
use crate::score::float_to_json;

/// Elasticsearch's default of `index.top_metrics_max_size`.
const SIZE_MAX: i32 = 10;

/// Fields of one aggregation.
const METRIC_COUNT_MAX: usize = 100;

#[derive(Debug, Clone)]
pub struct TopMetrics {
    /// The metrics' fields, then the sort's where it is a field.
    fields: Vec<ValuesOptions>,
    metric_count: usize,
    hits: TopHits,
}

impl TopMetrics {
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take("metrics") {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        if list.is_empty() || list.len() > METRIC_COUNT_MAX {
            return Err(RequestError::illegal_argument("[top_metrics] needs at least one [metrics]"));
        }
        let mut fields = Vec::with_capacity(list.len() + 1);
        for metric in list {
            let Value::Object(map) = metric else { return Err(options.wrong_type("metrics", &metric)) };
            if map.contains_key("missing") {
                return Err(RequestError::unsupported(
                    "[missing] in the [metrics] of the aggregation [top_metrics]",
                ));
            }
            let mut own = Options::new("metrics", &options.name, map);
            let values = ValuesOptions::parse(&mut own).and_then(|values| own.finish().map(|()| values));
            fields.push(values.map_err(|cause| options.failed("metrics", cause))?);
        }
        let sort = match options.take("sort") {
            None => Vec::new(),
            Some(value) => Sort::parse_list(&value).map_err(|cause| options.failed("sort", cause))?,
        };
        if sort.len() != 1 {
            return Err(RequestError::illegal_argument("[top_metrics] sort must contain exactly one sort"));
        }
        let size = options.int("size")?.unwrap_or(1);
        if size < 1 {
            let reason = format!("[size] must be more than 0 but was [{size}]");
            return Err(options.refused("size", reason));
        }
        if size > SIZE_MAX {
            return Err(RequestError::illegal_argument(format!(
                "[top_metrics.size] must not be more than [{SIZE_MAX}] but was [{size}]. This limit can be set by changing the \
                 [index.top_metrics_max_size] index level setting."
            )));
        }
        let metric_count = fields.len();
        let wanted = fields.iter().map(|values| FieldFormat::of(values.field.clone()));
        let request = SearchRequest {
            docvalue_fields: wanted.collect(),
            size: u32::try_from(size).ok(),
            source: Some(SourceFilter::none()),
            stored_fields: Some(StoredFields::None),
            sort: sort.clone(),
            ..SearchRequest::default()
        };
        let sort_fields = sort.into_iter().filter(|sort| !sort.is_score() && !sort.is_doc());
        fields.extend(sort_fields.map(|sort| ValuesOptions {
            field: sort.field,
            format: sort.format,
            ..ValuesOptions::default()
        }));
        Ok(Kind::own(TopMetrics {
            fields,
            metric_count,
            hits: TopHits { name: options.name.clone(), request },
        }))
    }
}

impl Definition for TopMetrics {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.fields.iter().map(|values| (values, Accepts::Anything)).collect()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn needs_scores(&self) -> bool {
        self.hits.needs_scores()
    }

    fn needs_search_query(&self) -> bool {
        true
    }

    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        self.hits.collector(place)
    }

    fn reduce(&self, own: &Aggregation, parts: Vec<Partial>, reducer: &mut Reducer<'_>) -> Result<Partial> {
        self.hits.reduce(own, parts, reducer)
    }

    fn render(&self, partial: &Partial, renderer: &Renderer<'_>, out: &mut Map<String, Value>) {
        let Some(found) = partial.as_own::<TopHitsFound>() else { return };
        let sort_format = renderer.shape.sources.get(self.metric_count).map(|source| &source.format);
        let top = found.hits.iter().map(|hit| {
            let shown = |value: &Value| match (value.as_i64(), sort_format) {
                (Some(millis), Some(format @ Format::Date { .. })) => format.text_of_long(millis).into(),
                _ => value.clone(),
            };
            let sort: Vec<Value> = match &hit.fetched.sort {
                Some(values) => values.iter().map(shown).collect(),
                None => hit.fetched.score.map(float_to_json).into_iter().collect(),
            };
            let metrics = self.fields[..self.metric_count].iter().map(|values| {
                let fields = hit.fetched.fields.as_ref();
                let value = fields.and_then(|fields| fields.get(&values.field)?.get(0)).cloned();
                (values.field.clone(), value.unwrap_or(Value::Null))
            });
            let mut entry = Map::new();
            entry.insert("sort".into(), sort.into());
            entry.insert("metrics".into(), Value::Object(metrics.collect()));
            Value::Object(entry)
        });
        let top = top.collect();
        out.insert("top".into(), top);
    }

    fn number(&self, partial: &Partial, value: Option<&str>) -> Option<f64> {
        let hit = partial.as_own::<TopHitsFound>()?.hits.first()?;
        let name = value.or_else(|| self.fields.first().map(|values| values.field.as_str()))?;
        hit.fetched.fields.as_ref()?.get(name)?.get(0)?.as_f64()
    }
}
