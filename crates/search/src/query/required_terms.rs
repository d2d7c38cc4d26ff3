//! Terms of a query: "one of which must a document have to match it?"
//!
//! Source: Elasticsearch's `QueryAnalyzer`. It also takes ranges and counts how many of the terms a document
//! needs; here a conjunction is known by the clause whose shortest term is longest, which is the choice that
//! `QueryAnalyzer` falls back to as well.

use std::sync::Arc;

use limber_mapping::Field;

use super::bound::BoundQuery;

/// Path of a field and a term of it.
pub(crate) type FieldTerm = (Arc<str>, Box<[u8]>);

/// What a document must have to match a query that was bound to a shard without documents.
pub(crate) enum RequiredTerms {
    /// Whatever matches has one of these. None: nothing matches.
    AnyOf {
        terms: Vec<FieldTerm>,
        /// Whatever has one matches.
        is_exact: bool,
    },
    /// It cannot be told.
    Unknown,
}

impl RequiredTerms {
    /// Whatever has one of these terms matches, and nothing else.
    pub fn exactly(terms: Vec<FieldTerm>) -> RequiredTerms {
        RequiredTerms::AnyOf { terms, is_exact: true }
    }

    /// Only what has this term may match.
    pub fn one(field: &Field, term: &[u8]) -> RequiredTerms {
        RequiredTerms::AnyOf { terms: vec![(field.path.clone(), term.into())], is_exact: false }
    }

    /// The same terms, of which having one is not enough.
    pub fn inexact(self) -> RequiredTerms {
        match self {
            RequiredTerms::AnyOf { terms, .. } => RequiredTerms::AnyOf { terms, is_exact: false },
            RequiredTerms::Unknown => RequiredTerms::Unknown,
        }
    }

    /// Of several parts that all must be there: that of the part whose shortest term is longest, with its
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

    /// Of several parts one of which must be there: the terms of all.
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

    /// [`RequiredTerms::union`] of queries.
    pub fn any_of(queries: &[BoundQuery]) -> RequiredTerms {
        RequiredTerms::union(queries.iter().map(|query| query.node.required_terms()))
    }
}

fn shortest(terms: &[FieldTerm]) -> Option<usize> {
    terms.iter().map(|(_, term)| term.len()).min()
}
