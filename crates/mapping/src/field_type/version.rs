//! `version`: version numbers, sorted by the precedence of Semantic Versioning. Source: Elasticsearch's
//! `VersionStringFieldMapper` and `VersionEncoder`.
//!
//! A term is the string with inserted marks, so that its bytes sort like the version:
//!
//! | part | bytes |
//! |---|---|
//! | a number of the version, or a pre-release part of digits only | 1, 128 + digit count, the digits |
//! | before the `-` of a pre-release | 2, so that it is ranked before the version without one |
//! | at the end of a version without pre-release, before its build | 3 |
//! | `.`, other parts of a pre-release, the build with its `+` | as they are |
//! | a string that is no version | as it is, after all versions, which begin with 1; if empty, 3 |

use std::ops::Bound;

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Cause, DateContext, Field, FieldType, KEEP, Leaf, META, Param, RangeEnd, Scalar, Selection, Typed,
    ValueKind, Wanted, text_of,
};

#[derive(Debug)]
pub(super) struct Version;

/// Precedes a number.
const NUMBER: u8 = 1;
/// Precedes a pre-release.
const PRE_RELEASE: u8 = 2;
/// Replaces an absent pre-release.
const NO_PRE_RELEASE: u8 = 3;
/// Marks the byte with the digit count of a number.
const COUNT: u8 = 0x80;

impl FieldType for Version {
    fn name(&self) -> &'static str {
        "version"
    }

    fn params(&self) -> &'static [Param] {
        &[META, KEEP]
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Coded)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        (field.index, field.doc_values) = (true, true);
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        Ok(Typed::Coded(encode(scalar.text())))
    }

    fn select_term(
        &self,
        _: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Ok(Selection::Term(encode(wanted.text)))
    }

    fn select_range(
        &self,
        _: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let bound = |end: Option<RangeEnd<'_>>| -> Result<Bound<Vec<u8>>, RequestError> {
            let Some(end) = end else { return Ok(Bound::Unbounded) };
            let term = encode(&text_of(end.value)?);
            Ok(if end.inclusive { Bound::Included(term) } else { Bound::Excluded(term) })
        };
        Ok(Selection::Terms { lower: bound(lower)?, upper: bound(upper)? })
    }

    fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        Ok(encode(text))
    }

    fn decode_term(&self, term: &[u8]) -> String {
        decode(term)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        Some(text.into())
    }
}

fn encode(text: &str) -> Vec<u8> {
    if text.is_empty() {
        return vec![NO_PRE_RELEASE];
    }
    let mut term = Vec::with_capacity(text.len() + 8);
    match encode_version(text, &mut term) {
        Some(()) => term,
        None => text.as_bytes().to_vec(),
    }
}

/// Encodes a version. `None` if the text is not a version.
fn encode_version(text: &str, term: &mut Vec<u8>) -> Option<()> {
    let (version, build) = match text.find('+') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (numbers, pre_release) = match version.split_once('-') {
        Some((numbers, pre_release)) => (numbers, Some(pre_release)),
        None => (version, None),
    };
    each_part(numbers, term, |part, term| is_number(part).then(|| number(part, term)))?;
    match pre_release {
        None => term.push(NO_PRE_RELEASE),
        Some(parts) => {
            term.extend([PRE_RELEASE, b'-']);
            each_part(parts, term, |part, term| match part.bytes().all(|byte| byte.is_ascii_digit()) {
                true => is_number(part).then(|| number(part, term)),
                false => is_word(part).then(|| term.extend(part.as_bytes())),
            })?;
        }
    }
    if let Some(build) = build {
        term.push(b'+');
        each_part(build, term, |part, term| is_word(part).then(|| term.extend(part.as_bytes())))?;
    }
    Some(())
}

/// Encodes the parts between dots, each with `add`.
fn each_part(parts: &str, term: &mut Vec<u8>, add: impl Fn(&str, &mut Vec<u8>) -> Option<()>) -> Option<()> {
    for (place, part) in parts.split('.').enumerate() {
        if place > 0 {
            term.push(b'.');
        }
        add(part, term)?;
    }
    Some(())
}

/// Whether a part is a number without leading zeros whose digit count can be encoded.
fn is_number(part: &str) -> bool {
    let is_plain = part == "0" || !part.starts_with('0');
    is_plain && (1..COUNT.into()).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn number(part: &str, term: &mut Vec<u8>) {
    term.extend([NUMBER, COUNT | part.len() as u8]);
    term.extend(part.as_bytes());
}

fn decode(term: &[u8]) -> String {
    if term == [NO_PRE_RELEASE] {
        return String::new();
    }
    if term.first() != Some(&NUMBER) {
        return String::from_utf8_lossy(term).into_owned();
    }
    let mut text = Vec::with_capacity(term.len());
    let mut bytes = term.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            NUMBER => drop(bytes.next()),
            PRE_RELEASE | NO_PRE_RELEASE => {}
            other => text.push(other),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::fed;

    #[test]
    fn terms_sort_as_versions_do_and_are_shown_as_they_came() {
        let ascending = [
            "1",
            "1.0.0-0",
            "1.0.0-2",
            "1.0.0-11",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.0+build.5",
            "1.2",
            "1.2.0",
            "1.2.3.4",
            "1.11.0",
            "2.1.0",
            "21.11.0",
            // None of these is a version.
            "",
            "1..2",
            "1.02.0",
            "1.2.0-",
            "nonsense",
            "\u{e9}.1.0",
        ];
        for pair in ascending.windows(2) {
            assert!(encode(pair[0]) < encode(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        for text in ascending {
            assert_eq!(decode(&encode(text)), text);
        }
        let long = "9".repeat(200);
        assert_eq!(decode(&encode(&long)), long);
    }

    #[test]
    fn documents_may_say_anything() {
        let mapping = json!({"properties": {"v": {"type": "version"}}});
        let document = json!({"v": ["x", 5, null]});
        assert_eq!(fed(&mapping, &document), ["v=x", "v=0x01813503"]);
    }
}
