//! `wildcard`: documents with a term that fits a pattern of `*` and `?`; and terms compared without regard to case.

use std::sync::Arc;

use limber_mapping::RequestError;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::{Anchored, MatchKind, Input};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoundQuery, Docs};
use super::parse::{Common, Parser, Query, QueryNode, does_not_support, no_field, single_field};
use super::prefix::{successor, term_field};
use crate::error::Error;
use crate::json;

/// Most bytes an automaton may take, so that no pattern can eat the memory (Elasticsearch counts states instead).
const AUTOMATON_BYTES_MAX: usize = 2 << 20;

#[derive(Debug)]
struct Wildcard {
    field: String,
    pattern: String,
    case_insensitive: bool,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (field, body) = single_field("wildcard", members, &mut common)?.ok_or_else(no_field)?;
    let mut case_insensitive = false;
    let mut pattern = None;
    match body {
        Value::Object(options) => {
            for (key, value) in options {
                match key.as_str() {
                    "value" | "wildcard" => pattern = json::scalar_text(value),
                    "case_insensitive" => case_insensitive = json::boolean(value)?,
                    "rewrite" if value == "constant_score" || value == "constant_score_boolean" || value == "constant_score_blended" => {}
                    "rewrite" => return Err(RequestError::unsupported("[rewrite] in [wildcard]")),
                    key if common.take(key, value)? => {}
                    key => return Err(does_not_support("wildcard", key)),
                }
            }
        }
        scalar => pattern = json::scalar_text(scalar),
    }
    let pattern = pattern.ok_or_else(|| RequestError::illegal_argument("value cannot be null"))?;
    Ok(common.query(Wildcard { field: field.to_owned(), pattern, case_insensitive }))
}

impl QueryNode for Wildcard {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = term_field(binder, &self.field, "wildcard")? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        let (expression, literal) = translate(&self.pattern);
        let text = format!("{}:{}", self.field, self.pattern);
        bind_expression(&field, &expression, &literal, self.case_insensitive, boost, text)
    }
}

/// The regular expression of a pattern, and the literal text before its first wildcard.
fn translate(pattern: &str) -> (String, String) {
    let mut expression = String::new();
    let mut literal = String::new();
    let mut is_literal = true;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' => {
                expression.push_str("(?s:.)*");
                is_literal = false;
            }
            '?' => {
                expression.push_str("(?s:.)");
                is_literal = false;
            }
            other => {
                let plain = if other == '\\' { characters.next().unwrap_or('\\') } else { other };
                push_escaped(&mut expression, plain);
                if is_literal {
                    literal.push(plain);
                }
            }
        }
    }
    (expression, literal)
}

fn push_escaped(expression: &mut String, character: char) {
    if !character.is_alphanumeric() && character.is_ascii() && !character.is_ascii_control() && character != ' ' {
        expression.push('\\');
    }
    expression.push(character);
}

pub(super) fn bind_literal(binder: &Binder<'_>, path: &str, text: &str, boost: f32) -> Result<BoundQuery, Error> {
    let Some(field) = term_field(binder, path, "term")? else {
        return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
    };
    let mut expression = String::new();
    text.chars().for_each(|character| push_escaped(&mut expression, character));
    bind_expression(&field, &expression, "", true, boost, format!("{path}:{text}"))
}

pub(super) fn bind_prefix_ignoring_case(binder: &Binder<'_>, path: &str, text: &str, boost: f32) -> Result<BoundQuery, Error> {
    let Some(field) = term_field(binder, path, "prefix")? else {
        return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
    };
    let mut expression = String::new();
    text.chars().for_each(|character| push_escaped(&mut expression, character));
    expression.push_str("(?s:.)*");
    bind_expression(&field, &expression, "", true, boost, format!("{path}:{text}*"))
}

fn bind_expression(
    field: &Arc<limber_mapping::Field>,
    expression: &str,
    literal: &str,
    case_insensitive: bool,
    boost: f32,
    text: String,
) -> Result<BoundQuery, Error> {
    let pattern = Arc::new(TermPattern::compile(expression, case_insensitive)?);
    let prefix = if case_insensitive { Vec::new() } else { literal.as_bytes().to_vec() };
    let upper = successor(&prefix).map(|upper| (upper, false));
    let docs = Docs::Pattern { field: field.clone(), lower: Some((prefix, true)), upper, pattern };
    Ok(BoundQuery::constant(docs, boost, text))
}

/// A compiled pattern over whole terms.
#[derive(Debug)]
pub(crate) struct TermPattern {
    automaton: dense::DFA<Vec<u32>>,
}

impl TermPattern {
    fn compile(expression: &str, case_insensitive: bool) -> Result<TermPattern, RequestError> {
        let config = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(StartKind::Anchored)
            .dfa_size_limit(Some(AUTOMATON_BYTES_MAX))
            .determinize_size_limit(Some(AUTOMATON_BYTES_MAX * 2));
        let syntax = regex_automata::util::syntax::Config::new().case_insensitive(case_insensitive);
        let automaton = dense::Builder::new()
            .configure(config)
            .syntax(syntax)
            .thompson(regex_automata::nfa::thompson::Config::new().nfa_size_limit(Some(AUTOMATON_BYTES_MAX)))
            .build(&format!("(?:{expression})\\z"))
            .map_err(|_| RequestError::illegal_argument("The pattern is too complex: its automaton would exceed the limit of 2mb"))?;
        Ok(TermPattern { automaton })
    }

    /// Whether the whole term fits.
    pub fn matches(&self, term: &[u8]) -> bool {
        let input = Input::new(term).anchored(Anchored::Yes).earliest(true);
        matches!(self.automaton.try_search_fwd(&input), Ok(Some(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_terms() {
        for (pattern, term, ignoring_case, expected) in [
            ("a*", "abc", false, true),
            ("a*", "ba", false, false),
            ("a?c", "abc", false, true),
            ("a?c", "aéc", false, true),
            ("a?c", "abbc", false, false),
            ("*c", "abc\nc", false, true),
            ("a\\*", "a*", false, true),
            ("a\\*", "ab", false, false),
            ("A*", "abc", true, true),
            ("a.c", "abc", false, false),
            ("*", "", false, true),
            ("a b-[c]", "a b-[c]", false, true),
        ] {
            let (expression, _) = translate(pattern);
            let compiled = TermPattern::compile(&expression, ignoring_case).unwrap();
            assert_eq!(compiled.matches(term.as_bytes()), expected, "{pattern} {term}");
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let bomb = "?*".repeat(2000);
        let (expression, _) = translate(&bomb);
        assert!(TermPattern::compile(&expression, false).is_err());
    }
}
