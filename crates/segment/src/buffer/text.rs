//! The text of one field until it is written: "which tokens does each document have?"

use limber_mapping::{Field, FieldId};

use super::chunk_log::ChunkLog;
use super::doc_log::DocLog;
use super::echo::{Logged, Role};
use super::fields::Mark;
use super::memo::{Analysed, Lookup, Memo, Place};
use super::table::TermTable;
use super::waiting::{self, PendingTerms};
use crate::{DocId, Error, TERM_BYTES_MAX};

/// Flag of a step in a text log: the position of the next token exceeds the preceding one by the low 31
/// bits instead of by 1.
pub const STEP: u32 = 1 << 31;

/// Maximum position, close to Lucene's `IndexWriter.MAX_POSITION`.
const POSITION_MAX: i64 = i32::MAX as i64 - 128;

/// Analysed text: one flat log of term numbers. The position of a token is one more than that of the
/// preceding token unless a [`STEP`] stands between them.
#[derive(Default)]
pub struct TextBuffer {
    pub table: TermTable,
    /// Numbers in `table` (0 for tokens that are still in `pending_terms`) and steps. The tokens of an
    /// [`ECHO`] begin with a reference: where its tokens start in the log of the echoed field, and their
    /// number.
    pub tokens: ChunkLog<u32>,
    /// One entry per document with the field.
    pub entries: ChunkLog<TextEntry>,
    pub docs: DocLog,
    /// Position of the current document's last token, including gaps between values; -1 before the first
    /// token.
    position: i64,
    /// Position of the last token in the log; the next step in the log counts from it.
    logged: i64,
    pending_terms: PendingTerms,
    /// Tokens of a value that is new to the memo.
    new_tokens: Vec<u32>,
    memo: Memo,
    /// The memo's position of the last value.
    last_text: Option<Place>,
    /// The field whose terms are the twins of the memo's texts; the first such field is used.
    twin: Option<FieldId>,
    pub role: Role,
    /// Number of tokens that are referred to in other fields' logs.
    echoed_tokens: usize,
    mark: Mark,
}

/// The text of one document.
#[derive(Clone, Copy)]
pub struct TextEntry {
    /// Start of its tokens in the log.
    pub tokens_start: u32,
    /// Tokens that count towards the field's length: all except those at the position of the preceding
    /// token. Has the flag [`ECHO`] until [`TextBuffer::resolve`].
    pub length: u32,
}

/// Why a document with this text cannot be indexed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TextFault {
    /// A token is longer than a term may be; its length in bytes.
    Immense(usize),
    /// A token filter gave a token an invalid frequency; the reason.
    Frequency(&'static str),
}

impl TextFault {
    /// Returns the error for a field.
    pub fn of(self, path: &str) -> Error {
        match self {
            TextFault::Immense(bytes) => Error::immense_term(path, bytes),
            TextFault::Frequency(reason) => Error::TermFrequency { field: path.to_owned(), reason },
        }
    }

    /// Checks the frequency of a token. Source: Lucene's `IndexingChain`.
    fn of_frequency(frequency: u32, field: &Field) -> Option<TextFault> {
        let reason = match frequency {
            1 => return None,
            0 => "Term frequency must be 1 or greater",
            _ if field.positions => "cannot index positions while using custom TermFrequencyAttribute",
            _ => return None,
        };
        Some(TextFault::Frequency(reason))
    }
}

/// Flag in a length: the tokens of the document's first value are those of another field.
const ECHO: u32 = 1 << 31;

/// The whole term with the bytes of the preceding text; typical for a keyword field beside a text field.
pub enum KeywordOfText {
    /// Number of the term.
    Known(u32),
    /// The number is not known. The caller stores it at this place in the memo.
    UnknownAt(Place),
}

impl TextBuffer {
    /// Adds a value. Sets `fault` if the document cannot be kept. Returns where its tokens are for other
    /// fields to refer to; only for the first value of a document, and only if the memo does not serve it.
    #[inline]
    pub fn push(
        &mut self,
        doc: DocId,
        field: &Field,
        value: &str,
        fault: &mut Option<TextFault>,
    ) -> Option<Logged> {
        let first = self.mark.touch(doc, self.docs.len(), self.tokens.len());
        self.last_text = None;
        if !first {
            self.position += field.position_increment_gap as i64;
            let length = self.analyze::<true>(field, value, fault);
            if let Some(entry) = self.entries.last_mut() {
                entry.length += length;
            }
            return None;
        }
        self.docs.push(doc);
        let tokens_start = self.tokens.len() as u32;
        (self.position, self.logged) = (-1, -1);
        let length = match self.memo.look_up(value) {
            Lookup::Found(place, Analysed { tokens, length, last_position }) => {
                self.tokens.extend(tokens.iter().map(|token| u32::from_le_bytes(*token)));
                (self.position, self.logged) = (i64::from(last_position), i64::from(last_position));
                self.last_text = Some(place);
                length
            }
            Lookup::FoundOne(place, number) => {
                self.tokens.push(number);
                (self.position, self.logged) = (0, 0);
                self.last_text = Some(place);
                1
            }
            Lookup::New(unknown) => {
                let length = self.analyze::<false>(field, value, fault);
                if fault.is_none() {
                    self.new_tokens.clear();
                    let pieces = self.tokens.slices(tokens_start as usize, self.tokens.len());
                    pieces.for_each(|piece| self.new_tokens.extend_from_slice(piece));
                    let last_position = i32::try_from(self.logged).expect("at most POSITION_MAX");
                    let analysed = Analysed { tokens: &self.new_tokens[..], length, last_position };
                    self.last_text = Some(self.memo.remember(unknown, value, analysed));
                }
                length
            }
            Lookup::Unsuitable => {
                let length = self.analyze::<true>(field, value, fault);
                self.entries.push(TextEntry { tokens_start, length });
                let token_count = self.tokens.len() as u32 - tokens_start;
                let logged = Logged { tokens_start, token_count, length, last_position: self.logged };
                return (fault.is_none() && self.role.may_be_source()).then_some(logged);
            }
        };
        self.entries.push(TextEntry { tokens_start, length });
        None
    }

    /// Adds a value by reference to its tokens in `source`; returns `false` if that is not possible and the
    /// value has to be analysed.
    #[inline]
    pub fn push_echo(&mut self, doc: DocId, source: FieldId, logged: Logged) -> bool {
        if self.mark.doc == doc || !self.role.become_echo_of(source) {
            return false;
        }
        self.mark.touch(doc, self.docs.len(), self.tokens.len());
        self.last_text = None;
        self.docs.push(doc);
        self.entries.push(TextEntry { tokens_start: self.tokens.len() as u32, length: logged.length | ECHO });
        self.tokens.push(logged.tokens_start);
        self.tokens.push(logged.token_count);
        self.echoed_tokens += logged.token_count as usize;
        (self.position, self.logged) = (logged.last_position, logged.last_position);
        true
    }

    /// Replaces references by the tokens of `source`; from then on all numbers are those of the table of
    /// `source`.
    pub fn resolve(&mut self, source: &mut TextBuffer) {
        self.settle();
        source.settle();
        let numbers = source.table.intern_table(&std::mem::take(&mut self.table));
        let mut tokens = ChunkLog::default();
        for number in 0..self.entries.len() {
            let entry = self.entries.get(number);
            let end = match number + 1 < self.entries.len() {
                true => self.entries.get(number + 1).tokens_start,
                false => self.tokens.len() as u32,
            };
            let (mut own_start, tokens_start) = (entry.tokens_start as usize, tokens.len() as u32);
            if entry.length & ECHO != 0 {
                let start = self.tokens.get(own_start) as usize;
                let token_count = self.tokens.get(own_start + 1) as usize;
                source
                    .tokens
                    .slices(start, start + token_count)
                    .for_each(|piece| tokens.extend_from_slice(piece));
                own_start += 2;
            }
            for &token in self.tokens.slices(own_start, end as usize).flatten() {
                tokens.push(if token & STEP == 0 { numbers[token as usize] } else { token });
            }
            self.entries.set(number, TextEntry { tokens_start, length: entry.length & !ECHO });
        }
        self.tokens = tokens;
        self.echoed_tokens = 0;
    }

    #[cfg(test)]
    pub(crate) fn check_echoed_tokens(&self) {
        let echoes = self.entries.iter().filter(|entry| entry.length & ECHO != 0);
        let counts = echoes.map(|entry| self.tokens.get(entry.tokens_start as usize + 1) as usize);
        assert_eq!(self.echoed_tokens, counts.sum::<usize>());
    }

    /// Whether the current document has the field but no token yet: its text is empty or consists of stop
    /// words.
    #[inline]
    pub fn lacks_tokens(&self) -> bool {
        self.entries.last().is_some_and(|entry| entry.tokens_start as usize == self.tokens.len())
    }

    /// Returns the twin of the last value, if `value` has the same bytes and `field` is the field whose
    /// terms the memo knows.
    #[inline]
    pub fn twin_of_last(&mut self, field: FieldId, value: &[u8]) -> Option<KeywordOfText> {
        let place = self.last_text?;
        let number = self.memo.twin(place, value)?;
        if *self.twin.get_or_insert(field) != field {
            return None;
        }
        Some(number.map_or(KeywordOfText::UnknownAt(place), KeywordOfText::Known))
    }

    /// Stores the number of the term for which [`KeywordOfText::UnknownAt`] was returned.
    pub fn set_twin(&mut self, place: Place, number: u32) {
        self.memo.set_twin(place, number);
    }

    /// Adds the tokens of one value after `self.position`; returns the number of those that count towards
    /// the field's length. With `PUT_OFF`, lookups may be left to [`TextBuffer::settle`].
    fn analyze<const PUT_OFF: bool>(
        &mut self,
        field: &Field,
        value: &str,
        fault: &mut Option<TextFault>,
    ) -> u32 {
        let start = self.position + 1;
        let (mut logged, mut length, mut token_seen) = (self.logged, 0, false);
        let TextBuffer { table, tokens, pending_terms, .. } = self;
        let mut emit = |text: &[u8], position: i64| {
            if text.len() > TERM_BYTES_MAX {
                *fault = Some(TextFault::Immense(text.len()));
                return;
            }
            let position = position.clamp(logged, POSITION_MAX);
            let step = position - logged;
            if step != 1 {
                tokens.push(STEP | step as u32);
            }
            logged = position;
            token_seen = true;
            length += u32::from(step != 0);
            match PUT_OFF && waiting::suits(table, text) {
                true => pending_terms.put_off(table, tokens, text),
                false => tokens.push(table.intern(text)),
            }
        };
        let mut frequency_fault = None;
        match field.analyzer.as_deref() {
            Some(analyzer) => {
                // A term with a frequency above 1 takes as many positions, of which only one is written.
                let mut more = 0;
                analyzer.tokens(value, |token| {
                    let position = start + token.position as i64 + more;
                    emit(token.text.as_bytes(), position);
                    if token.frequency == 1 {
                        return;
                    }
                    match TextFault::of_frequency(token.frequency, field) {
                        None if field.frequencies => {
                            let copies = i64::from(token.frequency) - 1;
                            (1..=copies).for_each(|copy| emit(token.text.as_bytes(), position + copy));
                            more += copies;
                        }
                        None => {}
                        found => frequency_fault = found,
                    }
                });
            }
            None => emit(value.as_bytes(), start),
        }
        self.logged = logged;
        *fault = frequency_fault.or(*fault);
        if token_seen {
            self.position = logged;
        }
        length
    }

    /// Looks up the tokens whose terms are pending.
    pub fn settle(&mut self) {
        self.pending_terms.settle(&mut self.table, &mut self.tokens);
    }

    /// Drops what `doc`, the current document, added.
    pub fn roll_back_document(&mut self, doc: DocId) {
        if self.mark.doc == doc {
            self.truncate(self.mark.entries, self.mark.values);
        }
    }

    /// Drops what the documents from `doc` on added.
    pub fn roll_back_from(&mut self, doc: DocId) {
        let entries = self.docs.first_from(doc);
        if entries < self.entries.len() {
            self.truncate(entries, self.entries.get(entries).tokens_start as usize);
        }
    }

    fn truncate(&mut self, entries: usize, tokens: usize) {
        for entry in (entries..self.entries.len()).map(|number| self.entries.get(number)) {
            if entry.length & ECHO != 0 {
                self.echoed_tokens -= self.tokens.get(entry.tokens_start as usize + 1) as usize;
            }
        }
        self.tokens.truncate(tokens);
        self.pending_terms.truncate(tokens);
        self.docs.truncate(entries);
        self.entries.truncate(entries);
        self.mark = Mark::default();
    }

    /// Returns the heap bytes, including those that [`TextBuffer::resolve`] will need.
    pub fn memory_bytes(&self) -> usize {
        let log = self.tokens.memory_bytes()
            + self.echoed_tokens * 4
            + self.entries.memory_bytes()
            + self.docs.memory_bytes();
        let log = log + self.pending_terms.memory_bytes() + self.new_tokens.capacity() * 4;
        self.table.memory_bytes() + self.memo.memory_bytes() + log
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::{Mapping, MappingSettings};

    use super::*;

    /// Returns the tokens of a document, with a space at every position without a token.
    fn read(text: &TextBuffer, entry: usize) -> String {
        let start = text.entries.get(entry).tokens_start as usize;
        let end = match entry + 1 < text.entries.len() {
            true => text.entries.get(entry + 1).tokens_start as usize,
            false => text.tokens.len(),
        };
        let mut words = String::new();
        for token in text.tokens.slices(start, end).flatten() {
            match token & STEP {
                0 => words.push_str(std::str::from_utf8(text.table.term(*token)).expect("text")),
                _ => (1..token & !STEP).for_each(|_| words.push('_')),
            }
        }
        words
    }

    /// Adds documents with `distinct` texts in turn, some with a second value and some refused, and finally
    /// takes back those from `kept` on.
    #[track_caller]
    fn check(distinct: u32, kept: usize, put_off: bool) {
        let body =
            serde_json::json!({ "properties": { "t": { "type": "text", "position_increment_gap": 2 } } });
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a sound mapping");
        let field = mapping.field("t").expect("mapped");
        let (mut text, mut expected, mut was_put_off) = (TextBuffer::default(), Vec::new(), false);
        for round in 0..9000u32 {
            let doc = expected.len() as DocId;
            let number = round % distinct;
            let long = if round % 11 == 10 { "w".repeat(150) } else { String::new() };
            let mut words = format!("{long}w{number}x{}", number % 7);
            let mut push = |value: &str| {
                let mut oversized = None;
                text.push(doc, &field, value, &mut oversized);
                assert_eq!(oversized, None);
                was_put_off |= !text.pending_terms.is_empty();
            };
            push(&format!("{long} W{number}, X{}", number % 7));
            if round % 5 == 0 {
                push("End");
                words.push_str("__end");
            }
            match round % 7 {
                3 => text.roll_back_document(doc),
                _ => expected.push(words),
            }
        }
        text.roll_back_from(kept as DocId);
        expected.truncate(kept);
        text.settle();
        assert_eq!((was_put_off, text.docs.len()), (put_off, kept));
        assert!((0..kept).all(|entry| read(&text, entry) == expected[entry]));
    }

    #[test]
    fn tokens_that_are_put_off_go_where_others_do() {
        check(300, 7000, false);
        check(3000, 7000, true);
        check(9000, 7713, true);
        check(9000, 0, true);
    }
}
