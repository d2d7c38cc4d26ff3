//! Passages of a field's values: the pieces of text around matches, and which of them are best.
//!
//! Source: Lucene's `FieldHighlighter` and `PassageScorer`.

use std::collections::HashMap;

use limber_mapping::Field;

use super::breaks::Passages;
use super::fragments::FieldHighlight;
use super::matches::{Match, Words, matches_in, words_in};
use super::parts::Part;
use super::placed::Text;
use super::tokens::Tokens;
use super::units;
use crate::error::Result;

/// Longer texts than this, in UTF-16 units, score less (`PassageScorer`).
const PIVOT: f32 = 87.0;
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// A passage of one value. Positions are UTF-16 units of the value.
#[derive(Debug)]
pub(super) struct Passage {
    /// Index of the value.
    pub value: usize,
    pub start: usize,
    pub end: usize,
    /// The matches, by start.
    pub matches: Vec<Match>,
    pub score: f32,
}

/// Returns the UTF-16 units of the values joined into one text, with a separator between them.
pub(crate) fn content_length(values: &[String]) -> usize {
    values.iter().map(|value| units::count(value) + 1).sum::<usize>().saturating_sub(1)
}

/// Numbers of parts of one field, at least.
const PARTS_OF_FIELD: usize = 1 << 32;

/// Returns all passages with a match, in the order of the text.
pub(super) fn passages_of(
    highlight: &FieldHighlight<'_>,
    values: &[String],
    parts: &[Part<'_>],
) -> Result<Vec<Passage>> {
    let mut found = Vec::new();
    let others = highlight.others.iter().map(|other| (&*other.field, other.parts.as_slice()));
    let fields = std::iter::once((highlight.field, parts)).chain(others);
    let fields: Vec<_> = fields.filter(|(_, parts)| !parts.is_empty()).collect();
    if fields.is_empty() {
        return Ok(found);
    }
    let content_length = content_length(values);
    let mut starts = Vec::with_capacity(values.len());
    let mut base = 0;
    let is_wanted = |at: usize| highlight.start_max.is_none_or(|most| at <= most);
    for value in values {
        if !is_wanted(base) {
            break;
        }

        starts.push(base);
        base += units::count(value) + 1;
    }
    let values = &values[..starts.len()];
    let mut matches: Vec<Vec<Match>> = vec![Vec::new(); values.len()];
    let mut words = Words::default();
    for (number, (field, parts)) in fields.into_iter().enumerate() {
        let of_field = matches_of_field(highlight, field, values, parts, &mut words)?;
        for (matches, mut more) in matches.iter_mut().zip(of_field) {
            more.iter_mut().for_each(|one| one.part = one.part.wrapping_add(number * PARTS_OF_FIELD));
            matches.append(&mut more);
        }
    }
    // How often each part matches. With `require_field_match`, each match counts as the only one of its
    // part.
    let mut freqs: HashMap<usize, u32> = HashMap::new();
    if !highlight.options.require_field_match {
        matches.iter().flatten().for_each(|one| *freqs.entry(one.part).or_default() += 1);
    }

    for (number, ((value, base), mut matches)) in values.iter().zip(starts).zip(matches).enumerate() {
        matches.retain(|one| is_wanted(base + one.start));
        matches.sort_unstable();
        let first = found.len();
        add_passages(highlight, number, value, matches, &mut found);
        for passage in &mut found[first..] {
            passage.score = score(passage, base, content_length, &freqs);
        }
    }
    Ok(found)
}

/// Returns the matches of parts of the query in the values as a field's analyzer reads them, by value.
fn matches_of_field<'q>(
    highlight: &FieldHighlight<'_>,
    field: &Field,
    values: &[String],
    parts: &[Part<'q>],
    words: &mut Words<'q>,
) -> Result<Vec<Vec<Match>>> {
    // Tokens are counted from the start of their value, matches from that of the text.
    let tokens: Vec<Tokens> =
        values.iter().map(|value| Tokens::of(field, value, highlight.start_max)).collect();
    let parts = &chosen(parts, field, &tokens);
    let is_whole = highlight.options.require_field_match;
    let mut matches: Vec<Vec<Match>> = tokens
        .iter()
        .map(|tokens| if is_whole { matches_in(parts, tokens) } else { words_in(parts, tokens, words) })
        .collect::<Result<_>>()?;
    if parts.iter().any(Part::is_placed) {
        let text = Text::new(&tokens, is_whole.then_some(field), field.position_increment_gap);
        for one in text.placed(parts)? {
            let token = tokens[one.value].get(one.place);
            // Each token is a match; equal terms are one part.
            let part = parts.len() + one.term;
            matches[one.value].push(Match { start: token.start, end: token.end, part });
        }
    }
    Ok(matches)
}

/// Returns the parts, with only those terms of `more_like_this` queries that are searched for in these
/// values.
fn chosen<'q>(parts: &[Part<'q>], field: &Field, values: &[Tokens]) -> Vec<Part<'q>> {
    let is_there = |term: &[u8]| values.iter().any(|tokens| !tokens.indexes_of(term).is_empty());
    let mut chosen = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::MoreLikeThis(more_like_this) => {
                chosen.extend(more_like_this.terms_in_field(field, is_there).into_iter().map(Part::Term));
            }
            part => chosen.push(*part),
        }
    }
    chosen
}

/// Adds the passages around the matches of one value.
fn add_passages(
    highlight: &FieldHighlight<'_>,
    number: usize,
    value: &str,
    matches: Vec<Match>,
    found: &mut Vec<Passage>,
) {
    let options = highlight.options;
    let boundaries = (options.fragments_max > 0).then_some(options.boundaries);
    let mut cut = None;
    for one in matches {
        let last = found.last_mut().filter(|passage| passage.value == number);
        let last_end = match last {
            Some(passage) if one.start < passage.end => {
                passage.matches.push(one);
                continue;
            }
            Some(passage) => passage.end,
            None => 0,
        };
        let cut = cut.get_or_insert_with(|| Passages::new(value, boundaries, options.fragment_size));
        let (start, end) = cut.around(one.center());
        // A phrase may extend beyond the ends of its passage.
        let (start, end) = (start.min(one.start).max(last_end), end.max(one.end));
        found.push(Passage { value: number, start, end, matches: vec![one], score: 0.0 });
    }
}

/// `PassageScorer#score`, for matches whose parts each occur once in the text, as Lucene's enumeration of
/// matches reports them.
fn score(passage: &Passage, base: usize, content_length: usize, freqs: &HashMap<usize, u32>) -> f32 {
    let count = 1.0 + content_length as f64 / f64::from(PIVOT);
    let weight = |part: usize| {
        let freq = f64::from(freqs.get(&part).copied().unwrap_or(1));
        (K1 + 1.0) * (1.0 + (count + 0.5) / (freq + 0.5)).ln() as f32
    };
    let length = (passage.end - passage.start) as f32;
    let norm = K1 * ((1.0 - B) + B * (length / PIVOT));
    let mut parts: Vec<usize> = passage.matches.iter().map(|one| one.part).collect();
    parts.sort_unstable();
    let runs = parts.chunk_by(|left, right| left == right);
    let sum: f32 = runs.map(|run| weight(run[0]) * (run.len() as f32 / (run.len() as f32 + norm))).sum();
    sum * (1.0 + 1.0 / (PIVOT + (base + passage.start) as f32).ln())
}

/// Returns the passages with the highest scores, at most `count`, in the order of the text; all of them if
/// `count` is 0.
pub(super) fn best(mut passages: Vec<Passage>, count: usize) -> Vec<Passage> {
    if count == 0 || passages.len() <= count {
        return passages;
    }
    let mut order: Vec<usize> = (0..passages.len()).collect();
    // If passages are equal, the later ones are kept.
    order.sort_by(|left, right| {
        passages[*right].score.total_cmp(&passages[*left].score).then(right.cmp(left))
    });
    let mut is_kept = vec![false; passages.len()];
    order.iter().take(count).for_each(|place| is_kept[*place] = true);
    let mut kept = is_kept.into_iter();
    passages.retain(|_| kept.next() == Some(true));
    passages
}
