//! `query_string`: Lucene's query language (`title:(quick OR brown) -status:[400 TO 499]`).
//!
//! The text is parsed by [`super::query_string_syntax`] together with the request, and converted to queries
//! on fields when it is bound. Source: `QueryStringQueryBuilder`, `QueryStringQueryParser`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_mapping::date::Zone;
use limber_text::automaton::RegexpOptions;
use serde_json::{Map, Value, json};

use super::analysed::check_analyzer;
use super::leaves::Leaves;
use super::lenient::lenient;
use super::match_phrase::phrase;
use super::match_text::{Operator, WordOptions, operator, words};
use super::multi_match::parse_fields;
use super::query_string_syntax::{Clause, Leaf, Occur, Tree, escape, read, unescape};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::bool_query::Bool;
use crate::query::compound::dis_max::DisMax;
use crate::query::parse::{Common, Parser, Query, QueryLimits, QueryNode, does_not_support, parse_query};
use crate::query::term_level::fuzziness::Fuzziness;
use crate::values::json;

#[derive(Debug)]
struct QueryString {
    text: String,
    /// A syntax error is reported by the shard, as in Elasticsearch.
    tree: Result<Tree, String>,
    /// Empty stands for the default field.
    fields: Vec<(String, f32)>,
    is_and: bool,
    options: Options,
    minimum_should_match: Option<String>,
}

#[derive(Debug, Clone)]
struct Options {
    is_and: bool,
    analyzer: Option<String>,
    lenient: Option<bool>,
    phrase_slop: u32,
    /// The type of `multi_match` for words, if it is not `best_fields`.
    kind: Option<String>,
    tie_breaker: f32,
    /// How prefixes, wildcards and regular expressions are scored.
    rewrite: Option<String>,
    /// The analyzer for quoted phrases. Without it, `analyzer` is used.
    quote_analyzer: Option<String>,
    /// Quoted phrases are searched in the fields whose names have this suffix, if those exist.
    quote_field_suffix: Option<String>,
    /// The time zone of date ranges.
    time_zone: Option<String>,
    allows_leading_wildcard: bool,
    /// The options of `fuzzy` for words such as `quick~`.
    fuzzy: Value,
    /// Whether synonyms of several words match as phrases.
    ways_are_phrases: bool,
    /// The `max_determinized_states` of regular expressions.
    states_max: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            is_and: false,
            analyzer: None,
            lenient: None,
            phrase_slop: 0,
            kind: None,
            tie_breaker: 0.0,
            rewrite: None,
            quote_analyzer: None,
            quote_field_suffix: None,
            time_zone: None,
            allows_leading_wildcard: true,
            fuzzy: json!({}),
            ways_are_phrases: true,
            states_max: RegexpOptions::STATES_MAX,
        }
    }
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut text, mut default_field) = (None, None);
    let mut fields = Vec::new();
    let mut options = Options::default();
    let (mut minimum_should_match, mut tie_breaker, mut is_escaped) = (None, None, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("fields", Value::Array(_)) => {}
            ("fields", _) | (_, Value::Array(_)) => return Err(does_not_support("query_string", key)),
            _ => json::check_scalar("query_string", key, value)?,
        }
        match key.as_str() {
            "query" => text = json::scalar_text(value),
            "default_field" => default_field = json::scalar_text(value),
            "fields" => fields = parse_fields("query_string", value)?,
            "default_operator" => options.is_and = parse_operator(value)?,
            "analyzer" => options.analyzer = json::scalar_text(value),
            "lenient" => options.lenient = Some(json::boolean(value)?),
            "phrase_slop" => options.phrase_slop = json::int(value)?.max(0) as u32,
            "tie_breaker" => tie_breaker = Some(json::float(value)?),
            "minimum_should_match" => minimum_should_match = json::scalar_text(value),
            "fuzziness" => {
                Fuzziness::parse(value)?;
                options.fuzzy["fuzziness"] = value.clone();
            }
            "fuzzy_prefix_length" => options.fuzzy["prefix_length"] = json::int(value)?.into(),
            "fuzzy_max_expansions" => options.fuzzy["max_expansions"] = json::int(value)?.into(),
            // Elasticsearch parses this option and ignores it.
            "fuzzy_rewrite" if value.is_string() => {}
            "fuzzy_transpositions" => options.fuzzy["transpositions"] = json::boolean(value)?.into(),
            "max_determinized_states" => options.states_max = json::int(value)?.max(0) as u32,
            "type" => options.kind = json::scalar_text(value),
            "auto_generate_synonyms_phrase_query" => options.ways_are_phrases = json::boolean(value)?,
            "rewrite" => options.rewrite = json::scalar_text(value),
            "quote_analyzer" => options.quote_analyzer = json::scalar_text(value),
            "quote_field_suffix" => options.quote_field_suffix = json::scalar_text(value),
            "time_zone" => options.time_zone = Some(zone(value)?),
            "escape" => is_escaped = json::boolean(value)?,
            "allow_leading_wildcard" => options.allows_leading_wildcard = json::boolean(value)?,
            // Wildcards are always normalized, and positions are always used.
            "analyze_wildcard" | "enable_position_increments" => drop(json::boolean(value)?),
            key if common.take(key, value)? => {}
            key => {
                return Err(RequestError::parsing(format!("[query_string] query does not support [{key}]")));
            }
        }
    }
    let text = text.ok_or_else(|| RequestError::parsing("[query_string] must be provided with a [query]"))?;
    if let Some(field) = default_field {
        add_default_field(field, &mut fields)?;
    }
    options.tie_breaker = tie_breaker.unwrap_or(tie_of(options.kind.as_deref())?);
    options.kind.take_if(|kind| kind == "best_fields");
    // The text is read as a list of characters.
    limber_work::claim(text.len() as u64 * size_of::<char>() as u64)?;
    let tree = if is_escaped { read(&escape(&text)) } else { read(&text) };
    let tree = tree.and_then(|tree| match options.allows_leading_wildcard {
        false => check_leading_wildcards(&tree, &text).map(|()| tree),
        true => Ok(tree),
    });
    let is_and = options.is_and;
    Ok(common.query(QueryString { text, tree, fields, is_and, options, minimum_should_match }))
}

/// Makes a query in Lucene's syntax on one field, with the default options.
pub fn query_string(text: &str, default_field: &str) -> Query {
    let (fields, options) = (vec![(default_field.to_owned(), 1.0)], Options::default());
    let (text, tree, minimum_should_match) = (text.to_owned(), read(text), None);
    Query::new(QueryString { text, tree, fields, is_and: false, options, minimum_should_match })
}

fn add_default_field(field: String, fields: &mut Vec<(String, f32)>) -> Result<(), RequestError> {
    if !fields.is_empty() {
        return Err(RequestError::validation([
            "cannot use [fields] parameter in conjunction with [default_field]",
        ]));
    }
    fields.push((field, 1.0));
    Ok(())
}

/// Returns the factor for the scores of fields other than the best. Source: `MultiMatchQueryBuilder.Type`.
fn tie_of(kind: Option<&str>) -> Result<f32, RequestError> {
    match kind.unwrap_or("best_fields") {
        "best_fields" | "cross_fields" | "phrase" | "phrase_prefix" => Ok(0.0),
        "most_fields" | "bool_prefix" => Ok(1.0),
        other => {
            let reason = format!("failed to parse [multi_match] query type [{other}]. unknown type.");
            Err(RequestError::bad_request("parse_exception", reason))
        }
    }
}

/// Parses the name of an existing time zone.
fn zone(value: &Value) -> Result<String, RequestError> {
    let name = json::text(value)?;
    match Zone::parse(&name) {
        Ok(_) => Ok(name),
        Err(_) => {
            let reason = format!("[query_string] time_zone [{name}] cannot be parsed");
            Err(RequestError::parsing(reason))
        }
    }
}

/// Refuses patterns that begin with a wildcard, with Lucene's message.
fn check_leading_wildcards(tree: &Tree, text: &str) -> Result<(), String> {
    fn begins_with_one(clause: &Clause) -> bool {
        match clause {
            Clause::Everything => false,
            Clause::Boosted(inner, _) => begins_with_one(inner),
            Clause::Group { tree, .. } => tree.clauses.iter().any(|(_, clause)| begins_with_one(clause)),
            Clause::Leaf { leaf: Leaf::Pattern(pattern), .. } => {
                pattern != "*" && pattern.starts_with(['*', '?'])
            }
            Clause::Leaf { .. } => false,
        }
    }
    match tree.clauses.iter().any(|(_, clause)| begins_with_one(clause)) {
        true => {
            Err(format!("Cannot parse '{text}': '*' or '?' not allowed as first character in WildcardQuery"))
        }
        false => Ok(()),
    }
}

/// Parses an operator; returns whether all clauses must match.
pub(in crate::query) fn parse_operator(value: &Value) -> Result<bool, RequestError> {
    Ok(operator(value)? == Operator::And)
}

/// Normalizes a text as an analyzer would without splitting it, which means its case.
pub(in crate::query) fn normalized(binder: &Binder<'_>, path: &str, text: &str) -> String {
    match binder.field(path).is_some_and(|field| field.is_analyzed()) {
        true => text.to_lowercase(),
        false => text.to_owned(),
    }
}

/// Makes the query of a URL's `q`, `df`, `analyzer`, `default_operator` and `lenient`; `None` without `q`.
pub fn from_url<'u>(parameter: impl Fn(&str) -> Option<&'u str>) -> Result<Option<Query>, RequestError> {
    let Some(text) = parameter("q") else { return Ok(None) };
    let mut body = Map::new();
    body.insert("query".into(), text.into());
    for (name, key) in [
        ("df", "default_field"),
        ("analyzer", "analyzer"),
        ("analyze_wildcard", "analyze_wildcard"),
        ("default_operator", "default_operator"),
        ("lenient", "lenient"),
    ] {
        if let Some(value) = parameter(name) {
            let value = if value.is_empty() { "true" } else { value };
            body.insert(key.into(), value.into());
        }
    }
    parse_query(&json!({"query_string": body}), &QueryLimits::default()).map(Some)
}

impl QueryNode for QueryString {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        check_analyzer("query_string", "analyzer", self.options.analyzer.as_deref(), binder)?;
        check_analyzer("query_string", "quote_analyzer", self.options.quote_analyzer.as_deref(), binder)?;
        let tree = match &self.tree {
            Ok(tree) => tree,
            Err(why) => {
                let cause = RequestError::bad_request("parse_exception", why.clone());
                let failed = binder.query_shard(format!("Failed to parse query [{}]", self.text));
                return Err(failed.caused_by(cause).into());
            }
        };
        let fields = binder.or_default_fields(&self.fields);
        let usual = binder.settings().query_string_lenient || fields.iter().any(|(field, _)| field == "*");
        let is_lenient = self.options.lenient.unwrap_or(usual);
        let leaves = Leaves::default();
        let translation = Translation { binder, options: &self.options, is_lenient, leaves };
        if tree.clauses.is_empty() {
            return Ok(BoundQuery::nothing("Matching no documents because no terms present"));
        }
        let query = translation.tree(tree, fields, self.is_and, self.minimum_should_match.as_deref())?;
        binder.query(&query, boost)
    }
}

/// Translates a syntax tree to queries on the fields of one shard.
struct Translation<'a> {
    binder: &'a Binder<'a>,
    options: &'a Options,
    is_lenient: bool,
    leaves: Leaves,
}

impl Translation<'_> {
    fn tree(
        &self,
        tree: &Tree,
        fields: &[(String, f32)],
        is_and: bool,
        at_least: Option<&str>,
    ) -> Result<Query, Error> {
        if let [(before, only)] = tree.clauses.as_slice()
            && !before.is_prohibited()
        {
            return self.clause(only, fields, is_and, at_least);
        }
        let mut node = Bool { adjust_pure_negative: true, ..Bool::default() };
        let occurs = tree.occurs(is_and);
        for (clause, occur) in tree.clauses.iter().zip(&occurs) {
            let query = self.clause(&clause.1, fields, is_and, None)?;
            match occur {
                Occur::Must => node.must.push(query),
                Occur::Should => node.should.push(query),
                Occur::MustNot => node.must_not.push(query),
            }
        }
        node.minimum_should_match = at_least.map(str::to_owned);
        Ok(Query::new(node))
    }

    /// Translates a clause. `at_least`: how many words must match, if there is only this clause.
    fn clause(
        &self,
        clause: &Clause,
        fields: &[(String, f32)],
        is_and: bool,
        at_least: Option<&str>,
    ) -> Result<Query, Error> {
        Ok(match clause {
            Clause::Everything => Query::match_all(),
            Clause::Leaf { field: None, leaf: Leaf::Pattern(text) }
                if text == "*" && fields.iter().all(|(field, _)| field == "*") =>
            {
                Query::match_all()
            }
            Clause::Boosted(inner, boost) => {
                let query = self.clause(inner, fields, is_and, at_least)?;
                Query { boost: query.boost * boost, ..query }
            }
            Clause::Group { field: Some(field), tree } => {
                self.tree(tree, &[(field.clone(), 1.0)], is_and, at_least)?
            }
            Clause::Group { field: None, tree } => self.tree(tree, fields, is_and, at_least)?,
            Clause::Leaf { field: Some(field), leaf } if field == "_exists_" => {
                self.query("exists", json!({"field": unescape(leaf.text())}))?
            }
            Clause::Leaf { field, leaf } => {
                let named = field.as_ref().map(|field| vec![(field.clone(), 1.0)]);
                let fields = self.binder.expand_fields(named.as_deref().unwrap_or(fields))?;
                self.leaves.count(fields.len())?;
                let at_least = at_least.filter(|_| fields.len() == 1);
                if let (Leaf::Word(text), Some(kind)) = (leaf, &self.options.kind)
                    && !fields.is_empty()
                {
                    return self.words(text, kind, &fields, at_least);
                }
                let mut queries = Vec::with_capacity(fields.len());
                for (path, boost) in fields {
                    let query = Query { boost, ..self.leaf(&path, leaf, at_least)? };
                    // As in Elasticsearch, a query that is too expensive matches nothing.
                    let is_lenient = self.is_lenient || !self.binder.allows_expensive();
                    queries.push(if is_lenient { lenient(query) } else { query });
                }
                Query::new(DisMax { queries, tie_breaker: self.options.tie_breaker, is_asked: false })
            }
        })
    }

    /// Searches words in several fields with another type than `best_fields`.
    fn words(
        &self,
        text: &str,
        kind: &str,
        fields: &[(Arc<str>, f32)],
        at_least: Option<&str>,
    ) -> Result<Query, Error> {
        let fields: Vec<String> = fields.iter().map(|(path, boost)| format!("{path}^{boost}")).collect();
        let mut body = json!({
            "query": unescape(text),
            "type": kind,
            "fields": fields,
            "tie_breaker": self.options.tie_breaker,
            "operator": if self.options.is_and { "and" } else { "or" },
            "lenient": self.is_lenient || !self.binder.allows_expensive(),
            "slop": self.options.phrase_slop,
        });
        if kind != "bool_prefix" {
            body["auto_generate_synonyms_phrase_query"] = self.options.ways_are_phrases.into();
        }
        if let Some(at_least) = at_least {
            body["minimum_should_match"] = at_least.into();
        }
        self.with_analyzer(&mut body);
        self.query("multi_match", body)
    }

    /// Returns the time zone for a date field.
    fn zone_of(&self, path: &str) -> Option<&str> {
        let zone = self.options.time_zone.as_deref()?;
        let field = self.binder.field(path)?;
        matches!(field.type_name(), "date" | "date_nanos" | "date_range").then_some(zone)
    }

    /// Returns the field that a quoted phrase is searched in.
    fn quoted(&self, path: &Arc<str>) -> Arc<str> {
        let Some(suffix) = &self.options.quote_field_suffix else { return path.clone() };
        let other = format!("{path}{suffix}");
        if self.binder.field(&other).is_some() { other.into() } else { path.clone() }
    }

    fn leaf(&self, path: &Arc<str>, leaf: &Leaf, at_least: Option<&str>) -> Result<Query, Error> {
        match leaf {
            Leaf::Word(text) if let Some(zone) = self.zone_of(path) => {
                let day = unescape(text);
                self.query("range", json!({&**path: {"gte": day, "lte": day, "time_zone": zone}}))
            }
            Leaf::Word(text) => {
                let options = WordOptions {
                    is_and: self.options.is_and,
                    minimum_should_match: at_least.map(str::to_owned),
                    analyzer: self.options.analyzer.clone(),
                    ways_are_phrases: self.options.ways_are_phrases,
                };
                Ok(words(path, unescape(text), options))
            }
            Leaf::Phrase { text, slop } => {
                let slop = slop.unwrap_or(self.options.phrase_slop);
                let analyzer = self.options.quote_analyzer.as_ref().or(self.options.analyzer.as_ref());
                Ok(phrase(&self.quoted(path), unescape(text), slop, analyzer.cloned()))
            }
            Leaf::Pattern(text) if text == "*" => self.query("exists", json!({"field": &**path})),
            Leaf::Pattern(text) => {
                let field = self.binder.field(path);
                // Keys of flattened fields only support prefixes.
                if let Some(prefix) = text.strip_suffix('*').filter(|prefix| !prefix.contains(['*', '?']))
                    && field.as_ref().is_some_and(|field| field.is_key_of_terms())
                {
                    return self.query("prefix", json!({&**path: {"value": unescape(prefix)}}));
                }
                let mut body = json!({"value": normalized(self.binder, path, text)});
                self.with_rewrite(&mut body);
                self.query("wildcard", json!({&**path: body}))
            }
            Leaf::Range { lower, upper } => self.range(path, lower.as_ref(), upper.as_ref()),
            Leaf::Fuzzy { text, edits } => self.fuzzy(path, text, edits.as_deref()),
            Leaf::Expression(pattern) => {
                let mut body = json!({"value": pattern, "max_determinized_states": self.options.states_max});
                self.with_rewrite(&mut body);
                self.query("regexp", json!({&**path: body}))
            }
        }
    }

    fn range(
        &self,
        path: &str,
        lower: Option<&(String, bool)>,
        upper: Option<&(String, bool)>,
    ) -> Result<Query, Error> {
        let mut body = Map::new();
        for (end, inclusive, exclusive) in [(lower, "gte", "gt"), (upper, "lte", "lt")] {
            if let Some((text, is_included)) = end {
                let key = if *is_included { inclusive } else { exclusive };
                body.insert(key.into(), unescape(text).into());
            }
        }
        if let Some(zone) = self.zone_of(path) {
            body.insert("time_zone".into(), zone.into());
        }
        self.query("range", json!({path: body}))
    }

    fn fuzzy(&self, path: &str, text: &str, edits: Option<&str>) -> Result<Query, Error> {
        let word = normalized(self.binder, path, &unescape(text));
        let mut fuzzy = self.options.fuzzy.clone();
        fuzzy["value"] = word.into();
        if let Some(edits) = edits {
            let wrong = |reason: String| RequestError::illegal_argument(reason);
            let number: f32 = edits.parse().map_err(|_| wrong(format!("fuzziness cannot be [{edits}].")))?;
            if number.fract() != 0.0 {
                let reason = format!("fuzziness needs to be one of 0.0, 1.0 or 2.0 but was {edits}");
                return Err(wrong(reason).into());
            }
            fuzzy["fuzziness"] = edits.into();
        }
        self.query("fuzzy", json!({path: fuzzy}))
    }

    fn with_analyzer(&self, body: &mut Value) {
        if let Some(analyzer) = &self.options.analyzer {
            body["analyzer"] = analyzer.as_str().into();
        }
    }

    fn with_rewrite(&self, body: &mut Value) {
        if let Some(rewrite) = &self.options.rewrite {
            body["rewrite"] = rewrite.as_str().into();
        }
    }

    fn query(&self, name: &str, body: Value) -> Result<Query, Error> {
        Ok(parse_query(&json!({name: body}), &QueryLimits::default())?)
    }
}
