//! A named analyzer and the token it emits.

use std::cell::RefCell;

use super::ascii;
use super::char_filter::CharFilter;
use super::filter::{Filter, lowercase_into};
use super::rewrite::Rewritten;
use super::tokenizer::Tokenizer;
use super::uax29;
use limber_work as work;

/// One token. `text` lives only for the call that emits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Position within this value, from 0; removed stop words leave holes.
    pub position: u32,
    /// Byte offsets into the value.
    pub start: u32,
    pub end: u32,
}

/// One token as `_analyze` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyzedToken {
    pub token: String,
    /// Offsets in UTF-16 units, as Elasticsearch counts.
    pub start_offset: u32,
    pub end_offset: u32,
    /// `<ALPHANUM>`, `<NUM>`, `<IDEOGRAPHIC>`, ..., or `word`.
    pub kind: &'static str,
    pub position: u32,
}

/// An analyzer: filters of the whole text, a tokenizer, and the filters that its tokens pass, in order.
#[derive(Debug)]
pub struct Analyzer {
    pub name: String,
    char_filters: Vec<CharFilter>,
    tokenizer: Tokenizer,
    /// Longest token in UTF-16 units; longer ones are cut into pieces.
    token_length_max: usize,
    filters: Vec<Filter>,
    /// The standard tokenizer and lower case, nothing else: the path that indexing takes most.
    is_standard: bool,
    /// Positions between two values of a document, where the field does not say.
    pub position_increment_gap: u32,
}

/// Positions between two values of a document (Elasticsearch's default, against Lucene's 0).
pub const POSITION_INCREMENT_GAP: u32 = 100;

/// Lucene's `StandardAnalyzer.DEFAULT_MAX_TOKEN_LENGTH`, also that of its `CharTokenizer`.
pub(super) const TOKEN_LENGTH_MAX: usize = 255;

/// Buffers of a thread, so that no token allocates.
#[derive(Default)]
struct Buffers {
    /// The whole value with its ASCII letters in lower case.
    lower: String,
    /// One token on its way through the filters, and where a filter puts its answer.
    token: String,
    other: String,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl Analyzer {
    pub(super) fn new(
        name: &str,
        tokenizer: Tokenizer,
        token_length_max: usize,
        filters: Vec<Filter>,
    ) -> Analyzer {
        let is_standard = tokenizer == Tokenizer::Standard && matches!(filters[..], [Filter::Lowercase]);
        let char_filters = Vec::new();
        Analyzer {
            name: name.to_owned(),
            char_filters,
            tokenizer,
            token_length_max,
            filters,
            is_standard,
            position_increment_gap: POSITION_INCREMENT_GAP,
        }
    }

    pub(super) fn with_gap(self, position_increment_gap: u32) -> Analyzer {
        Analyzer { position_increment_gap, ..self }
    }

    pub(super) fn with_char_filters(self, char_filters: Vec<CharFilter>) -> Analyzer {
        Analyzer { char_filters, ..self }
    }

    /// The text as the tokenizer gets it.
    pub fn filtered_text(&self, text: &str) -> String {
        self.rewritten(text).pop().map_or_else(|| text.to_owned(), |last| last.text)
    }

    /// A text that stays one term, through those of the filters that change characters alone: as a prefix or a pattern is looked for.
    pub fn normalize(&self, text: &str) -> String {
        let mut normal = text.to_owned();
        for filter in self.char_filters.iter().filter(|filter| filter.is_normalizing()) {
            normal = filter.apply(&normal).text;
        }
        let mut other = String::new();
        for filter in self.filters.iter().filter(|filter| filter.is_normalizing()) {
            filter.apply(&mut normal, &mut other);
        }
        normal
    }

    /// The text after each of the character filters.
    fn rewritten(&self, text: &str) -> Vec<Rewritten> {
        let mut stages: Vec<Rewritten> = Vec::with_capacity(self.char_filters.len());
        for filter in &self.char_filters {
            let next = filter.apply(stages.last().map_or(text, |stage| &stage.text));
            stages.push(next);
        }
        stages
    }

    /// A beginning of `text` that has all of its tokens that start at or before the byte `start_max`, as they are there.
    ///
    /// It ends at white space, which no token spans; where tokens may be made of more than their own letters, it is the whole text.
    pub fn prefix<'t>(&self, text: &'t str, start_max: usize) -> &'t str {
        if self.tokenizer == Tokenizer::Keyword || !self.char_filters.is_empty() {
            return text;
        }
        let behind = text.as_bytes().get(start_max.saturating_add(1)..).unwrap_or_default();
        match behind.iter().position(u8::is_ascii_whitespace) {
            Some(length) => &text[..start_max + 1 + length],
            None => text,
        }
    }

    /// Emits the tokens of `text` in order; returns the positions of removed tokens after the last one. No allocation beyond a thread's reused
    /// buffers.
    #[inline]
    pub fn tokens(&self, text: &str, mut emit: impl FnMut(Token<'_>)) -> u32 {
        if self.is_standard && self.char_filters.is_empty() {
            return self.plain_tokens(text, emit);
        }
        let mut produced = Produced::of(text);
        let mut emit = |token: Token<'_>| {
            if produced.has_room_for(token.text) {
                emit(token);
            }
        };
        match self.char_filters.is_empty() {
            true => self.plain_tokens(text, emit),
            false => self.rewritten_tokens(text, &mut |token, _| emit(token)),
        }
    }

    /// As [`Analyzer::tokens`], with what each token was before its filters.
    #[inline(never)]
    fn rewritten_tokens(&self, text: &str, emit: &mut dyn FnMut(Token<'_>, &str)) -> u32 {
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
        self.plain_tokens(last, |token| {
            let raw = &last[token.start as usize..token.end as usize];
            emit(Token { start: source_offset(token.start), end: source_offset(token.end), ..token }, raw);
        })
    }

    #[inline]
    fn plain_tokens(&self, text: &str, mut emit: impl FnMut(Token<'_>)) -> u32 {
        // Taken out, so that an `emit` that analyses in turn finds the cell free.
        let mut buffers = BUFFERS.take();
        let trailing = match self.is_standard {
            true => {
                self.standard(text, &mut buffers, &mut emit);
                0
            }
            false => self.filtered(text, &mut buffers, &mut emit),
        };
        BUFFERS.set(buffers);
        trailing
    }

    #[inline]
    fn standard(&self, text: &str, buffers: &mut Buffers, emit: &mut impl FnMut(Token<'_>)) {
        let Buffers { lower, token, .. } = buffers;
        lower_and_pad(text, lower);
        let lower: &str = lower;
        let mut position = 0;
        ascii::words(text, lower.as_bytes(), |start, end, is_ascii| {
            let mut one = |start: usize, end: usize| {
                let text = if is_ascii {
                    &lower[start..end]
                } else {
                    token.clear();
                    lowercase_into(&text[start..end], token);
                    token.as_str()
                };
                emit(Token { text, position, start: start as u32, end: end as u32 });
                position += 1;
            };
            if end - start <= self.token_length_max {
                one(start, end);
            } else {
                pieces(text, start, end, self.token_length_max, one);
            }
        });
    }

    #[inline]
    fn filtered(&self, text: &str, buffers: &mut Buffers, emit: &mut impl FnMut(Token<'_>)) -> u32 {
        let Buffers { lower, token, other } = buffers;
        let (mut position, mut after_last) = (0, 0);
        self.tokenizer.split(text, lower, self.token_length_max, |start, end| {
            token.clear();
            token.push_str(&text[start..end]);
            let is_kept = self.filters.iter().all(|filter| filter.apply(token, other));
            if is_kept {
                emit(Token { text: token, position, start: start as u32, end: end as u32 });
                after_last = position + 1;
            }
            position += 1;
        });
        position - after_last
    }

    /// The tokens as `_analyze` shows them.
    pub fn analyze(&self, text: &str) -> Vec<AnalyzedToken> {
        let mut found = Vec::new();
        // Offsets ascend, so UTF-16 units are counted on from the last one.
        let (mut bytes, mut units) = (0, 0u32);
        let mut offset = |at: usize| {
            if at < bytes {
                (bytes, units) = (0, 0);
            }
            units += text[bytes..at].encode_utf16().count() as u32;
            bytes = at;
            units
        };
        let mut produced = Produced::of("");
        self.rewritten_tokens(text, &mut |token, raw| {
            if !produced.has_room_for_shown(token.text) {
                return;
            }
            let kind = match self.tokenizer {
                Tokenizer::Standard => uax29::kind(raw),
                _ => "word",
            };
            found.push(AnalyzedToken {
                token: token.text.to_owned(),
                start_offset: offset(token.start as usize),
                end_offset: offset(token.end as usize),
                kind,
                position: token.position,
            });
        });
        found
    }
}

/// Bytes of the tokens of one text, of which the request is told as far as they are more than the text.
struct Produced {
    bytes: usize,
    told: usize,
    is_full: bool,
}

impl Produced {
    /// A token's place and number beside its bytes.
    const TOKEN_BYTES: usize = 4;
    /// The same as `_analyze` keeps and shows it.
    const SHOWN_TOKEN_BYTES: usize = 400;
    /// The request is told in steps of this.
    const STEP: usize = 16 << 10;

    fn of(text: &str) -> Produced {
        Produced { bytes: 0, told: 4 * text.len(), is_full: false }
    }

    #[inline]
    fn has_room_for(&mut self, token: &str) -> bool {
        self.has_room(token.len() + Self::TOKEN_BYTES)
    }

    fn has_room_for_shown(&mut self, token: &str) -> bool {
        self.has_room(2 * token.len() + Self::SHOWN_TOKEN_BYTES)
    }

    #[inline]
    fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        if self.bytes > self.told + Self::STEP {
            self.is_full |= !work::makes(self.bytes - self.told);
            self.told = self.bytes;
        }
        !self.is_full
    }
}

/// Fills `lower` with `text` in lower case (ASCII letters only) and the padding that [`ascii::words`] asks for.
#[inline]
pub(super) fn lower_and_pad(text: &str, lower: &mut String) {
    const ZEROS: &str = match std::str::from_utf8(&[0; ascii::PADDING]) {
        Ok(zeros) => zeros,
        Err(_) => "",
    };
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    lower.push_str(ZEROS);
}

/// Cuts a token into pieces of at most `length_max` UTF-16 units, as Lucene's tokenizers do.
pub(super) fn pieces(
    text: &str,
    start: usize,
    end: usize,
    length_max: usize,
    mut one: impl FnMut(usize, usize),
) {
    let mut from = start;
    let mut units = 0;
    for (at, c) in text[start..end].char_indices() {
        let at = start + at;
        if units + c.len_utf16() > length_max && at > from {
            one(from, at);
            from = at;
            units = 0;
        }
        units += c.len_utf16();
    }
    one(from, end);
}
