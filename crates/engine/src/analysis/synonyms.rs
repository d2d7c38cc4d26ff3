//! Synonym sets: named lists of rules, as `_synonyms` stores them.
//!
//! Source: Elasticsearch's `SynonymsManagementAPIService` and `SynonymRule`.

use std::collections::BTreeMap;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Value, json};

use crate::api::Result;

/// Maximum number of rules in a set, as in Elasticsearch.
pub(crate) const RULES_MAX: usize = 10_000;
/// Maximum number of synonym sets of a node. All of them are in one file.
pub(crate) const SETS_MAX: usize = 1_000;

/// The rules of a set, by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SynonymSet(BTreeMap<String, String>);

impl SynonymSet {
    /// Returns ids and rules, ordered by id.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(id, rule)| (id.as_str(), rule.as_str()))
    }

    /// Returns the rule with this id.
    pub fn get(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// Adds or replaces a rule. Returns whether it is new.
    pub fn put(&mut self, id: &str, rule: &str) -> Result<bool> {
        let is_new = self.0.insert(id.to_owned(), rule.to_owned()).is_none();
        match self.0.len() > RULES_MAX {
            true => Err(too_many()),
            false => Ok(is_new),
        }
    }

    /// Removes a rule. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        self.0.remove(id).is_some()
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Renders the set as the node's state stores it: rules by id.
    pub fn to_json(&self) -> Value {
        let rules = self.0.iter().map(|(id, rule)| (id.clone(), Value::from(rule.as_str())));
        Value::Object(rules.collect())
    }

    /// Reads what [`SynonymSet::to_json`] rendered.
    pub fn from_json(value: &Value) -> SynonymSet {
        let rules = value.as_object().into_iter().flatten();
        let rules = rules.filter_map(|(id, rule)| Some((id.clone(), rule.as_str()?.to_owned())));
        SynonymSet(rules.collect())
    }
}

/// Reads the synonym sets in the state file.
pub(crate) fn restored(sets: &Value) -> BTreeMap<String, SynonymSet> {
    let sets = sets.as_object().into_iter().flatten();
    sets.map(|(name, set)| (name.clone(), SynonymSet::from_json(set))).collect()
}

fn too_many() -> RequestError {
    RequestError::illegal_argument(format!(
        "The number of synonym rules in a synonym set cannot exceed {RULES_MAX}"
    ))
}

/// Makes the error for an invalid body, which includes the beginning of the body.
fn unparsable(text: &str, cause: RequestError) -> RequestError {
    let shown: String = text.chars().take(4096).collect();
    RequestError::illegal_argument(format!("Failed to parse: {shown}")).caused_by(cause)
}

/// Parsers of a synonym set, and of one rule in it.
const SET: ObjectParser<'_> = ObjectParser::new("synonyms_set");
const RULE: ObjectParser<'_> = ObjectParser::new("synonyms");

/// Parses a rule: a string under `synonyms`, and `id` if it is allowed.
fn rule(body: &Value, with_id: bool) -> Result<(Option<String>, String)> {
    let (mut id, mut synonyms) = (None, None);
    for (key, value) in RULE.members(body)? {
        let text = || RULE.text(key, value).map(str::to_owned);
        match key.as_str() {
            "synonyms" => synonyms = Some(text()?),
            "id" if with_id => id = Some(text()?),
            other => return Err(RULE.unknown(other)),
        }
    }
    let synonyms = synonyms.ok_or_else(|| ObjectParser::required("synonyms"))?;
    Ok((id, synonyms))
}

/// Returns what is wrong with a rule; `None` if it is valid.
fn fault(rule: &str) -> Option<String> {
    if rule.trim().is_empty() {
        return Some("[synonyms] field can't be empty".to_owned());
    }
    let sides: Vec<&str> = rule.split("=>").collect();
    if sides.len() > 2 {
        return Some(format!("More than one explicit mapping specified in the same synonyms rule: [{rule}]"));
    }
    let is_empty = |side: &&str| side.split(',').all(|part| part.trim().is_empty());
    sides.iter().any(is_empty).then(|| format!("Incorrect syntax for [synonyms]: [{rule}]"))
}

fn check_rules<'r>(rules: impl Iterator<Item = &'r str>) -> Result<()> {
    let faults: Vec<String> = rules.filter_map(fault).take(100).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let numbered: Vec<String> =
        faults.iter().zip(1..).map(|(fault, number)| format!("{number}: {fault};")).collect();
    let reason = format!("Validation Failed: {}", numbered.concat());
    Err(RequestError::bad_request("action_request_validation_exception", reason))
}

/// Parses the body of `PUT _synonyms/{set}`. `text` is the body as it was received; `new_id` generates ids
/// for rules without one.
pub(crate) fn parse_set(body: &Value, text: &str, mut new_id: impl FnMut() -> String) -> Result<SynonymSet> {
    let failed = |cause| unparsable(text, cause);
    let members = SET.members(body).map_err(failed)?;
    if let Some(other) = members.keys().find(|key| *key != "synonyms_set") {
        return Err(failed(SET.unknown(other)));
    }
    let rules = match members.get("synonyms_set") {
        None => return Err(failed(ObjectParser::required("synonyms_set"))),
        Some(Value::Array(rules)) => rules.as_slice(),
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        Some(other) => {
            return Err(failed(SET.unsupported("synonyms_set", other)));
        }
    };
    let mut set = SynonymSet::default();
    for (number, one) in rules.iter().enumerate() {
        let within = |cause| failed(SET.failed("synonyms_set", cause));
        let (id, synonyms) = rule(one, true).map_err(within)?;
        if number >= RULES_MAX {
            return Err(too_many());
        }
        set.0.insert(id.unwrap_or_else(&mut new_id), synonyms);
    }
    check_rules(set.0.values().map(String::as_str))?;
    Ok(set)
}

/// Parses the body of `PUT _synonyms/{set}/{rule}`.
pub(crate) fn parse_rule(body: &Value, text: &str) -> Result<String> {
    let (_, synonyms) = rule(body, false).map_err(|cause| unparsable(text, cause))?;
    check_rules(std::iter::once(synonyms.as_str()))?;
    Ok(synonyms)
}

/// Returns one page of a list. `from` and `size` are checked as in Elasticsearch.
pub(crate) fn page<T>(items: Vec<T>, from: i64, size: i64) -> Result<Vec<T>> {
    const WINDOW_MAX: i64 = 10_000;
    let mut faults = Vec::new();
    if from < 0 {
        faults.push("[from] must be a positive integer".to_owned());
    }
    if size < 0 {
        faults.push("[size] must be a positive integer".to_owned());
    }
    if size > WINDOW_MAX {
        faults.push(format!("[size] must be less than or equal to {WINDOW_MAX}"));
    }
    if from.saturating_add(size) > WINDOW_MAX {
        faults.push(format!(
            "Too many results to retrieve. [from] + [size] must be less than or equal to {WINDOW_MAX}"
        ));
    }
    if faults.is_empty() {
        return Ok(items.into_iter().skip(from as usize).take(size as usize).collect());
    }
    let numbered = faults.iter().zip(1..).map(|(fault, number)| format!("{number}: {fault};"));
    let reason = format!("Validation Failed: {}", numbered.collect::<String>());
    Err(RequestError::bad_request("action_request_validation_exception", reason))
}

/// Renders a rule for a response.
pub(crate) fn shown((id, synonyms): (&str, &str)) -> Value {
    json!({"id": id, "synonyms": synonyms})
}

#[cfg(test)]
mod tests {
    use super::{fault, page, parse_set};
    use serde_json::json;

    #[test]
    fn rules_are_checked() {
        assert_eq!(fault("a, b"), None);
        assert_eq!(fault("a => b, c"), None);
        assert_eq!(fault("a => ").unwrap(), "Incorrect syntax for [synonyms]: [a => ]");
        assert!(fault("a => b => c").unwrap().starts_with("More than one explicit mapping"));
        assert_eq!(fault(" ").unwrap(), "[synonyms] field can't be empty");
    }

    #[test]
    fn sets_are_read() {
        let body = json!({"synonyms_set": [{"id": "b", "synonyms": "x, y"}, {"synonyms": "p => q"}]});
        let set = parse_set(&body, "", || "a".to_owned()).unwrap();
        assert_eq!(set.rules().collect::<Vec<_>>(), [("a", "p => q"), ("b", "x, y")]);
        let error = parse_set(&json!({}), "{}", String::new).unwrap_err();
        assert_eq!(error.reason, "Failed to parse: {}");
        assert!(page(vec![1, 2, 3], 1, 1).unwrap() == [2]);
        assert!(page(vec![1], -1, 10_001).unwrap_err().reason.contains("2: [size] must be less"));
    }
}
