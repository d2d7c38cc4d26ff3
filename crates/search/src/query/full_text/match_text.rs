//! `match` and `match_bool_prefix`: the terms of a text that is analysed by the field's search analyzer.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::analysed::{AnalysedTerm, analyse_graph, check_analyzer};
use super::common_terms::Cutoff;
use super::token_graph::{GraphTerm, Step, Stretch, is_graph, stretches};
use super::{match_phrase, synonym};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::bool_query::BoolNode;
use crate::query::compound::match_all::EverythingNode;
use crate::query::compound::minimum_should_match;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support, single_field};
use crate::query::term_level::fuzziness::{Fuzziness, Fuzzy};
use crate::query::term_level::prefix;
use crate::values::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query) enum Operator {
    And,
    Or,
}

/// What a query that searches words, such as `query_string`, asks of the `match` that it makes of them.
#[derive(Debug, Default)]
pub(in crate::query) struct WordOptions {
    pub is_and: bool,
    pub minimum_should_match: Option<String>,
    pub analyzer: Option<String>,
    /// Whether synonyms of several words match as phrases.
    pub ways_are_phrases: bool,
}

#[derive(Debug)]
pub(super) struct Match {
    /// The name of the query, for error messages.
    query: &'static str,
    field: String,
    text: Value,
    operator: Operator,
    minimum_should_match: Option<String>,
    analyzer: Option<String>,
    zero_terms_all: bool,
    lenient: bool,
    /// Whether the last term is a prefix.
    is_bool_prefix: bool,
    /// Whether synonyms of several words match as phrases.
    ways_are_phrases: bool,
    /// If set, similar terms match, too.
    fuzzy: Option<Fuzzy>,
    /// If set, frequent terms only matter where a rare one matches.
    cutoff: Option<Cutoff>,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    parse_as("match", false, members)
}

pub(in crate::query) fn parse_bool_prefix(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    parse_as("match_bool_prefix", true, members)
}

/// Makes the query `match` of a text.
pub(in crate::query) fn words(field: &str, text: String, options: WordOptions) -> Query {
    let WordOptions { is_and, minimum_should_match, analyzer, ways_are_phrases } = options;
    let operator = if is_and { Operator::And } else { Operator::Or };
    let node = Match {
        operator,
        minimum_should_match,
        analyzer,
        ways_are_phrases,
        ..Match::new("match", field, text)
    };
    Query::new(node)
}

fn parse_as(
    query: &'static str,
    is_bool_prefix: bool,
    members: &Map<String, Value>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field(query, members, &mut common)?.ok_or_else(no_text)?;
    let mut node = Match { is_bool_prefix, ..Match::new(query, field, Value::Null) };
    let (mut fuzziness, mut fuzzy) = (None, Fuzzy::default());
    let mut cutoff = None;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                json::check_scalar("match", key, value)?;
                match key.as_str() {
                    "query" => node.text = value.clone(),
                    "operator" => node.operator = operator(value)?,
                    "minimum_should_match" => node.minimum_should_match = json::scalar_text(value),
                    "analyzer" => node.analyzer = json::scalar_text(value),
                    "zero_terms_query" if !is_bool_prefix => node.zero_terms_all = zero_terms(value)?,
                    "lenient" if !is_bool_prefix => node.lenient = json::boolean(value)?,
                    "auto_generate_synonyms_phrase_query" if !is_bool_prefix => {
                        node.ways_are_phrases = json::boolean(value)?;
                    }
                    "fuzziness" if value.is_null() => {}
                    "fuzziness" => fuzziness = Some(Fuzziness::parse(value)?),
                    "prefix_length" => fuzzy.prefix_length = json::int(value)?,
                    "max_expansions" => fuzzy.expansions_max = json::int(value)?,
                    "fuzzy_rewrite" => fuzzy.rewrite = json::scalar_text(value),
                    "fuzzy_transpositions" => fuzzy.transpositions = json::boolean(value)?,
                    "cutoff_frequency" if !is_bool_prefix => cutoff = Some(json::float(value)?),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support(query, key)),
                }
            }
        }
        Value::Array(_) => return Err(RequestError::illegal_argument("Expected text but found START_ARRAY")),
        scalar => node.text = scalar.clone(),
    }
    node.cutoff =
        cutoff.map(|frequency| Cutoff::of_match(frequency, node.operator, node.minimum_should_match.clone()));
    node.fuzzy = fuzziness.map(|fuzziness| Fuzzy { fuzziness, ..fuzzy });
    match json::scalar_text(&node.text) {
        None => Err(no_text()),
        Some(_) => Ok(common.query(node)),
    }
}

pub(in crate::query) fn no_text() -> RequestError {
    RequestError::parsing("No text specified for text query")
}

pub(in crate::query) fn operator(value: &Value) -> Result<Operator, RequestError> {
    let text = json::scalar_text(value).unwrap_or_default();
    match text.to_lowercase().as_str() {
        "and" => Ok(Operator::And),
        "or" => Ok(Operator::Or),
        _ => Err(RequestError::illegal_argument(format!(
            "No enum constant org.elasticsearch.index.query.Operator.{}",
            text.to_uppercase()
        ))),
    }
}

/// Parses `zero_terms_query`: whether a query without terms matches everything (`all`) or nothing (`none`,
/// the default).
pub(in crate::query) fn zero_terms(value: &Value) -> Result<bool, RequestError> {
    let text = json::scalar_text(value).unwrap_or_default();
    match text.to_lowercase().as_str() {
        "none" => Ok(false),
        "all" => Ok(true),
        _ => Err(RequestError::parsing(format!("Unsupported zero_terms_query value [{text}]"))),
    }
}

/// Whether the text ends with its last term, which may then be the beginning of a longer one.
fn ends_with_a_term(field: &Field, analyzer: Option<&str>, text: &str, binder: &Binder<'_>) -> bool {
    let named = analyzer.and_then(|name| binder.analyzer(name));
    let Some(analyzer) = named.or_else(|| field.search_analyzer.clone().or_else(|| field.analyzer.clone()))
    else {
        return true;
    };
    let mut end = 0;
    analyzer.tokens(text, |token| end = token.end as usize);
    end == text.len()
}

pub(in crate::query) fn no_terms(zero_terms_all: bool, boost: f32) -> BoundQuery {
    if zero_terms_all {
        EverythingNode { boost }.into()
    } else {
        BoundQuery::nothing("Matching no documents because no terms present")
    }
}

/// Whether `minimum_should_match` requires an optional clause even where there is none: with the operator
/// `and` nothing matches then, as in Lucene's `BooleanQuery`.
fn needs_optional(minimum: Option<&str>) -> Result<bool, Error> {
    Ok(minimum.map_or(Ok(0), |spec| minimum_should_match::required(spec, 0))? > 0)
}

fn no_optional() -> BoundQuery {
    BoundQuery::nothing("No optional clause can match, but minimum_should_match requires one.")
}

/// Makes a query for all words (`is_and`), or for at least `minimum` of them; `None` if there are no words.
pub(in crate::query) fn joined(
    mut words: Vec<BoundQuery>,
    is_and: bool,
    minimum: Option<&str>,
) -> Result<Option<BoundQuery>, Error> {
    if words.len() < 2 {
        return Ok(words.pop());
    }
    let mut node = BoolNode::default();
    if is_and && needs_optional(minimum)? {
        return Ok(Some(no_optional()));
    }
    if is_and {
        node.must = words;
    } else {
        let needed = minimum.map_or(Ok(0), |spec| minimum_should_match::required(spec, words.len()))?;
        node.min_should_match = needed.max(1);
        node.should = words;
    }
    Ok(Some(node.simplified()))
}

impl QueryNode for Match {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        check_analyzer(self.query, "analyzer", self.analyzer.as_deref(), binder)?;
        let Some(field) = binder.searchable_field(&self.field)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if field.is_point() || field.is_cartesian_point() {
            return Err(RequestError::illegal_argument(format!(
                "Field [{}] of type [{}] does not support match queries",
                self.field,
                field.type_name()
            ))
            .into());
        }
        if !field.has_texts() || &*field.path == "_id" {
            let bound = match &self.fuzzy {
                Some(fuzzy) => {
                    fuzzy.bind(binder, &field, &json::scalar_text(&self.text).unwrap_or_default(), boost)
                }
                None => binder.term(&self.field, &self.text, boost),
            };
            return match bound {
                Err(Error::Request(error)) if self.lenient => {
                    Ok(BoundQuery::nothing(format!("failed to parse: {}", error.reason)))
                }
                other => other,
            };
        }
        let text = json::scalar_text(&self.text).unwrap_or_default();
        let terms = analyse_graph(self.query, &field, self.analyzer.as_deref(), &text, true, binder)?;
        if terms.is_empty() {
            return Ok(no_terms(self.zero_terms_all, boost));
        }
        if terms.len() > 1 && is_graph(&terms) {
            return self.bind_graph(&field, &terms, boost, binder);
        }
        let terms: Vec<AnalysedTerm> = terms.into_iter().map(|term| (term.term, term.position)).collect();
        let has_prefix =
            self.is_bool_prefix && ends_with_a_term(&field, self.analyzer.as_deref(), &text, binder);
        self.bind_terms(&field, terms, has_prefix, boost, binder)
    }
}

/// Makes a query for any of these terms, which are synonyms.
pub(in crate::query) fn any_of(
    field: &Arc<Field>,
    terms: &[Box<[u8]>],
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    let mut node = BoolNode { min_should_match: 1, ..BoolNode::default() };
    for term in terms {
        node.should.push(binder.scored_term(field, term, boost)?);
    }
    Ok(node.simplified())
}

impl Match {
    /// Makes the part of the query `common` that is like a `match`.
    pub(super) fn of_common(field: &str) -> Match {
        Match::new("common", field, Value::Null)
    }

    pub(super) fn set_text(&mut self, text: &Value) {
        self.text = text.clone();
    }

    pub(super) fn set_analyzer(&mut self, analyzer: Option<String>) {
        self.analyzer = analyzer;
    }

    /// Whether there is a text to search for.
    pub(super) fn has_text(&self) -> bool {
        json::scalar_text(&self.text).is_some()
    }

    pub(super) fn with_cutoff(self, cutoff: Cutoff) -> Match {
        Match { cutoff: Some(cutoff), ..self }
    }

    fn new(query: &'static str, field: &str, text: impl Into<Value>) -> Match {
        Match {
            query,
            field: field.to_owned(),
            text: text.into(),
            operator: Operator::Or,
            minimum_should_match: None,
            analyzer: None,
            zero_terms_all: false,
            lenient: false,
            is_bool_prefix: false,
            ways_are_phrases: true,
            fuzzy: None,
            cutoff: None,
        }
    }

    /// Makes a clause for each part of the graph between two states that all paths go through (Lucene's
    /// `analyzeGraphBoolean`).
    fn bind_graph(
        &self,
        field: &Arc<Field>,
        terms: &[GraphTerm],
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        let stretches = stretches(terms)?;
        let last = stretches.len().saturating_sub(1);
        let mut bound = Vec::with_capacity(stretches.len());
        for (number, stretch) in stretches.into_iter().enumerate() {
            bound.push(match stretch {
                Stretch::Terms(mut terms) if terms.len() == 1 => self.bind_word(
                    field,
                    terms.remove(0),
                    self.is_bool_prefix && number == last,
                    boost,
                    binder,
                )?,
                Stretch::Terms(terms) => synonym::bind(field, terms, boost, binder)?,
                Stretch::Ways(ways) => {
                    let mut any = BoolNode { min_should_match: 1, ..BoolNode::default() };
                    for way in ways {
                        any.should.push(self.bind_way(field, way, boost, binder)?);
                    }
                    any.simplified()
                }
            });
        }
        let minimum = self.minimum_should_match.as_deref();
        let joined = joined(bound, self.operator == Operator::And, minimum)?;
        Ok(joined.unwrap_or_else(|| no_terms(self.zero_terms_all, boost)))
    }

    fn bind_word(
        &self,
        field: &Arc<Field>,
        term: Box<[u8]>,
        is_prefix: bool,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        let text = String::from_utf8_lossy(&term);
        if is_prefix {
            binder.check_expensive("[prefix] queries")?;
            return Ok(prefix::bind_prefix(binder, field, &text, boost));
        }
        match &self.fuzzy {
            Some(fuzzy) => fuzzy.bind(binder, field, &text, boost),
            None => binder.scored_term(field, &term, boost),
        }
    }

    /// Binds one of several paths: its only term, a phrase of its terms, or all of its terms.
    fn bind_way(
        &self,
        field: &Arc<Field>,
        mut way: Vec<Step>,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        if way.len() == 1 {
            return self.bind_word(field, way.remove(0).0, false, boost, binder);
        }
        if self.ways_are_phrases {
            return match_phrase::bind_way(field, way, 0, boost, binder);
        }
        let mut all = BoolNode::default();
        for (term, _) in way {
            all.must.push(self.bind_word(field, term, false, boost, binder)?);
        }
        Ok(all.simplified())
    }

    /// Makes a clause for each position: its term, or any of its terms.
    fn bind_positions(
        &self,
        field: &Arc<Field>,
        terms: Vec<AnalysedTerm>,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<Vec<BoundQuery>, Error> {
        let mut bound = Vec::new();
        for group in terms.chunk_by(|(_, one), (_, other)| one == other) {
            bound.push(match (&self.fuzzy, group) {
                (Some(fuzzy), [(only, _)]) => {
                    fuzzy.bind(binder, field, &String::from_utf8_lossy(only), boost)?
                }
                (None, [(only, _)]) => binder.scored_term(field, only, boost)?,
                _ => {
                    let words = group.iter().map(|(term, _)| term.clone()).collect();
                    synonym::bind(field, words, boost, binder)?
                }
            });
        }
        Ok(bound)
    }

    fn bind_terms(
        &self,
        field: &Arc<Field>,
        mut terms: Vec<AnalysedTerm>,
        has_prefix: bool,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        if let (Some(cutoff), None) = (&self.cutoff, &self.fuzzy) {
            let terms = terms.into_iter().map(|(term, _)| term).collect();
            return cutoff.bind(field, terms, boost, binder);
        }
        // As in Elasticsearch, the last word is only a prefix if no other term has the same position.
        let is_alone = match &terms[..] {
            [.., (_, before), (_, last)] => before != last,
            _ => true,
        };
        let last = if has_prefix && is_alone { terms.pop() } else { None };
        let mut positions: Vec<u32> = terms.iter().map(|(_, position)| *position).collect();
        positions.dedup();
        let clause_count = positions.len() + usize::from(last.is_some());
        let has_synonyms = positions.len() < terms.len();
        let min_should_match = match (&self.minimum_should_match, self.operator) {
            (Some(spec), Operator::Or) if clause_count > 1 => {
                minimum_should_match::required(spec, clause_count)?
            }
            (Some(spec), Operator::And) if clause_count > 1 && needs_optional(Some(spec))? => {
                return Ok(no_optional());
            }
            _ => 0,
        };
        // Equal clauses are merged into one with the sum of their boosts, unless the clauses are counted
        // (Lucene's `BooleanQuery#rewrite`).
        let mut clauses: Vec<(Box<[u8]>, f32)> = Vec::with_capacity(terms.len());
        let mut bound = Vec::with_capacity(clause_count);
        if has_synonyms {
            bound = self.bind_positions(field, std::mem::take(&mut terms), boost, binder)?;
        }
        for (term, _) in terms {
            match clauses.iter_mut().find(|(seen, _)| *seen == term) {
                Some((_, times)) if min_should_match <= 1 => *times += 1.0,
                _ => clauses.push((term, 1.0)),
            }
        }
        for (term, times) in clauses {
            let boost = if times == 1.0 { boost } else { boost * times };
            bound.push(match &self.fuzzy {
                Some(fuzzy) => fuzzy.bind(binder, field, &String::from_utf8_lossy(&term), boost)?,
                None => binder.scored_term(field, &term, boost)?,
            });
        }
        if let Some((term, _)) = last {
            let text = String::from_utf8_lossy(&term).into_owned();
            binder.check_expensive("[prefix] queries")?;
            bound.push(prefix::bind_prefix(binder, field, &text, boost));
        }
        if bound.len() == 1 && min_should_match <= 1 {
            return Ok(bound.remove(0));
        }
        let mut node = BoolNode::default();
        match self.operator {
            Operator::And => node.must = bound,
            Operator::Or => {
                node.should = bound;
                node.min_should_match = min_should_match.max(1);
            }
        }
        Ok(node.simplified())
    }
}
