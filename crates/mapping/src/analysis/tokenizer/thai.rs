//! `thai`: words of Thai by a dictionary, others as Java's `BreakIterator` finds them.
//!
//! Source: Lucene's `ThaiTokenizer`. The dictionary is ICU's; Java has one of its own, which parts some words elsewhere.

use std::sync::{Arc, LazyLock};

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use unicode_segmentation::UnicodeSegmentation;

use super::{Context, Emit, Settings, TokenBuf, Tokenizer};
use crate::RequestError;
use crate::analysis::token::WORD;
use crate::analysis::uax29;
use crate::analysis::unicode;

#[derive(Debug)]
struct Thai;

static DICTIONARY: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Thai))
}

/// Letters and marks of Thai; its digits are as those of other scripts.
fn is_thai(c: char) -> bool {
    matches!(c, '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}')
}

/// Bytes of a run of Thai that are looked at as one.
const RUN_MAX: usize = 4096;

impl Tokenizer for Thai {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let mut goes_on = true;
        let mut one = |start: usize, end: usize| {
            let first = text[start..].chars().next().unwrap_or(' ');
            if goes_on && (unicode::is_letter(first) || unicode::is_digit(first)) {
                token.cut(text, start, end, WORD);
                goes_on = emit(token);
            }
            goes_on
        };
        let mut at = 0;
        while at < text.len() {
            let is_run = text[at..].starts_with(is_thai);
            let end = text[at..].find(|c| is_thai(c) != is_run).map_or(text.len(), |length| at + length);
            let is_wanted = match is_run {
                true => thai_words(text, at, end, &mut one),
                false => other_words(text, at, end, &mut one),
            };
            if !is_wanted || limber_work::check().is_err() {
                return;
            }
            at = end;
        }
    }
}

/// The words of a run of Thai.
fn thai_words(text: &str, start: usize, end: usize, one: &mut dyn FnMut(usize, usize) -> bool) -> bool {
    let mut from = start;
    while from < end {
        let mut to = end.min(from + RUN_MAX);
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        let mut before = 0;
        for place in DICTIONARY.segment_str(&text[from..to]).skip(1) {
            if !one(from + before, from + place) {
                return false;
            }
            before = place;
        }
        from = to;
    }
    true
}

/// What is a letter to Java's rules, beside those of UAX #29: ideographs next to each other are a word, as are runs of hiragana and of katakana.
fn joint(word: &str) -> u8 {
    match uax29::kind(word) {
        "<IDEOGRAPHIC>" => 1,
        "<HIRAGANA>" => 2,
        "<KATAKANA>" => 3,
        _ => 0,
    }
}

fn other_words(text: &str, start: usize, end: usize, one: &mut dyn FnMut(usize, usize) -> bool) -> bool {
    let mut open: Option<(usize, usize, u8)> = None;
    for (offset, word) in text[start..end].split_word_bound_indices() {
        let (from, to) = (start + offset, start + offset + word.len());
        let kind = joint(word);
        match &mut open {
            Some((_, last, known)) if *known == kind && kind > 0 && *last == from => *last = to,
            _ => {
                if let Some((from, to, _)) = open.take()
                    && !one(from, to)
                {
                    return false;
                }
                open = Some((from, to, kind));
            }
        }
    }
    open.is_none_or(|(from, to, _)| one(from, to))
}
