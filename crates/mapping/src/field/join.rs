//! Fields of type `join`: "which documents of an index are parents, and which are their children?"
//!
//! The field itself contains the name of a document's relation. `field#parent` contains the id of the
//! document's parent, or of a parent its own id. Source: Elasticsearch's `ParentJoinFieldMapper`,
//! `ParentIdFieldMapper`, `Joiner`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::RequestError;

/// Each parent relation with its children, in the order of the mapping.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relations(Vec<(String, Vec<String>)>);

impl Relations {
    /// Reads the parameter `relations`.
    ///
    /// # Errors
    /// A relation has several parents, or there are no relations.
    pub(crate) fn parse(value: &Value) -> Result<Relations, RequestError> {
        let refuse = |reason: String| RequestError::illegal_argument(reason);
        let Value::Object(members) = value else {
            return Err(refuse("[relations] must be an object".to_owned()));
        };
        let mut relations: Vec<(String, Vec<String>)> = Vec::new();
        let mut taken: HashSet<&str> = HashSet::new();
        for (parent, children) in members {
            let list = children.as_array().map_or(std::slice::from_ref(children), Vec::as_slice);
            let mut named = Vec::new();
            for child in list {
                let child = child
                    .as_str()
                    .ok_or_else(|| refuse(format!("the children of [{parent}] must be names")))?;
                if !taken.insert(child) {
                    return Err(refuse(format!("[{child}] cannot have multiple parents")));
                }
                named.push(child.to_owned());
            }
            relations.push((parent.clone(), named));
        }
        Ok(Relations(relations))
    }

    /// Returns the relations as `GET _mapping` shows them.
    pub(crate) fn to_json(&self) -> Value {
        let shown: Map<String, Value> = self
            .0
            .iter()
            .map(|(parent, children)| {
                let children = match children.as_slice() {
                    [one] => one.as_str().into(),
                    many => many.to_vec().into(),
                };
                (parent.clone(), children)
            })
            .collect();
        Value::Object(shown)
    }

    /// Returns the parent of a relation.
    pub fn parent_of(&self, child: &str) -> Option<&str> {
        let of = |(_, children): &&(String, Vec<String>)| children.iter().any(|other| other == child);
        self.0.iter().find(of).map(|(parent, _)| parent.as_str())
    }

    /// Returns the child relations; empty if the relation is not a parent.
    pub fn children_of(&self, parent: &str) -> Vec<&str> {
        let found = self.0.iter().find(|(name, _)| name == parent);
        found.map_or_else(Vec::new, |(_, children)| children.iter().map(String::as_str).collect())
    }

    /// Returns every relation that has children.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(parent, _)| parent.as_str())
    }

    /// Whether a relation with this name exists.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(parent, _)| parent == name) || self.parent_of(name).is_some()
    }

    /// Returns the path of the field with the ids of a parent relation.
    pub fn ids_path(&self, join: &str, parent: &str) -> String {
        format!("{join}#{parent}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_relation_has_one_parent() {
        let relations = Relations::parse(&json!({"q": ["a", "b"], "a": "v"})).expect("relations");
        assert_eq!((relations.parent_of("v"), relations.parent_of("q")), (Some("a"), None));
        assert_eq!(relations.children_of("q"), ["a", "b"]);
        assert_eq!(relations.to_json(), json!({"q": ["a", "b"], "a": "v"}));
        assert!(Relations::parse(&json!({"q": "a", "r": "a"})).is_err());
    }
}
