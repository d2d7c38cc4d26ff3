//! Terms of a query of which a matching document must have at least one.
//!
//! Source: Elasticsearch's `QueryAnalyzer`. That also extracts ranges, and counts how many of the terms a
//! document needs. Here the terms of a conjunction are those of the clause whose shortest term is the
//! longest, which is also the fallback of `QueryAnalyzer`.

use std::sync::Arc;

use limber_mapping::Field;

use crate::query::bound::BoundQuery;

/// The path of a field and one of its terms.
pub(crate) type FieldTerm = (Arc<str>, Box<[u8]>);

/// The terms that a document needs to match a query that was bound to a shard without documents.
pub(crate) enum RequiredTerms {
    /// A matching document has at least one of these terms. If there are none, nothing matches.
    AnyOf {
        terms: Vec<FieldTerm>,
        /// Whether every document with one of the terms matches.
        is_exact: bool,
    },
    /// Nothing is known about matching documents.
    Unknown,
}

impl RequiredTerms {
    /// Exactly the documents with one of these terms match.
    pub fn exactly(terms: Vec<FieldTerm>) -> RequiredTerms {
        RequiredTerms::AnyOf { terms, is_exact: true }
    }

    /// A matching document has this term, but not every document with it matches.
    pub fn one(field: &Field, term: &[u8]) -> RequiredTerms {
        RequiredTerms::AnyOf { terms: vec![(field.path.clone(), term.into())], is_exact: false }
    }

    /// Returns the same terms; having one is no longer sufficient.
    pub fn inexact(self) -> RequiredTerms {
        match self {
            RequiredTerms::AnyOf { terms, .. } => RequiredTerms::AnyOf { terms, is_exact: false },
            RequiredTerms::Unknown => RequiredTerms::Unknown,
        }
    }

    /// Combines parts that must all match: returns the part whose shortest term is the longest, with its
    /// exactness.
    pub fn longest(parts: impl Iterator<Item = RequiredTerms>) -> RequiredTerms {
        let mut best: Option<(Vec<FieldTerm>, bool)> = None;
        for part in parts {
            if let RequiredTerms::AnyOf { terms, is_exact } = part
                && best.as_ref().is_none_or(|(others, _)| shortest(&terms) > shortest(others))
            {
                best = Some((terms, is_exact));
            }
        }
        best.map_or(RequiredTerms::Unknown, |(terms, is_exact)| RequiredTerms::AnyOf { terms, is_exact })
    }

    /// Combines parts of which one must match: returns the terms of all.
    pub fn union(parts: impl Iterator<Item = RequiredTerms>) -> RequiredTerms {
        let (mut all, mut all_exact) = (Vec::new(), true);
        for part in parts {
            match part {
                RequiredTerms::AnyOf { terms, is_exact } => {
                    all.extend(terms);
                    all_exact &= is_exact;
                }
                RequiredTerms::Unknown => return RequiredTerms::Unknown,
            }
        }
        RequiredTerms::AnyOf { terms: all, is_exact: all_exact }
    }

    /// Returns the [`RequiredTerms::union`] of queries.
    pub fn any_of(queries: &[BoundQuery]) -> RequiredTerms {
        RequiredTerms::union(queries.iter().map(|query| query.node.required_terms()))
    }
}

fn shortest(terms: &[FieldTerm]) -> Option<usize> {
    terms.iter().map(|(_, term)| term.len()).min()
}
