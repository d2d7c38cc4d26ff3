//! Percent-encoding: "how is this string written in a URL, and which string does this part of a URL mean?"

use std::borrow::Cow;

use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode_byte, utf8_percent_encode,
};

use crate::{Error, Result};

/// Characters that [`encoded`] encodes: all but RFC 3986's unreserved ones, and `*` and `,` of lists.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'*').remove(b',');
/// Characters that Java's `URLEncoder` encodes.
const ENCODED_IN_FORMS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// Encodes a name, or a list of names, for a path or a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Appends `text` encoded as `application/x-www-form-urlencoded`, like Java's `URLEncoder`: a blank is `+`.
pub fn push_form_encoded(out: &mut String, text: &str) {
    for piece in utf8_percent_encode(text, ENCODED_IN_FORMS) {
        out.push_str(if piece == "%20" { "+" } else { piece });
    }
}

/// Returns the escape of a byte, such as `%0A`.
pub fn escape_of(byte: u8) -> &'static str {
    percent_encode_byte(byte)
}

/// Decodes all escapes. A `%` without two hexadecimal digits stays as it is.
pub fn decoded(text: &str) -> Cow<'_, [u8]> {
    percent_decode_str(text).into()
}

/// Decodes like [`decoded`]. What is no UTF-8 becomes U+FFFD.
pub fn decoded_text(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Decodes `application/x-www-form-urlencoded`, like Java's `URLDecoder`.
///
/// # Errors
/// [`Error::IllegalArgument`] for a `%` without two hexadecimal digits.
pub fn form_decoded(text: &str) -> Result<String> {
    for (at, _) in text.match_indices('%') {
        let Some(digits) = text.as_bytes().get(at + 1..at + 3) else {
            return Err(Error::illegal("URLDecoder: Incomplete trailing escape (%) pattern"));
        };
        if let Some(digit) = digits.iter().find(|digit| !digit.is_ascii_hexdigit()) {
            return Err(Error::illegal(format!(
                "URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal digit: \"{}\" = {digit}",
                char::from(*digit)
            )));
        }
    }
    Ok(decoded_text(&text.replace('+', " ")).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_for_paths() {
        assert_eq!(encoded("a-b_c.d~e,logs-*"), "a-b_c.d~e,logs-*");
        assert_eq!(encoded("<logs-{now/d}>"), "%3Clogs-%7Bnow%2Fd%7D%3E");
        assert_eq!(encoded("é b"), "%C3%A9%20b");
        assert_eq!(escape_of(b'\n'), "%0A");
    }

    #[test]
    fn forms_are_encoded_as_java_encodes_them() {
        let check = |text: &str, expected: &str| {
            let mut out = String::new();
            push_form_encoded(&mut out, text);
            assert_eq!(out, expected);
        };
        check("a b+c", "a+b%2Bc");
        check("%20", "%2520");
        check("x*.-_~é", "x*.-_%7E%C3%A9");
    }

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(decoded("a%20b%2"), b"a b%2".as_slice());
        assert_eq!(decoded_text("caf%C3%A9+%zz"), "café+%zz");
        assert_eq!(decoded_text("%ff"), "\u{fffd}");
    }

    #[test]
    fn forms_are_decoded_as_java_decodes_them() {
        assert_eq!(form_decoded("a+b%2Bc%20%C3%A9"), Ok("a b+c é".to_owned()));
        let refused = |text: &str| form_decoded(text).expect_err(text).to_string();
        assert_eq!(refused("a%2"), "URLDecoder: Incomplete trailing escape (%) pattern");
        assert_eq!(
            refused("a%2x"),
            "URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal digit: \"x\" = 120"
        );
    }
}
