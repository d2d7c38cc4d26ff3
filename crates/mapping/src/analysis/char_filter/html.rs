//! Removes HTML from a text: "what would a reader see?"
//!
//! Source: Lucene's `HTMLStripCharFilter`, checked against the responses of Elasticsearch 9.4.3. Tags of
//! block elements become a line break, tags of inline elements nothing, and character references the
//! character they mean. Comments, scripts and styles are removed.

use super::entities::ENTITIES;
use super::rewrite::{Rewriter, Rewritten};

/// Inline elements, whose tags are removed without a replacement.
const INLINE: [&str; 31] = [
    "a", "abbr", "acronym", "b", "basefont", "bdo", "big", "cite", "code", "dfn", "em", "font", "i", "img",
    "input", "kbd", "label", "q", "s", "samp", "select", "small", "span", "strike", "strong", "sub", "sup",
    "textarea", "tt", "u", "var",
];

/// Maximum length of an entity name in bytes.
const ENTITY_BYTES_MAX: usize = 8;

/// Removes the HTML from a text.
pub fn strip_html(text: &str) -> String {
    without_html(text, &[]).text
}

/// Removes the HTML from a text, except for tags with these names, which are sorted and in lower case.
pub(in crate::analysis) fn without_html(text: &str, escaped_tags: &[String]) -> Rewritten {
    let mut rewriter = Rewriter::new(text);
    let mut unclosed = Unclosed::default();
    let mut replacement = String::new();
    while let Some(at) = rewriter.rest().find(['<', '&']) {
        rewriter.keep(at);
        let rest = rewriter.rest();
        if let Some(raw) = rest.strip_prefix(RAW_START) {
            rewriter.replace(RAW_START.len(), "");
            let end = raw.find(RAW_END);
            rewriter.keep(end.unwrap_or(raw.len()));
            rewriter.replace(end.map_or(0, |_| RAW_END.len()), "");
            continue;
        }
        replacement.clear();
        let found = if rest.starts_with('&') {
            character(rest, &mut replacement)
        } else {
            let is_escaped = |name: &str| {
                !escaped_tags.is_empty() && escaped_tags.binary_search(&name.to_ascii_lowercase()).is_ok()
            };
            match tag(rest) {
                Some((name, _, length)) if is_escaped(name) => {
                    rewriter.keep(length);
                    continue;
                }
                _ => markup(rest, &mut replacement, &mut unclosed),
            }
        };
        match found {
            Some(length) => {
                rewriter.replace(length, &replacement);
            }
            None => rewriter.keep(1),
        }
    }
    rewriter.finish()
}

/// Delimiters of a CDATA section, whose content is text in any case.
const RAW_START: &str = "<![CDATA[";
const RAW_END: &str = "]]>";

/// Constructs whose end was searched for in vain up to the end of the text, so that the search need not be
/// repeated.
#[derive(Default)]
struct Unclosed {
    declaration: bool,
    instruction: bool,
}

/// Handles markup that begins with `<`: writes its replacement and returns its length. `None` if it is not
/// markup.
fn markup(text: &str, out: &mut String, unclosed: &mut Unclosed) -> Option<usize> {
    let inside = &text[1..];
    let up_to = |end: &str, is_endless: &mut bool| {
        let found = if *is_endless { None } else { text[2..].find(end) };
        *is_endless = found.is_none();
        found.map(|at| 2 + at + end.len())
    };
    if inside.starts_with("!--") {
        return Some(text[4..].find("-->").map_or(text.len(), |at| 4 + at + 3));
    }
    if inside.starts_with('!') {
        return up_to(">", &mut unclosed.declaration);
    }
    if inside.starts_with('?') {
        return up_to("?>", &mut unclosed.instruction);
    }
    let (name, is_end, length) = tag(text)?;
    let is_hidden = !is_end && ["script", "style"].iter().any(|hidden| name.eq_ignore_ascii_case(hidden));
    if is_hidden {
        let Some(end) = end_of_hidden(&text[length..], name) else { return Some(text.len()) };
        out.push('\n');
        return Some(length + end);
    }
    if !INLINE.iter().any(|inline| name.eq_ignore_ascii_case(inline)) {
        out.push('\n');
    }
    Some(length)
}

/// Returns the name of a tag, whether it is an end tag, and its total length.
fn tag(text: &str) -> Option<(&str, bool, usize)> {
    let inside = text[1..].trim_start();
    let (inside, is_end) = match inside.strip_prefix('/') {
        Some(inside) => (inside.trim_start(), true),
        None => (inside, false),
    };
    let is_first = |first: char| first.is_alphabetic() || matches!(first, '_' | ':');
    let is_more = |more: char| more.is_alphanumeric() || matches!(more, '_' | ':' | '-' | '.');
    if !inside.starts_with(is_first) {
        return None;
    }
    let name_length = inside.find(|character| !is_more(character))?;
    let (name, mut rest) = inside.split_at(name_length);
    loop {
        let at = rest.find(['>', '<', '=', '"', '\''])?;
        match rest.as_bytes()[at] {
            b'>' => return Some((name, is_end, text.len() - rest.len() + at + 1)),
            b'<' => return None,
            b'=' => {
                rest = rest[at + 1..].trim_start();
                // A quoted value may contain any characters.
                if let Some(quote @ (b'"' | b'\'')) = rest.as_bytes().first().copied()
                    && let Some(end) = rest[1..].find(quote as char)
                {
                    rest = &rest[end + 2..];
                }
            }
            _ => rest = &rest[at + 1..],
        }
    }
}

/// Returns the length up to the end of a script or style, including its end tag.
fn end_of_hidden(text: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let start = from + at;
        if let Some((found, true, length)) = tag(&text[start..])
            && found.eq_ignore_ascii_case(name)
        {
            return Some(start + length);
        }
        from = start + 2;
    }
    None
}

/// Handles a reference that begins with `&`: writes the character that it means and returns its length.
fn character(text: &str, out: &mut String) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        let (first, length) = number(text)?;
        // A surrogate pair given as two references.
        if (0xD800..0xDC00).contains(&first)
            && let Some((second @ 0xDC00..0xE000, more)) = number(&text[length..])
        {
            let whole = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            out.push(char::from_u32(whole)?);
            return Some(length + more);
        }
        if first > 0x10FFFF {
            return None;
        }
        out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Some(length);
    }
    let length =
        bytes[1..].iter().take(ENTITY_BYTES_MAX + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = &text[1..1 + length];
    let found = ENTITIES.binary_search_by_key(&name, |(known, _)| known).ok()?;
    // The semicolon may be omitted at the end of the text.
    let end = match bytes.get(1 + length) {
        Some(b';') => 2 + length,
        None => 1 + length,
        _ => return None,
    };
    out.push(ENTITIES[found].1);
    Some(end)
}

/// Returns the number in `&#65;` or `&#x41;`, and the length of the reference.
fn number(text: &str) -> Option<(u32, usize)> {
    let digits = text.strip_prefix("&#")?;
    let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    let end = digits.find(|digit: char| !digit.is_digit(radix))?;
    if !digits[end..].starts_with(';') {
        return None;
    }
    let number = u32::from_str_radix(&digits[..end], radix).ok()?;
    Some((number, text.len() - digits.len() + end + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(ENTITIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(ENTITIES.iter().all(|(name, _)| name.len() <= ENTITY_BYTES_MAX));
    }

    #[test]
    fn what_a_reader_sees() {
        for (text, expected) in [
            ("<p>a &amp; b</p>", "\na & b\n"),
            ("a<b>b</b>c", "abc"),
            ("1 < 2 > 0", "1 < 2 > 0"),
            ("<script>a<b></script>c", "\nc"),
            ("<!-- a -->b&#x1F600;", "b\u{1F600}"),
            ("<a title='>'>x", "x"),
        ] {
            assert_eq!(strip_html(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[<>/!?&#;=\"'\\-\\[\\] a-cA-Cxé0-9]{0,40}") {
            strip_html(&text);
        }
    }
}
