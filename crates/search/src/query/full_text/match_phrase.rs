//! `match_phrase` and `match_phrase_prefix`: the terms of a text, adjacent or within a slop.

use std::sync::Arc;

use limber_mapping::number::java_float;
use limber_mapping::{Field, RequestError};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value, json};

use super::analysed::{AnalysedTerm, analyse_phrase, check_analyzer};
use super::match_text::{any_of, no_terms, zero_terms};
use super::token_graph::{GraphTerm, Step, Stretch, all_ways, is_graph, stretches};
use super::{phrase_parts, synonym};
use crate::cache::KeyWriter;
use crate::error::{Error, Result};
use crate::matcher::{self, BoxedMatcher, BoxedScorer, PhraseScorer};
use crate::primitives::PhraseNode;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, Part, WeightedPart, constant_scorer};
use crate::query::cached::FREQUENCY_OF_OTHERS;
use crate::query::compound::bool_query::BoolNode;
use crate::query::compound::constant_score::ConstantNode;
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::parse::{
    Common, Parser, Query, QueryLimits, QueryNode, does_not_support, parse_query, single_field,
};
use crate::query::scoring::norm_of;
use crate::score::Explanation;
use crate::values::json as values;

#[derive(Debug)]
struct MatchPhrase {
    query: &'static str,
    field: String,
    text: Value,
    slop: u32,
    analyzer: Option<String>,
    zero_terms_all: bool,
    /// If set, the last term is a prefix, which is expanded to at most this many terms.
    expansions_max: Option<usize>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    parse_as("match_phrase", None, members)
}

/// The default of `max_expansions` is that of Elasticsearch's `FuzzyQuery#defaultMaxExpansions`.
pub(in crate::query) fn parse_prefix(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    parse_as("match_phrase_prefix", Some(50), members)
}

/// Makes the query `match_phrase` of a text.
pub(in crate::query) fn phrase(field: &str, text: String, slop: u32, analyzer: Option<String>) -> Query {
    Query::new(MatchPhrase { slop, analyzer, ..MatchPhrase::new("match_phrase", field, text) })
}

/// Largest `max_expansions` of a request.
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
    let mut node = MatchPhrase { expansions_max, ..MatchPhrase::new(query, field, Value::Null) };
    let mut slop = 0;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                values::check_scalar(query, key, value)?;
                match key.as_str() {
                    "query" => node.text = value.clone(),
                    "slop" => {
                        slop = values::int(value)?;
                    }
                    "analyzer" => node.analyzer = values::scalar_text(value),
                    "zero_terms_query" => node.zero_terms_all = zero_terms(value)?,
                    "max_expansions" if expansions_max.is_some() => {
                        let count = values::int(value)?;
                        if !(0..=EXPANSIONS_MAX).contains(&count) {
                            return Err(RequestError::illegal_argument(format!(
                                "[max_expansions] must be between 0 and {EXPANSIONS_MAX}, found [{count}]"
                            )));
                        }
                        // Lucene's `MultiPhrasePrefixQuery` looks at the limit after it has added a term.
                        node.expansions_max = Some(count.max(1) as usize);
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
    match values::scalar_text(&node.text) {
        None => Err(requires("query value")),
        Some(_) => Ok(common.query(node)),
    }
}

impl MatchPhrase {
    fn new(query: &'static str, field: &str, text: impl Into<Value>) -> MatchPhrase {
        MatchPhrase {
            query,
            field: field.to_owned(),
            text: text.into(),
            slop: 0,
            analyzer: None,
            zero_terms_all: false,
            expansions_max: None,
        }
    }
}

impl QueryNode for MatchPhrase {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        check_analyzer(self.query, "analyzer", self.analyzer.as_deref(), binder)?;
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if self.query == "match_phrase_prefix" && !field.has_texts() {
            return Err(no_prefixes(&field, binder).into());
        }
        if !field.has_texts() || &*field.path == "_id" {
            return binder.term(&self.field, &self.text, boost);
        }
        let text = values::scalar_text(&self.text).unwrap_or_default();
        let graph = analyse_phrase(self.query, &field, self.analyzer.as_deref(), &text, binder)?;
        let is_graph = graph.len() > 1 && is_graph(&graph);
        let terms: Vec<AnalysedTerm> = graph.iter().map(|term| (term.term.clone(), term.position)).collect();
        if terms.is_empty() {
            return Ok(no_terms(self.zero_terms_all, boost));
        }
        if self.expansions_max.is_some() && !field.is_analyzed() {
            return Err(no_prefixes(&field, binder).into());
        }
        if !is_graph && let Some(bound) = self.bind_parts(&field, &terms, boost, binder)? {
            return Ok(bound);
        }
        if terms.len() == 1 {
            let only = &terms[0].0;
            return match self.expansions_max {
                None => binder.scored_term(&field, only, boost),
                Some(count_max) => Self::bind_only_prefix(&field, only, count_max, boost, binder),
            };
        }
        if !field.positions && !field.match_only {
            return Err(RequestError::bad_request(
                "illegal_state_exception",
                format!("field:[{}] was indexed without position data; cannot run PhraseQuery", field.path),
            )
            .into());
        }
        match is_graph {
            true => self.bind_graph(&field, &graph, boost, binder),
            false => self.bind_slots(&field, terms, boost, binder),
        }
    }
}

fn no_prefixes(field: &Arc<Field>, binder: &Binder<'_>) -> RequestError {
    RequestError::illegal_argument(format!(
        "Can only use phrase prefix queries on text fields - not on [{}] which is of type [{}]",
        field.path,
        binder.type_name(field)
    ))
}

/// Makes a phrase of the terms on one path through a token graph.
pub(in crate::query) fn bind_way(
    field: &Arc<Field>,
    way: Vec<Step>,
    slop: u32,
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    if let [(only, _)] = &way[..] {
        return binder.scored_term(field, only, boost);
    }
    let mut position = 0;
    let mut slots = Vec::with_capacity(way.len());
    for (number, (term, increment)) in way.into_iter().enumerate() {
        position += if number == 0 { 0 } else { increment };
        slots.push((position, vec![term]));
    }
    let phrase: BoundQuery = binder.phrase(field, slots, slop, boost)?.into();
    Ok(match field.match_only {
        true => ConstantNode { inner: phrase, boost }.into(),
        false => phrase,
    })
}

impl MatchPhrase {
    /// Binds a phrase that is only a prefix: any of the terms that start with it, each scored.
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
            _ => node.into(),
        })
    }

    /// Binds the phrase to subfields with shingles or prefixes, if these can answer it.
    fn bind_parts(
        &self,
        field: &Arc<Field>,
        terms: &[AnalysedTerm],
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<Option<BoundQuery>, Error> {
        if self.slop > 0 || (field.parts.shingles.is_empty() && field.parts.prefixes.is_none()) {
            return Ok(None);
        }
        let slots = phrase_parts::slots_of(terms);
        match self.expansions_max {
            None => phrase_parts::bind_phrase(field, &slots, boost, binder),
            Some(_) => phrase_parts::bind_prefix_phrase(field, &slots, boost, binder),
        }
    }

    /// Binds a token graph: as spans where terms must be adjacent, otherwise as a phrase for each path
    /// through the graph (Elasticsearch's `analyzeGraphPhrase`).
    fn bind_graph(
        &self,
        field: &Arc<Field>,
        terms: &[GraphTerm],
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        if self.slop > 0 || field.match_only {
            let ways = all_ways(terms)?;
            let mut any = BoolNode { min_should_match: 1, ..BoolNode::default() };
            for way in ways {
                any.should.push(bind_way(field, way, self.slop, boost, binder)?);
            }
            return Ok(any.simplified());
        }
        let stretches = stretches(terms)?;
        let last = stretches.len().saturating_sub(1);
        let spans = stretches.iter().enumerate().map(|(number, stretch)| {
            self.spans_of(&field.path, stretch, self.expansions_max.is_some() && number == last)
        });
        let spans = next_to_each_other(spans.collect());
        parse_query(&spans, &QueryLimits::default())?.node.bind(boost, binder)
    }

    fn spans_of(&self, path: &str, stretch: &Stretch, is_prefix: bool) -> Value {
        let term = |term: &[u8], is_last: bool| {
            let text = String::from_utf8_lossy(term);
            match is_prefix && is_last {
                true => json!({"span_multi": {"match": {"prefix": {path: {"value": text}}}}}),
                false => json!({"span_term": {path: {"value": text}}}),
            }
        };
        let any: Vec<Value> = match stretch {
            // As in Elasticsearch, the last word is only a prefix if it has no synonyms.
            Stretch::Terms(terms) => terms.iter().map(|one| term(one, terms.len() == 1)).collect(),
            Stretch::Ways(ways) => (ways.iter())
                .map(|way| {
                    let count = way.len();
                    let steps = way.iter().zip(1..).map(|((one, _), number)| term(one, number == count));
                    next_to_each_other(steps.collect())
                })
                .collect(),
        };
        match &any[..] {
            [only] => only.clone(),
            _ => json!({"span_or": {"clauses": any}}),
        }
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
            let position = position - first_position;
            match slots.last_mut() {
                // Tokens at one position are alternatives.
                Some((place, known)) if *place == position => known.extend(alternatives),
                _ => slots.push((position, alternatives)),
            }
        }
        if slots.len() == 1 {
            let terms = slots.remove(0).1;
            return match self.expansions_max {
                None => synonym::bind(field, terms, boost, binder),
                Some(_) => any_of(field, &terms, boost, binder),
            };
        }
        let phrase: BoundQuery = binder.phrase(field, slots, self.slop, boost)?.into();
        Ok(match field.match_only {
            true => ConstantNode { inner: phrase, boost }.into(),
            false => phrase,
        })
    }
}

/// Makes a query for spans in this order without gaps.
fn next_to_each_other(mut spans: Vec<Value>) -> Value {
    match spans.len() {
        1 => spans.remove(0),
        _ => json!({"span_near": {"clauses": spans, "slop": 0, "in_order": true}}),
    }
}

impl BoundNode for PhraseNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        matcher::phrase(self, segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        match matcher::phrase_cursor(self, segment)? {
            None => constant_scorer(self, 0.0, segment, is_known),
            Some(cursor) => {
                let norms = segment.norms(&self.field.path)?;
                Ok(Box::new(PhraseScorer { cursor, norms, bm25: &self.scorer }))
            }
        }
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let freq = match matcher::phrase_cursor(self, segment)? {
            Some(mut cursor) => cursor.freq(doc)?,
            None => 0.0,
        };
        let freq = Explanation::leaf(freq, format!("phraseFreq={}", java_float(freq)));
        let norm = norm_of(segment, &self.field.path, doc)?;
        Ok(self.scorer.explain_weight(&self.text(), freq, norm, doc))
    }

    fn as_phrase(&self) -> Option<&PhraseNode> {
        Some(self)
    }

    fn class(&self) -> &'static str {
        match self.slots.iter().all(|(_, terms)| terms.len() == 1) {
            true => "PhraseQuery",
            false => "MultiPhraseQuery",
        }
    }

    fn text(&self) -> String {
        let shown = |terms: &Vec<Box<[u8]>>| {
            let words: Vec<_> = terms.iter().map(|term| String::from_utf8_lossy(term).into_owned()).collect();
            if words.len() == 1 { words[0].clone() } else { format!("({})", words.join(" ")) }
        };
        let words: Vec<String> = self.slots.iter().map(|(_, terms)| shown(terms)).collect();
        let slop = if self.slop == 0 { String::new() } else { format!("~{}", self.slop) };
        format!("{}:\"{}\"{slop}", self.field.path, words.join(" "))
    }

    /// Requires the alternatives at one position: that whose shortest alternative is the longest.
    fn required_terms(&self) -> RequiredTerms {
        let shortest = |terms: &[Box<[u8]>]| terms.iter().map(|term| term.len()).min();
        match self.slots.iter().max_by_key(|(_, terms)| shortest(terms)) {
            Some((_, terms)) if !terms.is_empty() => {
                let terms = terms.iter().map(|term| (self.field.path.clone(), term.clone()));
                RequiredTerms::exactly(terms.collect()).inexact()
            }
            _ => RequiredTerms::Unknown,
        }
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        let (part, boost) = (Part::Phrase(self), self.scorer.boost());
        vec![WeightedPart { part, boost, field: &self.field }]
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'p');
        key.text(self.field.path.as_bytes());
        key.number(self.slop.into());
        key.number(self.slots.len() as u64);
        for (position, terms) in &self.slots {
            key.number((*position).into());
            key.number(terms.len() as u64);
            terms.iter().for_each(|term| key.text(term));
        }
        true
    }

    fn uses_before_kept(&self) -> Option<u32> {
        Some(FREQUENCY_OF_OTHERS)
    }
}
