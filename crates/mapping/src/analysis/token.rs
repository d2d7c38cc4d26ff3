//! A token in three forms: as an analyzer emits it, as `_analyze` shows it, and as it passes through the
//! filters.

use std::sync::Arc;

/// One token. `text` is only valid during the call that emits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term.
    pub text: &'a str,
    /// Position within this value, from 0; removed stop words leave gaps.
    pub position: u32,
    /// Number of positions that it spans; more than 1 if a graph has parallel paths with more tokens.
    pub position_length: u32,
    /// Byte offset of its start in the value.
    pub start: u32,
    /// Byte offset of its end.
    pub end: u32,
    /// How often its term is counted; 1 unless a filter sets it. 0 means that a filter could not parse the
    /// number.
    pub frequency: u32,
}

/// One token as `_analyze` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyzedToken {
    /// The term.
    pub token: String,
    /// Offset of its start in UTF-16 units, as in Elasticsearch.
    pub start_offset: u32,
    /// Offset of its end, in the same units.
    pub end_offset: u32,
    /// `<ALPHANUM>`, `<NUM>`, `<IDEOGRAPHIC>`, ..., or `word`.
    pub kind: &'static str,
    /// Position within the text, from 0.
    pub position: u32,
    /// Number of positions that it spans.
    pub position_length: u32,
    /// Whether stemmers skip it; `None` if no filter uses the mark.
    pub is_keyword: Option<bool>,
    /// `None` if no filter sets payloads.
    pub payload: Option<Option<Arc<[u8]>>>,
    /// See [`Token::frequency`].
    pub frequency: u32,
}

/// The tokens of one text, and the gap after the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analyzed {
    /// In the order in which the analyzer emits them.
    pub tokens: Vec<AnalyzedToken>,
    /// Positions of removed tokens after the last remaining one.
    pub trailing: u32,
}

/// The type of tokens from a tokenizer without types.
pub(super) const WORD: &str = "word";
/// Placeholder for the type that UAX #29 gives the text, which is determined only if it is needed.
pub(super) const UNSETTLED: &str = "";

/// A token as it passes through the filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenBuf {
    pub text: String,
    /// Byte offsets into the value.
    pub start: u32,
    pub end: u32,
    /// Number of positions since the previous token.
    pub increment: u32,
    pub length: u32,
    pub kind: &'static str,
    pub is_keyword: bool,
    pub payload: Option<Arc<[u8]>>,
    /// See [`Token::frequency`].
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
    /// Becomes the token at `start..end` of the text, one position after the previous token.
    #[inline]
    pub fn cut(&mut self, text: &str, start: usize, end: usize, kind: &'static str) {
        self.text.clear();
        self.text.push_str(&text[start..end]);
        self.place(start, end, kind);
    }

    /// Sets everything except the text.
    #[inline]
    pub fn place(&mut self, start: usize, end: usize, kind: &'static str) {
        (self.start, self.end) = (start as u32, end as u32);
        (self.increment, self.length, self.kind) = (1, 1, kind);
        (self.is_keyword, self.payload, self.frequency) = (false, None, 1);
    }

    /// Returns another token that equals this one except for the text.
    pub fn like(&self, text: String) -> TokenBuf {
        TokenBuf { text, payload: self.payload.clone(), ..*self }
    }

    /// Replaces only the text.
    pub fn set(&mut self, text: &str) {
        self.text.clear();
        self.text.push_str(text);
    }

    /// Returns the length in UTF-16 units, as in Lucene.
    pub fn units(&self) -> usize {
        if self.text.is_ascii() { self.text.len() } else { self.text.encode_utf16().count() }
    }
}
