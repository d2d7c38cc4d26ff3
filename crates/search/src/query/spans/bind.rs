//! Binds span queries to a shard: their common parts.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

use crate::error::Error;
use crate::primitives::{SpanTree, SpansNode};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode};

/// A span query.
pub(in crate::query) trait SpanQuery: Debug + Send + Sync {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error>;
}

/// A span query used as a query for documents.
#[derive(Debug)]
struct Spanned<S>(S);

impl<S: SpanQuery> QueryNode for Spanned<S> {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        bind_span(self.0.span(binder)?, boost, binder)
    }

    fn as_span(&self) -> Option<&dyn SpanQuery> {
        Some(&self.0)
    }
}

pub(in crate::query) fn bind_span(
    mut span: SpanTree,
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    // At the top level, a masked span is scored by its own field.
    while let SpanTree::Masked { span: inner, .. } = span {
        span = *inner;
    }
    if let SpanTree::Nothing { text, .. } = &span {
        return Ok(BoundQuery::nothing(text.clone()));
    }
    if span.is_gap() {
        return Ok(BoundQuery::nothing("a span query without terms"));
    }
    let mut found = Vec::new();
    span.terms(&mut found);
    binder.count_terms(found.len())?;
    // Each term counts once, as in Lucene's `SpanWeight`.
    let mut terms: BTreeMap<(Arc<str>, Box<[u8]>), u64> = BTreeMap::new();
    for (field, term) in found {
        let key = (field.path.clone(), Box::from(term));
        if let std::collections::btree_map::Entry::Vacant(place) = terms.entry(key) {
            place.insert(binder.doc_freq(field, term)?);
        }
    }
    let terms: Vec<(Box<[u8]>, u64)> = terms
        .into_iter()
        .filter(|(_, doc_freq)| *doc_freq > 0)
        .map(|((_, term), doc_freq)| (term, doc_freq))
        .collect();
    let field = span.path().and_then(|path| binder.field(path));
    let scorer = match &field {
        Some(field) if !terms.is_empty() => Some(binder.field_scorer(field, boost, terms)?),
        _ => None,
    };
    Ok(SpansNode { span, field, scorer, boost }.into())
}

/// Makes the query with the `boost` and `_name` of a span query.
pub(super) fn query(common: Common, span: impl SpanQuery + 'static) -> Query {
    common.query(Spanned(span))
}

/// Parses a span query inside another one. `query` and `clause` name the outer one in errors.
pub(super) fn parse_inner(
    query: &str,
    clause: &str,
    value: &Value,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let inner = parser.query(value)?;
    if inner.node.as_span().is_none() {
        return Err(RequestError::parsing(format!("{query} [{clause}] must be of type span query")));
    }
    if inner.boost != 1.0 {
        return Err(RequestError::parsing(format!(
            "{query} [{clause}] as a nested span clause can't have non-default boost value [{}]",
            limber_mapping::number::java_float(inner.boost)
        )));
    }
    Ok(inner)
}

/// Returns the spans of a query that [`parse_inner`] has parsed.
pub(super) fn span_of(query: &Query, binder: &Binder<'_>) -> Result<SpanTree, Error> {
    match query.node.as_span() {
        Some(span) => span.span(binder),
        None => Err(RequestError::parsing("must be of type span query").into()),
    }
}

pub(super) fn spans_of(queries: &[Query], binder: &Binder<'_>) -> Result<Vec<SpanTree>, Error> {
    queries.iter().map(|query| span_of(query, binder)).collect()
}

/// Refuses spans of different fields.
pub(super) fn check_same_field<'s>(
    spans: impl Iterator<Item = &'s SpanTree>,
    reason: &str,
) -> Result<(), RequestError> {
    let mut paths = spans.filter_map(SpanTree::path);
    let Some(first) = paths.next() else { return Ok(()) };
    match paths.all(|path| path == first) {
        true => Ok(()),
        false => Err(RequestError::illegal_argument(reason)),
    }
}
