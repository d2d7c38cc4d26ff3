//! Stores, shows, lists, deletes and tests query rulesets, and applies them to searches.

use limber_mapping::{ErrorClass, RequestError};
use limber_search::RuledDocuments;
use serde_json::{Map, Value, json};

use crate::analysis::synonyms::page;
use crate::api::Result;
use crate::node::Node;
use crate::query_rules::{self, SETS_MAX};

fn no_set(name: &str) -> RequestError {
    RequestError::not_found("resource_not_found_exception", format!("query ruleset [{name}] not found"))
}

fn no_rule(set: &str, rule: &str) -> RequestError {
    let reason = format!("rule_id [{rule}] not found in query ruleset [{set}]");
    RequestError::not_found("resource_not_found_exception", reason)
}

fn is_named(rule: &Value, id: &str) -> bool {
    rule["rule_id"] == *id
}

impl Node {
    fn query_rules_of(&self, name: &str) -> Result<Vec<Value>> {
        self.state.load().query_rules[name].as_array().cloned().ok_or_else(|| no_set(name))
    }

    /// Carries out `PUT _query_rules/{set}`. Returns whether the ruleset is new.
    pub fn put_query_rules(&self, name: &str, body: &Value) -> Result<bool> {
        let rules = query_rules::parse_set(body)?;
        let _changing = self.changing.lock();
        self.write_query_rules(name, rules)
    }

    /// Carries out `PUT _query_rules/{set}/_rule/{id}`, creating the ruleset if necessary. Returns whether
    /// the rule is new.
    pub fn put_query_rule(&self, name: &str, id: &str, body: &Value) -> Result<bool> {
        let rule = query_rules::parse_rule(body, Some(id))?;
        let _changing = self.changing.lock();
        match self.query_rules_of(name) {
            Ok(mut rules) => {
                let is_new = query_rules::put_rule(&mut rules, rule)?;
                self.write_query_rules(name, rules)?;
                Ok(is_new)
            }
            Err(error) if error.class == ErrorClass::NotFound => {
                self.write_query_rules(name, query_rules::parse_set(&json!({"rules": [rule]}))?)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a ruleset, or deletes it when it has no rules left. Returns whether the ruleset is new. Called
    /// with the state locked.
    fn write_query_rules(&self, name: &str, rules: Vec<Value>) -> Result<bool> {
        self.check_metadata_write_block()?;
        let state = self.state.load_full();
        let is_new = state.query_rules.get(name).is_none();
        let count = state.query_rules.as_object().map_or(0, Map::len);
        if is_new && count >= SETS_MAX {
            let reason = format!("there are [{SETS_MAX}] sets of query rules already");
            return Err(RequestError::illegal_argument(reason));
        }
        self.change_state(|state| match (rules.is_empty(), state.query_rules.as_object_mut()) {
            (true, Some(sets)) => drop(sets.remove(name)),
            _ => state.query_rules[name] = rules.into(),
        })?;
        Ok(is_new)
    }

    /// Carries out `DELETE _query_rules/{set}`.
    pub fn delete_query_rules(&self, name: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.query_rules_of(name)?;
        self.write_query_rules(name, Vec::new()).map(drop)
    }

    /// Carries out `DELETE _query_rules/{set}/_rule/{id}`. Deleting the last rule deletes the ruleset.
    pub fn delete_query_rule(&self, name: &str, id: &str) -> Result<()> {
        let _changing = self.changing.lock();
        let mut rules = self.query_rules_of(name)?;
        let count = rules.len();
        rules.retain(|rule| !is_named(rule, id));
        if rules.len() == count {
            return Err(no_rule(name, id));
        }
        self.write_query_rules(name, rules).map(drop)
    }

    /// Carries out `GET _query_rules/{set}`.
    pub fn get_query_rules(&self, name: &str) -> Result<Value> {
        Ok(json!({"ruleset_id": name, "rules": self.query_rules_of(name)?}))
    }

    /// Carries out `GET _query_rules/{set}/_rule/{id}`.
    pub fn get_query_rule(&self, name: &str, id: &str) -> Result<Value> {
        let rules = self.query_rules_of(name)?;
        rules.into_iter().find(|rule| is_named(rule, id)).ok_or_else(|| no_rule(name, id))
    }

    /// Carries out `GET _query_rules`.
    pub fn list_query_rules(&self, from: i64, size: i64) -> Result<Value> {
        let state = self.state.load_full();
        let sets = state.query_rules.as_object().into_iter().flatten();
        let shown: Vec<Value> = sets
            .map(|(name, rules)| query_rules::counted(name, rules.as_array().map_or(&[], Vec::as_slice)))
            .collect();
        Ok(json!({"count": shown.len(), "results": page(shown, from, size)?}))
    }

    /// Carries out `POST _query_rules/{set}/_test`: returns the matching rules.
    pub fn test_query_rules(&self, name: &str, match_criteria: &Map<String, Value>) -> Result<Value> {
        query_rules::check_compared(match_criteria)?;
        let rules = self.query_rules_of(name)?;
        let matched: Vec<Value> = query_rules::matching(&rules, match_criteria)?
            .into_iter()
            .map(|rule| json!({"ruleset_id": name, "rule_id": rule["rule_id"]}))
            .collect();
        Ok(json!({"total_matched_rules": matched.len(), "matched_rules": matched}))
    }

    /// Returns the documents that the rules of these rulesets pin and exclude for
    /// `match_criteria`.
    pub(in crate::node) fn apply_rules(
        &self,
        sets: &[String],
        match_criteria: &Map<String, Value>,
    ) -> Result<RuledDocuments> {
        query_rules::check_compared(match_criteria)?;
        let (mut out, mut named) = (RuledDocuments::default(), query_rules::Named::default());
        for name in sets {
            let rules = self.query_rules_of(name)?;
            for rule in query_rules::matching(&rules, match_criteria)? {
                query_rules::apply(rule, &mut named, &mut out)?;
            }
        }
        Ok(out)
    }
}
