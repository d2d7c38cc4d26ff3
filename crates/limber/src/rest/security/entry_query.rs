//! The queries of `_security/_query/*`: a small part of the query language, over the rendered API keys, roles
//! and users.
//!
//! Source: `ApiKeyBoolQueryBuilder`, `RoleBoolQueryBuilder` and `UserBoolQueryBuilder`, which allow only
//! these queries.

use std::cmp::Ordering;
use std::collections::HashSet;

use limber_access::NamePattern;
use limber_engine::Result;
use limber_mapping::{RequestError, plain_text};
use serde_json::{Map, Value, json};

const DEPTH_MAX: usize = 20;
const SIZE_MAX: u64 = 10_000;
/// Longest name of a field, in bytes. It is taken apart for each entry.
const FIELD_BYTES_MAX: usize = 4_096;
/// Longest pattern, and longest text that is compared with one, in bytes. Source: Lucene's
/// `IndexWriter.MAX_TERM_LENGTH` for the text.
const PATTERN_BYTES_MAX: usize = 4_096;
const TEXT_BYTES_MAX: usize = 32_766;

/// The kind of entry that is queried, and the fields that queries may use.
#[derive(Debug)]
pub(super) struct Subject {
    name: &'static str,
    fields: &'static [&'static str],
    has_metadata: bool,
}

pub(super) const API_KEY: Subject = Subject {
    name: "API Key",
    fields: &[
        "id",
        "_id",
        "name",
        "username",
        "realm",
        "realm_name",
        "type",
        "invalidated",
        "creation",
        "creation_time",
        "expiration",
        "expiration_time",
        "invalidation",
    ],
    has_metadata: true,
};
pub(super) const ROLE: Subject =
    Subject { name: "Role", fields: &["name", "description"], has_metadata: true };
pub(super) const USER: Subject = Subject {
    name: "User",
    fields: &["username", "roles", "full_name", "email", "enabled"],
    has_metadata: false,
};

/// A query, its order, and the requested page.
pub(super) struct Query {
    clause: Clause,
    from: usize,
    size: usize,
    /// Fields, each with whether its order is descending.
    sort: Vec<(String, bool)>,
}

enum Clause {
    All,
    Ids(HashSet<String>),
    Terms(String, HashSet<String>),
    Prefix(String, String),
    Wildcard(String, NamePattern),
    Exists(String),
    Range(String, Vec<(String, Value)>),
    Bool { must: Vec<Clause>, should: Vec<Clause>, must_not: Vec<Clause>, least: usize },
}

/// Largest number of fields that entries are sorted by.
const SORT_FIELDS_MAX: usize = 100;

impl Query {
    pub(super) fn parse(body: &Value, subject: &'static Subject) -> Result<Query> {
        let mut query = Query { clause: Clause::All, from: 0, size: 10, sort: Vec::new() };
        let number = |key: &str, value: &Value| match value.as_u64() {
            Some(number) if number <= SIZE_MAX => Ok(number as usize),
            _ => Err(RequestError::validation([format!("[{key}] must be a number from 0 to [{SIZE_MAX}]")])),
        };
        for (key, value) in body.as_object().ok_or_else(|| RequestError::parsing("expected an object"))? {
            match key.as_str() {
                "query" => query.clause = subject.clause(value, 0)?,
                "from" => query.from = number(key, value)?,
                "size" => query.size = number(key, value)?,
                "sort" => query.sort = subject.sort(value)?,
                other => return Err(subject.refused(format_args!("[{other}]"))),
            }
        }
        Ok(query)
    }

    /// Returns the matching entries among `shown`, under the name `list`.
    ///
    /// # Errors
    /// The request is cancelled.
    pub(super) fn answer(&self, shown: impl Iterator<Item = Value>, list: &str) -> Result<Value> {
        let mut found = Vec::new();
        for one in shown {
            limber_work::check()?;
            if self.clause.matches(&one)? {
                found.push(one);
            }
        }
        let total = found.len();
        let page: Vec<Value> = self.sorted(found)?.into_iter().skip(self.from).take(self.size).collect();
        let mut answer = json!({"total": total, "count": page.len()});
        answer[list] = Value::Array(page);
        Ok(answer)
    }

    fn sorted(&self, found: Vec<Value>) -> Result<Vec<Value>> {
        if self.sort.is_empty() {
            return Ok(found);
        }
        let mut keyed = Vec::with_capacity(found.len());
        for entry in found {
            let mut keys = Vec::with_capacity(self.sort.len());
            for (field, _) in &self.sort {
                limber_work::check()?;
                keys.push(member(&entry, field).map(SortKey::of));
            }
            keyed.push((keys, entry));
        }
        keyed.sort_by(|(left, _), (right, _)| {
            let pairs = left.iter().zip(right).zip(&self.sort);
            let orders = pairs.map(|((left, right), (_, descending))| match compare(left, right) {
                order if *descending => order.reverse(),
                order => order,
            });
            orders.fold(Ordering::Equal, Ordering::then)
        });
        Ok(keyed.into_iter().map(|(_, entry)| entry).collect())
    }
}

impl Subject {
    fn clause(&self, value: &Value, depth: usize) -> Result<Clause> {
        // A regular expression takes up to 320 KB.
        limber_work::check()?;
        let one = |value: &Value| -> Result<(String, Value)> {
            let object = value.as_object().filter(|object| object.len() == 1);
            let found = object.and_then(|object| object.iter().next());
            found.map(|(name, body)| (name.clone(), body.clone())).ok_or_else(|| self.refused(value))
        };
        if depth >= DEPTH_MAX {
            return Err(self.refused(format_args!("a query of more than [{DEPTH_MAX}] levels")));
        }
        let (kind, body) = one(value)?;
        let valued = |body: &Value, inner: &str| -> Result<(String, Value)> {
            let (field, value) = one(body)?;
            let field = self.checked_length(field)?;
            self.check_field(&field)?;
            let value = value.get(inner).or_else(|| value.get("value")).cloned().unwrap_or(value);
            Ok((field, value))
        };
        let text = |value: Value| value.as_str().map(str::to_owned).ok_or_else(|| self.refused(value));
        Ok(match kind.as_str() {
            "match_all" => Clause::All,
            "ids" => Clause::Ids(
                body["values"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            ),
            "term" | "match" => {
                let (field, value) = valued(&body, "query")?;
                Clause::Terms(field, HashSet::from([plain_text(&value)]))
            }
            "terms" => {
                let (field, value) = valued(&body, "values")?;
                let values = value.as_array().ok_or_else(|| self.refused("[terms]"))?;
                Clause::Terms(field, values.iter().map(plain_text).collect())
            }
            "prefix" => {
                let (field, value) = valued(&body, "prefix")?;
                Clause::Prefix(field, text(value)?)
            }
            "wildcard" => {
                let (field, value) = valued(&body, "wildcard")?;
                Clause::Wildcard(field, self.pattern(&text(value)?)?)
            }
            "exists" => Clause::Exists(self.checked_length(text(body["field"].clone())?)?),
            "range" => {
                let (field, bounds) = one(&body)?;
                let field = self.checked_length(field)?;
                self.check_field(&field)?;
                let bounds: Map<String, Value> =
                    bounds.as_object().cloned().ok_or_else(|| self.refused("[range]"))?;
                if let Some(other) = bounds.iter().find(|(key, value)| {
                    !["gt", "gte", "lt", "lte"].contains(&key.as_str()) || !value.is_number()
                }) {
                    return Err(self.refused(format_args!("[{}] in [range]", other.0)));
                }
                Clause::Range(field, bounds.into_iter().collect())
            }
            "bool" => self.boolean(&body, depth)?,
            other => return Err(self.refused(format_args!("Query type [{other}]"))),
        })
    }

    fn boolean(&self, body: &Value, depth: usize) -> Result<Clause> {
        let list = |key: &str| -> Result<Vec<Clause>> {
            match &body[key] {
                Value::Null => Ok(Vec::new()),
                Value::Array(items) => items.iter().map(|item| self.clause(item, depth + 1)).collect(),
                one => Ok(vec![self.clause(one, depth + 1)?]),
            }
        };
        const KNOWN: [&str; 5] = ["must", "filter", "should", "must_not", "minimum_should_match"];
        if let Some((other, _)) =
            body.as_object().into_iter().flatten().find(|(key, _)| !KNOWN.contains(&key.as_str()))
        {
            return Err(self.refused(format_args!("[{other}] in [bool]")));
        }
        let mut must = list("must")?;
        must.extend(list("filter")?);
        let should = list("should")?;
        let default = usize::from(must.is_empty() && !should.is_empty());
        let least = body["minimum_should_match"].as_u64().map_or(default, |least| least as usize);
        Ok(Clause::Bool { must, should, must_not: list("must_not")?, least })
    }

    fn sort(&self, value: &Value) -> Result<Vec<(String, bool)>> {
        let items = match value {
            Value::Array(items) => items.clone(),
            one => vec![one.clone()],
        };
        if items.len() > SORT_FIELDS_MAX {
            return Err(self.refused(format_args!("[sort] with more than [{SORT_FIELDS_MAX}] fields")));
        }
        items
            .iter()
            .map(|item| match item {
                Value::String(field) => Ok((self.checked_length(field.clone())?, false)),
                Value::Object(members) if members.len() == 1 => {
                    let (field, how) = members.iter().next().ok_or_else(|| self.refused("[sort]"))?;
                    let order = how.as_str().or_else(|| how["order"].as_str()).unwrap_or("asc");
                    Ok((self.checked_length(field.clone())?, order == "desc"))
                }
                _ => Err(self.refused("[sort]")),
            })
            .collect()
    }

    fn pattern(&self, text: &str) -> Result<NamePattern> {
        match text.len() > PATTERN_BYTES_MAX {
            true => Err(self.refused(format_args!("[wildcard] of more than [{PATTERN_BYTES_MAX}] bytes"))),
            false => NamePattern::parse(text),
        }
    }

    /// Returns the name of a field if it is not too long.
    fn checked_length(&self, field: String) -> Result<String> {
        match field.len() > FIELD_BYTES_MAX {
            true => Err(self.refused(format_args!("a field of more than [{FIELD_BYTES_MAX}] bytes"))),
            false => Ok(field),
        }
    }

    fn check_field(&self, field: &str) -> Result<()> {
        match self.fields.contains(&field) || (self.has_metadata && field.starts_with("metadata.")) {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "Field [{field}] is not allowed for querying or aggregation"
            ))),
        }
    }

    fn refused(&self, what: impl std::fmt::Display) -> RequestError {
        RequestError::illegal_argument(format!("{what} is not supported for {} query", self.name))
    }
}

fn member<'v>(key: &'v Value, field: &str) -> Option<&'v Value> {
    let name = match field {
        "creation_time" => "creation",
        "expiration_time" => "expiration",
        "invalidation_time" => "invalidation",
        "_id" => "id",
        other => other,
    };
    match name.strip_prefix("metadata.") {
        Some(path) => key["metadata"]
            .get(path)
            .or_else(|| key["metadata"].pointer(&format!("/{}", path.replace('.', "/")))),
        None => key.get(name),
    }
}

/// A value as it is sorted by.
struct SortKey {
    number: Option<f64>,
    text: String,
}

impl SortKey {
    fn of(value: &Value) -> SortKey {
        SortKey { number: value.as_f64(), text: value.to_string() }
    }
}

fn compare(left: &Option<SortKey>, right: &Option<SortKey>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => match (left.number, right.number) {
            (Some(left), Some(right)) => left.total_cmp(&right),
            _ => left.text.cmp(&right.text),
        },
        // Missing values come last.
        (left, right) => right.is_some().cmp(&left.is_some()),
    }
}

impl Clause {
    fn matches(&self, key: &Value) -> Result<bool> {
        limber_work::check()?;
        Ok(match self {
            Clause::All => true,
            Clause::Ids(ids) => key["id"].as_str().is_some_and(|id| ids.contains(id)),
            Clause::Terms(field, values) => {
                any_of(member(key, field), |own| values.contains(&plain_text(own)))?
            }
            Clause::Prefix(field, prefix) => {
                any_of(member(key, field), |own| own.as_str().is_some_and(|own| own.starts_with(prefix)))?
            }
            Clause::Wildcard(field, pattern) => {
                let fits = |own: &str| own.len() <= TEXT_BYTES_MAX && pattern.matches(own);
                any_of(member(key, field), |own| own.as_str().is_some_and(fits))?
            }
            Clause::Exists(field) => member(key, field).is_some_and(|own| !own.is_null()),
            Clause::Range(field, bounds) => {
                let Some(own) = member(key, field).and_then(Value::as_f64) else { return Ok(false) };
                bounds.iter().all(|(bound, value)| {
                    let value = value.as_f64().unwrap_or(f64::NAN);
                    match bound.as_str() {
                        "gt" => own > value,
                        "gte" => own >= value,
                        "lt" => own < value,
                        _ => own <= value,
                    }
                })
            }
            Clause::Bool { must, should, must_not, least } => {
                for (clauses, wanted) in [(must, true), (must_not, false)] {
                    for clause in clauses {
                        if clause.matches(key)? != wanted {
                            return Ok(false);
                        }
                    }
                }
                let mut count = 0;
                for clause in should {
                    count += usize::from(clause.matches(key)?);
                }
                count >= *least
            }
        })
    }
}

/// Whether the value, or one of a list, satisfies the predicate.
fn any_of(own: Option<&Value>, is_such: impl Fn(&Value) -> bool) -> Result<bool> {
    let several = match own {
        None => return Ok(false),
        Some(Value::Array(several)) => several.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    for own in several {
        limber_work::check()?;
        if is_such(own) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries() {
        let key = json!({"id": "1", "name": "app-one", "username": "u", "invalidated": false, "creation": 5, "metadata": {"env": "dev", "n": [1, "bb"]}});
        let check = |query: Value, expected: bool| {
            let parsed = Query::parse(&json!({"query": query}), &API_KEY).expect("valid");
            assert_eq!(parsed.clause.matches(&key).expect("no request"), expected, "{query}");
        };
        check(json!({"match_all": {}}), true);
        check(json!({"term": {"name": {"value": "app-one"}}}), true);
        check(json!({"term": {"name": "app"}}), false);
        check(json!({"prefix": {"name": "app"}}), true);
        check(json!({"wildcard": {"name": "*one"}}), true);
        check(json!({"term": {"metadata.env": "dev"}}), true);
        check(json!({"term": {"invalidated": false}}), true);
        check(json!({"range": {"creation": {"gte": 5, "lt": 6}}}), true);
        check(json!({"terms": {"metadata.n": [1, "c"]}}), true);
        check(json!({"terms": {"metadata.n": [3, "c"]}}), false);
        check(json!({"wildcard": {"metadata.n": "b*"}}), true);
        check(json!({"exists": {"field": "expiration"}}), false);
        check(
            json!({"bool": {"must": [{"term": {"username": "u"}}], "must_not": [{"ids": {"values": ["1"]}}]}}),
            false,
        );
        check(json!({"bool": {"should": [{"term": {"username": "v"}}, {"ids": {"values": ["1"]}}]}}), true);
        for query in
            [json!({"script": {}}), json!({"term": {"api_key_hash": "x"}}), json!({"bool": {"boost": 1}})]
        {
            assert!(Query::parse(&json!({"query": query}), &API_KEY).is_err(), "{query}");
        }
        let long = "a".repeat(PATTERN_BYTES_MAX + 1);
        let pattern = json!({"query": {"wildcard": {"name": long}}});
        assert!(Query::parse(&pattern, &API_KEY).is_err());
        let field = format!("metadata.{}", "a".repeat(FIELD_BYTES_MAX));
        assert!(Query::parse(&json!({"query": {"exists": {"field": field}}}), &API_KEY).is_err());
        assert!(Query::parse(&json!({"sort": [field]}), &API_KEY).is_err());
    }
}
