//! Highlighting: "which parts of this field's text show why the document matches?"
//!
//! Matches of a query in the values of a field ([`matches`]) are gathered into passages ([`breaks`]); the best of these are shown, with tags around
//! the matches. Source: Lucene's `FieldHighlighter`, `PassageScorer`, and Elasticsearch's `CustomPassageFormatter`.

mod breaks;
mod matches;

use limber_mapping::Field;
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::query::BoundQuery;
use crate::request::HighlightField;
use breaks::Passages;
use matches::{Match, Part, matches_in, parts_of};

/// UTF-16 units after which a longer text scores less (`PassageScorer`).
const PIVOT: f32 = 87.0;
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// A passage of one value.
#[derive(Debug)]
struct Passage {
    value: usize,
    start: usize,
    end: usize,
    matches: Vec<Match>,
    score: f32,
}

/// What is shown of the values of `field`, for a document that `query` matches. Empty: the field is left out.
pub(crate) fn highlight(
    options: &HighlightField,
    escapes: bool,
    field: &Field,
    values: &[String],
    query: &BoundQuery,
    place: (&Segment, DocId),
) -> Result<Vec<String>> {
    let mut parts = Vec::new();
    let wanted = options.require_field_match.then_some(field);
    parts_of(query, wanted, Some(place), &mut parts)?;
    let mut passages = best(passages_of(options, field, values, &parts), options);
    if passages.is_empty() {
        return Ok(summary(options, escapes, values).into_iter().collect());
    }
    if options.by_score {
        // Stable: equal ones stay in the order of the text.
        passages.sort_by(|left, right| right.score.total_cmp(&left.score));
    }
    let shown = passages.iter().map(|passage| format(passage, options, escapes, &values[passage.value]));
    Ok(shown.collect())
}

/// All passages with a match, in the order of the text.
fn passages_of(
    options: &HighlightField,
    field: &Field,
    values: &[String],
    parts: &[Part<'_>],
) -> Vec<Passage> {
    let lengths: Vec<usize> = values.iter().map(|value| value.encode_utf16().count()).collect();
    // Values are one text, with a separator between them.
    let content_length = lengths.iter().sum::<usize>() + lengths.len().saturating_sub(1);
    let boundaries = (options.fragments_max > 0).then_some(options.boundaries);
    let mut found: Vec<Passage> = Vec::new();
    let mut base = 0;
    for (number, value) in values.iter().enumerate() {
        let matches = matches_in(parts, field, value);
        let mut cut = None;
        for one in
            matches.into_iter().filter(|one| options.analyzed_max.is_none_or(|most| base + one.end <= most))
        {
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
        for passage in found.iter_mut().filter(|passage| passage.value == number) {
            passage.score = score(passage, base, content_length);
        }
        base += lengths[number] + 1;
    }
    found
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

/// The passages that score most, in the order of the text.
fn best(mut passages: Vec<Passage>, options: &HighlightField) -> Vec<Passage> {
    if options.fragments_max == 0 || passages.len() <= options.fragments_max {
        return passages;
    }
    let mut order: Vec<usize> = (0..passages.len()).collect();
    // Of equal ones the later ones stay.
    order.sort_by(|left, right| {
        passages[*right].score.total_cmp(&passages[*left].score).then(right.cmp(left))
    });
    let mut is_kept = vec![false; passages.len()];
    order.iter().take(options.fragments_max).for_each(|place| is_kept[*place] = true);
    let mut kept = is_kept.into_iter();
    passages.retain(|_| kept.next() == Some(true));
    passages
}

/// The beginning of the first value, where nothing matches.
fn summary(options: &HighlightField, escapes: bool, values: &[String]) -> Option<String> {
    let value = values.iter().find(|value| !value.is_empty()).filter(|_| options.no_match_size > 0)?;
    let length = value.encode_utf16().count();
    let end = match options.no_match_size < length {
        true => Passages::word_end(value, options.no_match_size),
        false => length,
    };
    let passage = Passage { value: 0, start: 0, end, matches: Vec::new(), score: 0.0 };
    Some(format(&passage, options, escapes, value))
}

fn format(passage: &Passage, options: &HighlightField, escapes: bool, value: &str) -> String {
    let units: Vec<u16> = value.encode_utf16().collect();
    let mut out = String::new();
    let add = |from: usize, to: usize, out: &mut String| {
        let text = String::from_utf16_lossy(&units[from.min(units.len())..to.min(units.len())]);
        match escapes {
            true => escape(&text, out),
            false => out.push_str(&text),
        }
    };
    let mut at = passage.start;
    for one in &passage.matches {
        if one.start > at {
            add(at, one.start, &mut out);
        }
        let end = one.end.min(passage.end);
        if end > at {
            out.push_str(&options.pre_tag);
            add(at.max(one.start), end, &mut out);
            out.push_str(&options.post_tag);
            at = end;
        }
    }
    add(at, at.max(passage.end), &mut out);
    if options.fragments_max == 0 {
        return out;
    }
    // Java's `trim` takes everything up to the space.
    out.trim_matches(|unit: char| unit <= ' ').to_owned()
}

/// Lucene's `SimpleHTMLEncoder`.
fn escape(text: &str, out: &mut String) {
    for unit in text.chars() {
        match unit {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#x27;"),
            '/' => out.push_str("&#x2F;"),
            other => out.push(other),
        }
    }
}
