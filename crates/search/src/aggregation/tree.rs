//! The tree of parsed aggregations, before they are bound to an index.
//!
//! Source: Elasticsearch's `AggregatorFactories.parseAggregators`.

use std::any::Any;
use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use limber_text::likeness::did_you_mean;
use serde_json::{Map, Value};

use super::definition::Definition;
use super::options::Options;
use super::pipeline::{self, Pipeline};
use super::table::{AGGREGATIONS, UNSUPPORTED, names};
use crate::values::json;

/// Largest depth of nested aggregations.
const DEPTH_MAX: usize = 50;

/// Largest number of aggregations in a request.
const COUNT_MAX: usize = 5_000;

/// The type of an aggregation, with its options.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Collects documents.
    Own(Arc<dyn Definition>),
    /// Computes its results from those of other aggregations.
    Pipeline(Arc<dyn Pipeline>),
}

impl Kind {
    /// Makes the [`AGGREGATIONS`] entry's result for a pipeline aggregation.
    pub fn pipeline(pipeline: impl Pipeline + 'static) -> Kind {
        Kind::Pipeline(Arc::new(pipeline))
    }

    /// Makes the [`AGGREGATIONS`] entry's result for an aggregation that collects documents.
    pub fn own(definition: impl Definition + 'static) -> Kind {
        Kind::Own(Arc::new(definition))
    }
}

/// One named aggregation.
#[derive(Debug, Clone)]
pub struct Aggregation {
    pub name: String,
    /// The name of the type in the request, such as `date_histogram`.
    pub type_name: &'static str,
    pub kind: Kind,
    /// Echoed in the answer.
    pub meta: Option<Map<String, Value>>,
    pub subs: Vec<Aggregation>,
}

impl Aggregation {
    /// Whether it is a pipeline aggregation, which reads the results of others and no documents.
    pub fn is_pipeline(&self) -> bool {
        matches!(self.kind, Kind::Pipeline(_))
    }

    /// Returns its definition, unless it is a pipeline.
    pub fn definition(&self) -> Option<&dyn Definition> {
        match &self.kind {
            Kind::Own(definition) => Some(&**definition),
            Kind::Pipeline(_) => None,
        }
    }

    /// Returns its options if it is of type `T`; used by pipelines that process another aggregation's
    /// findings.
    pub fn request<T: Definition>(&self) -> Option<&T> {
        let definition: &dyn Any = self.definition()?;
        definition.downcast_ref()
    }

    /// Whether it can have sub-aggregations.
    pub fn takes_subs(&self) -> bool {
        self.definition().is_some_and(|definition| definition.takes_subs())
    }
}

/// All aggregations of one level, in the order of the request.
#[derive(Debug, Clone, Default)]
pub struct Aggregations {
    pub list: Vec<Aggregation>,
}

impl Aggregations {
    /// Parses the body of `aggs`. Fails with `parsing_exception` or `x_content_parse_exception`, with the
    /// messages of Elasticsearch.
    pub fn parse(body: &Value) -> Result<Aggregations, RequestError> {
        json::check_depth(body)?;
        let Value::Object(body) = body else {
            return Err(RequestError::parsing(format!("Unexpected token {} in [aggs].", json::token(body))));
        };
        let mut count = 0;
        let list = parse_level(body, 1, &mut count)?;
        check_places(&list, &mut Vec::new())?;
        pipeline::check(&list)?;
        Ok(Aggregations { list })
    }

    /// Whether one of them, on any level, needs scores.
    pub fn needs_scores(&self) -> bool {
        needs_scores(&self.list)
    }

    /// Whether there are no aggregations.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

fn needs_scores(list: &[Aggregation]) -> bool {
    list.iter().any(|aggregation| {
        aggregation.definition().is_some_and(|definition| definition.needs_scores())
            || needs_scores(&aggregation.subs)
    })
}

fn check_places<'a>(list: &'a [Aggregation], parents: &mut Vec<&'a Aggregation>) -> Result<(), RequestError> {
    for aggregation in list {
        if let Some(definition) = aggregation.definition() {
            definition.check_place(aggregation, parents)?;
        }
        parents.push(aggregation);
        check_places(&aggregation.subs, parents)?;
        parents.pop();
    }
    Ok(())
}

fn parse_level(
    body: &Map<String, Value>,
    depth: usize,
    count: &mut usize,
) -> Result<Vec<Aggregation>, RequestError> {
    if depth > DEPTH_MAX {
        return Err(RequestError::illegal_argument(format!(
            "aggregations are nested more than {DEPTH_MAX} deep"
        )));
    }
    let mut list = Vec::with_capacity(body.len().min(64));
    for (name, definition) in body {
        *count += 1;
        if *count > COUNT_MAX {
            return Err(RequestError::illegal_argument(format!(
                "the request has more than {COUNT_MAX} aggregations"
            )));
        }
        list.push(parse_one(name, definition, depth, count)?);
    }
    Ok(list)
}

fn parse_one(
    name: &str,
    definition: &Value,
    depth: usize,
    count: &mut usize,
) -> Result<Aggregation, RequestError> {
    if name.is_empty() || name.contains(['[', ']', '>']) {
        return Err(RequestError::parsing(format!(
            "Invalid aggregation name [{name}]. Aggregation names can contain any character except '[', ']', and '>'"
        )));
    }
    let Value::Object(definition) = definition else {
        return Err(RequestError::parsing(format!(
            "Aggregation definition for [{name} starts with a [{}], expected a [START_OBJECT].",
            json::token(definition)
        )));
    };
    let mut found: Option<(&'static str, Kind)> = None;
    let (mut meta, mut subs) = (None, Vec::new());
    for (key, value) in definition {
        match key.as_str() {
            "meta" => {
                let map = value.as_object().ok_or_else(|| expected_object("meta", value, name))?;
                meta = Some(map.clone());
            }
            "aggs" | "aggregations" => {
                if !subs.is_empty() {
                    return Err(RequestError::parsing(format!(
                        "Found two sub aggregation definitions under [{name}]"
                    )));
                }
                let map = value.as_object().ok_or_else(|| expected_object(key, value, name))?;
                subs = parse_level(map, depth + 1, count)?;
            }
            type_name => {
                if let Some((first, _)) = &found {
                    return Err(RequestError::parsing(format!(
                        "Found two aggregation type definitions in [{name}]: [{first}] and [{type_name}]"
                    )));
                }
                let Some(&(type_name, parse)) = AGGREGATIONS.iter().find(|(known, _)| *known == type_name)
                else {
                    return Err(match value {
                        Value::Object(_) => unknown_type(type_name),
                        _ => expected_object(type_name, value, name),
                    });
                };
                let body = value.as_object().ok_or_else(|| expected_object(type_name, value, name))?;
                let mut options = Options::new(type_name, name, body.clone());
                found = Some((type_name, parse(&mut options)?));
                options.finish()?;
            }
        }
    }
    let Some((type_name, kind)) = found else {
        return Err(RequestError::parsing(format!("Missing definition for aggregation [{name}]")));
    };
    let aggregation = Aggregation { name: name.to_owned(), type_name, kind, meta, subs };
    if !aggregation.subs.is_empty() && !aggregation.takes_subs() {
        let reason = match aggregation.is_pipeline() {
            true => format!("Aggregation [{name}] cannot define sub-aggregations"),
            false => format!("Aggregator [{name}] of type [{type_name}] cannot accept sub-aggregations"),
        };
        return Err(RequestError::illegal_argument(reason));
    }
    Ok(aggregation)
}

fn expected_object(key: &str, value: &Value, name: &str) -> RequestError {
    RequestError::parsing(format!(
        "Expected [START_OBJECT] under [{key}], but got a [{}] in [{name}]",
        json::token(value)
    ))
}

fn unknown_type(type_name: &str) -> RequestError {
    if UNSUPPORTED.contains(&type_name) {
        return RequestError::unsupported(format!("the aggregation type [{type_name}]"));
    }
    let cause = ObjectParser::no_named_object(type_name);
    let hint = did_you_mean(type_name, names());
    RequestError::parsing(format!("Unknown aggregation type [{type_name}]{hint}")).caused_by(cause)
}
