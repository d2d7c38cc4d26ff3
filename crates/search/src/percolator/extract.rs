//! Terms of a query: "one of which must a document have to match it?"
//!
//! Source: Elasticsearch's `QueryAnalyzer`. It also takes ranges and counts how many of the terms a document needs; here a conjunction is known by
//! the clause whose shortest term is longest, which is the choice that `QueryAnalyzer` falls back to as well.

use std::sync::Arc;

use limber_mapping::Field;

use crate::query::{BoolNode, BoundQuery, Docs, Node, PhraseNode, Source, SpanTree, TermNode};

/// Path of a field and a term of it.
pub(super) type FieldTerm = (Arc<str>, Box<[u8]>);

pub(super) enum Found {
    /// Whatever matches has one of these. None: nothing matches.
    Terms {
        terms: Vec<FieldTerm>,
        /// Whatever has one matches.
        is_exact: bool,
    },
    Unknown,
}

/// The terms of a query that was bound to a shard without documents.
pub(super) fn extract(query: &BoundQuery) -> Found {
    match &query.node {
        // A key of a flattened field is part of its terms, under another path.
        Node::Term(TermNode { field, .. }) | Node::Docs { docs: Docs::Terms { field, .. }, .. }
            if field.flattened.is_some() =>
        {
            Found::Unknown
        }
        Node::Term(node) => exactly(vec![(node.field.path.clone(), node.term.clone())]),
        Node::Combined(node) => {
            exactly(node.fields.iter().map(|(field, _)| (field.path.clone(), node.term.clone())).collect())
        }
        Node::Docs { docs: Docs::Terms { field, terms }, .. } if field.index => {
            exactly(terms.iter().map(|term| (field.path.clone(), term.clone())).collect())
        }
        Node::Constant { inner, .. } => extract(inner),
        Node::Cached(node) => extract(&node.inner),
        Node::Boosting(node) => extract(&node.positive),
        Node::FunctionScore(node) if node.min_score.is_none() => extract(&node.query),
        Node::ScriptScore(node) if node.min_score.is_none() => extract(&node.query),
        Node::DisMax(node) => any_of(node.queries.iter()),
        Node::TermsSet(node) => match any_of(node.queries.iter()) {
            Found::Terms { terms, .. } => Found::Terms { terms, is_exact: false },
            Found::Unknown => Found::Unknown,
        },
        Node::Phrase(node) => phrase(node),
        Node::Intervals(node) => intervals(&node.source),
        Node::Spans(node) => spans(&node.span),
        Node::Bool(node) => boolean(node),
        // What matches nothing without documents may match something with them.
        _ => Found::Unknown,
    }
}

fn exactly(terms: Vec<FieldTerm>) -> Found {
    Found::Terms { terms, is_exact: true }
}

/// One of the words of a phrase: the one whose shortest alternative is longest.
fn phrase(node: &PhraseNode) -> Found {
    let shortest = |terms: &[Box<[u8]>]| terms.iter().map(|term| term.len()).min();
    match node.slots.iter().max_by_key(|(_, terms)| shortest(terms)) {
        Some((_, terms)) if !terms.is_empty() => Found::Terms {
            terms: terms.iter().map(|term| (node.field.path.clone(), term.clone())).collect(),
            is_exact: false,
        },
        _ => Found::Unknown,
    }
}

/// What of several must be there is known by the one whose shortest term is longest.
fn longest(parts: impl Iterator<Item = Found>) -> Found {
    let mut best: Option<Vec<FieldTerm>> = None;
    for part in parts {
        if let Found::Terms { terms, .. } = part
            && best.as_ref().is_none_or(|others| shortest(&terms) > shortest(others))
        {
            best = Some(terms);
        }
    }
    best.map_or(Found::Unknown, |terms| Found::Terms { terms, is_exact: false })
}

/// What of several one must be there is known by the terms of all.
fn union(parts: impl Iterator<Item = Found>) -> Found {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Found::Terms { terms, .. } => all.extend(terms),
            Found::Unknown => return Found::Unknown,
        }
    }
    Found::Terms { terms: all, is_exact: false }
}

fn shortest(terms: &[FieldTerm]) -> Option<usize> {
    terms.iter().map(|(_, term)| term.len()).min()
}

fn one(field: &Field, term: &[u8]) -> Found {
    Found::Terms { terms: vec![(field.path.clone(), term.into())], is_exact: false }
}

fn intervals(source: &Source) -> Found {
    match source {
        Source::Nothing => union(std::iter::empty()),
        Source::Term { field, term } => one(field, term),
        Source::Terms(_) => Found::Unknown,
        Source::Any(sources) => union(sources.iter().map(intervals)),
        _ => longest(source.sought_parts().map(intervals)),
    }
}

fn spans(tree: &SpanTree) -> Found {
    match tree {
        SpanTree::Nothing { .. } => union(std::iter::empty()),
        SpanTree::Term { field, term } => one(field, term),
        // The terms of documents that are still to come.
        SpanTree::Terms { .. } | SpanTree::Gap { .. } => Found::Unknown,
        SpanTree::Any(trees) => union(trees.iter().map(spans)),
        SpanTree::Near { spans: trees, .. } => longest(trees.iter().map(spans)),
        SpanTree::Contained { big, little, .. } => longest([spans(big), spans(little)].into_iter()),
        SpanTree::Not { include: tree, .. }
        | SpanTree::First { span: tree, .. }
        | SpanTree::Masked { span: tree, .. } => spans(tree),
    }
}

fn any_of<'q>(queries: impl Iterator<Item = &'q BoundQuery>) -> Found {
    let (mut all, mut all_exact) = (Vec::new(), true);
    for query in queries {
        match extract(query) {
            Found::Terms { terms, is_exact } => {
                all.extend(terms);
                all_exact &= is_exact;
            }
            Found::Unknown => return Found::Unknown,
        }
    }
    Found::Terms { terms: all, is_exact: all_exact }
}

fn boolean(node: &BoolNode) -> Found {
    let required = node.must.len() + node.filter.len();
    if required == 0 {
        return match any_of(node.should.iter()) {
            Found::Terms { terms, is_exact } if node.min_should_match <= 1 && node.must_not.is_empty() => {
                Found::Terms { terms, is_exact }
            }
            // Without a clause that must match, whatever the others refuse not matches.
            _ if node.should.is_empty() || node.min_should_match == 0 => Found::Unknown,
            Found::Terms { terms, .. } => Found::Terms { terms, is_exact: false },
            Found::Unknown => Found::Unknown,
        };
    }
    let mut best: Option<(Vec<FieldTerm>, bool)> = None;
    for query in node.must.iter().chain(&node.filter) {
        if let Found::Terms { terms, is_exact } = extract(query)
            && best.as_ref().is_none_or(|(others, _)| shortest(&terms) > shortest(others))
        {
            best = Some((terms, is_exact));
        }
    }
    let is_alone = required == 1 && node.must_not.is_empty() && node.min_should_match == 0;
    match best {
        Some((terms, is_exact)) => Found::Terms { terms, is_exact: is_exact && is_alone },
        None => Found::Unknown,
    }
}
