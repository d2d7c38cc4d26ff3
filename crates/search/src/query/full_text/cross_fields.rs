//! `cross_fields` of `multi_match`: searches several fields as one, so that each word may be in any of them.
//!
//! Fields with the same analyzer form a group. A word is searched in all fields of a group. All of them get
//! the document frequency of the field where it is highest, so that a match in the rarest field does not
//! dominate. Source: Elasticsearch's `MultiMatchQueryParser`, Lucene's `BlendedTermQuery`.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use serde_json::Value;

use super::analysed::analyse;
use super::match_text::{joined, no_terms};
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::compound::dis_max::{DisMaxNode, check_tie_breaker};
use crate::query::parse::Query;

/// A field and its boost.
type Weighted = (Arc<Field>, f32);

#[derive(Debug)]
pub(in crate::query) struct CrossFields {
    pub text: String,
    pub is_and: bool,
    pub minimum_should_match: Option<String>,
    pub analyzer: Option<String>,
    pub zero_terms_all: bool,
    pub tie_breaker: f32,
    pub lenient: bool,
}

impl CrossFields {
    /// Binds the query. `alone` makes the query on a field that is the only one of its group.
    pub fn bind(
        &self,
        fields: Vec<(Arc<str>, f32)>,
        alone: impl Fn(&str, f32) -> Result<Query, RequestError>,
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        if fields.len() > 1 {
            check_tie_breaker(self.tie_breaker)?;
        }
        let mut queries = Vec::new();
        for group in self.groups(fields, binder) {
            if let [(field, weight)] = group.as_slice() {
                queries.push(binder.query(&alone(&field.path, *weight)?, boost)?);
                continue;
            }
            queries.extend(self.group(&group, boost, binder)?);
        }
        let found_none = queries.is_empty();
        queries.retain(|query| !binder.is_idle(query));
        Ok(match queries.len() {
            0 if found_none => no_terms(self.zero_terms_all, boost),
            0 => BoundQuery::nothing("no field can match"),
            1 => queries.remove(0),
            _ => DisMaxNode { queries, tie_breaker: self.tie_breaker }.into(),
        })
    }

    /// Groups the mapped fields by their analyzers.
    fn groups(&self, fields: Vec<(Arc<str>, f32)>, binder: &Binder<'_>) -> Vec<Vec<Weighted>> {
        let mut groups: Vec<(usize, Vec<Weighted>)> = Vec::new();
        for (path, weight) in fields {
            let Some(field) = binder.field(&path) else { continue };
            let key = if self.analyzer.is_some() { 0 } else { analysis_of(&field) };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => group.push((field, weight)),
                None => groups.push((key, vec![(field, weight)])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// Binds the query on a group of fields; `None` if the analyzer leaves no words.
    fn group(
        &self,
        group: &[Weighted],
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<Option<BoundQuery>, Error> {
        let analyzer = self.analyzer.as_deref();
        let terms = analyse("multi_match", &group[0].0, analyzer, &self.text, true, binder)?;
        let mut words = Vec::with_capacity(terms.len());
        for (term, _) in &terms {
            words.push(self.word(group, term, boost, binder)?);
        }
        joined(words, self.is_and, self.minimum_should_match.as_deref())
    }

    /// Binds a word in any field of a group.
    fn word(
        &self,
        group: &[Weighted],
        term: &[u8],
        boost: f32,
        binder: &Binder<'_>,
    ) -> Result<BoundQuery, Error> {
        let (scored, others): (Vec<&Weighted>, Vec<&Weighted>) =
            group.iter().partition(|(field, _)| is_scored(field));
        let mut blended = Vec::with_capacity(scored.len());
        let frequencies = blended_frequencies(&scored, term, binder)?;
        for ((field, weight), frequency) in scored.into_iter().zip(frequencies) {
            // In Lucene, a field without the term does not contribute to the score, but it can match.
            let boost = if frequency == 0 { 0.0 } else { boost * weight };
            blended.push(binder.scored_term_among(field, term, boost, Some(frequency))?);
        }
        let mut queries = Vec::new();
        for (field, weight) in others {
            let text = Value::from(String::from_utf8_lossy(term));
            queries.push(match binder.term(&field.path, &text, boost * weight) {
                Err(Error::Request(error)) if self.lenient => BoundQuery::nothing(error.reason),
                other => other?,
            });
        }
        queries.extend(match blended.len() {
            0 => None,
            1 => blended.pop(),
            _ => {
                let tie_breaker = self.tie_breaker;
                Some(DisMaxNode { queries: blended, tie_breaker }.into())
            }
        });
        Ok(match queries.len() {
            1 => queries.remove(0),
            _ => DisMaxNode { queries, tie_breaker: 1.0 }.into(),
        })
    }
}

/// Returns a value that is equal for fields that analyse a text in the same way.
pub(in crate::query) fn analysis_of(field: &Field) -> usize {
    let analyzer = field.search_analyzer.as_ref().or(field.analyzer.as_ref());
    match (analyzer, &field.normalizer) {
        (Some(analyzer), _) => Arc::as_ptr(analyzer) as usize,
        (None, Some(normalizer)) => Arc::as_ptr(normalizer) as *const u8 as usize,
        (None, None) => usize::from(field.splits_queries),
    }
}

/// Whether terms of the field are scored by their frequency.
fn is_scored(field: &Field) -> bool {
    field.index && field.scores_by_frequency() && !field.match_only
}

/// Returns the document frequency that is assumed for a term in each of the fields.
fn blended_frequencies(fields: &[&Weighted], term: &[u8], binder: &Binder<'_>) -> Result<Vec<u64>, Error> {
    let (mut frequencies, mut occurrences) = (Vec::with_capacity(fields.len()), u64::MAX);
    for (field, _) in fields {
        frequencies.push(binder.doc_freq(field, term)?);
        occurrences = occurrences.min(binder.statistics(field)?.sum_total_term_freq);
    }
    if fields.len() > 1 {
        blend(&mut frequencies, binder.doc_count().min(occurrences));
    }
    Ok(frequencies)
}

/// Raises all frequencies except zeros to the greatest one, plus one for each smaller distinct frequency, so
/// that a field with a higher frequency is still distinguished. `most` is an upper limit; it is 0 if one of
/// the fields has no values.
fn blend(frequencies: &mut [u64], most: u64) {
    let mut order: Vec<usize> = (0..frequencies.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(frequencies[at]));
    let Some(&first) = order.first() else { return };
    let mut previous = frequencies[first];
    let mut blended = previous.min(most);
    for at in order {
        let own = frequencies[at];
        if own == 0 {
            continue;
        }
        if previous > own {
            blended += 1;
        }
        frequencies[at] = blended.min(most);
        previous = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_blended_to_the_greatest() {
        for (frequencies, most, expected) in [
            (vec![3, 10, 0, 3], 100, vec![11, 10, 0, 11]),
            (vec![5, 5], 100, vec![5, 5]),
            (vec![5, 9], 9, vec![9, 9]),
            (vec![0, 0], 10, vec![0, 0]),
        ] {
            let mut blended = frequencies.clone();
            blend(&mut blended, most);
            assert_eq!(blended, expected, "{frequencies:?}");
        }
    }
}
