//! `span_multi`: the spans of all terms that match a prefix, pattern, range or fuzzy query.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::{Map, Value};

use super::bind::{SpanQuery, query};
use super::term::check_positions;
use crate::error::Error;
use crate::primitives::{Docs, SpanTree};
use crate::query::bind::Binder;
use crate::query::parse::{Common, Parser, Query, QueryLimits, does_not_support};

/// A query that stands for a set of terms of a field.
pub(in crate::query) trait MultiTermQuery {
    fn expand(&self, binder: &Binder<'_>) -> Result<Expansion, Error>;
}

/// The terms that such a query stands for.
pub(in crate::query) enum Expansion {
    /// The field is not mapped.
    Unmapped,
    /// Lucene's name of a query that does not stand for terms.
    NoTerms(&'static str),
    /// All terms of this set.
    All(Arc<Field>, Docs),
    /// All terms that start with `prefix`, which is itself a term of the field `prefixes`.
    Indexed { field: Arc<Field>, prefixes: Arc<Field>, prefix: Box<[u8]> },
    /// These terms, each with its similarity to the requested one.
    Best(Arc<Field>, BTreeMap<Box<[u8]>, f32>),
}

#[derive(Debug)]
struct SpanMulti {
    inner: Query,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let (mut common, mut inner) = (Common::default(), None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("match", Value::Object(_)) => {
                let found = parser.query(value)?;
                if found.node.as_multi_term().is_none() {
                    return Err(RequestError::parsing(
                        "[span_multi] [match] must be of type multi term query",
                    ));
                }
                inner = Some(found);
            }
            (key, Value::Object(_) | Value::Array(_)) => return Err(does_not_support("span_multi", key)),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("span_multi", key)),
        }
    }
    let inner = inner
        .ok_or_else(|| RequestError::parsing("[span_multi] must have [match] multi term query clause"))?;
    Ok(query(common, SpanMulti { inner }))
}

impl SpanQuery for SpanMulti {
    fn span(&self, binder: &Binder<'_>) -> Result<SpanTree, Error> {
        let nothing = || SpanTree::Nothing {
            path: None,
            text: "SpanMatchNoDocsQuery(\"Inner query rewrote to match_none\")".to_owned(),
        };
        let Some(inner) = self.inner.node.as_multi_term() else { return Ok(nothing()) };
        let (field, terms) = match inner.expand(binder)? {
            Expansion::Unmapped => return Ok(nothing()),
            Expansion::NoTerms(class) => {
                let reason = format!(
                    "unsupported inner query, should be org.apache.lucene.search.MultiTermQuery but was {class}"
                );
                return Err(RequestError::bad_request("unsupported_operation_exception", reason).into());
            }
            Expansion::All(field, docs) => {
                check_positions(&field)?;
                let terms = all_terms(&field, &docs, binder)?;
                (field, terms.into_iter().collect())
            }
            Expansion::Indexed { field, prefixes, prefix } => {
                check_positions(&field)?;
                return Ok(SpanTree::masked_term(&prefixes, &prefix, &field));
            }
            Expansion::Best(field, terms) => {
                check_positions(&field)?;
                (field, terms.into_keys().collect())
            }
        };
        Ok(SpanTree::Terms { field, terms })
    }
}

/// Returns all terms of the shard that are in a set.
fn all_terms(field: &Field, docs: &Docs, binder: &Binder<'_>) -> Result<BTreeSet<Box<[u8]>>, Error> {
    let count_max = QueryLimits::default().clauses_max as usize;
    let mut found: BTreeSet<Box<[u8]>> = BTreeSet::new();
    binder.expand_set(field, docs, |cursor| {
        found.insert(cursor.term().into());
        if found.len() > count_max {
            let reason =
                format!("span_multi exceeds maxClauseCount [ Boolean maxClauseCount is set to {count_max}]");
            return Err(RequestError::bad_request("runtime_exception", reason).into());
        }
        Ok(())
    })?;
    Ok(found)
}
