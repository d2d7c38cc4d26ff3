//! Parses the rules of an `intervals` query.
//!
//! Source: Elasticsearch's `IntervalsSourceProvider`.

use limber_mapping::{ObjectParser, RequestError};
use limber_script::Script;
use serde_json::{Map, Value};

use super::bind::IntervalsQuery;
use crate::primitives::{Relation, Side};
use crate::query::parse::{Common, Parser, Query};
use crate::query::term_level::fuzziness::Fuzziness;
use crate::values::json;

/// One rule.
#[derive(Debug)]
pub(super) enum Rule {
    Match {
        text: String,
        gaps_max: i32,
        ordered: bool,
        by: By,
        filter: Option<Box<Filter>>,
    },
    Prefix {
        prefix: String,
        by: By,
    },
    Wildcard {
        pattern: String,
        by: By,
    },
    Regexp {
        pattern: String,
        by: By,
    },
    Fuzzy {
        term: String,
        fuzziness: Fuzziness,
        prefix_length: i32,
        transpositions: bool,
        by: By,
    },
    /// Each end, and whether it is included.
    Range {
        lower: (String, bool),
        upper: (String, bool),
        by: By,
    },
    AllOf {
        rules: Vec<Rule>,
        gaps_max: i32,
        ordered: bool,
        filter: Option<Box<Filter>>,
    },
    AnyOf {
        rules: Vec<Rule>,
        filter: Option<Box<Filter>>,
    },
}

/// The field and the analyzer of a rule.
#[derive(Debug, Default)]
pub(super) struct By {
    pub analyzer: Option<String>,
    pub use_field: Option<String>,
}

#[derive(Debug)]
pub(super) enum Filter {
    Related(Relation, Rule),
    Beside(Side, Rule),
    Script(Script),
    /// Its filter is looked up on the shard.
    Unknown(String),
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut fields = members.iter();
    let Some((field, body)) = fields.next() else { return Err(expected("FIELD_NAME", "END_OBJECT")) };
    let Value::Object(body) = body else { return Err(expected("START_OBJECT", json::token(body))) };
    let mut common = Common::default();
    let mut rule: Option<(&str, Rule)> = None;
    for (key, value) in body {
        if key == "_name" {
            json::text(value)?;
        }
        if common.take(key, value)? {
            continue;
        }
        if let Some((first, _)) = rule {
            return Err(RequestError::parsing(format!(
                "Only one interval rule can be specified, found [{first}] and [{key}]"
            )));
        }
        rule = Some((key, Rule::parse(key, value, parser)?));
    }
    let Some((_, rule)) = rule else {
        return Err(RequestError::parsing("Missing intervals from interval query definition"));
    };
    if fields.next().is_some() {
        return Err(expected("END_OBJECT", "FIELD_NAME"));
    }
    Ok(common.query(IntervalsQuery { field: field.clone(), rule }))
}

fn expected(wanted: &str, found: &str) -> RequestError {
    RequestError::parsing(format!("Expected [{wanted}] but got [{found}]"))
}

/// The members of one rule's object.
struct Members<'p, 'l> {
    rule: &'static str,
    parser: &'p mut Parser<'l>,
}

impl Members<'_, '_> {
    fn wrong_type(&self, key: &str, value: &Value) -> RequestError {
        ObjectParser::new(self.rule).unsupported(key, value)
    }

    fn failed(&self, key: &str, cause: RequestError) -> RequestError {
        ObjectParser::new(self.rule).failed(key, cause)
    }

    fn text(&self, key: &str, value: &Value) -> Result<String, RequestError> {
        match value {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.wrong_type(key, other)),
        }
    }

    fn int(&self, key: &str, value: &Value) -> Result<i32, RequestError> {
        match value {
            Value::String(_) | Value::Number(_) => json::int(value).map_err(|cause| self.failed(key, cause)),
            other => Err(self.wrong_type(key, other)),
        }
    }

    fn boolean(&self, key: &str, value: &Value) -> Result<bool, RequestError> {
        match value {
            Value::String(_) | Value::Bool(_) => {
                json::boolean(value).map_err(|cause| self.failed(key, cause))
            }
            other => Err(self.wrong_type(key, other)),
        }
    }

    fn rules(&mut self, key: &str, value: &Value) -> Result<Vec<Rule>, RequestError> {
        let items: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(_) => vec![value],
            other => return Err(self.wrong_type(key, other)),
        };
        let mut rules = Vec::with_capacity(items.len());
        for item in items {
            limber_work::check_beyond_deadline()?;
            let members = match item {
                Value::Object(members) => members,
                Value::Array(_) => return Err(self.wrong_type(key, item)),
                scalar => {
                    return Err(self.failed(key, expected("START_OBJECT", json::token(scalar))));
                }
            };
            rules.push(Rule::parse_only(members, self.parser).map_err(|cause| self.failed(key, cause))?);
        }
        Ok(rules)
    }

    fn filter(&mut self, key: &str, value: &Value) -> Result<Option<Box<Filter>>, RequestError> {
        let Value::Object(members) = value else { return Err(self.wrong_type(key, value)) };
        let filter = Filter::parse(members, self.parser).map_err(|cause| self.failed(key, cause))?;
        Ok(Some(Box::new(filter)))
    }

    /// Takes `key` if it is an option of the field or the analyzer. Returns whether it did.
    fn take_by(&self, by: &mut By, key: &str, value: &Value) -> Result<bool, RequestError> {
        match key {
            "analyzer" => by.analyzer = Some(self.text(key, value)?),
            "use_field" => by.use_field = Some(self.text(key, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn unknown(&self, key: &str) -> RequestError {
        ObjectParser::new(self.rule).unknown(key)
    }
}

/// Largest `max_expansions` of OpenSearch, which is its limit on clauses.
const EXPANSIONS_MAX: i32 = 1024;

const NAMES: &[&str] = &["match", "any_of", "all_of", "prefix", "wildcard", "regexp", "fuzzy", "range"];

impl Rule {
    fn parse(name: &str, body: &Value, parser: &mut Parser<'_>) -> Result<Rule, RequestError> {
        let Some(rule) = NAMES.iter().find(|known| **known == name) else {
            return Err(RequestError::parsing(format!(
                "Unknown interval type [{name}], expecting one of [match, any_of, all_of, prefix, wildcard, regexp, range]"
            )));
        };
        let body = ObjectParser::new(rule).members(body)?;
        parser.count_clause()?;
        let mut members = Members { rule, parser };
        match *rule {
            "match" => Rule::parse_match(body, &mut members),
            "all_of" => Rule::parse_all_of(body, &mut members),
            "any_of" => Rule::parse_any_of(body, &mut members),
            "fuzzy" => Rule::parse_fuzzy(body, &members),
            "range" => Rule::parse_range(body, &members),
            "prefix" => {
                Rule::parse_pattern(body, &members, "prefix", |prefix, by| Rule::Prefix { prefix, by })
            }
            "wildcard" => {
                Rule::parse_pattern(body, &members, "pattern", |pattern, by| Rule::Wildcard { pattern, by })
            }
            _ => Rule::parse_pattern(body, &members, "pattern", |pattern, by| Rule::Regexp { pattern, by }),
        }
    }

    /// Parses an object with a single rule.
    fn parse_only(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Rule, RequestError> {
        let mut rules = members.iter();
        let Some((name, body)) = rules.next() else { return Err(expected("FIELD_NAME", "END_OBJECT")) };
        let rule = Rule::parse(name, body, parser)?;
        match rules.next() {
            None => Ok(rule),
            Some(_) => Err(expected("END_OBJECT", "FIELD_NAME")),
        }
    }

    fn parse_match(body: &Map<String, Value>, members: &mut Members<'_, '_>) -> Result<Rule, RequestError> {
        let (mut text, mut gaps_max, mut ordered, mut filter) = (None, -1, false, None);
        let mut by = By::default();
        for (key, value) in body {
            match key.as_str() {
                "query" => text = Some(members.text(key, value)?),
                "max_gaps" => gaps_max = members.int(key, value)?,
                "ordered" => ordered = members.boolean(key, value)?,
                "filter" => filter = members.filter(key, value)?,
                key if members.take_by(&mut by, key, value)? => {}
                key => return Err(members.unknown(key)),
            }
        }
        let text = text.ok_or_else(|| ObjectParser::required("query"))?;
        Ok(Rule::Match { text, gaps_max, ordered, by, filter })
    }

    fn parse_all_of(body: &Map<String, Value>, members: &mut Members<'_, '_>) -> Result<Rule, RequestError> {
        let (mut rules, mut gaps_max, mut ordered, mut filter) = (None, -1, false, None);
        for (key, value) in body {
            match key.as_str() {
                "intervals" => rules = Some(members.rules(key, value)?),
                "max_gaps" => gaps_max = members.int(key, value)?,
                "ordered" => ordered = members.boolean(key, value)?,
                "filter" => filter = members.filter(key, value)?,
                key => return Err(members.unknown(key)),
            }
        }
        let rules = rules.ok_or_else(|| ObjectParser::required("intervals"))?;
        Ok(Rule::AllOf { rules, gaps_max, ordered, filter })
    }

    fn parse_any_of(body: &Map<String, Value>, members: &mut Members<'_, '_>) -> Result<Rule, RequestError> {
        let (mut rules, mut filter) = (None, None);
        for (key, value) in body {
            match key.as_str() {
                "intervals" => rules = Some(members.rules(key, value)?),
                "filter" => filter = members.filter(key, value)?,
                key => return Err(members.unknown(key)),
            }
        }
        Ok(Rule::AnyOf { rules: rules.ok_or_else(|| ObjectParser::required("intervals"))?, filter })
    }

    fn parse_pattern(
        body: &Map<String, Value>,
        members: &Members<'_, '_>,
        name: &str,
        make: fn(String, By) -> Rule,
    ) -> Result<Rule, RequestError> {
        let (mut pattern, mut by) = (None, By::default());
        for (key, value) in body {
            if key == name {
                pattern = Some(members.text(key, value)?);
            } else if key == "max_expansions" && name == "pattern" {
                // OpenSearch's limit on the terms that a pattern stands for. There is no need of one here, as
                // terms are not held together.
                let count = members.int(key, value)?;
                if !(1..=EXPANSIONS_MAX).contains(&count) {
                    let reason = format!("max_expansions [{count}] must be between 1 and {EXPANSIONS_MAX}");
                    return Err(members.failed(key, RequestError::illegal_argument(reason)));
                }
            } else if !members.take_by(&mut by, key, value)? {
                return Err(members.unknown(key));
            }
        }
        Ok(make(pattern.ok_or_else(|| ObjectParser::required(name))?, by))
    }

    fn parse_fuzzy(body: &Map<String, Value>, members: &Members<'_, '_>) -> Result<Rule, RequestError> {
        let (mut term, mut fuzziness) = (None, Fuzziness::AUTO);
        let (mut prefix_length, mut transpositions, mut by) = (0, true, By::default());
        for (key, value) in body {
            match key.as_str() {
                "term" => term = Some(members.text(key, value)?),
                "prefix_length" => prefix_length = members.int(key, value)?,
                "transpositions" => transpositions = members.boolean(key, value)?,
                "fuzziness" => {
                    fuzziness = match value {
                        Value::String(_) | Value::Number(_) => {
                            Fuzziness::parse(value).map_err(|cause| members.failed(key, cause))?
                        }
                        other => return Err(members.wrong_type(key, other)),
                    }
                }
                key if members.take_by(&mut by, key, value)? => {}
                key => return Err(members.unknown(key)),
            }
        }
        let term = term.ok_or_else(|| ObjectParser::required("term"))?;
        Ok(Rule::Fuzzy { term, fuzziness, prefix_length, transpositions, by })
    }

    fn parse_range(body: &Map<String, Value>, members: &Members<'_, '_>) -> Result<Rule, RequestError> {
        let (mut gte, mut gt, mut lte, mut lt) = (None, None, None, None);
        let mut by = By::default();
        for (key, value) in body {
            let end = match key.as_str() {
                "gte" => &mut gte,
                "gt" => &mut gt,
                "lte" => &mut lte,
                "lt" => &mut lt,
                key if members.take_by(&mut by, key, value)? => continue,
                key => return Err(members.unknown(key)),
            };
            *end = Some(members.text(key, value)?);
        }
        let one_of = |inclusive: Option<String>, exclusive: Option<String>, names: [&str; 2]| match (
            inclusive, exclusive,
        ) {
            (Some(end), None) => Ok((end, true)),
            (None, Some(end)) => Ok((end, false)),
            _ => {
                let [inclusive, exclusive] = names;
                let reason = format!("Either [{inclusive}] or [{exclusive}], one of them must be provided");
                Err(ObjectParser::new("range").failed_to_build(RequestError::illegal_argument(reason)))
            }
        };
        let lower = one_of(gte, gt, ["gte", "gt"])?;
        let upper = one_of(lte, lt, ["lte", "lt"])?;
        Ok(Rule::Range { lower, upper, by })
    }
}

impl Filter {
    fn parse(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Filter, RequestError> {
        let mut filters = members.iter();
        let Some((name, body)) = filters.next() else { return Err(expected("FIELD_NAME", "END_OBJECT")) };
        let filter = if name == "script" {
            Filter::Script(Script::parse(body)?)
        } else {
            let Value::Object(body) = body else { return Err(expected("START_OBJECT", json::token(body))) };
            let rule = Rule::parse_only(body, parser)?;
            match name.as_str() {
                "containing" => Filter::Related(Relation::Containing, rule),
                "contained_by" => Filter::Related(Relation::ContainedBy, rule),
                "not_containing" => Filter::Related(Relation::NotContaining, rule),
                "not_contained_by" => Filter::Related(Relation::NotContainedBy, rule),
                "overlapping" => Filter::Related(Relation::Overlapping, rule),
                "not_overlapping" => Filter::Related(Relation::NotOverlapping, rule),
                "before" => Filter::Beside(Side::Before, rule),
                "after" => Filter::Beside(Side::After, rule),
                other => Filter::Unknown(other.to_owned()),
            }
        };
        match filters.next() {
            None => Ok(filter),
            Some(_) => Err(expected("END_OBJECT", "FIELD_NAME")),
        }
    }
}
