//! `terms`: documents with any of these values, with a constant score.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use limber_mapping::{Field, IntegerWidth, ObjectParser, RequestError, Selection, ValueKind, java_text};
use limber_work as work;
use roaring::{RoaringBitmap, RoaringTreemap};
use serde_json::{Map, Value};

use crate::context::documents::DocumentName;
use crate::error::Error;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::convert;
use crate::query::docs::DocsName;
use crate::query::extract::asked::{Asked, AskedVisitor};
use crate::query::lookup::{Lookup, tree};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::gather::gather;
use crate::values::json;

#[derive(Debug)]
struct Terms {
    field: String,
    values: Values,
    /// `value_type: bitmap` of OpenSearch: the only value is a set of numbers.
    is_bitmap: bool,
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
    /// The values at a path of all documents that match a query. Source: OpenSearch's `TermsLookup`.
    Searched {
        index: String,
        query: Value,
        path: String,
        found: Lookup<Vec<Value>>,
    },
}

#[derive(Debug)]
struct SortedTerms {
    field: Arc<Field>,
    terms: Arc<[Box<[u8]>]>,
}

/// The member that says what OpenSearch's values are.
const VALUE_TYPE: &str = "value_type";

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut found: Option<Terms> = None;
    let is_bitmap = match members.get(VALUE_TYPE).and_then(Value::as_str) {
        None | Some("default") => false,
        Some("bitmap") => true,
        Some(other) => {
            return Err(RequestError::illegal_argument(format!("{other} is not valid value_type")));
        }
    };
    for (key, value) in members {
        let values = match value {
            Value::Array(values) => {
                if values.iter().any(Value::is_null) {
                    return Err(RequestError::parsing("No value specified for terms query"));
                }
                // As in Elasticsearch, objects and lists count as their texts.
                let term = |value: &Value| match value {
                    Value::Object(_) | Value::Array(_) => Value::String(java_text(value)),
                    scalar => scalar.clone(),
                };
                Values::Given(Arc::new(values.iter().map(term).collect()))
            }
            Value::Object(lookup) => parse_lookup(lookup)?,
            Value::String(_) if key == VALUE_TYPE => continue,
            scalar if common.take(key, scalar)? => continue,
            _ => return Err(does_not_support("terms", key)),
        };
        if found.is_some() {
            return Err(RequestError::parsing("[terms] query does not support multiple fields"));
        }
        found = Some(Terms { field: key.clone(), values, is_bitmap, sorted: OnceLock::new() });
    }
    let terms = found.ok_or_else(|| {
        RequestError::parsing("[terms] query requires a field name, followed by array of terms or a document lookup specification")
    })?;
    Ok(common.query(terms))
}

/// Parses `{"index", "id", "path", "routing"}`, or OpenSearch's `{"index", "query", "path"}`. `store` of
/// OpenSearch decides where it reads the values, which are the same.
fn parse_lookup(lookup: &Map<String, Value>) -> Result<Values, RequestError> {
    let parser = ObjectParser::new("terms_lookup");
    let mut texts = [None, None, None, None];
    let mut query = None;
    const NAMES: [&str; 4] = ["index", "id", "path", "routing"];
    for (name, value) in lookup {
        match (NAMES.iter().position(|known| known == name), value) {
            (Some(place), Value::String(text)) => texts[place] = Some(text.clone()),
            (Some(_), other) => return Err(parser.unsupported(name, other)),
            (None, Value::Object(_)) if name == "query" => query = Some(value.clone()),
            (None, Value::Bool(_)) if name == "store" => {}
            (None, other) if name == "query" || name == "store" => {
                return Err(parser.unsupported(name, other));
            }
            (None, _) => return Err(parser.unknown(name)),
        }
    }
    let [index, id, path, routing] = texts;
    let (index, id, path) = match (index, id, path, query) {
        (Some(index), None, Some(path), Some(query)) => {
            return Ok(Values::Searched { index, query, path, found: Lookup::default() });
        }
        (_, Some(_), _, Some(_)) => {
            return Err(RequestError::illegal_argument(
                "[terms] query lookup element cannot specify both id and query.",
            ));
        }
        (index, id, path, _) => (index, id, path),
    };
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
            Values::Searched { index, query, path, found } => {
                binder.look_up_matches(found, "terms lookup in [terms]", index, query, path, |documents| {
                    let mut values = Vec::new();
                    for document in documents.iter().filter(|document| !document.source.is_empty()) {
                        let source = tree(document)?;
                        let mut own = Vec::new();
                        gather(&source, path, &mut own);
                        values.extend(own.into_iter().cloned());
                    }
                    Ok(values)
                })
            }
        }
    }
}

impl Terms {
    /// Binds a set of numbers in the portable format of Roaring bitmaps, in base64.
    fn bind_bitmap(&self, values: &[Value], boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let [Value::String(text)] = values else {
            return Err(RequestError::illegal_argument(
                "Invalid value for bitmap type: Expected a single-element array with a base64 encoded serialized bitmap.",
            )
            .into());
        };
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if !matches!(field.values, ValueKind::Long(IntegerWidth::Long | IntegerWidth::Integer)) {
            return Err(RequestError::illegal_argument(format!(
                "Field [{}] of type [{}] does not support bitmap queries",
                self.field,
                field.type_name()
            ))
            .into());
        }
        let numbers = numbers_of(text)?;
        let name = DocsName::ValuesOf(self.field.clone());
        Ok(BoundQuery::constant_as(Docs::Numbers { field, numbers }, boost, name))
    }
}

/// Returns the numbers of a serialized set, in ascending order.
fn numbers_of(text: &str) -> Result<Vec<i64>, Error> {
    let refused = |reason: String| Error::from(RequestError::illegal_argument(reason));
    let bytes = STANDARD
        .decode(text)
        .map_err(|error| refused(format!("Failed to deserialize the bitmap: {error}")))?;
    if let Ok(set) = RoaringBitmap::deserialize_from(&bytes[..]) {
        work::claim(set.len() * size_of::<i64>() as u64)?;
        return Ok(set.iter().map(i64::from).collect());
    }
    let set = RoaringTreemap::deserialize_from(&bytes[..])
        .map_err(|error| refused(format!("Failed to deserialize the bitmap: {error}")))?;
    work::claim(set.len() * size_of::<i64>() as u64)?;
    let mut numbers: Vec<i64> = set.iter().map(|number| number as i64).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

impl QueryNode for Terms {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let values = self.values.read(binder)?;
        if self.is_bitmap {
            return self.bind_bitmap(&values, boost, binder);
        }
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

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        if let Values::Given(values) = &self.values {
            visitor.take(&self.field, Asked::Values(values));
        }
    }
}
