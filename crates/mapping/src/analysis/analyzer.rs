//! A named analyzer.

use std::cell::RefCell;
use std::sync::Arc;

use limber_work as work;

use super::ascii;
use super::chain::{self, Emit, Filter, Step};
use super::char_filter::{CharFilter, Rewritten};
use super::pace;
use super::produced::Produced;
use super::token::{Analyzed, AnalyzedToken, Token, TokenBuf, UNSETTLED};
use super::tokenizer::{Tokenizer, lower_and_pad, word_pieces};
use super::{lowercase_into, uax29};

/// An analyzer: character filters, a tokenizer, and token filters that are applied in order.
#[derive(Debug)]
pub struct Analyzer {
    /// The name that fields and requests use.
    pub name: String,
    pub(super) char_filters: Vec<CharFilter>,
    pub(super) tokenizer: Arc<dyn Tokenizer>,
    pub(super) filters: Vec<Filter>,
    /// Set if it consists of the standard tokenizer and lower case only, which is the most common path of
    /// indexing. The value is the maximum length of a token in UTF-16 units; longer ones are split.
    standard: Option<usize>,
    /// Number of positions between two values of a document, unless the field sets it.
    pub position_increment_gap: u32,
}

/// Number of positions between two values of a document (Elasticsearch's default; Lucene's is 0).
pub const POSITION_INCREMENT_GAP: u32 = 100;

/// Buffers of a thread, so that tokens need no allocation.
#[derive(Default)]
struct Buffers {
    /// The whole value with its ASCII letters in lower case.
    lower: String,
    /// The token that is passed through the filters, and a scratch buffer.
    token: TokenBuf,
    scratch: String,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// The largest buffer that a thread keeps for its next text. Otherwise each thread that has analyzed a long
/// text would keep memory that is charged to no request.
const KEPT_BYTES_MAX: usize = 64 << 10;

impl Buffers {
    /// Takes the thread's buffers, so that code which runs for a token can analyze another text.
    fn take() -> Buffers {
        BUFFERS.take()
    }

    /// Gives the buffers back to the thread.
    fn put_back(mut self) {
        for buffer in [&mut self.lower, &mut self.token.text, &mut self.scratch] {
            if buffer.capacity() > KEPT_BYTES_MAX {
                *buffer = String::new();
            }
        }
        BUFFERS.set(self);
    }
}

/// Receives the full token and its position.
type Seen<'a> = &'a mut dyn FnMut(&TokenBuf, u32) -> bool;

impl Analyzer {
    pub(super) fn new(name: &str, tokenizer: Arc<dyn Tokenizer>, filters: Vec<Filter>) -> Analyzer {
        Analyzer {
            name: name.to_owned(),
            char_filters: Vec::new(),
            tokenizer,
            filters,
            standard: None,
            position_increment_gap: POSITION_INCREMENT_GAP,
        }
    }

    /// Creates an analyzer that consists of the standard tokenizer and lower case only.
    pub(super) fn standard(name: &str, tokenizer: Arc<dyn Tokenizer>, lowercase: Filter) -> Analyzer {
        let standard = tokenizer.standard_length_max();
        Analyzer { standard, ..Analyzer::new(name, tokenizer, vec![lowercase]) }
    }

    pub(super) fn with_gap(self, position_increment_gap: u32) -> Analyzer {
        Analyzer { position_increment_gap, ..self }
    }

    pub(super) fn with_char_filters(self, char_filters: Vec<CharFilter>) -> Analyzer {
        let standard = self.standard.filter(|_| char_filters.is_empty());
        Analyzer { char_filters, standard, ..self }
    }

    /// Whether it can be reloaded, and is therefore for searching only.
    pub fn is_updateable(&self) -> bool {
        self.filters.iter().any(|filter| filter.is_updateable)
    }

    /// Whether queries ignore how many positions its tokens span.
    pub fn hides_graph(&self) -> bool {
        self.filters.iter().any(|filter| filter.hides_graph)
    }

    /// Returns the names of the filters that can be reloaded.
    pub fn updateable_filters(&self) -> Vec<&str> {
        self.filters.iter().filter_map(|filter| filter.updateable_name.as_deref()).collect()
    }

    /// Whether one of its reloadable filters reads the synonym set or file with this name.
    pub fn reads(&self, resource: &str) -> bool {
        self.filters.iter().any(|filter| filter.is_updateable && filter.resource.as_deref() == Some(resource))
    }

    /// Returns the text that the tokenizer gets.
    pub fn filtered_text(&self, text: &str) -> String {
        self.rewritten(text).pop().map_or_else(|| text.to_owned(), |last| last.text)
    }

    /// Applies only those filters that change single characters to a string that stays one term: used for
    /// prefixes and patterns of queries.
    pub fn normalize(&self, text: &str) -> String {
        normalized(&self.char_filters, &self.filters, text)
    }

    /// Returns the text after each of the character filters.
    fn rewritten(&self, text: &str) -> Vec<Rewritten> {
        let mut stages: Vec<Rewritten> = Vec::with_capacity(self.char_filters.len());
        for filter in &self.char_filters {
            if !work::analysis_goes_on() {
                break;
            }
            let next = filter.apply(stages.last().map_or(text, |stage| &stage.text));
            stages.push(next);
        }
        stages
    }

    /// Returns a prefix of `text` that yields the same tokens as the whole text, for all tokens that start at
    /// or before byte `start_max`.
    ///
    /// It ends at white space, which no token spans. If tokens may depend on more than their own characters,
    /// it is the whole text.
    pub fn prefix<'t>(&self, text: &'t str, start_max: usize) -> &'t str {
        let is_by_token = self.filters.iter().all(|filter| matches!(filter.step, Step::Each(_)));
        if !is_by_token || !self.tokenizer.ends_at_blanks() || !self.char_filters.is_empty() {
            return text;
        }
        let rest = text.as_bytes().get(start_max.saturating_add(1)..).unwrap_or_default();
        match rest.iter().position(u8::is_ascii_whitespace) {
            Some(length) => &text[..start_max + 1 + length],
            None => text,
        }
    }

    /// Emits the tokens of `text` in order. Returns the positions of removed tokens after the last one. If
    /// all filters look at one token at a time, it only uses a thread's reused buffers and allocates nothing
    /// else.
    #[inline]
    pub fn tokens(&self, text: &str, mut emit: impl FnMut(Token<'_>)) -> u32 {
        if let Some(length_max) = self.standard {
            let mut buffers = Buffers::take();
            standard(text, length_max, &mut buffers, &mut emit);
            buffers.put_back();
            return 0;
        }
        let mut produced = Produced::of(text);
        self.each_token(text, false, &mut |token, position| {
            if !produced.has_room_for(&token.text, token.frequency) {
                return false;
            }
            let TokenBuf { start, end, length: position_length, frequency, .. } = *token;
            emit(Token { text: &token.text, position, position_length, start, end, frequency });
            true
        })
    }

    /// Calls `seen` with every token and its position. `with_kinds` says whether types are needed.
    #[inline(never)]
    fn each_token(&self, text: &str, with_kinds: bool, seen: Seen<'_>) -> u32 {
        let stages = self.rewritten(text);
        let last = stages.last().map_or(text, |stage| &stage.text);
        let source_offset = |at: u32| {
            let mut at = at as usize;
            for (number, stage) in stages.iter().enumerate().rev() {
                let source = number.checked_sub(1).map_or(text, |before| &stages[before].text);
                at = stage.source_offset(source, at);
            }
            at as u32
        };
        let with_kinds = with_kinds || self.filters.iter().any(|filter| filter.reads_kinds);
        let mut buffers = Buffers::take();
        let Buffers { lower, token, scratch } = &mut buffers;
        let mut source = |emit: Emit<'_>| {
            self.tokenizer.split(last, lower, token, &mut |token| {
                if with_kinds && token.kind == UNSETTLED {
                    token.kind = uax29::kind(&token.text);
                }
                if !stages.is_empty() {
                    (token.start, token.end) = (source_offset(token.start), source_offset(token.end));
                }
                emit(token)
            });
        };
        let mut position = -1i64;
        let mut sink = |token: &mut TokenBuf| {
            position += i64::from(token.increment);
            // Filters compute byte offsets within a token as if its text were unchanged, so they are moved to
            // character boundaries.
            let char_start = |at: u32| floor_char_boundary(text, at as usize) as u32;
            (token.start, token.end) = (char_start(token.start), char_start(token.end));
            seen(token, position.max(0) as u32)
        };
        let trailing = match self.filters.iter().all(|filter| matches!(filter.step, Step::Each(_))) {
            true => by_token(&self.filters, scratch, &mut source, &mut sink),
            false => chain::run(&self.filters, text.len() as u32, &mut source, &mut sink),
        };
        buffers.put_back();
        trailing
    }

    /// Returns the tokens as `_analyze` shows them.
    pub fn analyze(&self, text: &str) -> Analyzed {
        let mut found = Vec::new();
        // Each for itself: the grams of a long word all have its ends.
        let (mut starts, mut ends) = (Units::of(text), Units::of(text));
        let mut produced = Produced::of("");
        let uses_keywords = self.filters.iter().any(|filter| filter.uses_keywords);
        let uses_payloads = self.filters.iter().any(|filter| filter.uses_payloads);
        let trailing = self.each_token(text, true, &mut |token, position| {
            if !produced.has_room_for_shown(&token.text) {
                return false;
            }
            found.push(AnalyzedToken {
                token: token.text.clone(),
                start_offset: starts.at(token.start as usize),
                end_offset: ends.at(token.end as usize),
                kind: if token.kind == UNSETTLED { "<ALPHANUM>" } else { token.kind },
                position,
                position_length: token.length,
                is_keyword: uses_keywords.then_some(token.is_keyword),
                payload: uses_payloads.then(|| token.payload.clone()),
                frequency: token.frequency,
            });
            true
        });
        Analyzed { tokens: found, trailing }
    }
}

/// Applies filters without state in a loop.
fn by_token(
    filters: &[Filter],
    scratch: &mut String,
    source: &mut dyn FnMut(Emit<'_>),
    sink: Emit<'_>,
) -> u32 {
    let mut skipped = 0;
    source(&mut |token| {
        if !pace::goes_on(1 + filters.len()) {
            return false;
        }
        for filter in filters {
            if !pace::takes(token.text.len()) {
                return false;
            }
            if let Step::Each(each) = &filter.step
                && !each.change(token, scratch)
            {
                skipped += token.increment;
                return true;
            }
        }
        token.increment += std::mem::take(&mut skipped);
        sink(token)
    });
    skipped
}

/// Applies only the components that change single characters.
pub(super) fn normalized(char_filters: &[CharFilter], filters: &[Filter], text: &str) -> String {
    let mut token = TokenBuf { text: text.to_owned(), ..TokenBuf::default() };
    for filter in char_filters.iter().filter(|filter| filter.is_normalizing) {
        if !pace::takes(token.text.len()) {
            break;
        }
        token.text = filter.apply(&token.text).text;
    }
    let mut scratch = String::new();
    for filter in filters.iter().filter(|filter| filter.is_normalizing) {
        if !pace::takes(token.text.len()) {
            break;
        }
        match (&filter.normal, &filter.step) {
            (Some(each), _) | (None, Step::Each(each)) => each.change(&mut token, &mut scratch),
            (None, Step::Stream(_)) => true,
        };
    }
    token.text
}

#[inline]
fn standard(text: &str, length_max: usize, buffers: &mut Buffers, emit: &mut impl FnMut(Token<'_>)) {
    let Buffers { lower, scratch, .. } = buffers;
    lower_and_pad(text, lower);
    let lower: &str = lower;
    let mut position = 0;
    ascii::words(text, lower.as_bytes(), |start, end, is_ascii| {
        let mut one = |start: usize, end: usize| {
            let text = if is_ascii {
                &lower[start..end]
            } else {
                scratch.clear();
                lowercase_into(&text[start..end], scratch);
                scratch.as_str()
            };
            let (start, end) = (start as u32, end as u32);
            emit(Token { text, position, position_length: 1, start, end, frequency: 1 });
            position += 1;
        };
        if end - start <= length_max {
            one(start, end);
        } else {
            word_pieces(text, start, end, length_max, one);
        }
    });
}

/// Converts byte offsets to UTF-16 units. Offsets mostly ascend, so counting continues from the last one.
struct Units<'t> {
    text: &'t str,
    bytes: usize,
    units: u32,
}

impl Units<'_> {
    fn of(text: &str) -> Units<'_> {
        Units { text, bytes: 0, units: 0 }
    }

    fn at(&mut self, at: usize) -> u32 {
        let count = |from: usize, to: usize| self.text[from..to].encode_utf16().count() as u32;
        self.units = match at < self.bytes {
            true => self.units - count(at, self.bytes),
            false => self.units + count(self.bytes, at),
        };
        self.bytes = at;
        self.units
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_small_buffers_only() {
        let mut buffers = Buffers::take();
        buffers.lower = String::with_capacity(KEPT_BYTES_MAX + 1);
        buffers.token.text = String::with_capacity(4 * KEPT_BYTES_MAX);
        buffers.scratch = String::with_capacity(100);
        buffers.put_back();
        let kept = Buffers::take();
        assert_eq!((kept.lower.capacity(), kept.token.text.capacity()), (0, 0));
        assert!(kept.scratch.capacity() >= 100);
    }
}
