//! Query rules, which pin documents to the top of the hits, or exclude them, for searches with matching
//! criteria.
//!
//! Source: Elasticsearch's documentation of `_query_rules` and of the `rule` query.

use std::borrow::Cow;
use std::collections::HashSet;

use limber_mapping::{ObjectParser, RequestError};
use limber_search::RuledDocuments;
use limber_text::likeness::is_similar;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::api::Result;

/// Maximum number of rules in a ruleset, as in Elasticsearch.
const RULES_MAX: usize = 100;
/// Maximum number of rulesets of a node. All of them are in one file.
pub(crate) const SETS_MAX: usize = 1_000;
/// Maximum number of documents of one rule, and of its criteria.
const DOCUMENTS_MAX: usize = 100;
const CRITERIA_MAX: usize = 100;
/// Maximum number of values that a request compares with criteria, and of the bytes of each (those of a
/// keyword): every value is compared with every value of up to 1,000 rules.
const COMPARED_VALUES_MAX: usize = 1_000;
const COMPARED_BYTES_MAX: usize = 32_766;
/// Words at least this similar match `fuzzy`.
const LIKENESS_MIN: f64 = 0.5;

const TYPES: [&str; 2] = ["pinned", "exclude"];
const CRITERIA: [&str; 11] =
    ["always", "contains", "exact", "exact_fuzzy", "fuzzy", "gt", "gte", "lt", "lte", "prefix", "suffix"];

fn content(reason: impl Into<String>) -> RequestError {
    RequestError::bad_request("x_content_parse_exception", reason)
}

fn illegal(reason: impl Into<String>) -> RequestError {
    RequestError::illegal_argument(reason.into())
}

fn list<'v>(value: Option<&'v Value>, what: &str, most: usize) -> Result<&'v [Value]> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) if items.len() <= most => Ok(items),
        Some(Value::Array(items)) => {
            Err(illegal(format!("[{what}] may have at most {most} entries, but has {}", items.len())))
        }
        Some(other) => Err(ObjectParser::new("").unsupported(&format!("[{what}]"), other)),
    }
}

/// Returns the members of an object that may have only these names.
fn read<'v>(value: &'v Value, what: &str, names: &[&str]) -> Result<&'v Map<String, Value>> {
    let members = ObjectParser::new(what).members(value)?;
    match members.keys().find(|name| !names.contains(&name.as_str())) {
        Some(other) => Err(ObjectParser::new(what).unknown(other)),
        None => Ok(members),
    }
}

fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Result<&'v str> {
    match members.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null) => Err(ObjectParser::required(name)),
        Some(other) => Err(ObjectParser::new("query_rule").unsupported(name, other)),
    }
}

fn criterion(value: &Value) -> Result<()> {
    let members = read(value, "query_rule_criteria", &["type", "metadata", "values"])?;
    let kind = text(members, "type")?;
    if !CRITERIA.contains(&kind) {
        return Err(illegal(format!("Criteria type [{kind}] is not supported")));
    }
    if kind == "always" {
        return Ok(());
    }
    let (metadata, values) = (text(members, "metadata")?, list(members.get("values"), "values", 1_000)?);
    if values.is_empty() {
        return Err(illegal(format!("failed to build criteria of [{metadata}]: [values] must not be empty")));
    }
    let is_number = |value: &Value| number(value).is_some();
    match kind {
        "gt" | "gte" | "lt" | "lte" if !values.iter().all(is_number) => {
            Err(illegal(format!("Input [values] of criteria type [{kind}] must be numbers")))
        }
        _ => Ok(()),
    }
}

/// Validates a rule, and sets its id to the one in the URL.
pub(crate) fn parse_rule(value: &Value, id: Option<&str>) -> Result<Value> {
    let members = read(value, "query_rule", &["rule_id", "type", "criteria", "actions", "priority"])?;
    let own = members.get("rule_id").and_then(Value::as_str);
    let id = match (own, id) {
        (Some(own), Some(id)) if own != id => {
            return Err(illegal(format!("rule_id [{own}] does not match the id of the request [{id}]")));
        }
        (_, Some(id)) => id,
        (own, None) => own.ok_or_else(|| ObjectParser::required("rule_id"))?,
    };
    let kind = text(members, "type")?;
    if !TYPES.contains(&kind) {
        return Err(illegal(format!("Invalid QueryRuleType [{kind}]: must be one of [pinned, exclude]")));
    }
    let criteria = match members.get("criteria") {
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        other => list(other, "criteria", CRITERIA_MAX)?,
    };
    if criteria.is_empty() {
        return Err(illegal("criteria cannot be empty"));
    }
    criteria.iter().try_for_each(criterion)?;
    let actions = read(members.get("actions").unwrap_or(&Value::Null), "actions", &["ids", "docs"])?;
    let ids = list(actions.get("ids"), "ids", DOCUMENTS_MAX)?;
    let docs = list(actions.get("docs"), "docs", DOCUMENTS_MAX)?;
    if ids.is_empty() == docs.is_empty() {
        return Err(illegal(format!(
            "{kind} query rule actions must contain only one of either ids or docs"
        )));
    }
    for doc in docs {
        text(read(doc, "docs", &["_id", "_index"])?, "_id")?;
    }
    if !ids.iter().all(Value::is_string) {
        return Err(content("[ids] must be texts"));
    }
    let mut rule = Map::new();
    rule.insert("rule_id".into(), id.into());
    rule.insert("type".into(), kind.into());
    rule.insert("criteria".into(), criteria.into());
    rule.insert("actions".into(), actions.clone().into());
    if let Some(priority) = members.get("priority").filter(|priority| !priority.is_null()) {
        match priority.as_i64().filter(|priority| (0..=1_000_000).contains(priority)) {
            Some(_) => rule.insert("priority".into(), priority.clone()),
            None => return Err(illegal("Priority was not a number from 0 to 1000000")),
        };
    }
    Ok(rule.into())
}

/// Parses the rules of `PUT _query_rules/{set}`.
pub(crate) fn parse_set(body: &Value) -> Result<Vec<Value>> {
    let members = read(body, "query_ruleset", &["rules", "ruleset_id"])?;
    let rules = match members.get("rules") {
        None => return Err(ObjectParser::required("rules")),
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        other => list(other, "rules", RULES_MAX)?,
    };
    if rules.is_empty() {
        return Err(illegal("rules cannot be null or empty"));
    }
    let parsed = rules.iter().map(|rule| parse_rule(rule, None)).collect::<Result<Vec<_>>>()?;
    for (place, rule) in parsed.iter().enumerate() {
        if parsed[..place].iter().any(|other| other["rule_id"] == rule["rule_id"]) {
            return Err(illegal(format!("duplicate rule_id {} found in the ruleset", rule["rule_id"])));
        }
    }
    Ok(parsed)
}

/// Puts a rule into a ruleset. Returns whether it is new.
pub(crate) fn put_rule(rules: &mut Vec<Value>, rule: Value) -> Result<bool> {
    if let Some(own) = rules.iter_mut().find(|own| own["rule_id"] == rule["rule_id"]) {
        *own = rule;
        return Ok(false);
    }
    if rules.len() >= RULES_MAX {
        return Err(illegal(format!("a ruleset may have at most {RULES_MAX} rules")));
    }
    rules.push(rule);
    Ok(true)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// Returns a single value as a string; `None` for objects, arrays and null.
fn shown(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
        _ => None,
    }
}

fn fits(kind: &str, said: &Value, wanted: &Value) -> bool {
    let compared = |holds: fn(f64, f64) -> bool| {
        number(said).zip(number(wanted)).is_some_and(|(said, wanted)| holds(said, wanted))
    };
    let (Some(said_text), Some(wanted_text)) = (shown(said), shown(wanted)) else { return false };
    match kind {
        "exact" => said_text == wanted_text || compared(|said, wanted| said == wanted),
        "fuzzy" | "exact_fuzzy" => is_similar(&said_text, &wanted_text, LIKENESS_MIN),
        "prefix" => said_text.starts_with(&*wanted_text),
        "suffix" => said_text.ends_with(&*wanted_text),
        "contains" => said_text.contains(&*wanted_text),
        "gt" => compared(|said, wanted| said > wanted),
        "gte" => compared(|said, wanted| said >= wanted),
        "lt" => compared(|said, wanted| said < wanted),
        "lte" => compared(|said, wanted| said <= wanted),
        _ => false,
    }
}

/// Returns the values under one name.
fn values(said: &Value) -> &[Value] {
    match said {
        Value::Array(several) => several,
        one => std::slice::from_ref(one),
    }
}

/// Whether one of the search's values matches this criterion.
fn holds_one(criterion: &Value, said: &Map<String, Value>) -> Result<bool> {
    let kind = criterion["type"].as_str().unwrap_or_default();
    if kind == "always" {
        return Ok(true);
    }
    let Some(own) = criterion["metadata"].as_str().and_then(|name| said.get(name)) else { return Ok(false) };
    for own in values(own) {
        for wanted in criterion["values"].as_array().into_iter().flatten() {
            work::check()?;
            if fits(kind, own, wanted) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether all criteria of a rule match the search's match criteria.
fn holds(rule: &Value, said: &Map<String, Value>) -> Result<bool> {
    let criteria = rule["criteria"].as_array().map_or(&[][..], Vec::as_slice);
    for criterion in criteria {
        if !holds_one(criterion, said)? {
            return Ok(false);
        }
    }
    Ok(rule["criteria"].is_array())
}

/// Checks the number and the lengths of a request's match criteria.
pub(crate) fn check_compared(said: &Map<String, Value>) -> Result<()> {
    let count: usize = said.values().map(|said| values(said).len()).sum();
    if count > COMPARED_VALUES_MAX {
        let reason =
            format!("[match_criteria] may have at most {COMPARED_VALUES_MAX} values, but has {count}");
        return Err(illegal(reason));
    }
    for (name, said) in said {
        let length = |value: &Value| value.as_str().map_or(0, str::len);
        if let Some(length) = values(said).iter().map(length).find(|length| *length > COMPARED_BYTES_MAX) {
            let name: String = name.chars().take(100).collect();
            return Err(illegal(format!(
                "a value of [{name}] in [match_criteria] may have at most {COMPARED_BYTES_MAX} bytes, but has {length}"
            )));
        }
    }
    Ok(())
}

/// Returns the matching rules of a ruleset, ordered by priority. Ends when the request must end, which may
/// be long before: each of up to 10^7 values of a ruleset is compared with each value of the request.
pub(crate) fn matching<'r>(rules: &'r [Value], said: &Map<String, Value>) -> Result<Vec<&'r Value>> {
    let mut found = Vec::new();
    for rule in rules {
        work::check()?;
        if holds(rule, said)? {
            found.push(rule);
        }
    }
    // The sort is stable. Rules without a priority come last, in their order.
    found.sort_by_key(|rule: &&Value| rule["priority"].as_i64().unwrap_or(i64::MAX));
    Ok(found)
}

/// The documents that rules have named so far: whether each is excluded, and its JSON.
pub(crate) type Named = HashSet<(bool, String)>;

/// Adds the documents that a rule pins or excludes, and that are not in `named` yet.
///
/// # Errors
/// The request must end.
pub(crate) fn apply(rule: &Value, named: &mut Named, out: &mut RuledDocuments) -> Result<()> {
    let ids = rule["actions"]["ids"].as_array().into_iter().flatten().map(|id| json!({"_id": id}));
    let docs = rule["actions"]["docs"].as_array().into_iter().flatten().cloned();
    let excludes = rule["type"] == "exclude";
    let documents = if excludes { &mut out.excluded } else { &mut out.pinned };
    for document in ids.chain(docs) {
        work::check()?;
        if named.insert((excludes, document.to_string())) {
            documents.push(document);
        }
    }
    Ok(())
}

/// Describes a ruleset in a list: how many rules it has, by kind.
pub(crate) fn counted(name: &str, rules: &[Value]) -> Value {
    let mut counts = [Map::new(), Map::new()];
    let mut add = |place: usize, kind: &Value| {
        let count = counts[place].entry(kind.as_str().unwrap_or_default()).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap_or(0) + 1);
    };
    for rule in rules {
        add(0, &rule["type"]);
        rule["criteria"].as_array().into_iter().flatten().for_each(|one| add(1, &one["type"]));
    }
    let [types, criteria] = counts;
    json!({
        "ruleset_id": name,
        "rule_total_count": rules.len(),
        "rule_criteria_types_counts": criteria,
        "rule_type_counts": types,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_compare_texts_and_numbers() {
        for (kind, said, wanted, expected) in [
            ("exact", json!("puggles"), json!("puggles"), true),
            ("exact", json!(5), json!("5"), true),
            ("exact", json!("pug"), json!("puggles"), false),
            ("fuzzy", json!("pugles"), json!("puggles"), true),
            ("fuzzy", json!("cats"), json!("puggles"), false),
            ("prefix", json!("puggles"), json!("pug"), true),
            ("suffix", json!("puggles"), json!("les"), true),
            ("contains", json!("puggles"), json!("ggl"), true),
            ("gt", json!(3), json!(2), true),
            ("lte", json!("2"), json!(2), true),
            ("lt", json!("x"), json!(2), false),
            ("exact", json!({"a": 1}), json!("a"), false),
        ] {
            assert_eq!(fits(kind, &said, &wanted), expected, "{kind} {said} {wanted}");
        }
    }

    #[test]
    fn a_request_compares_a_limited_number_of_values_of_limited_length() {
        let check = |said: Value| check_compared(said.as_object().expect("an object"));
        assert!(check(json!({"q": vec!["a"; 999], "r": "x".repeat(32_766)})).is_ok());
        let reason = |said: Value| check(said).expect_err("refused").reason;
        assert_eq!(
            reason(json!({"q": vec!["a"; 1_000], "r": 1})),
            "[match_criteria] may have at most 1000 values, but has 1001"
        );
        assert_eq!(
            reason(json!({"q": ["x".repeat(32_767)]})),
            "a value of [q] in [match_criteria] may have at most 32766 bytes, but has 32767"
        );
    }

    #[test]
    fn comparing_ends_with_the_request() {
        let rule = json!({"criteria": [{"type": "fuzzy", "metadata": "q", "values": ["a".repeat(250)]}]});
        let said = json!({"q": ["b".repeat(250)]});
        let said = said.as_object().expect("an object");
        assert_eq!(matching(std::slice::from_ref(&rule), said).map(|found| found.len()).ok(), Some(0));
        let ended = work::Work { deadline: Some(std::time::Instant::now()), ..work::Work::default() };
        let _entered = ended.enter();
        assert!(matching(&[rule], said).is_err());
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        let good = json!({"rule_id": "r", "type": "pinned", "actions": {"ids": ["1"]},
            "criteria": [{"type": "exact", "metadata": "q", "values": ["a"]}]});
        assert!(parse_set(&json!({"rules": [good]})).is_ok());
        for (member, value) in [
            ("type", json!("nope")),
            ("actions", json!({})),
            ("actions", json!({"ids": ["1"], "docs": [{"_id": "1"}]})),
            ("criteria", json!([])),
            ("criteria", json!([{"type": "nope", "metadata": "q", "values": ["a"]}])),
            ("criteria", json!([{"type": "gt", "metadata": "q", "values": ["a"]}])),
            ("priority", json!(-1)),
            ("other", json!(1)),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert!(parse_rule(&bad, None).is_err(), "{bad}");
        }
        assert!(parse_set(&json!({"rules": [good, good]})).is_err());
    }
}
