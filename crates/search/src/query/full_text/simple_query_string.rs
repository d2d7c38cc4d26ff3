//! `simple_query_string`: a query language without syntax errors (`"quick fox"~2 + (brown | red) -dog`) on
//! one or several fields.
//!
//! The text is parsed by [`super::simple_query_string_syntax`] when the query is bound, because words that an
//! analyzer removes have no clause. Source: Elasticsearch's `SimpleQueryStringBuilder`,
//! `SimpleQueryStringQueryParser`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::analysed::{analyse, check_analyzer};
use super::leaves::Leaves;
use super::lenient::lenient;
use super::multi_match::parse_fields;
use super::query_string::{normalized, parse_operator};
use super::simple_query_string_syntax::{self as syntax, Flags, Leaf, Tree, read};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::dis_max::DisMax;
use crate::query::parse::{Common, Parser, Query, QueryLimits, QueryNode, parse_query};
use crate::values::json;

#[derive(Debug)]
struct SimpleQueryString {
    text: String,
    /// Empty stands for every field.
    fields: Vec<(String, f32)>,
    flags: Flags,
    is_and: bool,
    analyzer: Option<String>,
    /// Whether synonyms of several words match as phrases.
    ways_are_phrases: bool,
    lenient: Option<bool>,
    minimum_should_match: Option<String>,
    /// How words are searched in several fields: the `type` of `multi_match`.
    kind: String,
    /// Phrases are searched in the fields whose names have this suffix, if those exist.
    quote_field_suffix: String,
    /// The options of `fuzzy`.
    fuzzy: Value,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = SimpleQueryString {
        text: String::new(),
        fields: Vec::new(),
        flags: syntax::ALL,
        is_and: false,
        analyzer: None,
        ways_are_phrases: true,
        lenient: None,
        minimum_should_match: None,
        kind: "most_fields".to_owned(),
        quote_field_suffix: String::new(),
        fuzzy: json!({}),
    };
    let mut text = None;
    for (key, value) in members {
        let refused = |reason: String| Err(RequestError::parsing(format!("[simple_query_string] {reason}")));
        match (key.as_str(), value) {
            ("fields", Value::Array(_)) => node.fields = parse_fields("simple_query_string", value)?,
            (_, Value::Array(_)) => return refused(format!("query does not support [{key}]")),
            (_, Value::Object(_) | Value::Null) => {
                return refused(format!("unknown token [{}] after [{key}]", json::token(value)));
            }
            ("query", _) => text = json::scalar_text(value),
            ("flags", _) => node.flags = parse_flags(value)?,
            ("default_operator", _) => node.is_and = parse_operator(value)?,
            ("analyzer", _) => node.analyzer = json::scalar_text(value),
            ("lenient", _) => node.lenient = Some(json::boolean(value)?),
            ("minimum_should_match", _) => node.minimum_should_match = json::scalar_text(value),
            ("type", _) => node.kind = json::scalar_text(value).unwrap_or_default(),
            ("quote_field_suffix", _) => {
                node.quote_field_suffix = json::scalar_text(value).unwrap_or_default();
            }
            ("fuzzy_prefix_length", _) => node.fuzzy["prefix_length"] = json::int(value)?.into(),
            ("fuzzy_max_expansions", _) => node.fuzzy["max_expansions"] = json::int(value)?.into(),
            ("fuzzy_transpositions", _) => node.fuzzy["transpositions"] = json::boolean(value)?.into(),
            ("auto_generate_synonyms_phrase_query", _) => node.ways_are_phrases = json::boolean(value)?,
            // Prefixes are always normalized.
            ("analyze_wildcard", _) => {
                json::boolean(value)?;
            }
            (key, value) if common.take(key, value)? => {}
            _ => return refused(format!("unsupported field [{key}]")),
        }
    }
    node.text = text.ok_or_else(|| RequestError::parsing("[simple_query_string] query text missing"))?;
    // A wrong type is reported now, not by the shard.
    node.words("_", &[], false)?;
    Ok(common.query(node))
}

/// Parses the names of operators, separated by `|`, or their bits.
fn parse_flags(value: &Value) -> Result<Flags, RequestError> {
    if let Value::Number(_) = value {
        return Ok(u32::try_from(json::int(value)?).unwrap_or(syntax::ALL));
    }
    let text = json::scalar_text(value).unwrap_or_default();
    let mut flags = 0;
    for name in text.split('|').filter(|name| !name.is_empty()) {
        flags |= match name.to_uppercase().as_str() {
            "ALL" => return Ok(syntax::ALL),
            "NONE" => return Ok(0),
            "AND" => syntax::AND,
            "NOT" => syntax::NOT,
            "OR" => syntax::OR,
            "PREFIX" => syntax::PREFIX,
            "PHRASE" => syntax::PHRASE,
            "PRECEDENCE" => syntax::PRECEDENCE,
            "ESCAPE" => syntax::ESCAPE,
            "WHITESPACE" => syntax::WHITESPACE,
            "FUZZY" => syntax::FUZZY,
            "NEAR" | "SLOP" => syntax::NEAR,
            _ => {
                let reason = format!("Unknown simple_query_string flag [{name}]");
                return Err(RequestError::illegal_argument(reason));
            }
        };
    }
    // Without any name, all operators are enabled.
    Ok(if text.is_empty() { syntax::ALL } else { flags })
}

impl SimpleQueryString {
    fn words(&self, text: &str, fields: &[(Arc<str>, f32)], is_lenient: bool) -> Result<Query, RequestError> {
        let fields: Vec<String> = fields.iter().map(|(path, boost)| format!("{path}^{boost}")).collect();
        let operator = if self.is_and { "and" } else { "or" };
        let mut body = json!({"query": text, "fields": fields, "type": self.kind, "operator": operator});
        body["lenient"] = is_lenient.into();
        body["auto_generate_synonyms_phrase_query"] = self.ways_are_phrases.into();
        if let Some(analyzer) = &self.analyzer {
            body["analyzer"] = analyzer.as_str().into();
        }
        parse_query(&json!({"multi_match": body}), &QueryLimits::default())
    }
}

impl QueryNode for SimpleQueryString {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        check_analyzer("simple_query_string", "analyzer", self.analyzer.as_deref(), binder)?;
        if self.text.trim() == "*" {
            return binder.query(&Query::match_all(), boost);
        }
        let wanted = binder.or_default_fields(&self.fields);
        let is_lenient = self.lenient.unwrap_or(wanted.iter().any(|(field, _)| field == "*"));
        let fields = binder.expand_fields(wanted)?;
        let leaves = Leaves::default();
        let translation = Translation { binder, query: self, fields, is_lenient, leaves };
        let field_count = translation.fields.len();
        let tree = read(&self.text, self.flags, self.is_and, field_count, |leaf| translation.leaf(leaf))?;
        match tree {
            None => Ok(BoundQuery::nothing("empty string passed to query parser")),
            Some(tree @ Tree::Single(_)) => binder.query(&tree.into_query(None), boost),
            Some(tree) => binder.query(&tree.into_query(self.minimum_should_match.clone()), boost),
        }
    }
}

/// Translates leaves to queries on the fields of one shard.
struct Translation<'a> {
    binder: &'a Binder<'a>,
    query: &'a SimpleQueryString,
    fields: Vec<(Arc<str>, f32)>,
    is_lenient: bool,
    leaves: Leaves,
}

impl Translation<'_> {
    fn leaf(&self, leaf: &Leaf) -> Result<Option<Query>, Error> {
        self.leaves.count(self.fields.len())?;
        match leaf {
            Leaf::Word(text) => {
                let fields = self.fields_with_words(&self.fields, text)?;
                if fields.is_empty() {
                    return Ok(None);
                }
                Ok(Some(self.query.words(text, &fields, self.is_lenient)?))
            }
            Leaf::Phrase { text, slop } => {
                let fields: Vec<_> =
                    self.fields.iter().map(|(path, boost)| (self.quoted(path), *boost)).collect();
                let fields = self.fields_with_words(&fields, text)?;
                self.best_of(&fields, 0.0, |_| {
                    let mut body = json!({"query": text, "slop": slop});
                    if let Some(analyzer) = &self.query.analyzer {
                        body["analyzer"] = analyzer.as_str().into();
                    }
                    ("match_phrase", body)
                })
            }
            Leaf::Prefix(text) => self.best_of(&self.fields, 1.0, |path| {
                ("prefix", json!({"value": normalized(self.binder, path, text)}))
            }),
            Leaf::Fuzzy { text, edits } => self.best_of(&self.fields, 1.0, |path| {
                let mut body = self.query.fuzzy.clone();
                body["value"] = normalized(self.binder, path, text).into();
                body["fuzziness"] = (*edits).into();
                ("fuzzy", body)
            }),
        }
    }

    /// Returns the fields whose analyzers leave at least one word of a text, and the fields without an
    /// analyzer.
    fn fields_with_words(
        &self,
        fields: &[(Arc<str>, f32)],
        text: &str,
    ) -> Result<Vec<(Arc<str>, f32)>, Error> {
        let mut left = Vec::with_capacity(fields.len());
        for (path, boost) in fields {
            limber_work::check()?;
            let is_empty = match self.binder.field(path) {
                Some(field) if field.is_analyzed() => {
                    let analyzer = self.query.analyzer.as_deref();
                    analyse("simple_query_string", &field, analyzer, text, true, self.binder)?.is_empty()
                }
                _ => false,
            };
            if !is_empty {
                left.push((path.clone(), *boost));
            }
        }
        Ok(left)
    }

    fn quoted(&self, path: &Arc<str>) -> Arc<str> {
        let quoted = format!("{path}{}", self.query.quote_field_suffix);
        match self.binder.shard().mapping.field(&quoted) {
            Some(_) => quoted.into(),
            None => path.clone(),
        }
    }

    /// Makes a query with a name and a body for each field, and combines them with the best score. `None` if
    /// there is no field.
    fn best_of(
        &self,
        fields: &[(Arc<str>, f32)],
        tie_breaker: f32,
        query: impl Fn(&Arc<str>) -> (&'static str, Value),
    ) -> Result<Option<Query>, Error> {
        let mut queries = Vec::with_capacity(fields.len());
        for (path, boost) in fields {
            let (name, body) = query(path);
            let query = parse_query(&json!({name: {&**path: body}}), &QueryLimits::default())?;
            let query = Query { boost: *boost, ..query };
            queries.push(if self.is_lenient { lenient(query) } else { query });
        }
        Ok((!queries.is_empty()).then(|| Query::new(DisMax { queries, tie_breaker, is_asked: false })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error messages recorded from Elasticsearch 9.4.3.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (body, reason) in [
            (json!({}), "[simple_query_string] query text missing"),
            (json!({"query": "a", "foo": 1}), "[simple_query_string] unsupported field [foo]"),
            (json!({"query": "a", "fields": "b"}), "[simple_query_string] unsupported field [fields]"),
            (json!({"query": ["a"]}), "[simple_query_string] query does not support [query]"),
            (json!({"query": null}), "[simple_query_string] unknown token [VALUE_NULL] after [query]"),
            (json!({"query": "a", "flags": "XX"}), "Unknown simple_query_string flag [XX]"),
        ] {
            let error = parse_query(&json!({"simple_query_string": body}), &QueryLimits::default());
            assert_eq!(error.unwrap_err().reason, reason, "{body}");
        }
    }

    #[test]
    fn flags_are_read_by_name_and_by_number() {
        for (value, expected) in [
            (json!("AND|prefix"), syntax::AND | syntax::PREFIX),
            (json!("SLOP"), syntax::NEAR),
            (json!("OR|ALL"), syntax::ALL),
            (json!("NONE"), 0),
            (json!(-1), syntax::ALL),
            (json!(5), syntax::AND | syntax::OR),
        ] {
            assert_eq!(parse_flags(&value).unwrap(), expected, "{value}");
        }
    }
}
