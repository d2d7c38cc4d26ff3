//! `prefix`: documents with a term that starts with a prefix, by default with a constant score.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::rewrite::{Rewrite, bind_automaton};
use crate::error::Error;
use crate::primitives::{Docs, Piece, TermPattern};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::extract::asked::{Asked, AskedVisitor};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::query::spans::{Expansion, MultiTermQuery};
use crate::values::json;

#[derive(Debug)]
struct Prefix {
    field: String,
    value: String,
    case_insensitive: bool,
    rewrite: Option<String>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("prefix", members, &mut common)?.ok_or_else(no_field)?;
    let mut prefix =
        Prefix { field: field.to_owned(), value: String::new(), case_insensitive: false, rewrite: None };
    let mut value_found = None;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" => value_found = json::scalar_text(value),
                    "case_insensitive" => prefix.case_insensitive = json::boolean(value)?,
                    "rewrite" => prefix.rewrite = json::scalar_text(value),
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

/// Returns a text or keyword field; other types are refused as in Elasticsearch.
pub(in crate::query) fn term_field(
    binder: &Binder<'_>,
    path: &str,
    query: &str,
) -> Result<Option<Arc<Field>>, Error> {
    let Some(field) = binder.searchable_field(path)? else { return Ok(None) };
    // A term of `_id` is a whole id.
    match field.has_patterns() && (query == "term" || &*field.path != "_id") {
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
        let rewrite = Rewrite::named(self.rewrite.as_deref())?;
        let Some(field) = term_field(binder, &self.field, "prefix")? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        let prefix = field.normalize(&self.value);
        if rewrite == Rewrite::Constant && !self.case_insensitive {
            return Ok(bind_prefix(binder, &field, &prefix, boost));
        }
        let pattern = prefix_pattern(&prefix, self.case_insensitive);
        let text = format!("{}:{}*", self.field, self.value);
        match rewrite {
            Rewrite::Constant => Ok(super::wildcard::bind_pattern(&field, pattern, boost, text)),
            _ => bind_automaton(binder, &field, Arc::new(pattern), rewrite, |_, _| 1.0, boost, text),
        }
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        visitor.take(&self.field, Asked::Prefix(&self.value));
    }

    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        Some(self)
    }
}

impl MultiTermQuery for Prefix {
    /// Elasticsearch ignores `case_insensitive` here.
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error> {
        let rewrite = Rewrite::named(self.rewrite.as_deref())?;
        let Some(field) = term_field(binder, &self.field, "prefix")? else { return Ok(Expansion::Unmapped) };
        let prefix = field.normalize(&self.value);
        if rewrite.count_max().is_some() {
            return super::wildcard::expand_pattern(binder, field, prefix_pattern(&prefix, false), rewrite);
        }
        Ok(match indexed_prefixes(binder, &field, &prefix) {
            Some(prefixes) => Expansion::Indexed { prefixes, prefix: prefix.as_bytes().into(), field },
            None => Expansion::All(field.clone(), prefix_docs(&field, &prefix)),
        })
    }
}

fn prefix_pattern(prefix: &str, case_insensitive: bool) -> TermPattern {
    TermPattern::new(prefix.chars().map(Piece::One).chain([Piece::Many]).collect(), case_insensitive)
}

/// Returns the field in which prefixes are indexed as terms, if it has this prefix (`index_prefixes`).
pub(in crate::query) fn indexed_prefixes(
    binder: &Binder<'_>,
    field: &Field,
    prefix: &str,
) -> Option<Arc<Field>> {
    let prefixes = field.parts.prefixes.as_ref().filter(|prefixes| prefixes.hold(prefix))?;
    binder.shard().mapping.mapped_field(&prefixes.path).cloned()
}

pub(in crate::query) fn bind_prefix(
    binder: &Binder<'_>,
    field: &Arc<Field>,
    prefix: &str,
    boost: f32,
) -> BoundQuery {
    if let Some(prefixes) = indexed_prefixes(binder, field, prefix) {
        let text = format!("ConstantScore({}:{prefix})", prefixes.path);
        let docs = Docs::Terms { field: prefixes, terms: [prefix.as_bytes().into()].into() };
        return BoundQuery::constant(docs, boost, text);
    }
    let text = format!("{}:{prefix}*", field.path);
    BoundQuery::constant(prefix_docs(field, prefix), boost, text)
}

/// Returns the documents with terms that start with `prefix`.
pub(in crate::query) fn prefix_docs(field: &Arc<Field>, prefix: &str) -> Docs {
    if field.has_coded_terms() {
        return super::wildcard::terms_with_prefix(field, prefix);
    }
    let lower = prefix.as_bytes().to_vec();
    let upper = successor(&lower).map(|upper| (upper, false));
    Docs::term_range(field, Some((lower, true)), upper)
}

/// Returns the first string after all those that start with `prefix`; `None` if there is none.
pub(in crate::query) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut upper = prefix.to_vec();
    while let Some(last) = upper.pop() {
        if last < u8::MAX {
            upper.push(last + 1);
            return Some(upper);
        }
    }
    None
}
