//! Passages of a field's values: the pieces of text around matches, and which of them are best.
//!
//! Source: Lucene's `FieldHighlighter` and `PassageScorer`.

use super::breaks::Passages;
use super::fragments::FieldHighlight;
use super::matches::{Match, matches_in};
use super::parts::Part;
use super::tokens::Tokens;
use super::units;

/// UTF-16 units after which a longer text scores less (`PassageScorer`).
const PIVOT: f32 = 87.0;
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// A passage of one value. Places are UTF-16 units of it.
#[derive(Debug)]
pub(super) struct Passage {
    /// Which of the values.
    pub value: usize,
    pub start: usize,
    pub end: usize,
    /// By their start.
    pub matches: Vec<Match>,
    pub score: f32,
}

/// UTF-16 units of the values as one text, with a separator between them.
pub(crate) fn content_length(values: &[String]) -> usize {
    values.iter().map(|value| units::count(value) + 1).sum::<usize>().saturating_sub(1)
}

/// All passages with a match, in the order of the text.
pub(super) fn passages_of(
    highlight: &FieldHighlight<'_>,
    values: &[String],
    parts: &[Part<'_>],
) -> Vec<Passage> {
    let mut found = Vec::new();
    if parts.is_empty() {
        return found;
    }
    let content_length = content_length(values);
    let mut base = 0;
    for (number, value) in values.iter().enumerate() {
        let is_wanted = |start: usize| highlight.start_max.is_none_or(|most| base + start <= most);
        if !is_wanted(0) {
            break;
        }
        // Tokens are counted from the start of their value, matches from that of the text.
        let tokens = Tokens::of(highlight.field, value, highlight.start_max);
        let mut matches = matches_in(parts, &tokens);
        matches.retain(|one| is_wanted(one.start));
        let first = found.len();
        add_passages(highlight, number, value, matches, &mut found);
        for passage in &mut found[first..] {
            passage.score = score(passage, base, content_length);
        }
        base += units::count(value) + 1;
    }
    found
}

/// Lays passages around the matches of one value.
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
        // A phrase may reach over the ends of its passage.
        let (start, end) = (start.min(one.start).max(last_end), end.max(one.end));
        found.push(Passage { value: number, start, end, matches: vec![one], score: 0.0 });
    }
}

/// `PassageScorer#score`, for matches of which each part occurs once in the text, as its enumeration of matches says.
fn score(passage: &Passage, base: usize, content_length: usize) -> f32 {
    let weight =
        (K1 + 1.0) * (1.0 + (1.0 + content_length as f64 / f64::from(PIVOT) + 0.5) / 1.5).ln() as f32;
    let length = (passage.end - passage.start) as f32;
    let norm = K1 * ((1.0 - B) + B * (length / PIVOT));
    let mut parts: Vec<usize> = passage.matches.iter().map(|one| one.part).collect();
    parts.sort_unstable();
    let runs = parts.chunk_by(|left, right| left == right);
    let sum: f32 = runs.map(|run| weight * (run.len() as f32 / (run.len() as f32 + norm))).sum();
    sum * (1.0 + 1.0 / (PIVOT + (base + passage.start) as f32).ln())
}

/// The passages that score most, at most `count`, in the order of the text; 0: all of them.
pub(super) fn best(mut passages: Vec<Passage>, count: usize) -> Vec<Passage> {
    if count == 0 || passages.len() <= count {
        return passages;
    }
    let mut order: Vec<usize> = (0..passages.len()).collect();
    // Of equal ones the later ones stay.
    order.sort_by(|left, right| {
        passages[*right].score.total_cmp(&passages[*left].score).then(right.cmp(left))
    });
    let mut is_kept = vec![false; passages.len()];
    order.iter().take(count).for_each(|place| is_kept[*place] = true);
    let mut kept = is_kept.into_iter();
    passages.retain(|_| kept.next() == Some(true));
    passages
}
