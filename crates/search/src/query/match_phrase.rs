//! `match_phrase` and `match_phrase_prefix`: the terms of a text, next to each other or nearly so.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoolNode, BoundQuery, Node};
use super::match_text::{AnalysedTerm, analyse, no_terms, zero_terms};
use super::parse::{Common, Parser, Query, QueryNode, does_not_support, single_field};
use crate::error::Error;
use crate::json;

#[derive(Debug)]
struct MatchPhrase {
    query: &'static str,
    field: String,
    text: Value,
    slop: u32,
    analyzer: Option<String>,
    zero_terms_all: bool,
    /// The last term is a prefix of at most this many terms.
    expansions_max: Option<usize>,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    parse_as("match_phrase", None, members)
}

/// Default `max_expansions` as in Elasticsearch's `FuzzyQuery#defaultMaxExpansions`.
pub(super) fn parse_prefix(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    parse_as("match_phrase_prefix", Some(50), members)
}

/// Most expansions a request may ask for.
const EXPANSIONS_MAX: i32 = 1024;

fn parse_as(
    query: &'static str,
    expansions_max: Option<usize>,
    members: &Map<String, Value>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let requires = |what: &str| RequestError::illegal_argument(format!("[{query}] requires {what}"));
    let (field, body) = single_field(query, members, &mut common)?.ok_or_else(|| requires("fieldName"))?;
    if body.is_null() {
        return Err(requires("query value"));
    }
    let mut node = MatchPhrase {
        query,
        field: field.to_owned(),
        text: Value::Null,
        slop: 0,
        analyzer: None,
        zero_terms_all: false,
        expansions_max,
    };
    let mut slop = 0;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                json::check_scalar(query, key, value)?;
                match key.as_str() {
                    "query" => node.text = value.clone(),
                    "slop" => {
                        slop = json::int(value)?;
                    }
                    "analyzer" => node.analyzer = json::scalar_text(value),
                    "zero_terms_query" => node.zero_terms_all = zero_terms(value)?,
                    "max_expansions" if expansions_max.is_some() => {
                        let count = json::int(value)?;
                        if !(0..=EXPANSIONS_MAX).contains(&count) {
                            return Err(RequestError::illegal_argument(format!(
                                "[max_expansions] must be between 0 and {EXPANSIONS_MAX}, found [{count}]"
                            )));
                        }
                        node.expansions_max = Some(count as usize);
                    }
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support(query, key)),
                }
            }
        }
        Value::Array(_) => return Err(RequestError::illegal_argument("Expected text but found START_ARRAY")),
        scalar => node.text = scalar.clone(),
    }
    node.slop =
        u32::try_from(slop).map_err(|_| RequestError::illegal_argument("No negative slop allowed."))?;
    match json::scalar_text(&node.text) {
        None => Err(requires("query value")),
        Some(_) => Ok(common.query(node)),
    }
}

impl QueryNode for MatchPhrase {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if !field.has_texts() || &*field.path == "_id" {
            return binder.term(&self.field, &self.text, boost);
        }
        let text = json::scalar_text(&self.text).unwrap_or_default();
        let terms = analyse(self.query, &field, self.analyzer.as_deref(), &text, false, binder)?;
        if terms.is_empty() {
            return Ok(no_terms(self.zero_terms_all, boost));
        }
        if self.expansions_max.is_some() && !field.is_analyzed() {
            let reason = format!(
                "Can only use phrase prefix queries on text fields - not on [{}] which is of type [{}]",
                field.path,
                binder.type_name(&field)
            );
            return Err(RequestError::illegal_argument(reason).into());
        }
        if terms.len() == 1 {
            let only = &terms[0].0;
            return match self.expansions_max {
                None => binder.scored_term(&field, only, boost),
                Some(count_max) => Self::bind_only_prefix(&field, only, count_max, boost, binder),
            };
        }
        if !field.positions && !field.match_only {
            return Err(RequestError::new(
                400,
                "illegal_state_exception",
                format!("field:[{}] was indexed without position data; cannot run PhraseQuery", field.path),
            )
            .into());
        }
        self.bind_slots(&field, terms, boost, binder)
    }
}

impl MatchPhrase {
    /// A phrase of nothing but a prefix is one of the terms that begin with it, each scored.
    fn bind_only_prefix(
        field: &Arc<Field>,
        prefix: &[u8],
        count_max: usize,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        let mut node = BoolNode { min_should_match: 1, ..BoolNode::default() };
        for term in binder.expand_prefix(field, prefix, count_max)? {
            node.should.push(binder.scored_term(field, &term, boost)?);
        }
        Ok(match node.should.len() {
            0 => BoundQuery::nothing("no term starts with the last word"),
            1 => node.should.remove(0),
            _ => Node::Bool(node).into(),
        })
    }

    fn bind_slots(
        &self,
        field: &Arc<Field>,
        terms: Vec<AnalysedTerm>,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        let first_position = terms[0].1;
        let last = terms.len() - 1;
        let mut slots: Vec<(u32, Vec<Box<[u8]>>)> = Vec::with_capacity(terms.len());
        for (at, (term, position)) in terms.into_iter().enumerate() {
            let alternatives = match self.expansions_max {
                Some(count_max) if at == last => binder.expand_prefix(field, &term, count_max)?,
                _ => vec![term],
            };
            if alternatives.is_empty() {
                return Ok(BoundQuery::nothing("no term starts with the last word"));
            }
            slots.push((position - first_position, alternatives));
        }
        let phrase: BoundQuery = Node::Phrase(binder.phrase(field, slots, self.slop, boost)?).into();
        Ok(match field.match_only {
            true => Node::Constant { inner: Box::new(phrase), boost }.into(),
            false => phrase,
        })
    }
}
