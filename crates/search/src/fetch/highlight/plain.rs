//! The plain highlighter: each value is divided into fragments of about a given size, and those with the
//! most words of the query are shown.
//!
//! It does not check which clauses match the document: words of every clause that does not exclude are
//! marked; words of phrases and spans only where the phrase or span matches. Source: Lucene's
//! `Highlighter`, `QueryScorer`, `WeightedSpanTermExtractor` and fragmenters; Elasticsearch's
//! `PlainHighlighter`.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use limber_mapping::Field;
use limber_work as work;

use super::fragments::{FieldHighlight, escape};
use super::parts::{Part, WeightedPart};
use super::placed::Text;
use super::spans::Spans;
use super::tokens::{Token, Tokens};
use super::units::{self, Units};
use crate::error::Result;
use crate::matcher::selects_constant;
use crate::primitives::{PhraseNode, SpanTree};
use crate::request::Fragmenter;

/// The weight of a word of the query, and where it counts.
struct Weight {
    weight: f32,
    /// Whether it counts outside of its spans too.
    counts_anywhere: bool,
    /// The spans that it is part of, which words of one tree share; fragments do not cut them.
    spans: Option<Rc<Spans>>,
}

impl Weight {
    fn anywhere(weight: f32) -> Weight {
        Weight { weight, counts_anywhere: true, spans: None }
    }

    fn counts_at(&self, position: i64) -> bool {
        self.counts_anywhere || self.spans.as_ref().is_some_and(|spans| spans.cover(position))
    }
}

type Weights = HashMap<Box<[u8]>, Weight>;

/// A marked piece of one value.
struct Fragment {
    text: String,
    score: f32,
    number: usize,
}

impl FieldHighlight<'_> {
    /// Returns the plain highlighter's fragments of the values of a document. If empty, the field is left
    /// out.
    pub fn plain_fragments(&self, values: &[String], parts: &[WeightedPart<'_>]) -> Result<Vec<String>> {
        let count_max = self.options.fragments_max.max(1);
        let field = self.options.require_field_match.then_some(self.field);
        let mut fragments: Vec<Fragment> = Vec::new();
        let mut base = 0;
        for value in values {
            let tokens = Tokens::of(self.field, value, self.start_max);
            let cut = self.cut(value, &tokens, &weights(parts, &tokens, field)?)?;
            // Elasticsearch numbers fragments by how many it kept of the values before, not by how many
            // there are.
            let kept = cut.len().min(count_max);
            fragments.extend(best(cut, count_max).into_iter().map(|mut fragment| {
                fragment.number += base;
                fragment
            }));
            base += kept;
        }
        if self.options.by_score {
            fragments.sort_by(|left, right| right.score.total_cmp(&left.score));
        } else {
            fragments.sort_by_key(|fragment| fragment.number);
        }
        if !(self.options.fragments_max == 0 && values.len() > 1) {
            fragments.truncate(count_max);
        }
        if fragments.is_empty() {
            return Ok(self.excerpt(values).into_iter().collect());
        }
        Ok(fragments.into_iter().map(|fragment| fragment.text).collect())
    }

    /// Returns the beginning of the first value up to the end of a word, for a field without matches.
    fn excerpt(&self, values: &[String]) -> Option<String> {
        let size = self.options.no_match_size;
        let value = values.first().filter(|_| size > 0)?;
        if units::count(value) <= size {
            return Some(value.clone()).filter(|value| !value.is_empty());
        }
        let tokens = Tokens::of(self.field, value, self.start_max);
        let mut end = 0;
        for token in tokens.list() {
            if token.end >= size {
                end = if token.end == size { size } else { end };
                break;
            }
            end = token.end;
        }
        (end > 0).then(|| Units::of(value).slice(0, end).to_owned())
    }

    /// Returns all fragments of a value.
    fn cut(&self, value: &str, tokens: &Tokens, weights: &Weights) -> Result<Vec<Fragment>> {
        let terms = tokens.by_place();
        let mut cutter = Cutter {
            highlight: self,
            units: Units::of(value),
            out: String::new(),
            shown: 0,
            fragments: Vec::new(),
            begin: 0,
            score: 0.0,
        };
        let mut borders = Borders::new(self, units::count(value));
        let mut group = Group::default();
        let mut seen: HashSet<&[u8]> = HashSet::new();
        let mut previous = -1;
        for (place, token) in tokens.list().iter().enumerate() {
            // A word may have as many spans as there are tokens.
            work::check_beyond_deadline()?;
            let step = i64::from(token.position) - previous;
            previous = i64::from(token.position);
            if group.count > 0 && token.start >= group.end {
                cutter.mark(&group)?;
                group = Group::default();
                if borders.is_reached(token, step, weights.get(terms[place])) {
                    cutter.end_fragment();
                    seen.clear();
                }
            }
            let score = match weights.get(terms[place]) {
                Some(weight) if weight.counts_at(i64::from(token.position)) => {
                    if seen.insert(terms[place]) {
                        cutter.score += weight.weight;
                    }
                    weight.weight
                }
                _ => 0.0,
            };
            group.add(token, score);
        }
        if group.count > 0 {
            cutter.mark(&group)?;
        }
        Ok(cutter.finish(units::count(value)))
    }
}

/// Returns the fragments with the highest scores, at most `count`, best first; of equal fragments, the
/// first.
fn best(mut fragments: Vec<Fragment>, count: usize) -> Vec<Fragment> {
    fragments.sort_by(|left, right| right.score.total_cmp(&left.score).then(left.number.cmp(&right.number)));
    fragments.truncate(count);
    fragments.retain(|fragment| fragment.score > 0.0);
    fragments
}

/// Writes a value with its marks and divides it into fragments.
struct Cutter<'h, 'v> {
    highlight: &'h FieldHighlight<'h>,
    units: Units<'v>,
    out: String,
    /// UTF-16 units of the value that have been written.
    shown: usize,
    fragments: Vec<Fragment>,
    /// Offset in `out` where the current fragment begins.
    begin: usize,
    score: f32,
}

impl Cutter<'_, '_> {
    fn write(&mut self, from: usize, to: usize) {
        let text = self.units.slice(from, to);
        match self.highlight.escapes {
            true => escape(text, &mut self.out),
            false => self.out.push_str(text),
        }
    }

    fn mark(&mut self, group: &Group) -> Result<()> {
        let options = self.highlight.options;
        // A group is as long as its words, which may grow when escaped.
        let tag_bytes = options.pre_tag().len() + options.post_tag().len();
        work::check_growth(self.out.len(), self.out.capacity(), tag_bytes)?;
        work::check_beyond_deadline()?;
        if group.mark_start > self.shown {
            self.write(self.shown, group.mark_start);
        }
        let is_marked = group.score > 0.0;
        if is_marked {
            self.out.push_str(self.highlight.options.pre_tag());
        }
        self.write(group.mark_start, group.mark_end);
        if is_marked {
            self.out.push_str(self.highlight.options.post_tag());
        }
        self.shown = self.shown.max(group.mark_end);
        Ok(())
    }

    fn end_fragment(&mut self) {
        let text = self.out[self.begin..].to_owned();
        self.fragments.push(Fragment { text, score: self.score, number: self.fragments.len() });
        (self.begin, self.score) = (self.out.len(), 0.0);
    }

    fn finish(mut self, length: usize) -> Vec<Fragment> {
        if self.shown < length {
            self.write(self.shown, length);
        }
        self.end_fragment();
        self.fragments
    }
}

/// A group of overlapping tokens.
#[derive(Default)]
struct Group {
    count: usize,
    /// End of the last of them.
    end: usize,
    /// Bounds of the tokens that count, or of the first token if none does.
    mark_start: usize,
    mark_end: usize,
    score: f32,
}

impl Group {
    /// Maximum number of tokens of a group that are used (`TokenGroup.MAX_NUM_TOKENS_PER_GROUP`).
    const TOKENS_MAX: usize = 50;

    fn add(&mut self, token: &Token, score: f32) {
        if self.count >= Group::TOKENS_MAX {
            return;
        }
        if self.count == 0 {
            (self.mark_start, self.mark_end, self.end) = (token.start, token.end, token.end);
            self.score += score;
        } else {
            self.end = self.end.max(token.end);
            if score > 0.0 {
                if self.score == 0.0 {
                    (self.mark_start, self.mark_end) = (token.start, token.end);
                } else {
                    self.mark_start = self.mark_start.min(token.start);
                    self.mark_end = self.mark_end.max(token.end);
                }
                self.score += score;
            }
        }
        self.count += 1;
    }
}

/// Decides where a fragment ends.
struct Borders {
    fragmenter: Fragmenter,
    size: usize,
    /// Number of fragments so far, including the current one.
    count: usize,
    /// UTF-16 units of the value.
    length: usize,
    position: i64,
    /// The position after a span that must not be cut.
    wait_for: Option<i64>,
}

impl Borders {
    fn new(highlight: &FieldHighlight<'_>, length: usize) -> Borders {
        let fragmenter = match highlight.options.fragments_max {
            0 => Fragmenter::None,
            _ => highlight.options.fragmenter,
        };
        let size = highlight.options.fragment_size;
        Borders { fragmenter, size, count: 1, length, position: -1, wait_for: None }
    }

    /// Whether a fragment begins with this token. `step`: the distance of its position from that of the
    /// token before.
    fn is_reached(&mut self, token: &Token, step: i64, weight: Option<&Weight>) -> bool {
        let is_full = token.end >= self.size.saturating_mul(self.count);
        let is_new = match self.fragmenter {
            Fragmenter::None => false,
            Fragmenter::Simple => is_full,
            Fragmenter::Span => {
                self.position += step;
                match self.wait_for {
                    Some(position) if position > self.position => return false,
                    _ => self.wait_for = None,
                }
                let spans = weight.and_then(|weight| weight.spans.as_ref());
                if let Some(last) = spans.and_then(|spans| spans.last_of(self.position)) {
                    self.wait_for = Some(last + 1);
                }
                is_full && self.length.saturating_sub(token.end) >= self.size >> 1
            }
        };
        self.count += usize::from(is_new);
        is_new
    }
}

/// Returns the words of the query that count in a value. `field`: if set, words of other fields do not
/// count.
fn weights(parts: &[WeightedPart<'_>], tokens: &Tokens, field: Option<&Field>) -> Result<Weights> {
    let mut weights = Weights::new();
    for WeightedPart { part, boost, .. } in parts {
        let plain = || Weight::anywhere(*boost);
        match part {
            Part::Term(term) => {
                weights.insert((*term).into(), plain());
            }
            Part::Terms(docs) => {
                let selected = tokens.terms().filter(|(term, _)| selects_constant(docs, Some(term)));
                for (term, _) in selected {
                    weights.insert(term.into(), plain());
                }
            }
            Part::Phrase(phrase) => add_spans(&tree_of(phrase), *boost, tokens, &mut weights)?,
            Part::Spans(tree) => add_spans(tree, *boost, tokens, &mut weights)?,
            Part::MoreLikeThis(more_like_this) => {
                let is_there = |term: &[u8]| !tokens.indexes_of(term).is_empty();
                for (term, weight) in more_like_this.weighted_terms_in_text(field, is_there) {
                    weights.insert(term.into(), Weight::anywhere(weight));
                }
            }
            // They count anywhere: Lucene's highlighter only knows the terms of intervals.
            Part::Intervals(source) => {
                let mut terms = Vec::new();
                source.terms(&mut terms);
                for term in terms {
                    weights.insert(term.into(), Weight::anywhere(1.0));
                }
            }
        }
    }
    Ok(weights)
}

fn add_spans(tree: &SpanTree, boost: f32, tokens: &Tokens, weights: &mut Weights) -> Result<()> {
    let mut terms = Vec::new();
    tree.terms(&mut terms);
    if terms.is_empty() {
        return Ok(());
    }
    let spans = Text::new(std::slice::from_ref(tokens), None, 0).spans(tree)?;
    if spans.is_empty() {
        return Ok(());
    }
    let spans = Rc::new(Spans::of(spans)?);
    for term in terms.into_iter().map(|(_, term)| term).collect::<HashSet<_>>() {
        match weights.get_mut(term) {
            None => {
                let weight = Weight { weight: boost, counts_anywhere: false, spans: Some(spans.clone()) };
                weights.insert(term.into(), weight);
            }
            Some(weight) => {
                weight.spans = Some(match &weight.spans {
                    Some(known) => Rc::new(known.and(&spans)?),
                    None => spans.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Converts a phrase to spans: in order, or in any order within its slop.
fn tree_of(phrase: &PhraseNode) -> SpanTree {
    let slots: Vec<SpanTree> = phrase
        .slots
        .iter()
        .map(|(_, terms)| SpanTree::Terms { field: phrase.field.clone(), terms: terms.clone() })
        .collect();
    let positions = || phrase.slots.iter().map(|(position, _)| *position);
    let width = positions().max().unwrap_or(0) - positions().min().unwrap_or(0);
    let gaps = (width as usize + 1).saturating_sub(slots.len());
    let slop = i64::from(phrase.slop) + gaps as i64;
    SpanTree::Near { spans: slots, slop: i32::try_from(slop).unwrap_or(i32::MAX), in_order: phrase.slop == 0 }
}
