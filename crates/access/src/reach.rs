//! The part of an index that may be seen: "which documents, and which of their fields?"

use serde_json::Value;

use crate::descriptor::FieldRule;

/// The part of an index that one set of roles lets a user see.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Fields that one of these rules allows may be seen; `None` means all fields.
    pub fields: Option<Vec<FieldRule>>,
    /// Documents that match one of these queries may be seen; `None` means all documents.
    pub documents: Option<Vec<Value>>,
}

impl Part {
    /// Adds what `other` lets a user see.
    pub(crate) fn or(&mut self, other: &Part) {
        fn either<T: Clone + PartialEq>(own: &mut Option<Vec<T>>, other: &Option<Vec<T>>) {
            match (own.as_mut(), other) {
                (Some(list), Some(more)) => {
                    for one in more {
                        if !list.contains(one) {
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

/// The part of an index that may be seen: only what every [`Part`] allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    parts: Vec<Part>,
}

impl Reach {
    pub(crate) fn of(parts: Vec<Part>) -> Reach {
        Reach { parts }
    }

    /// Adds what another way to the same index (an alias, a data stream) lets the same roles see.
    pub(crate) fn or(&mut self, other: &Reach) {
        for (own, other) in self.parts.iter_mut().zip(&other.parts) {
            own.or(other);
        }
    }

    /// What is hidden; `None` means that all of the index may be seen.
    pub fn limits(&self) -> Option<Limits> {
        let limits = Limits {
            fields: self.parts.iter().filter_map(|part| part.fields.clone()).collect(),
            documents: self.parts.iter().filter_map(|part| part.documents.clone()).collect(),
        };
        (!limits.fields.is_empty() || !limits.documents.is_empty()).then_some(limits)
    }
}

/// Limits on what may be seen of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Each list must let a field through by one of its rules.
    pub fields: Vec<Vec<FieldRule>>,
    /// Each list must let a document through by one of its queries.
    pub documents: Vec<Vec<Value>>,
}

impl Limits {
    /// Whether a field may be seen.
    pub fn allows_field(&self, path: &str) -> bool {
        self.fields.iter().all(|rules| rules.iter().any(|rule| rule.allows(path)))
    }

    /// The query that documents must match to be seen; `None` means that all may be.
    pub fn query(&self) -> Option<Value> {
        if self.documents.is_empty() {
            return None;
        }
        let any = |queries: &Vec<Value>| serde_json::json!({"bool": {"should": queries, "minimum_should_match": 1}});
        let all: Vec<Value> = self.documents.iter().map(any).collect();
        Some(serde_json::json!({"bool": {"filter": all}}))
    }
}
