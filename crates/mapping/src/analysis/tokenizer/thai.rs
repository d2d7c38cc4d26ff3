//! `thai`: finds Thai words with a dictionary, and others like Java's `BreakIterator`.
//!
//! Source: Lucene's `ThaiTokenizer`. The dictionary is ICU's; Java's own one splits some words at other
//! positions.

use std::sync::{Arc, LazyLock};

use icu_provider::{DataError, DataErrorKind, DataMarker, DataProvider, DataRequest, DataResponse};
use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::provider::{Baked, SegmenterDictionaryAutoV2, SegmenterDictionaryExtendedV2};
use regex::Regex;

use super::Tokenizer;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::WORD;
use crate::analysis::unicode;

#[derive(Debug)]
struct Thai;

static DICTIONARY: LazyLock<WordSegmenter> = LazyLock::new(|| {
    let simple = WordSegmenter::new_for_non_complex_scripts(WordBreakInvariantOptions::default());
    let mut segmenter = simple.static_to_owned();
    segmenter.load_dictionary_unstable(&ThaiAndNeighbours).expect("dictionaries that are compiled in");
    segmenter
});

/// ICU's dictionaries without the one for Chinese and Japanese, which is not needed for Thai and would add 2
/// MB to the program.
struct ThaiAndNeighbours;

impl DataProvider<SegmenterDictionaryAutoV2> for ThaiAndNeighbours {
    fn load(&self, request: DataRequest) -> Result<DataResponse<SegmenterDictionaryAutoV2>, DataError> {
        Err(DataErrorKind::IdentifierNotFound.with_req(SegmenterDictionaryAutoV2::INFO, request))
    }
}

impl DataProvider<SegmenterDictionaryExtendedV2> for ThaiAndNeighbours {
    fn load(&self, request: DataRequest) -> Result<DataResponse<SegmenterDictionaryExtendedV2>, DataError> {
        Baked.load(request)
    }
}

/// Makes `thai`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Thai))
}

/// Whether the character is a letter or a mark of Thai; its digits are treated like those of other scripts.
fn is_thai(c: char) -> bool {
    matches!(c, '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}')
}

/// Maximum number of bytes of a Thai run that are segmented together.
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
            if !is_wanted || !limber_work::analysis_goes_on() {
                return;
            }
            at = end;
        }
    }
}

/// Emits the words of a Thai run.
fn thai_words(text: &str, start: usize, end: usize, one: &mut dyn FnMut(usize, usize) -> bool) -> bool {
    let mut from = start;
    while from < end {
        let mut to = end.min(from + RUN_MAX);
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        let mut before = 0;
        for place in DICTIONARY.as_borrowed().segment_str(&text[from..to]).skip(1) {
            if !one(from + before, from + place) {
                return false;
            }
            before = place;
        }
        from = to;
    }
    true
}

/// Java's rules for words: letters with dashes, apostrophes, quotation marks and periods between them,
/// numbers, letters and numbers next to each other, and runs of kanji, hiragana and katakana. Marks belong to
/// the character before them.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let marks = r"[\p{Mn}\p{Me}\p{Cf}]*";
    let letters = format!(r"(?:[[\p{{L}}\p{{Mc}}]--[\p{{Han}}\u3041-\u3094\u30a1-\u30fa]]{marks})+");
    let word =
        format!("{letters}(?:[\\p{{Pd}}\\x{{ad}}\\x{{2027}}\"'.]{marks}{letters})*[\\x{{964}}\\x{{965}}]?");
    let digits = format!(r"(?:\p{{N}}{marks})+");
    let number = format!("{digits}(?:[\"',\\x{{66b}}.]{marks}{digits})*");
    let both = format!(r"(?:{word})?(?:{number}{word})*(?:{number}[\x{{a2}}%&\x{{2030}}\x{{2031}}]?)?");
    // A word never begins with a currency sign.
    let priced =
        format!(r"[[\p{{Sc}}#.]--\x{{a2}}](?:{number}{word})*(?:{number}[\x{{a2}}%&\x{{2030}}\x{{2031}}]?)?");
    let cjk = r"[\x{30a1}-\x{30fa}\x{3099}-\x{309c}\x{30fb}-\x{30fe}]+|[\x{3041}-\x{3094}\x{3099}-\x{309c}\x{30fb}-\x{30fe}]+|\p{Han}+";
    Regex::new(&format!("{cjk}|{priced}|{both}")).expect("a pattern that is written here")
});

fn other_words(text: &str, start: usize, end: usize, one: &mut dyn FnMut(usize, usize) -> bool) -> bool {
    let words = WORDS.find_iter(&text[start..end]).filter(|found| !found.is_empty());
    words.into_iter().all(|found| one(start + found.start(), start + found.end()))
}
