//! Binds phrases to additional terms of a text field: adjacent terms joined to shingles (`index_phrases`,
//! `search_as_you_type`), and prefixes of terms (`index_prefixes`).
//!
//! Source: `phraseQuery` and `phrasePrefixQuery` of the field types in Elasticsearch's `TextFieldMapper` and
//! `SearchAsYouTypeFieldMapper`.

use std::sync::Arc;

use limber_mapping::{Field, TextShingles};

use super::analysed::AnalysedTerm;
use super::match_text::any_of;
use crate::error::Error;
use crate::primitives::SpanTree;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::spans::bind_span;
use crate::query::term_level::prefix::indexed_prefixes;

/// A position, counted from 0, and the alternative terms there.
pub(in crate::query) type PhraseSlot = (u32, Vec<Box<[u8]>>);

/// Largest number of combinations of terms at adjacent positions; with more of them a phrase is searched by
/// the field's own terms.
const WAYS_MAX: usize = 1024;

/// Groups terms by position.
pub(in crate::query) fn slots_of(terms: &[AnalysedTerm]) -> Vec<PhraseSlot> {
    let mut slots: Vec<PhraseSlot> = Vec::with_capacity(terms.len());
    for (term, position) in terms {
        match slots.last_mut() {
            Some((place, known)) if place == position => known.push(term.clone()),
            _ => slots.push((*position, vec![term.clone()])),
        }
    }
    slots
}

/// Whether words were removed before or between the others.
fn has_gaps(slots: &[PhraseSlot]) -> bool {
    (0..).zip(slots).any(|(at, (position, _))| *position != at)
}

/// Returns the longest shingles of the field that are not longer than a phrase with this number of terms.
fn shingles_for(field: &Field, term_count: usize) -> Option<&TextShingles> {
    field.parts.shingles.iter().rev().find(|shingles| shingles.size <= term_count)
}

/// Joins each `size` adjacent slots to one; `None` if there are too many combinations.
fn shingled(slots: &[PhraseSlot], size: usize) -> Option<Vec<PhraseSlot>> {
    let shingle = |window: &[PhraseSlot]| {
        let mut ways: Vec<Vec<u8>> = vec![Vec::new()];
        for (_, terms) in window {
            if ways.len() * terms.len() > WAYS_MAX {
                return None;
            }
            let longer = ways.iter().flat_map(|way| {
                terms.iter().map(move |term| match way.as_slice() {
                    [] => term.to_vec(),
                    way => [way, b" ", term].concat(),
                })
            });
            ways = longer.collect();
        }
        Some((window[0].0, ways.into_iter().map(Vec::into_boxed_slice).collect()))
    };
    slots.windows(size).map(shingle).collect()
}

/// Returns the field of shingles for the phrase, and the slots of the phrase in that field.
fn in_shingles(
    field: &Field,
    slots: &[PhraseSlot],
    binder: &Binder<'_>,
) -> Option<(Arc<Field>, Vec<PhraseSlot>)> {
    if slots.len() < 2 || has_gaps(slots) {
        return None;
    }
    let shingles = shingles_for(field, slots.len())?;
    let own = binder.shard().mapping.mapped_field(&shingles.path)?.clone();
    Some((own, shingled(slots, shingles.size)?))
}

/// Binds a phrase; `None` if it must be searched by the field's own terms.
pub(in crate::query) fn bind_phrase(
    field: &Field,
    slots: &[PhraseSlot],
    boost: f32,
    binder: &Binder<'_>,
) -> Result<Option<BoundQuery>, Error> {
    let Some((own, mut slots)) = in_shingles(field, slots, binder) else { return Ok(None) };
    Ok(Some(match slots.len() {
        1 => any_of(&own, &slots.remove(0).1, boost, binder)?,
        _ => binder.phrase(&own, slots, 0, boost)?.into(),
    }))
}

/// Binds a phrase whose last term is a prefix; `None` as in [`bind_phrase`].
pub(in crate::query) fn bind_prefix_phrase(
    field: &Arc<Field>,
    slots: &[PhraseSlot],
    boost: f32,
    binder: &Binder<'_>,
) -> Result<Option<BoundQuery>, Error> {
    let parts = &field.parts;
    let is_typed = parts.prefixes.as_ref().is_some_and(|prefixes| prefixes.of_shingles);
    let (own, slots) = match is_typed && !parts.shingles.is_empty() {
        true => match in_shingles(field, slots, binder) {
            Some(found) => found,
            None => return Ok(None),
        },
        false => (field.clone(), slots.to_vec()),
    };
    let Some(((_, last), before)) = slots.split_last() else { return Ok(None) };
    let mut prefixes = None;
    for term in last {
        match indexed_prefixes(binder, &own, &String::from_utf8_lossy(term)) {
            Some(found) => prefixes = Some(found),
            None => return Ok(None),
        }
    }
    let Some(prefixes) = prefixes else { return Ok(None) };
    if before.is_empty() {
        return any_of(&prefixes, last, boost, binder).map(Some);
    }
    if !own.positions {
        return Ok(None);
    }
    let mut spans = Vec::new();
    let mut next = before[0].0;
    for (position, terms) in before {
        if *position > next {
            spans.push(SpanTree::Gap { path: own.path.clone(), width: (position - next) as i32 });
        }
        next = position + 1;
        let terms = terms.iter().map(|term| SpanTree::Term { field: own.clone(), term: term.clone() });
        spans.push(either(terms.collect()));
    }
    let position = slots[before.len()].0;
    if position > next {
        spans.push(SpanTree::Gap { path: own.path.clone(), width: (position - next) as i32 });
    }
    spans.push(either(last.iter().map(|term| SpanTree::masked_term(&prefixes, term, &own)).collect()));
    bind_span(SpanTree::Near { spans, slop: 0, in_order: true }, boost, binder).map(Some)
}

fn either(mut spans: Vec<SpanTree>) -> SpanTree {
    match spans.len() {
        1 => spans.remove(0),
        _ => SpanTree::Any(spans),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(terms: &[(&str, u32)]) -> Vec<PhraseSlot> {
        let terms: Vec<AnalysedTerm> =
            terms.iter().map(|(term, position)| (term.as_bytes().into(), *position)).collect();
        slots_of(&terms)
    }

    #[test]
    fn shingles_are_all_ways_through_neighbours() {
        let slots = slots(&[("a", 0), ("b", 1), ("c", 1), ("d", 2)]);
        assert!(!has_gaps(&slots));
        let shown: Vec<Vec<String>> = shingled(&slots, 2)
            .unwrap()
            .into_iter()
            .map(|(_, terms)| terms.iter().map(|term| String::from_utf8_lossy(term).into_owned()).collect())
            .collect();
        assert_eq!(shown, [["a b", "a c"], ["b d", "c d"]]);
    }

    #[test]
    fn gaps_are_before_terms_and_between_them() {
        assert!(has_gaps(&slots(&[("a", 1)])) && has_gaps(&slots(&[("a", 0), ("b", 2)])));
        assert!(!has_gaps(&slots(&[("a", 0), ("b", 1)])));
    }
}
