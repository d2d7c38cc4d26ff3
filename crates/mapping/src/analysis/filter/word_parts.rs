//! Splits words into parts: at changes of letters, digits and case, and at characters that are neither
//! letters nor digits.
//!
//! Source: Lucene's `WordDelimiterIterator`.

use hashbrown::HashMap;

use super::Words;
use crate::RequestError;
use crate::analysis::char_filter::unescaped_char;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::unicode;

/// A part of lower-case letters.
pub const LOWER: u8 = 1;
/// A part of upper-case letters.
pub const UPPER: u8 = 2;
/// A part of digits.
pub const DIGIT: u8 = 4;
/// Characters that are neither letters nor digits.
pub const DELIMITER: u8 = 8;
/// A part of letters.
pub const ALPHA: u8 = LOWER | UPPER;

/// Bytes that parting takes per byte of a token: place and kind of a character, and a list of parts that has
/// grown to twice of what it holds.
const PART_BYTES: u64 = 40;

/// How words are split, and which parts are emitted.
#[derive(Debug)]
pub struct Parting {
    pub word_parts: bool,
    pub number_parts: bool,
    pub catenate_words: bool,
    pub catenate_numbers: bool,
    pub catenate_all: bool,
    pub keeps_original: bool,
    pub adjusts_offsets: bool,
    pub ignores_keywords: bool,
    on_case: bool,
    on_numerics: bool,
    possessive: bool,
    table: HashMap<char, u8>,
    pub protected: Words,
}

impl Parting {
    /// Reads the settings that `word_delimiter` and `word_delimiter_graph` share. Fails if a type table does
    /// not parse.
    pub fn read(settings: &Settings<'_>, context: &Context<'_>) -> Result<Parting, RequestError> {
        let flag = |key: &str, default: bool| settings.bool(key, default);
        Ok(Parting {
            word_parts: flag("generate_word_parts", true)?,
            number_parts: flag("generate_number_parts", true)?,
            catenate_words: flag("catenate_words", false)?,
            catenate_numbers: flag("catenate_numbers", false)?,
            catenate_all: flag("catenate_all", false)?,
            keeps_original: flag("preserve_original", false)?,
            adjusts_offsets: flag("adjust_offsets", true)?,
            ignores_keywords: flag("ignore_keywords", false)?,
            on_case: flag("split_on_case_change", true)?,
            on_numerics: flag("split_on_numerics", true)?,
            possessive: flag("stem_english_possessive", true)?,
            table: table(settings, context)?,
            protected: Words::read(settings, context, "protected_words", false)?
                .unwrap_or_else(|| Words::new([], false)),
        })
    }

    fn kind(&self, c: char) -> u8 {
        if let Some(kind) = self.table.get(&c) {
            return *kind;
        }
        match c {
            'a'..='z' => LOWER,
            'A'..='Z' => UPPER,
            '0'..='9' => DIGIT,
            _ if c.is_ascii() => DELIMITER,
            _ if unicode::is_upper(c) => UPPER,
            _ if unicode::is_lower(c) || matches!(c, 'ª' | 'º') => LOWER,
            // Java sees the two surrogates of characters beyond the basic plane.
            '\u{10000}'.. => ALPHA | DIGIT,
            _ if unicode::is_letter(c) || unicode::is_mark(c) => ALPHA,
            _ if c > 'ÿ' && unicode::is_number(c) => DIGIT,
            _ => DELIMITER,
        }
    }

    /// Whether parts of this kind are emitted.
    pub fn makes(&self, kind: u8) -> bool {
        self.word_parts && kind & ALPHA != 0 || self.number_parts && kind & DIGIT != 0
    }

    /// Whether runs of parts of this kind are joined.
    pub fn joins(&self, kind: u8) -> bool {
        self.catenate_words && kind & ALPHA != 0 || self.catenate_numbers && kind & DIGIT != 0
    }

    fn breaks(&self, last: u8, kind: u8) -> bool {
        if kind & last != 0 {
            return false;
        }
        let (alpha, last_alpha) = (kind & ALPHA != 0, last & ALPHA != 0);
        let changes = alpha && last & DIGIT != 0 || last_alpha && kind & DIGIT != 0;
        !(!self.on_case && last_alpha && alpha || last & UPPER != 0 && alpha || !self.on_numerics && changes)
    }

    /// Whether there is room for the parts of a token, which may be a whole text. If not, the document is
    /// refused.
    pub fn has_room_for_parts(&self, text: &str) -> bool {
        limber_work::has_room_for(text.len() as u64 * PART_BYTES)
    }

    /// Returns the start, the end (in bytes) and the kind of every part, and whether there is only one part
    /// between delimiters. Ask [`Self::has_room_for_parts`] before.
    pub fn parts(&self, text: &str) -> (Vec<(usize, usize, u8)>, bool) {
        let chars: Vec<(usize, char, u8)> =
            text.char_indices().map(|(at, c)| (at, c, self.kind(c))).collect();
        let is_delimiter = |at: usize| chars[at].2 & DELIMITER != 0;
        let byte = |at: usize| chars.get(at).map_or(text.len(), |(byte, ..)| *byte);
        let start = (0..chars.len()).find(|at| !is_delimiter(*at)).unwrap_or(chars.len());
        let end = (start..chars.len()).rfind(|at| !is_delimiter(*at)).map_or(start, |at| at + 1);
        let ends_possessive = |at: usize| {
            self.possessive
                && at > 2
                && at <= end
                && chars[at - 2].1 == '\''
                && matches!(chars[at - 1].1, 's' | 'S')
                && chars[at - 3].2 & ALPHA != 0
                && (at == end || is_delimiter(at))
        };
        let is_final = ends_possessive(end);
        let mut parts = Vec::new();
        let mut at = start;
        let mut is_single = false;
        loop {
            while at < end && is_delimiter(at) {
                at += 1;
            }
            if at >= end {
                break;
            }
            let from = at;
            at += 1;
            while at < end && !self.breaks(chars[at - 1].2, chars[at].2) {
                at += 1;
            }
            let kind = if matches!(chars[from].2, LOWER | UPPER) { ALPHA } else { chars[from].2 };
            is_single = parts.is_empty() && from == start && at == if is_final { end - 2 } else { end };
            parts.push((byte(from), byte(at), kind));
            if at + 1 < end && ends_possessive(at + 2) {
                at += 2;
            }
        }
        (parts, is_single)
    }
}

/// Reads the setting `type_table`: characters and their types.
fn table(settings: &Settings<'_>, context: &Context<'_>) -> Result<HashMap<char, u8>, RequestError> {
    let mut table = HashMap::new();
    let rules = match settings.value("type_table") {
        Some(serde_json::Value::String(one)) => vec![one.clone()],
        _ => context.list(settings, "type_table")?.unwrap_or_default(),
    };
    for rule in rules {
        let invalid = || RequestError::illegal_argument(format!("Invalid Mapping Rule : [{rule}]"));
        let (from, to) = rule.rsplit_once("=>").ok_or_else(invalid)?;
        let from = unescaped_char(from.trim()).map_err(|_| {
            RequestError::illegal_argument(format!(
                "Invalid Mapping Rule : [{rule}]. Only a single character is allowed."
            ))
        })?;
        let kind = match to.trim() {
            "LOWER" => LOWER,
            "UPPER" => UPPER,
            "ALPHA" => ALPHA,
            "DIGIT" => DIGIT,
            "ALPHANUM" => ALPHA | DIGIT,
            "SUBWORD_DELIM" => DELIMITER,
            _ => {
                return Err(RequestError::illegal_argument(format!(
                    "Invalid Mapping Rule : [{rule}]. Illegal type."
                )));
            }
        };
        table.insert(from, kind);
    }
    Ok(table)
}
