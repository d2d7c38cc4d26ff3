//! The terms and phrases that the fast vector highlighter searches for. Source: Lucene's `FieldQuery`,
//! Elasticsearch's `CustomFieldQuery`.

use std::collections::HashSet;

use limber_work as work;

use super::parts::{Part, WeightedPart};
use super::tokens::Tokens;
use crate::matcher::selects_constant;
use crate::primitives::{PhraseNode, SpanTree};

/// Phrases with more alternatives than this are searched for word by word.
const ALTERNATIVES_MAX: usize = 16;

/// A term or phrase to search for.
#[derive(Clone, PartialEq)]
pub(super) struct Wanted {
    /// The path of its field; `None` for any field.
    pub path: Option<String>,
    /// Its words in order; a term has one.
    pub terms: Vec<Box<[u8]>>,
    /// How far the words may be from their positions.
    pub slop: u32,
    /// The weight of a match when fragments are compared.
    pub boost: f32,
}

/// Returns the terms and phrases of a query, each once, in the query's order.
pub(super) fn flat(parts: &[WeightedPart<'_>], tokens: &[Tokens], by_field: bool) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut seen = HashSet::new();
    for WeightedPart { part, boost, field } in parts {
        let path = by_field.then(|| field.path.to_string());
        let mut add = |terms: Vec<Box<[u8]>>, slop: u32| {
            if seen.insert((path.clone(), terms.clone(), slop, boost.to_bits())) {
                wanted.push(Wanted { path: path.clone(), terms, slop, boost: *boost });
            }
        };
        match part {
            Part::Term(term) => add(vec![(*term).into()], 0),
            Part::Terms(docs) => {
                let selected = tokens.iter().flat_map(Tokens::terms).map(|(term, _)| term);
                let mut selected: Vec<&[u8]> =
                    selected.filter(|term| selects_constant(docs, Some(term))).collect();
                selected.sort_unstable();
                selected.dedup();
                selected.into_iter().for_each(|term| add(vec![term.into()], 0));
            }
            Part::Phrase(phrase) => {
                for terms in ways(phrase) {
                    let slop = if terms.len() > 1 { phrase.slop } else { 0 };
                    add(terms, slop);
                }
            }
            Part::Spans(SpanTree::Term { term, .. }) => add(vec![term.clone()], 0),
            // Lucene's highlighter does not support these.
            Part::Spans(_) | Part::Intervals(_) | Part::MoreLikeThis(_) => {}
        }
    }
    wanted
}

/// Returns every way to choose a word for each position of a phrase; with too many alternatives, the single
/// words.
fn ways(phrase: &PhraseNode) -> Vec<Vec<Box<[u8]>>> {
    let alternatives: usize = phrase.slots.iter().map(|(_, terms)| terms.len()).sum();
    let is_choice = phrase.slots.iter().any(|(_, terms)| terms.len() > 1);
    if is_choice && alternatives > ALTERNATIVES_MAX {
        return phrase
            .slots
            .iter()
            .flat_map(|(_, terms)| terms.iter().map(|term| vec![term.clone()]))
            .collect();
    }
    let mut ways: Vec<Vec<Box<[u8]>>> = vec![Vec::new()];
    for (_, terms) in &phrase.slots {
        let longer = |way: &Vec<Box<[u8]>>| -> Vec<Vec<Box<[u8]>>> {
            terms.iter().map(|term| way.iter().chain([term]).cloned().collect()).collect()
        };
        ways = ways.iter().flat_map(longer).collect();
    }
    ways
}

/// Largest number of phrases that overlapping ones form. They are only marked, so a few too few do no harm.
const OVERLAPS_MAX: usize = 1_000;

/// The phrases that were formed: path, words and slop.
type Seen = HashSet<(Option<String>, Vec<Box<[u8]>>, u32)>;

/// Adds the phrases that two overlapping ones form, so that both are marked where they follow one another.
pub(super) fn expanded(flat: Vec<Wanted>) -> Vec<Wanted> {
    let mut all: Vec<Wanted> = Vec::with_capacity(flat.len());
    let mut seen = Seen::new();
    for (at, one) in flat.iter().enumerate() {
        all.push(one.clone());
        if one.terms.len() < 2 {
            continue;
        }
        for other in flat[at + 1..].iter().filter(|other| other.terms.len() > 1) {
            if one.slop == other.slop && one.path == other.path {
                if seen.len() >= OVERLAPS_MAX || work::is_over() {
                    continue;
                }
                add_overlaps(one, other, &mut seen, &mut all);
                add_overlaps(other, one, &mut seen, &mut all);
            }
        }
    }
    all
}

/// Adds the phrases that begin as `first` and continue as `second`, where the end of one is the beginning
/// of the other.
fn add_overlaps(first: &Wanted, second: &Wanted, seen: &mut Seen, all: &mut Vec<Wanted>) {
    for from in 1..first.terms.len() {
        let shared = first.terms.len() - from;
        if shared < second.terms.len() && first.terms[from..] == second.terms[..shared] {
            let terms: Vec<_> = first.terms.iter().chain(&second.terms[shared..]).cloned().collect();
            if seen.insert((first.path.clone(), terms.clone(), first.slop)) {
                all.push(Wanted { path: first.path.clone(), terms, slop: first.slop, boost: 1.0 });
            }
        }
    }
}
