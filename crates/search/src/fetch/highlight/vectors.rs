//! The fast vector highlighter: finds terms and phrases of the query in the terms of all values, and shows
//! fragments around them.
//!
//! Elasticsearch reads the terms from term vectors; here the values are analyzed again. Source: Lucene's
//! `FieldQuery`, `FieldTermStack`, `FieldPhraseList`, `BaseFragListBuilder` and `BaseFragmentsBuilder`;
//! Elasticsearch's `FastVectorHighlighter` and `CustomFieldQuery`.

use std::collections::HashMap;

use limber_mapping::{Field, RequestError};
use limber_work as work;

use super::boundaries::{find_end, find_start};
use super::fragments::{FieldHighlight, escape};
use super::parts::WeightedPart;
use super::tokens::Tokens;
use super::vector_terms::{expanded, flat};
use crate::error::Result;

/// A fragment is at least this many times as long as the margin before a match.
const SIZE_FACTOR: usize = 3;

/// A field whose matches are marked, and its values.
pub(crate) struct MatchedField<'f> {
    pub field: &'f Field,
    pub values: &'f [String],
}

/// A node in the tree of the words that may follow the words so far.
#[derive(Default)]
struct Node {
    next: HashMap<Box<[u8]>, Node>,
    end: Option<End>,
}

/// The end of a term or phrase.
#[derive(Clone, Copy)]
struct End {
    slop: u32,
    boost: f32,
    /// The number that chooses its tags.
    number: usize,
}

/// A token that is part of a term or phrase.
#[derive(Clone)]
struct Found {
    term: Box<[u8]>,
    start: usize,
    end: usize,
    position: i64,
}

/// The found tokens at one position.
type Place = Vec<Found>;

/// A match: the ranges of the text that it marks, ascending.
#[derive(Clone)]
struct Marked {
    places: Vec<(usize, usize)>,
    boost: f32,
    number: usize,
}

/// A piece of the text to show.
struct Piece {
    start: usize,
    end: usize,
    marked: Vec<Marked>,
    boost: f32,
}

impl Marked {
    fn start(&self) -> usize {
        self.places.first().map_or(0, |place| place.0)
    }

    fn end(&self) -> usize {
        self.places.last().map_or(0, |place| place.1)
    }

    fn overlaps(&self, other: &Marked) -> bool {
        let (start, end, other_start, other_end) = (self.start(), self.end(), other.start(), other.end());
        start <= other_start && other_start < end
            || start < other_end && other_end <= end
            || other_start <= start && start < other_end
            || other_start < end && end <= other_end
    }
}

impl FieldHighlight<'_> {
    /// Returns the fast vector highlighter's fragments of `values`. `matched`: the fields whose matches are
    /// marked. If empty, the field is left out.
    ///
    /// # Errors
    /// The fragment size is too small for the margin before a match.
    pub fn vector_fragments(
        &self,
        values: &[String],
        matched: &[MatchedField<'_>],
        parts: &[WeightedPart<'_>],
    ) -> Result<Vec<String>> {
        let margin = usize::try_from(self.options.fragment_offset).map_err(|_| {
            let offset = self.options.fragment_offset;
            RequestError::illegal_argument(format!("margin({offset}) is too small. It must be 0 or higher."))
        })?;
        let size_min = (margin * SIZE_FACTOR).max(1);
        let size = self.options.fragment_size;
        if self.options.fragments_max > 0 && size < size_min {
            return Err(RequestError::illegal_argument(format!(
                "fragCharSize({size}) is too small. It must be {size_min} or higher."
            ))
            .into());
        }
        let mut lists = Vec::with_capacity(matched.len());
        for one in matched {
            let path = self.options.require_field_match.then(|| one.field.path.to_string());
            lists.push(self.marked(one, path.as_deref(), parts));
        }
        let marked = match lists.len() {
            1 => lists.remove(0),
            _ => merged(lists.into_iter().flatten().collect()),
        };
        let mut pieces = match self.options.fragments_max {
            0 if marked.is_empty() => Vec::new(),
            0 => {
                let boost = marked.iter().map(|one| one.boost).sum();
                vec![Piece { start: 0, end: usize::MAX, marked, boost }]
            }
            _ => pieces(marked, margin, size),
        };
        let count_max = if self.options.fragments_max == 0 { usize::MAX } else { self.options.fragments_max };
        let texts: Vec<Vec<u16>> = values.iter().map(|value| value.encode_utf16().collect()).collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut shown = self.show(std::mem::take(&mut pieces), &texts, count_max)?;
        if shown.is_empty() && self.options.no_match_size > 0 {
            let end = self.options.no_match_size;
            shown = self.show(vec![Piece { start: 0, end, marked: Vec::new(), boost: 0.0 }], &texts, 1)?;
        }
        Ok(shown)
    }

    /// Returns the matches in one field, in the order of the text.
    fn marked(
        &self,
        matched: &MatchedField<'_>,
        path: Option<&str>,
        parts: &[WeightedPart<'_>],
    ) -> Vec<Marked> {
        let tokens: Vec<Tokens> =
            matched.values.iter().map(|value| Tokens::of(matched.field, value, self.start_max)).collect();
        let wanted = expanded(flat(parts, &tokens, self.options.require_field_match));
        let mut root = Node::default();
        for (number, wanted) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.path.as_deref() == path)
        {
            let mut node = &mut root;
            for term in &wanted.terms {
                node = node.next.entry(term.clone()).or_default();
            }
            node.end = Some(End { slop: wanted.slop, boost: wanted.boost, number });
        }
        let terms = wanted.iter().filter(|wanted| wanted.path.as_deref() == path);
        let terms = terms.flat_map(|wanted| wanted.terms.iter().map(|term| &**term)).collect();
        matches(places(matched, &tokens, &terms), &root, self.options.phrase_limit)
    }

    /// Returns at most `count_max` pieces, with tags around the marked ranges.
    fn show(&self, mut pieces: Vec<Piece>, values: &[Vec<u16>], count_max: usize) -> Result<Vec<String>> {
        if values.len() > 1 {
            pieces = by_value(pieces, values);
        }
        if self.options.fragments_max > 0 && self.options.by_score {
            pieces
                .sort_by(|left, right| right.boost.total_cmp(&left.boost).then(left.start.cmp(&right.start)));
        }
        let mut text: Vec<u16> = Vec::new();
        let mut next = 0;
        let pieces = pieces.into_iter().take(count_max);
        pieces.map(|piece| self.shown(&piece, values, &mut text, &mut next)).collect()
    }

    /// Returns one piece with its tags. `text` is the first `next` values, each followed by a space.
    fn shown(
        &self,
        piece: &Piece,
        values: &[Vec<u16>],
        text: &mut Vec<u16>,
        next: &mut usize,
    ) -> Result<String> {
        while text.len() < piece.end && *next < values.len() {
            text.extend_from_slice(&values[*next]);
            text.push(u16::from(b' '));
            *next += 1;
        }
        let length = text.len().saturating_sub(1);
        let end = if length < piece.end { length } else { find_end(self.options, text, piece.end) };
        let start = find_start(self.options, text, piece.start.min(text.len())).min(end);
        let mut out = String::new();
        let mut at = start;
        let write = |from: usize, to: usize, out: &mut String| {
            let Some(units) = text.get(from..to.min(end)) else { return };
            let plain = String::from_utf16_lossy(units);
            if self.escapes { escape(&plain, out) } else { out.push_str(&plain) }
        };
        for marked in &piece.marked {
            let tags =
                (tag(&self.options.pre_tags, marked.number), tag(&self.options.post_tags, marked.number));
            for (from, to) in &marked.places {
                if *from < at || *to > end {
                    continue;
                }
                work::check_growth(out.len(), out.capacity(), tags.0.len() + tags.1.len())?;
                write(at, *from, &mut out);
                out.push_str(tags.0);
                write(*from, *to, &mut out);
                out.push_str(tags.1);
                at = *to;
            }
        }
        write(at, end, &mut out);
        Ok(out)
    }
}

/// Returns the tag for a number; tags take turns.
fn tag(tags: &[String], number: usize) -> &str {
    match tags {
        [] => "",
        tags => &tags[number % tags.len()],
    }
}

/// Returns the tokens that are part of terms and phrases, by position. Offsets are UTF-16 units of all
/// values, joined with one unit between them.
fn places(
    matched: &MatchedField<'_>,
    tokens: &[Tokens],
    terms: &std::collections::HashSet<&[u8]>,
) -> Vec<Place> {
    let (mut base, mut position) = (0, 0i64);
    let mut found: Vec<Found> = Vec::new();
    for (value, tokens) in matched.values.iter().zip(tokens) {
        for (term, places) in tokens.terms().filter(|(term, _)| terms.contains(term)) {
            found.extend(places.iter().map(|place| {
                let token = tokens.get(*place);
                let position = position + i64::from(token.position);
                Found { term: term.into(), start: base + token.start, end: base + token.end, position }
            }));
        }
        base += super::units::count(value) + 1;
        let last = tokens.last_position().map_or(0, |last| i64::from(last) + 1);
        position += last + i64::from(matched.field.position_increment_gap);
    }
    found.sort_by(|left, right| left.position.cmp(&right.position).then_with(|| left.term.cmp(&right.term)));
    let mut places: Vec<Place> = Vec::new();
    for one in found {
        match places.last_mut() {
            Some(place) if place[0].position == one.position => place.push(one),
            _ => places.push(vec![one]),
        }
    }
    places
}

/// Returns at most `count_max` matches, preferring the longest phrases.
fn matches(places: Vec<Place>, root: &Node, count_max: usize) -> Vec<Marked> {
    let mut marked: Vec<Marked> = Vec::new();
    let mut at = 0;
    while at < places.len() && marked.len() < count_max {
        let step = |node: &'_ Node, place: &'_ Place| -> Option<usize> {
            place.iter().position(|found| node.next.contains_key(&found.term))
        };
        let Some(first) = step(root, &places[at]) else {
            at += 1;
            continue;
        };
        let mut candidate = vec![&places[at][first]];
        let mut node = &root.next[&places[at][first].term];
        at += 1;
        while let Some(place) = places.get(at)
            && let Some(chosen) = step(node, place)
        {
            candidate.push(&place[chosen]);
            node = &node.next[&place[chosen].term];
            at += 1;
        }
        // If the whole sequence is not a phrase, its beginning may be one. The remaining tokens are then
        // searched again.
        loop {
            if let Some(end) = node_of(root, &candidate).and_then(|node| valid_end(node, &candidate)) {
                add(marked_of(&candidate, end), &mut marked);
                break;
            }
            if candidate.len() < 2 {
                break;
            }
            candidate.pop();
            at -= 1;
        }
    }
    marked
}

fn node_of<'n>(root: &'n Node, candidate: &[&Found]) -> Option<&'n Node> {
    candidate.iter().try_fold(root, |node, found| node.next.get(&found.term))
}

/// Returns the end of the candidate if it is a term or phrase and its words are near enough.
fn valid_end(node: &Node, candidate: &[&Found]) -> Option<End> {
    let end = node.end?;
    let is_near =
        |pair: &[&Found]| (pair[1].position - pair[0].position - 1).unsigned_abs() <= u64::from(end.slop);
    candidate.windows(2).all(is_near).then_some(end)
}

fn marked_of(candidate: &[&Found], end: End) -> Marked {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut previous = None;
    for found in candidate {
        match places.last_mut() {
            Some(place) if previous == Some(found.position - 1) => place.1 = found.end,
            _ => places.push((found.start, found.end)),
        }
        previous = Some(found.position);
    }
    Marked { places, boost: end.boost, number: end.number }
}

/// Adds a match; if it overlaps an earlier one, it only adds to that one's weight.
fn add(one: Marked, all: &mut Vec<Marked>) {
    let near = all.iter().rev().take_while(|other| other.end() > one.start()).count();
    let first = all.len() - near;
    match all[first..].iter_mut().find(|other| other.overlaps(&one)) {
        Some(other) => other.boost += one.boost,
        None => all.push(one),
    }
}

/// Sorts the matches of several fields; those that overlap or touch become one.
fn merged(mut all: Vec<Marked>) -> Vec<Marked> {
    all.sort_by(|left, right| {
        (left.start(), left.end()).cmp(&(right.start(), right.end())).then(left.boost.total_cmp(&right.boost))
    });
    let mut groups: Vec<(usize, Vec<Marked>)> = Vec::new();
    for one in all {
        match groups.last_mut() {
            Some((end, group)) if one.start() <= *end => {
                *end = (*end).max(one.end());
                group.push(one);
            }
            _ => groups.push((one.end(), vec![one])),
        }
    }
    let join = |(_, mut group): (usize, Vec<Marked>)| {
        if group.len() == 1 {
            return group.remove(0);
        }
        let (number, boost) = (group[0].number, group.iter().map(|one| one.boost).sum());
        let mut places: Vec<(usize, usize)> = group.into_iter().flat_map(|one| one.places).collect();
        places.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for place in places {
            match joined.last_mut() {
                Some(last) if place.0 <= last.1 => last.1 = last.1.max(place.1),
                _ => joined.push(place),
            }
        }
        Marked { places: joined, boost, number }
    };
    groups.into_iter().map(join).collect()
}

/// Returns pieces of about `size` units around the matches, from left to right.
fn pieces(marked: Vec<Marked>, margin: usize, size: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut queue = marked.into_iter().peekable();
    let mut behind = 0;
    while let Some(first) = queue.next() {
        // This match begins before the previous piece ends, so that piece cuts it off.
        if first.start() < behind {
            continue;
        }
        let start = first.start();
        let mut end = first.end();
        let span_start = start.saturating_sub(margin).max(behind);
        let span_end = end.max(span_start.saturating_add(size));
        let is_short = |one: &Marked, end: usize| one.places.len() <= 1 || end - start <= size;
        let mut inside = Vec::new();
        if is_short(&first, end) {
            inside.push(first);
        }
        while let Some(one) = queue.next_if(|one| one.end() <= span_end) {
            end = one.end();
            if is_short(&one, end.max(start)) {
                inside.push(one);
            }
        }
        if inside.is_empty() {
            continue;
        }
        let length = end.saturating_sub(start);
        let begin = start.saturating_sub(size.saturating_sub(length) / 2).max(behind);
        behind = begin + length.max(size);
        let boost = inside.iter().map(|one| one.boost).sum();
        pieces.push(Piece { start: begin, end: behind, marked: inside, boost });
    }
    pieces
}

/// Splits pieces at the ends of values.
fn by_value(pieces: Vec<Piece>, values: &[Vec<u16>]) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    'pieces: for mut piece in pieces {
        let mut value_end = 0;
        for value in values {
            if value.is_empty() {
                value_end += 1;
                continue;
            }
            let value_start = value_end;
            value_end += value.len() + 1;
            if value_start <= piece.start && piece.end <= value_end && piece.start <= value_end {
                found.push(piece);
                continue 'pieces;
            }
            let Some(first) = piece.marked.first() else { continue 'pieces };
            if piece.start >= value_end || first.start() >= value_end {
                continue;
            }
            let inside = |at: usize| (value_start < at && at < value_end).then_some(at);
            let start = inside(piece.start).unwrap_or(value_start);
            let end = inside(piece.end).unwrap_or(value_end);
            let mut marked: Vec<Marked> = Vec::new();
            for one in &mut piece.marked {
                let mut here: Vec<(usize, usize)> = Vec::new();
                one.places.retain(|place| {
                    if place.0 >= value_end {
                        return true;
                    }
                    let ends_here = place.1 < value_end;
                    here.push((place.0.max(value_start), if ends_here { place.1 } else { value_end - 1 }));
                    !ends_here
                });
                if !here.is_empty() {
                    marked.push(Marked { places: here, ..*one });
                }
            }
            piece.marked.retain(|one| !one.places.is_empty());
            let boost = marked.iter().map(|one| one.boost).sum();
            found.push(Piece { start, end, marked, boost });
        }
    }
    found.sort_by_key(|piece| piece.start);
    found
}
