//! `terms`: documents with any of these values, with a constant score.

use std::sync::{Arc, OnceLock};

use limber_mapping::{Field, ObjectParser, RequestError, Selection};
use serde_json::{Map, Value};

use crate::context::documents::DocumentName;
use crate::error::Error;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::convert;
use crate::query::docs::DocsName;
use crate::query::lookup::{Lookup, tree};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::gather::gather;
use crate::values::json;

#[derive(Debug)]
struct Terms {
    field: String,
    values: Values,
    /// The values as terms of the first shard's field, which are the same on the index's other shards.
    sorted: OnceLock<SortedTerms>,
}

#[derive(Debug)]
enum Values {
    Given(Arc<Vec<Value>>),
    /// The values at a path of a document; none if the document or the path does not exist. Source:
    /// Elasticsearch's `TermsLookup`.
    Named {
        document: DocumentName,
        path: String,
        found: Lookup<Vec<Value>>,
    },
}

#[derive(Debug)]
struct SortedTerms {
    field: Arc<Field>,
    terms: Arc<[Box<[u8]>]>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut found: Option<Terms> = None;
    for (key, value) in members {
        let values = match value {
            Value::Array(values) => {
                if values.iter().any(|value| json::scalar_text(value).is_none()) {
                    return Err(RequestError::parsing("No value specified for terms query"));
                }
                Values::Given(Arc::new(values.clone()))
            }
            Value::Object(lookup) => parse_lookup(lookup)?,
            scalar if common.take(key, scalar)? => continue,
            _ => return Err(does_not_support("terms", key)),
        };
        if found.is_some() {
            return Err(RequestError::parsing("[terms] query does not support multiple fields"));
        }
        found = Some(Terms { field: key.clone(), values, sorted: OnceLock::new() });
    }
    let terms = found.ok_or_else(|| {
        RequestError::parsing("[terms] query requires a field name, followed by array of terms or a document lookup specification")
    })?;
    Ok(common.query(terms))
}

/// Parses `{"index", "id", "path", "routing"}`.
fn parse_lookup(lookup: &Map<String, Value>) -> Result<Values, RequestError> {
    let parser = ObjectParser::new("terms_lookup");
    let mut texts = [None, None, None, None];
    const NAMES: [&str; 4] = ["index", "id", "path", "routing"];
    for (name, value) in lookup {
        match (NAMES.iter().position(|known| known == name), value) {
            (Some(place), Value::String(text)) => texts[place] = Some(text.clone()),
            (Some(_), other) => return Err(parser.unsupported(name, other)),
            (None, _) => return Err(parser.unknown(name)),
        }
    }
    let [index, id, path, routing] = texts;
    let (Some(index), Some(id), Some(path)) = (index, id, path) else {
        let missing = NAMES[..3].iter().filter(|name| !lookup.contains_key(**name));
        let missing: Vec<&str> = missing.copied().collect();
        return Err(ObjectParser::required(&missing.join(", ")));
    };
    let document = DocumentName { index, id, routing, version: None };
    Ok(Values::Named { document, path, found: Lookup::default() })
}

impl Values {
    fn read(&self, binder: &Binder<'_>) -> Result<Arc<Vec<Value>>, Error> {
        match self {
            Values::Given(values) => Ok(values.clone()),
            Values::Named { document, path, found } => {
                binder.look_up(found, "terms lookup in [terms]", document, |document| {
                    let Some(document) = document?.filter(|document| !document.source.is_empty()) else {
                        return Ok(Vec::new());
                    };
                    let source = tree(&document)?;
                    let mut values = Vec::new();
                    gather(&source, path, &mut values);
                    Ok(values.into_iter().cloned().collect())
                })
            }
        }
    }
}

impl QueryNode for Terms {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let values = self.values.read(binder)?;
        let count_max = binder.settings().max_terms_count;
        if values.len() > count_max {
            return Err(RequestError::illegal_argument(format!(
                "The number of terms [{}] used in the Terms Query request has exceeded the allowed maximum of [{count_max}]. This maximum can \
                 be set by changing the [index.max_terms_count] index level setting.",
                values.len()
            ))
            .into());
        }
        if self.field == "_id" {
            let ids = values.iter().filter_map(json::scalar_text).collect();
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
        for value in values.iter() {
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
            // Another shard may have set it first.
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
