//! A token: as an analyzer emits it, as `_analyze` shows it, and on its way through the filters.

use std::sync::Arc;

/// One token. `text` lives only for the call that emits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term.
    pub text: &'a str,
    /// Position within this value, from 0; removed stop words leave holes.
    pub position: u32,
    /// Positions that it spans: more than 1 where a graph has shorter ways beside it.
    pub position_length: u32,
    /// Byte offset of its start in the value.
    pub start: u32,
    /// Byte offset of its end.
    pub end: u32,
    /// How often its term counts, 1 unless a filter says otherwise; 0: a filter read no such number.
    pub frequency: u32,
}

/// One token as `_analyze` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyzedToken {
    /// The term.
    pub token: String,
    /// Offsets in UTF-16 units, as Elasticsearch counts.
    pub start_offset: u32,
    /// Offset of its end, in the same units.
    pub end_offset: u32,
    /// `<ALPHANUM>`, `<NUM>`, `<IDEOGRAPHIC>`, ..., or `word`.
    pub kind: &'static str,
    /// Position within the text, from 0.
    pub position: u32,
    /// Positions that it spans.
    pub position_length: u32,
    /// Whether stemmers pass it over; `None`: no filter asks.
    pub is_keyword: Option<bool>,
    /// `None`: no filter gives any.
    pub payload: Option<Option<Arc<[u8]>>>,
    /// As [`Token::frequency`].
    pub frequency: u32,
}

/// The tokens of one text, and the holes after the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analyzed {
    /// In the order in which the analyzer emits them.
    pub tokens: Vec<AnalyzedToken>,
    /// Positions of removed tokens after the last one that stayed.
    pub trailing: u32,
}

/// The type of tokens whose tokenizer knows none.
pub(super) const WORD: &str = "word";
/// In the place of a type: the one that UAX #29 gives the text, which is looked up only where somebody asks.
pub(super) const UNSETTLED: &str = "";

/// A token on its way through the filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenBuf {
    pub text: String,
    /// Byte offsets into the value.
    pub start: u32,
    pub end: u32,
    /// Positions from the token before.
    pub increment: u32,
    pub length: u32,
    pub kind: &'static str,
    pub is_keyword: bool,
    pub payload: Option<Arc<[u8]>>,
    /// As [`Token::frequency`].
    pub frequency: u32,
}

impl Default for TokenBuf {
    fn default() -> TokenBuf {
        TokenBuf {
            text: String::new(),
            start: 0,
            end: 0,
            increment: 1,
            length: 1,
            kind: WORD,
            is_keyword: false,
            payload: None,
            frequency: 1,
        }
    }
}

impl TokenBuf {
    /// Becomes the token that stands in the text at `start..end`, one position after the one before.
    #[inline]
    pub fn cut(&mut self, text: &str, start: usize, end: usize, kind: &'static str) {
        self.text.clear();
        self.text.push_str(&text[start..end]);
        self.place(start, end, kind);
    }

    /// Everything but the text.
    #[inline]
    pub fn place(&mut self, start: usize, end: usize, kind: &'static str) {
        (self.start, self.end) = (start as u32, end as u32);
        (self.increment, self.length, self.kind) = (1, 1, kind);
        (self.is_keyword, self.payload, self.frequency) = (false, None, 1);
    }

    /// Another token with everything but the text as here.
    pub fn like(&self, text: String) -> TokenBuf {
        TokenBuf { text, payload: self.payload.clone(), ..*self }
    }

    /// Replaces the text alone.
    pub fn set(&mut self, text: &str) {
        self.text.clear();
        self.text.push_str(text);
    }

    /// Length in UTF-16 units, as Lucene counts.
    pub fn units(&self) -> usize {
        if self.text.is_ascii() { self.text.len() } else { self.text.encode_utf16().count() }
    }
}
