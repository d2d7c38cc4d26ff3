//! `composite`: a bucket for every combination of values, page by page in the order of the combinations.
//!
//! Source: Elasticsearch's `CompositeAggregationBuilder`, `CompositeAggregator`, `InternalComposite`.
//! Combinations are numbered in the order in which they first occur. Once there are many more than fit on the
//! page, those that can no longer be on the page are dropped, and new combinations that sort after the page
//! are not added.

use std::cmp::Ordering;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListPartial};
use super::super::answer::reduce::{Reducer, too_many_composite_buckets};
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape, Width};
use super::super::buckets::list::{groups_of, render_buckets};
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, Source};
use super::super::tree::{Aggregation, Kind};
use super::composite_collector::CompositeCollector;
use super::composite_source::{CompositeSource, SourceReader};
use crate::context::ShardSnapshot;
use crate::error::Result;

const SIZE: i32 = 10;

/// Largest number of sources of one aggregation.
const SOURCE_COUNT_MAX: usize = 64;

/// The options of a `composite`: pages of buckets for the combinations of values of several sources.
#[derive(Debug, Clone)]
pub struct Composite {
    name: String,
    sources: Vec<CompositeSource>,
    size: usize,
    after: Option<Map<String, Value>>,
}

impl Composite {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let list = match options.take_typed("sources")? {
            None => return Err(RequestError::illegal_argument("Required [sources]")),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(options.wrong_type("sources", &other)),
        };
        if list.is_empty() {
            return Err(unbuilt(options, "Composite [sources] cannot be null or empty".to_owned()));
        }
        if list.len() > SOURCE_COUNT_MAX {
            return Err(options.refused("sources", format!("more than {SOURCE_COUNT_MAX} sources")));
        }
        let mut sources: Vec<CompositeSource> = Vec::with_capacity(list.len());
        for definition in list {
            let source =
                CompositeSource::parse(definition).map_err(|cause| options.failed("sources", cause))?;
            if sources.iter().any(|other| other.name == source.name) {
                let reason =
                    format!("Composite source names must be unique, found duplicates: [{}]", source.name);
                return Err(unbuilt(options, reason));
            }
            sources.push(source);
        }
        let size = options.int("size")?.unwrap_or(SIZE);
        let size = usize::try_from(size).ok().filter(|&size| size > 0).ok_or_else(|| {
            let reason = format!("[size] must be greater than 0. Found [{size}] in [{}]", options.name);
            options.refused("size", reason)
        })?;
        let after = match options.take_typed("after")? {
            None => None,
            Some(Value::Object(after)) => Some(after),
            Some(other) => return Err(options.wrong_type("after", &other)),
        };
        Ok(Kind::own(Composite { name: options.name.clone(), sources, size, after }))
    }

    /// Converts `after` to keys.
    fn after_keys(&self, sources: &[Source]) -> Result<Option<Vec<Key>>> {
        let Some(after) = &self.after else { return Ok(None) };
        if after.len() != self.sources.len() {
            let (given, needed) = (after.len(), self.sources.len());
            return Err(RequestError::illegal_argument(format!(
                "[after] has {given} value(s) but [sources] has {needed}"
            ))
            .into());
        }
        let mut keys = Vec::with_capacity(self.sources.len());
        for (place, (own, source)) in self.sources.iter().zip(sources).enumerate() {
            let value = after.get(&own.name).ok_or_else(|| {
                RequestError::illegal_argument(format!("Missing value for [after.{}]", own.name))
            })?;
            let incomparable = match value {
                Value::Null if !own.missing_bucket => Some("null"),
                Value::Array(_) => Some("ArrayList"),
                Value::Object(_) => Some("HashMap"),
                _ => None,
            };
            if let Some(found) = incomparable {
                return Err(RequestError::illegal_argument(format!(
                    "Invalid value for [after.{}], expected comparable, got [{found}]",
                    own.name
                ))
                .into());
            }
            let key = own.key_of(value, source).map_err(|reason| {
                let innermost = match reason.strip_prefix("For input string: \"") {
                    Some(text) => RequestError::number_format(text.trim_end_matches('"')),
                    None => RequestError::illegal_argument(reason.clone()),
                };
                let place_and_reason = format!("incompatible value in the position {place}: {reason}");
                let cause = RequestError::illegal_argument(place_and_reason).caused_by(innermost);
                RequestError::bad_request("parse_exception",
                    format!(
                        "Cannot set after key in the composite aggregation [{}] - incompatible value in the position {place}: {reason}",
                        self.name
                    ),
                )
                .caused_by(cause)
            })?;
            keys.push(key);
        }
        Ok(Some(keys))
    }

    fn compare(&self, left: &[Key], right: &[Key]) -> Ordering {
        self.sources
            .iter()
            .zip(left.iter().zip(right))
            .map(|(source, (left, right))| source.compare_keys(left, right))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn write_key(&self, name: &str, keys: &[Key], sources: &[Source], out: &mut Members<'_>) -> Result<()> {
        out.object(name, |out| {
            let mut shown = self.sources.iter().zip(keys).enumerate();
            shown.try_for_each(|(place, (own, key))| {
                out.insert(&own.name, &own.show(key, sources.get(place))?)
            })
        })
    }
}

/// Returns the error for sources that Elasticsearch's parser cannot make an aggregation of.
fn unbuilt(options: &Options, reason: String) -> RequestError {
    let cause = ObjectParser::new(options.kind).failed_to_build(RequestError::illegal_argument(reason));
    options.failed("sources", cause)
}

impl Request for Composite {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.sources.iter().map(|source| (&source.values, source.accepts().0)).collect()
    }

    fn type_name_of(&self, place: usize) -> Option<&'static str> {
        self.sources[place].accepts().1
    }

    fn check_place(
        &self,
        _: &Aggregation,
        parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        let may_contain = |parent: &&&Aggregation| {
            parent.definition().is_some_and(|definition| definition.may_contain_composite())
        };
        match parents.iter().rev().find(|parent| !may_contain(parent)) {
            None => Ok(()),
            Some(parent) => Err(RequestError::illegal_argument(format!(
                "[composite] aggregation cannot be used with a parent aggregation of type: [{}]",
                factory_name(parent.type_name)
            ))),
        }
    }

    /// In Elasticsearch a page does not count as several buckets.
    fn has_several_buckets(&self) -> bool {
        false
    }

    fn width(&self, own: &Aggregation, shape: &Shape) -> Result<Option<Width>> {
        let mut dated = self.sources.iter().zip(&shape.sources).filter(|(source, _)| source.is_dates());
        if let (Some((request, source)), None) = (dated.next(), dated.next()) {
            return Ok(request.rounding(source)?.map(Width::Dates));
        }
        Ok(Some(Width::Unknown(RequestError::illegal_argument(format!(
            "aggregation [{}] does not have exactly one date_histogram value source; exactly one is required when using with rate aggregation",
            own.name
        )))))
    }

    fn check_on_shard(&self, bound: &Bound, _: &ShardSnapshot) -> Result<()> {
        for (own, source) in self.sources.iter().zip(bound.sources()) {
            own.check()?;
            own.rounding(source)?;
        }
        self.after_keys(bound.sources()).map(drop)
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Composite {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, shard, budget, .. } = context;
        let max_buckets = budget.context.max_buckets as usize;
        if self.size > max_buckets {
            return Err(too_many_composite_buckets(max_buckets as u64, self.size as u64).into());
        }
        let mut readers = Vec::with_capacity(self.sources.len());
        for (own, source) in self.sources.iter().zip(bound.sources()) {
            readers.push(SourceReader::new(own, source, shard, budget)?);
        }
        let mut after = None;
        if let Some(keys) = self.after_keys(bound.sources())? {
            let mut combination = vec![0; readers.len() + 1];
            for (index, (reader, key)) in readers.iter_mut().zip(&keys).enumerate() {
                match key {
                    Key::Missing => combination[0] |= 1 << index,
                    key => combination[index + 1] = reader.id(key, budget)?,
                }
            }
            after = Some(combination);
        }
        Ok(Box::new(CompositeCollector::new(self.size, readers, after, subs, budget)))
    }
}

impl Reduce for Composite {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let mut all = groups_of(parts);
        all.sort_by(|left, right| self.compare(&left.bucket.keys, &right.bucket.keys));
        all.truncate(self.size);
        let buckets = reducer.buckets_of(own, all)?;
        Ok(ListPartial::of(buckets))
    }
}

impl Render for Composite {
    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let sources = &renderer.shape.sources;
        if let Some(last) = list.buckets.last() {
            self.write_key("after_key", &last.keys, sources, out)?;
        }
        render_buckets(list, renderer, out, |bucket, out| self.write_key("key", &bucket.keys, sources, out))
    }
}

/// Returns the name of the Java class that makes an aggregation of this type.
fn factory_name(type_name: &str) -> String {
    let mut name: String = type_name
        .split('_')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        })
        .collect();
    name.push_str("AggregatorFactory");
    name
}
