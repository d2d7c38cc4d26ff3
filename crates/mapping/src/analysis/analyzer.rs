//! A named analyzer and the token it emits.

use std::cell::RefCell;

use super::ascii;
use super::filter::{Filter, lowercase_into};
use super::tokenizer::Tokenizer;
use super::uax29;

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

/// An analyzer: a tokenizer and the filters that its tokens pass, in order.
#[derive(Debug)]
pub struct Analyzer {
    pub name: String,
    tokenizer: Tokenizer,
    /// Longest token in UTF-16 units; longer ones are cut into pieces.
    token_length_max: usize,
    filters: Vec<Filter>,
    /// The standard tokenizer and lower case, nothing else: the path that indexing takes most.
    is_standard: bool,
}

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
        Analyzer { name: name.to_owned(), tokenizer, token_length_max, filters, is_standard }
    }

    /// Emits the tokens of `text` in order. No allocation beyond a thread's reused buffers.
    #[inline]
    pub fn tokens(&self, text: &str, mut emit: impl FnMut(Token<'_>)) {
        // Taken out, so that an `emit` that analyses in turn finds the cell free.
        let mut buffers = BUFFERS.take();
        if self.is_standard {
            self.standard(text, &mut buffers, &mut emit);
        } else {
            self.filtered(text, &mut buffers, &mut emit);
        }
        BUFFERS.set(buffers);
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
    fn filtered(&self, text: &str, buffers: &mut Buffers, emit: &mut impl FnMut(Token<'_>)) {
        let Buffers { lower, token, other } = buffers;
        let mut position = 0;
        self.tokenizer.split(text, lower, self.token_length_max, |start, end| {
            token.clear();
            token.push_str(&text[start..end]);
            let is_kept = self.filters.iter().all(|filter| filter.apply(token, other));
            if is_kept {
                emit(Token { text: token, position, start: start as u32, end: end as u32 });
            }
            position += 1;
        });
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
        self.tokens(text, |token| {
            let (start, end) = (token.start as usize, token.end as usize);
            let kind = match self.tokenizer {
                Tokenizer::Standard => uax29::kind(&text[start..end]),
                _ => "word",
            };
            found.push(AnalyzedToken {
                token: token.text.to_owned(),
                start_offset: offset(start),
                end_offset: offset(end),
                kind,
                position: token.position,
            });
        });
        found
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
