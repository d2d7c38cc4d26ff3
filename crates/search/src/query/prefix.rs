//! `prefix`: documents with a term that starts like this; every match scores alike.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use super::spans::{Expansion, MultiTermQuery};
use crate::error::Error;
use crate::json;
use crate::primitives::Docs;

#[derive(Debug)]
struct Prefix {
    field: String,
    value: String,
    case_insensitive: bool,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("prefix", members, &mut common)?.ok_or_else(no_field)?;
    let mut prefix = Prefix { field: field.to_owned(), value: String::new(), case_insensitive: false };
    let mut value_found = None;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" | "prefix" => value_found = json::scalar_text(value),
                    "case_insensitive" => prefix.case_insensitive = json::boolean(value)?,
                    // How the terms are collected does not change the hits: constant score is the only way here.
                    "rewrite"
                        if value == "constant_score"
                            || value == "constant_score_boolean"
                            || value == "constant_score_blended" => {}
                    "rewrite" => return Err(RequestError::unsupported("[rewrite] in [prefix]")),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("prefix", key)),
                }
            }
        }
        scalar => value_found = json::scalar_text(scalar),
    }
    prefix.value = value_found.ok_or_else(|| RequestError::illegal_argument("value cannot be null"))?;
    Ok(common.query(prefix))
}

/// A text or keyword field; other types are refused as Elasticsearch refuses them.
pub(super) fn term_field(binder: &Binder<'_>, path: &str, query: &str) -> Result<Option<Arc<Field>>, Error> {
    let Some(field) = binder.searchable_field(path)? else { return Ok(None) };
    match field.has_patterns() {
        true => {
            if query != "term" {
                binder.check_expensive(&format!("[{query}] queries"))?;
            }
            Ok(Some(field))
        }
        false => Err(binder
            .query_shard(format!(
                "Can only use {query} queries on keyword, text and wildcard fields - not on [{path}] which is of type [{}]",
                binder.type_name(&field)
            ))
            .into()),
    }
}

impl QueryNode for Prefix {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        if self.case_insensitive {
            return super::wildcard::bind_prefix_ignoring_case(binder, &self.field, &self.value, boost);
        }
        let Some(field) = term_field(binder, &self.field, "prefix")? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        Ok(bind_prefix(binder, &field, &field.normalize(&self.value), boost))
    }

    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        Some(self)
    }
}

impl MultiTermQuery for Prefix {
    /// Elasticsearch passes over `case_insensitive` here.
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error> {
        let Some(field) = term_field(binder, &self.field, "prefix")? else { return Ok(Expansion::Unmapped) };
        let prefix = field.normalize(&self.value);
        Ok(match indexed_prefixes(binder, &field, &prefix) {
            Some(prefixes) => Expansion::Indexed { prefixes, prefix: prefix.as_bytes().into(), field },
            None => Expansion::All(field.clone(), prefix_docs(&field, &prefix)),
        })
    }
}

/// Where a field's terms are that begin so, as terms of their own (`index_prefixes`).
pub(super) fn indexed_prefixes(binder: &Binder<'_>, field: &Field, prefix: &str) -> Option<Arc<Field>> {
    let prefixes = field.parts.prefixes.as_ref().filter(|prefixes| prefixes.hold(prefix))?;
    binder.shard().mapping.mapped_field(&prefixes.path).cloned()
}

pub(super) fn bind_prefix(binder: &Binder<'_>, field: &Arc<Field>, prefix: &str, boost: f32) -> BoundQuery {
    if let Some(prefixes) = indexed_prefixes(binder, field, prefix) {
        let text = format!("ConstantScore({}:{prefix})", prefixes.path);
        let docs = Docs::Terms { field: prefixes, terms: [prefix.as_bytes().into()].into() };
        return BoundQuery::constant(docs, boost, text);
    }
    let text = format!("{}:{prefix}*", field.path);
    BoundQuery::constant(prefix_docs(field, prefix), boost, text)
}

/// The terms that start with `prefix`.
pub(super) fn prefix_docs(field: &Arc<Field>, prefix: &str) -> Docs {
    if field.has_coded_terms() {
        return super::wildcard::terms_with_prefix(field, prefix);
    }
    let lower = prefix.as_bytes().to_vec();
    let upper = successor(&lower).map(|upper| (upper, false));
    Docs::term_range(field, Some((lower, true)), upper)
}

/// The first term after all that start with `prefix`; `None` when there is none.
pub(super) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut upper = prefix.to_vec();
    while let Some(last) = upper.pop() {
        if last < u8::MAX {
            upper.push(last + 1);
            return Some(upper);
        }
    }
    None
}
