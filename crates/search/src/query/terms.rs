//! `terms`: documents that hold any of these values; every match scores alike.

use std::sync::{Arc, OnceLock};

use limber_mapping::{Field, RequestError, Selection};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::convert;
use super::docs::{Docs, DocsName};
use super::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::error::Error;
use crate::json;

#[derive(Debug)]
struct Terms {
    field: String,
    values: Vec<Value>,
    /// What the values mean to the first shard's field; the index's other shards have the same.
    sorted: OnceLock<SortedTerms>,
}

#[derive(Debug)]
struct SortedTerms {
    field: Arc<Field>,
    terms: Arc<[Box<[u8]>]>,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut found: Option<Terms> = None;
    for (key, value) in members {
        match value {
            Value::Array(values) => {
                if found.is_some() {
                    return Err(RequestError::parsing("[terms] query does not support multiple fields"));
                }
                if values.iter().any(|value| json::scalar_text(value).is_none()) {
                    return Err(RequestError::parsing("No value specified for terms query"));
                }
                found = Some(Terms { field: key.clone(), values: values.clone(), sorted: OnceLock::new() });
            }
            // Those of a request were put in their place before it was parsed.
            Value::Object(lookup) => {
                let missing = ["index", "id", "path"].into_iter().filter(|name| !lookup.contains_key(*name));
                let missing: Vec<&str> = missing.collect();
                if !missing.is_empty() {
                    let reason = format!("Required [{}]", missing.join(", "));
                    return Err(RequestError::illegal_argument(reason));
                }
                return Err(RequestError::unsupported("terms lookup in [terms] here"));
            }
            scalar => {
                if !common.take(key, scalar)? {
                    return Err(does_not_support("terms", key));
                }
            }
        }
    }
    let terms = found.ok_or_else(|| {
        RequestError::parsing("[terms] query requires a field name, followed by array of terms or a document lookup specification")
    })?;
    Ok(common.query(terms))
}

impl QueryNode for Terms {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let count_max = binder.settings().max_terms_count;
        if self.values.len() > count_max {
            return Err(RequestError::illegal_argument(format!(
                "The number of terms [{}] used in the Terms Query request has exceeded the allowed maximum of [{count_max}]. This maximum can \
                 be set by changing the [index.max_terms_count] index level setting.",
                self.values.len()
            ))
            .into());
        }
        if self.field == "_id" {
            let ids = self.values.iter().filter_map(json::scalar_text).collect();
            return super::ids::bind_ids(ids, boost, binder);
        }
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if let Some(sorted) = self.sorted.get().filter(|sorted| Arc::ptr_eq(&sorted.field, &field)) {
            let docs = Docs::Terms { field, terms: sorted.terms.clone() };
            return Ok(BoundQuery::constant_as(docs, boost, DocsName::ValuesOf(self.field.clone())));
        }
        let mut terms: Vec<Box<[u8]>> = Vec::new();
        let mut numbers: Vec<i64> = Vec::new();
        let mut ranges: Vec<Docs> = Vec::new();
        for value in &self.values {
            match binder.select_term(&field, value)? {
                Selection::Term(term) => terms.push(term.into()),
                Selection::Number(number) => numbers.push(number),
                Selection::Terms { lower, upper } => {
                    ranges.push(Docs::term_range(&field, convert::end(lower), convert::end(upper)))
                }
                Selection::Numbers { lower, upper } => {
                    ranges.push(Docs::NumberRange { field: field.clone(), min: lower, max: upper })
                }
                Selection::Ranges(wanted) => ranges.push(convert::ranges(&field, wanted)),
                Selection::Nothing => {}
            }
        }
        terms.sort_unstable();
        terms.dedup();
        let terms: Arc<[Box<[u8]>]> = terms.into();
        numbers.sort_unstable();
        numbers.dedup();
        let name = DocsName::ValuesOf(self.field.clone());
        let docs = if !terms.is_empty() && ranges.is_empty() {
            let sorted = SortedTerms { field: field.clone(), terms: terms.clone() };
            // Another shard may have been first.
            let _ = self.sorted.set(sorted);
            Docs::Terms { field, terms }
        } else if !numbers.is_empty() && ranges.is_empty() {
            Docs::Numbers { field, numbers }
        } else {
            if !terms.is_empty() {
                ranges.push(Docs::Terms { field: field.clone(), terms });
            }
            if !numbers.is_empty() {
                ranges.push(Docs::Numbers { field: field.clone(), numbers });
            }
            Docs::AnyOf(ranges)
        };
        Ok(BoundQuery::constant_as(docs, boost, name))
    }
}
