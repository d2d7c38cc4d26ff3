//! `wildcard`: documents with a term that matches a pattern of `*` and `?`; also case-insensitive terms.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::flattened::refuse_key;
use super::prefix::{successor, term_field};
use super::rewrite::{Rewrite, best_terms, bind_automaton};
use crate::error::Error;
use crate::matcher::automaton::shown_terms;
use crate::primitives::{Docs, Piece, TermPattern};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::extract::asked::{Asked, AskedVisitor};
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use crate::query::spans::{Expansion, MultiTermQuery};
use crate::values::json;

#[derive(Debug)]
struct Wildcard {
    field: String,
    pattern: String,
    case_insensitive: bool,
    rewrite: Option<String>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("wildcard", members, &mut common)?.ok_or_else(no_field)?;
    let mut case_insensitive = false;
    let (mut pattern, mut rewrite) = (None, None);
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" | "wildcard" => pattern = json::scalar_text(value),
                    "case_insensitive" => case_insensitive = json::boolean(value)?,
                    "rewrite" => rewrite = json::scalar_text(value),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("wildcard", key)),
                }
            }
        }
        scalar => pattern = json::scalar_text(scalar),
    }
    let pattern = pattern.ok_or_else(|| RequestError::illegal_argument("value cannot be null"))?;
    Ok(common.query(Wildcard { field: field.to_owned(), pattern, case_insensitive, rewrite }))
}

impl QueryNode for Wildcard {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let rewrite = Rewrite::named(self.rewrite.as_deref())?;
        let Some(field) = term_field(binder, &self.field, "wildcard")? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        refuse_key(&field, "wildcard")?;
        if self.pattern.is_empty() {
            return Ok(BoundQuery::nothing("an empty pattern"));
        }
        claim_pieces(&self.pattern)?;
        let pattern = TermPattern::parse(&self.pattern, |text| field.normalize(text), self.case_insensitive);
        let text = format!("{}:{}", self.field, self.pattern);
        match rewrite {
            Rewrite::Constant => Ok(bind_pattern(&field, pattern, boost, text)),
            _ => bind_automaton(binder, &field, Arc::new(pattern), rewrite, |_, _| 1.0, boost, text),
        }
    }

    fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        visitor.take(&self.field, Asked::Pattern(&self.pattern));
    }

    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        Some(self)
    }
}

impl MultiTermQuery for Wildcard {
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error> {
        let rewrite = Rewrite::named(self.rewrite.as_deref())?;
        let Some(field) = term_field(binder, &self.field, "wildcard")? else {
            return Ok(Expansion::Unmapped);
        };
        // An empty pattern matches no term, not even the empty one.
        if self.pattern.is_empty() {
            return Ok(Expansion::Best(field, BTreeMap::new()));
        }
        claim_pieces(&self.pattern)?;
        let pattern = TermPattern::parse(&self.pattern, |text| field.normalize(text), self.case_insensitive);
        expand_pattern(binder, field, pattern, rewrite)
    }
}

/// Bytes that a pattern takes per byte of its text: a piece for each character, in a list that is made twice,
/// and what follows each star.
const PIECE_BYTES: u64 = 56;

fn claim_pieces(pattern: &str) -> Result<(), Error> {
    Ok(limber_work::claim(pattern.len() as u64 * PIECE_BYTES)?)
}

/// Returns the matching terms: all of them, or only the best if the rewrite keeps those.
pub(in crate::query) fn expand_pattern(
    binder: &Binder<'_>,
    field: Arc<Field>,
    pattern: TermPattern,
    rewrite: Rewrite,
) -> Result<Expansion, Error> {
    match rewrite.count_max() {
        None => Ok(Expansion::All(field.clone(), pattern_docs(&field, pattern))),
        Some(_) => best_terms(binder, field, Arc::new(pattern), rewrite),
    }
}

pub(in crate::query) fn bind_literal(
    binder: &Binder<'_>,
    path: &str,
    text: &str,
    boost: f32,
) -> Result<BoundQuery, Error> {
    let Some(field) = term_field(binder, path, "term")? else {
        return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
    };
    claim_pieces(text)?;
    let pieces = field.normalize(text).chars().map(Piece::One).collect();
    let shown = format!("CaseInsensitiveTermQuery{{{path}:{text}}}");
    Ok(bind_pattern(&field, TermPattern::new(pieces, true), boost, shown))
}

/// Returns the terms that match a pattern, which is not normalized.
pub(in crate::query) fn terms_of_pattern(field: &Arc<Field>, pattern: &str) -> Docs {
    fn as_it_is(text: &str) -> Cow<'_, str> {
        text.into()
    }
    pattern_docs(field, TermPattern::parse(pattern, as_it_is, false))
}

/// Returns the terms whose string starts with a prefix, for terms whose bytes are encoded.
pub(in crate::query) fn terms_with_prefix(field: &Arc<Field>, prefix: &str) -> Docs {
    let pieces = prefix.chars().map(Piece::One).chain([Piece::Many]).collect();
    pattern_docs(field, TermPattern::new(pieces, false))
}

fn pattern_docs(field: &Arc<Field>, pattern: TermPattern) -> Docs {
    if field.has_coded_terms() {
        let automaton = shown_terms(field, Arc::new(pattern));
        return Docs::Automaton { field: field.clone(), automaton };
    }
    let prefix = pattern.prefix();
    let upper = successor(prefix.as_bytes()).map(|upper| (upper, false));
    let lower = Some((prefix.into_bytes(), true));
    Docs::Pattern { field: field.clone(), lower, upper, pattern: Arc::new(pattern) }
}

pub(in crate::query) fn bind_pattern(
    field: &Arc<Field>,
    pattern: TermPattern,
    boost: f32,
    text: String,
) -> BoundQuery {
    BoundQuery::constant(pattern_docs(field, pattern), boost, text)
}
