//! The visible part of an index: "which documents, and which of their fields?"

use std::sync::Arc;

use serde_json::Value;

use crate::descriptor::FieldRule;

/// The part of an index that one set of roles allows a user to see.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// A field is visible if one of these rules allows it; `None` means all fields.
    pub fields: Option<Vec<Arc<FieldRule>>>,
    /// A document is visible if it matches one of these queries; `None` means all documents.
    pub documents: Option<Vec<Arc<Value>>>,
}

impl Part {
    /// Adds what `other` makes visible.
    pub(crate) fn or(&mut self, other: &Part) {
        fn either<T: PartialEq>(own: &mut Option<Vec<Arc<T>>>, other: &Option<Vec<Arc<T>>>) {
            match (own.as_mut(), other) {
                (Some(list), Some(more)) => {
                    for one in more {
                        if !list.iter().any(|known| Arc::ptr_eq(known, one) || known == one) {
                            list.push(one.clone());
                        }
                    }
                }
                _ => *own = None,
            }
        }
        either(&mut self.fields, &other.fields);
        either(&mut self.documents, &other.documents);
    }
}

/// The visible part of an index: only what every [`Part`] allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    parts: Vec<Part>,
}

impl Reach {
    pub(crate) fn of(parts: Vec<Part>) -> Reach {
        Reach { parts }
    }

    /// Returns the heap bytes, without the rules and queries, which belong to the roles.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of_part = |part: &Part| {
            let references =
                part.fields.as_ref().map_or(0, Vec::len) + part.documents.as_ref().map_or(0, Vec::len);
            size_of::<Part>() + references * size_of::<usize>()
        };
        self.parts.iter().map(of_part).sum()
    }

    /// Adds what the same roles make visible through another name of the index (an alias, a data stream).
    pub(crate) fn or(&mut self, other: &Reach) {
        for (own, other) in self.parts.iter_mut().zip(&other.parts) {
            own.or(other);
        }
    }

    /// Returns what is hidden; `None` means that all of the index is visible.
    pub fn limits(&self) -> Option<Limits> {
        let limits = Limits {
            fields: self.parts.iter().filter_map(|part| part.fields.clone()).collect(),
            documents: self.parts.iter().filter_map(|part| part.documents.clone()).collect(),
        };
        (!limits.fields.is_empty() || !limits.documents.is_empty()).then_some(limits)
    }
}

/// Limits on what is visible of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// A field is visible if one rule of each list allows it.
    pub fields: Vec<Vec<Arc<FieldRule>>>,
    /// A document is visible if it matches one query of each list.
    pub documents: Vec<Vec<Arc<Value>>>,
}

impl Limits {
    /// Whether a field is visible.
    pub fn allows_field(&self, path: &str) -> bool {
        self.fields.iter().all(|rules| rules.iter().any(|rule| rule.allows(path)))
    }

    /// Returns the query that visible documents match; `None` means that all are visible.
    pub fn query(&self) -> Option<Value> {
        if self.documents.is_empty() {
            return None;
        }
        let any = |queries: &Vec<Arc<Value>>| {
            let queries: Vec<&Value> = queries.iter().map(|query| &**query).collect();
            serde_json::json!({"bool": {"should": queries, "minimum_should_match": 1}})
        };
        let all: Vec<Value> = self.documents.iter().map(any).collect();
        Some(serde_json::json!({"bool": {"filter": all}}))
    }
}
