//! The `rewrite` of queries that stand for many terms: how these terms are scored.
//!
//! Source: Lucene's `MultiTermQuery.RewriteMethod`s and `BlendedTermQuery`; the names are those of
//! `QueryParsers#parseRewriteMethod`.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use limber_text::automaton::TermAutomaton;

use crate::error::Error;
use crate::matcher::automaton::shown_terms;
use crate::primitives::Docs;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::bool_query::BoolNode;
use crate::query::parse::check_clauses;
use crate::query::spans::Expansion;

/// `rewrite`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::query) enum Rewrite {
    /// All terms, with a constant score.
    Constant,
    /// All terms, each with its own score.
    Scoring,
    /// The best terms, each with its own score.
    Top(usize),
    /// The best terms, scored only by their similarity.
    TopBoost(usize),
    /// The best terms, all with the highest document frequency among them.
    TopBlended(usize),
}

impl Rewrite {
    /// Parses the name of a method.
    ///
    /// # Errors
    /// `illegal_argument_exception` for an unknown name.
    pub fn parse(name: &str) -> Result<Rewrite, RequestError> {
        let unknown = || RequestError::illegal_argument(format!("Failed to parse rewrite_method [{name}]"));
        match name {
            "constant_score" | "constant_score_blended" | "constant_score_boolean" => {
                return Ok(Rewrite::Constant);
            }
            "scoring_boolean" => return Ok(Rewrite::Scoring),
            _ => {}
        }
        let (kind, count) = name.rsplit_once('_').ok_or_else(unknown)?;
        let count: usize = count.parse().map_err(|_| unknown())?;
        match kind {
            "top_terms" => Ok(Rewrite::Top(count)),
            "top_terms_boost" => Ok(Rewrite::TopBoost(count)),
            "top_terms_blended_freqs" => Ok(Rewrite::TopBlended(count)),
            _ => Err(unknown()),
        }
    }

    /// Parses the `rewrite` of a query; by default all terms have a constant score.
    ///
    /// # Errors
    /// Those of [`Rewrite::parse`].
    pub fn named(name: Option<&str>) -> Result<Rewrite, RequestError> {
        name.map_or(Ok(Rewrite::Constant), Rewrite::parse)
    }

    /// Returns the largest number of terms; `None` for all.
    pub fn count_max(self) -> Option<usize> {
        match self {
            Rewrite::Constant | Rewrite::Scoring => None,
            Rewrite::Top(count) | Rewrite::TopBoost(count) | Rewrite::TopBlended(count) => Some(count),
        }
    }
}

/// Makes a query for the terms of `field` that `automaton` accepts. `nearness` computes the boost of a term
/// from the term and its distance. `text` is the query as Lucene prints it.
pub(in crate::query) fn bind_automaton(
    binder: &Binder<'_>,
    field: &Arc<Field>,
    automaton: Arc<dyn TermAutomaton>,
    rewrite: Rewrite,
    nearness: impl Fn(&[u8], u8) -> f32,
    boost: f32,
    text: String,
) -> Result<BoundQuery, Error> {
    let automaton = shown_terms(field, automaton);
    if rewrite == Rewrite::Constant
        || field.runtime.is_some()
        || !field.index
        || field.match_only
        || field.is_wildcard
    {
        return Ok(BoundQuery::constant(Docs::Automaton { field: field.clone(), automaton }, boost, text));
    }
    let found = collect_terms(binder, field, &*automaton, rewrite, nearness)?;
    let mut node = BoolNode { min_should_match: 1, ..BoolNode::default() };
    let most_frequent = match rewrite {
        Rewrite::TopBlended(_) => {
            let mut most = 0;
            for term in found.keys() {
                most = most.max(binder.doc_freq(field, term)?);
            }
            Some(most)
        }
        _ => None,
    };
    for (term, nearness) in found {
        // A negative similarity counts when the best terms are selected, but not for the score.
        let boost = boost * nearness.max(0.0);
        node.should.push(match rewrite {
            Rewrite::TopBoost(_) => {
                let text = format!("{}:{}", field.path, String::from_utf8_lossy(&term));
                BoundQuery::constant(Docs::Terms { field: field.clone(), terms: [term].into() }, boost, text)
            }
            _ => binder.scored_term_among(field, &term, boost, most_frequent)?,
        });
    }
    Ok(match node.should.len() {
        0 => BoundQuery::nothing("no term matches"),
        1 => node.should.remove(0),
        _ => node.into(),
    })
}

/// Returns the terms of `field` that `automaton` accepts, each with what `nearness` returns for the term and
/// its distance. If the rewrite keeps only the best terms, only those are returned.
pub(in crate::query) fn collect_terms(
    binder: &Binder<'_>,
    field: &Field,
    automaton: &dyn TermAutomaton,
    rewrite: Rewrite,
    nearness: impl Fn(&[u8], u8) -> f32,
) -> Result<BTreeMap<Box<[u8]>, f32>, Error> {
    let mut found: BTreeMap<Box<[u8]>, f32> = BTreeMap::new();
    binder.expand_automaton(field, automaton, |cursor, distance| {
        let nearness = nearness(cursor.term(), distance);
        found.insert(cursor.term().into(), nearness);
        // All terms are clauses, whose number is limited.
        if rewrite == Rewrite::Scoring {
            check_clauses(found.len())?;
        } else if found.len() > 2 * TERMS_HELD_MAX {
            keep_best(&mut found, rewrite.count_max().unwrap_or(TERMS_HELD_MAX).min(TERMS_HELD_MAX));
        }
        Ok(())
    })?;
    if let Some(count_max) = rewrite.count_max() {
        keep_best(&mut found, count_max);
    }
    Ok(found)
}

/// Returns the terms of a pattern in a span query whose rewrite keeps the best terms.
pub(in crate::query) fn best_terms(
    binder: &Binder<'_>,
    field: Arc<Field>,
    automaton: Arc<dyn TermAutomaton>,
    rewrite: Rewrite,
) -> Result<Expansion, Error> {
    let automaton = shown_terms(&field, automaton);
    let found = collect_terms(binder, &field, &*automaton, rewrite, |_, _| 1.0)?;
    Ok(Expansion::Best(field, found))
}

/// Number of terms that are kept while the best are searched.
const TERMS_HELD_MAX: usize = 10_000;

/// Keeps the terms with the highest similarity, of equal ones the first.
fn keep_best(found: &mut BTreeMap<Box<[u8]>, f32>, count_max: usize) {
    if found.len() <= count_max {
        return;
    }
    let mut all: Vec<(Box<[u8]>, f32)> = std::mem::take(found).into_iter().collect();
    all.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    all.truncate(count_max);
    found.extend(all);
}
