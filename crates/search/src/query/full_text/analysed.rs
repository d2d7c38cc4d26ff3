//! The terms of a text of a query: "into which terms does its field's analyzer split it?"

use std::sync::Arc;

use limber_mapping::analysis::{Analyzer, take_failure};
use limber_mapping::{Field, RequestError};
use limber_work as work;

use super::token_graph::GraphTerm;
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::parse::{QueryLimits, check_clauses};

/// One term of an analysed text, and its position.
pub(in crate::query) type AnalysedTerm = (Box<[u8]>, u32);

/// Refuses a name that no analyzer of the index has, whether or not a text is analysed.
/// `option`: the option of the query that names it.
pub(super) fn check_analyzer(
    query: &str,
    option: &str,
    name: Option<&str>,
    binder: &Binder<'_>,
) -> Result<(), RequestError> {
    match name.filter(|name| binder.analyzer(name).is_none()) {
        Some(name) => Err(binder.query_shard(format!("[{query}] {option} [{name}] not found"))),
        None => Ok(()),
    }
}

/// Analyses `text` with the named analyzer, or else with the field's search analyzer. The text of a keyword
/// field is a single term; with `splits` it is split into words if the field is configured so
/// (`split_queries_on_whitespace`).
pub(in crate::query) fn analyse(
    query: &str,
    field: &Field,
    analyzer: Option<&str>,
    text: &str,
    splits: bool,
    binder: &Binder<'_>,
) -> Result<Vec<AnalysedTerm>, Error> {
    let terms = analyse_graph(query, field, analyzer, text, splits, binder)?;
    Ok(terms.into_iter().map(|GraphTerm { term, position, .. }| (term, position)).collect())
}

/// Does the same as [`analyse`], and returns the number of positions that each term spans.
pub(in crate::query) fn analyse_graph(
    query: &str,
    field: &Field,
    analyzer: Option<&str>,
    text: &str,
    splits: bool,
    binder: &Binder<'_>,
) -> Result<Vec<GraphTerm>, Error> {
    let named = match analyzer {
        Some(name) => Some(
            binder
                .analyzer(name)
                .ok_or_else(|| binder.query_shard(format!("[{query}] analyzer [{name}] not found")))?,
        ),
        None => field.search_analyzer.clone().or_else(|| field.analyzer.clone()),
    };
    analysed(named, field, text, splits)
}

/// Does the same as [`analyse_graph`] for a phrase: without a named analyzer it uses the field's analyzer for
/// phrases (`search_quote_analyzer`), if there is one.
pub(in crate::query) fn analyse_phrase(
    query: &str,
    field: &Field,
    analyzer: Option<&str>,
    text: &str,
    binder: &Binder<'_>,
) -> Result<Vec<GraphTerm>, Error> {
    match (analyzer, &field.search_quote_analyzer) {
        (None, Some(quoted)) => analysed(Some(quoted.clone()), field, text, false),
        _ => analyse_graph(query, field, analyzer, text, false, binder),
    }
}

/// Returns the terms of `text` from an analyzer, or the text itself for a keyword field.
fn analysed(
    analyzer: Option<Arc<Analyzer>>,
    field: &Field,
    text: &str,
    splits: bool,
) -> Result<Vec<GraphTerm>, Error> {
    // A text with too many terms is refused, so those beyond need no memory.
    let terms_max = QueryLimits::default().clauses_max as usize;
    let (mut terms, mut count): (Vec<GraphTerm>, usize) = (Vec::new(), 0);
    let mut add = |text: &str, position, length| {
        count += 1;
        if count <= terms_max {
            terms.push(GraphTerm { term: text.as_bytes().into(), position, length });
        }
    };
    match analyzer {
        Some(analyzer) => {
            drop(take_failure());
            let hides_graph = analyzer.hides_graph();
            analyzer.tokens(text, |token| {
                add(token.text, token.position, if hides_graph { 1 } else { token.position_length });
            });
            if let Some(error) = take_failure() {
                return Err(error.into());
            }
            // An analysis that was stopped early has not returned all terms.
            work::check_beyond_deadline()?;
        }
        None if splits && field.splits_queries => {
            (0..).zip(text.split_whitespace()).for_each(|(position, word)| add(word, position, 1));
        }
        None => add(text, 0, 1),
    }
    if field.normalizer.is_some() {
        for GraphTerm { term, .. } in &mut terms {
            *term = field.normalize(&String::from_utf8_lossy(term)).as_bytes().into();
        }
    }
    check_clauses(count)?;
    Ok(terms)
}
