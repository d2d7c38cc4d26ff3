//! Unicode forms as in ICU: normalization, case folding, and the folding of accents, widths and digits.
//!
//! The mappings of single characters under `nfkc_cf` and `icu_folding` were recorded from ICU4J 74 with
//! Lucene's folding rules. The canonical forms are those of the crate `icu_normalizer`.

use std::borrow::Cow;
use std::sync::LazyLock;

use hashbrown::HashMap;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use super::settings::Settings;
use crate::RequestError;

/// The replacements of a character under `nfkc_cf` and under `icu_folding`.
type Mapped = (&'static str, &'static str);

static MAPPINGS: LazyLock<HashMap<char, Mapped>> = LazyLock::new(|| {
    let lines = include_str!("icu_mappings.txt").lines();
    let row = |line: &'static str| {
        let mut parts = line.split('\t');
        let c = u32::from_str_radix(parts.next()?, 16).ok().and_then(char::from_u32)?;
        let folded_case = unescaped(parts.next()?);
        let folded = match parts.next() {
            None => folded_case,
            Some("-") => "",
            Some(folded) => unescaped(folded),
        };
        Some((c, (folded_case, folded)))
    };
    lines.filter_map(row).collect()
});

/// Decodes a string of the table, in which blanks are written as numbers.
fn unescaped(text: &'static str) -> &'static str {
    if !text.contains("\\u{") {
        return text;
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        out.push_str(before);
        let (number, after) = after.split_once('}').unwrap_or((after, ""));
        out.extend(u32::from_str_radix(number, 16).ok().and_then(char::from_u32));
        rest = after;
    }
    out.push_str(rest);
    // Only a few short strings are leaked, once.
    Box::leak(out.into_boxed_str())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Canonical,
    Compatible,
    CaseFolded,
    Folded,
}

/// A Unicode form.
#[derive(Debug, Clone)]
pub(super) struct Form {
    kind: Kind,
    composes: bool,
    /// If set, only these characters are changed.
    only: Option<ClassUnicode>,
}

impl Form {
    /// Returns the form of `icu_normalizer`.
    pub fn normalizer(settings: &Settings<'_>) -> Result<Form, RequestError> {
        let kind = match settings.text_or("name", "nfkc_cf").as_str() {
            "nfc" => Kind::Canonical,
            "nfkc" => Kind::Compatible,
            "nfkc_cf" => Kind::CaseFolded,
            other => {
                return Err(RequestError::unsupported(format!(
                    "normalization [{other}] of [{}]",
                    settings.name
                )));
            }
        };
        let composes = settings.text_or("mode", "compose") != "decompose";
        Ok(Form { kind, composes, only: only(settings)? })
    }

    /// Returns the form of `icu_folding`.
    pub fn folding(settings: &Settings<'_>) -> Result<Form, RequestError> {
        Ok(Form { kind: Kind::Folded, composes: true, only: only(settings)? })
    }

    /// Converts a text to this form.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_plain =
            |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && !matches!(byte, b'^' | b'`');
        if text.bytes().all(is_plain) {
            return Cow::Borrowed(text);
        }
        let Some(only) = &self.only else { return self.whole(text) };
        // The ranges ascend.
        let ranges = only.ranges();
        let is_meant = |c: char| {
            let at = ranges.partition_point(|range| range.end() < c);
            ranges.get(at).is_some_and(|range| range.start() <= c)
        };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let meant = is_meant(first);
            let length = rest.find(|c| is_meant(c) != meant).unwrap_or(rest.len());
            match meant {
                true => out.push_str(&self.whole(&rest[..length])),
                false => out.push_str(&rest[..length]),
            }
            rest = &rest[length..];
        }
        Cow::Owned(out)
    }

    fn whole<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mapped = match self.kind {
            Kind::Canonical | Kind::Compatible => Cow::Borrowed(text),
            Kind::CaseFolded | Kind::Folded => {
                // Combining marks are sorted before characters are mapped one by one.
                let source = ComposingNormalizerBorrowed::new_nfc().normalize(text);
                let mut out = String::with_capacity(source.len());
                for c in source.chars() {
                    match (MAPPINGS.get(&c), self.kind) {
                        (None, _) => out.push(c),
                        (Some((case, _)), Kind::CaseFolded) => out.push_str(case),
                        (Some((_, folded)), _) => out.push_str(folded),
                    }
                }
                Cow::Owned(out)
            }
        };
        match (self.kind == Kind::Compatible, self.composes) {
            (false, true) => ComposingNormalizerBorrowed::new_nfc().normalize(&mapped).into_owned().into(),
            (true, true) => ComposingNormalizerBorrowed::new_nfkc().normalize(&mapped).into_owned().into(),
            (false, false) => DecomposingNormalizerBorrowed::new_nfd().normalize(&mapped).into_owned().into(),
            (true, false) => DecomposingNormalizerBorrowed::new_nfkd().normalize(&mapped).into_owned().into(),
        }
    }
}

/// Longest text of a set of characters.
const SET_BYTES_MAX: usize = 16 << 10;

/// Reads the setting `unicode_set_filter`: a set of characters, as far as it uses the syntax of regular
/// expressions.
fn only(settings: &Settings<'_>) -> Result<Option<ClassUnicode>, RequestError> {
    let set = settings.text("unicode_set_filter").or(settings.text("unicodeSetFilter"));
    let Some(set) = set else { return Ok(None) };
    // Parsing a set takes a hundred times its length in memory.
    if set.len() > SET_BYTES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "[unicode_set_filter] of [{}] has more than [{SET_BYTES_MAX}] bytes",
            settings.name
        )));
    }
    let is_plain = set.starts_with('[') && set.ends_with(']') && !set.contains(['&', '{', '$', ' ']);
    let parsed = Some(&set).filter(|_| is_plain && !set.contains("-["));
    let parsed = parsed.and_then(|set| regex_syntax::parse(set).ok());
    match parsed.map(|hir| hir.into_kind()) {
        Some(HirKind::Class(Class::Unicode(class))) => Ok(Some(class)),
        _ => Err(RequestError::unsupported(format!("[unicode_set_filter: {set}] of [{}]", settings.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, SET_BYTES_MAX};
    use crate::analysis::settings::Settings;
    use serde_json::json;

    #[track_caller]
    fn check(body: serde_json::Value, is_folding: bool, text: &str, expected: &str) {
        let settings = Settings { name: "f", body: body.as_object().unwrap() };
        let form = if is_folding { Form::folding(&settings) } else { Form::normalizer(&settings) };
        assert_eq!(form.unwrap().apply(text), expected);
    }

    #[test]
    fn sets_have_a_length() {
        let body = json!({"unicode_set_filter": format!("[{}]", "a".repeat(SET_BYTES_MAX))});
        let settings = Settings { name: "f", body: body.as_object().unwrap() };
        let reason = Form::folding(&settings).map(drop).unwrap_err().reason;
        assert_eq!(reason, "[unicode_set_filter] of [f] has more than [16384] bytes");
    }

    /// The results are those of ICU4J 74 and Lucene 9.12.3.
    #[test]
    fn forms_are_icus() {
        check(json!({}), false, "Straße ﬁ Ⅷ ＡＢＣ １２ é\u{ad} Ω", "strasse fi viii abc 12 é ω");
        check(json!({"name": "nfkc"}), false, "ﬁ É e\u{301}", "fi É é");
        check(json!({"name": "nfc", "mode": "decompose"}), false, "é", "e\u{301}");
        check(json!({}), true, "Ruß Æsop Łódź ١٢ 東京 ﾊﾟ naïve «x»", "russ aesop lodz 12 東京 ハ naive \"x\"");
        check(json!({"unicode_set_filter": "[^åäöÅÄÖ]"}), true, "Åre Émile å", "Åre emile å");
    }
}
