//! JSON text to nodes: "where does every member of this document start and end?"
//!
//! One pass, iterative, no allocation but the node vector's. Numbers and strings are checked and left where they are; a node only
//! remembers their place. Grammar: RFC 8259.

use super::document::NODE_COUNT_MAX;
use super::node::{Kind, NONE, Node, NodeId, Span, flag};

/// Containers open at once; Jackson's `StreamReadConstraints` default, which Elasticsearch uses.
pub const NESTING_DEPTH_MAX: usize = 1000;

/// Where and why a text is not JSON. Offsets are bytes into the text handed to [`parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub offset: usize,
    pub message: &'static str,
}

/// A container that is not closed yet, and its latest child.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    node: NodeId,
    last: NodeId,
}

/// Parses one value at `start` and returns its node and the offset after it. `base` is added to every remembered position.
///
/// `text` must be valid UTF-8. On error `nodes` holds garbage past its former length; the caller truncates.
pub fn parse(
    text: &[u8],
    start: usize,
    base: u32,
    nodes: &mut Vec<Node>,
    stack: &mut Vec<Open>,
) -> Result<(NodeId, usize), SyntaxError> {
    stack.clear();
    let mut parser = Parser { text, at: start, base, nodes };
    let root = parser.nodes.len() as NodeId;
    parser.skip_space();
    parser.value(Span::default(), false, stack)?;
    while let Some(open) = stack.last_mut() {
        parser.skip_space();
        let is_object = parser.nodes[open.node as usize].kind == Kind::Object;
        let end = if is_object { b'}' } else { b']' };
        let is_first = open.last == NONE;
        match parser.peek() {
            Some(byte) if byte == end => {
                parser.at += 1;
                let node = &mut parser.nodes[open.node as usize];
                node.text.len = parser.base + parser.at as u32 - node.text.start;
                stack.pop();
                continue;
            }
            Some(b',') if !is_first => {
                parser.at += 1;
                parser.skip_space();
            }
            Some(_) if is_first => {}
            Some(_) => return Err(parser.error("expected a comma or the end of the container")),
            None => return Err(parser.error("Unexpected end of file")),
        }
        if parser.nodes.len() >= NODE_COUNT_MAX {
            return Err(parser.error("too many values for an ingest pipeline"));
        }
        let (key, key_escaped) = if is_object { parser.key()? } else { (Span::default(), false) };
        let child = parser.nodes.len() as NodeId;
        if is_first {
            parser.nodes[open.node as usize].first = child;
        } else {
            parser.nodes[open.last as usize].next = child;
        }
        open.last = child;
        parser.value(key, key_escaped, stack)?;
    }
    Ok((root, parser.at))
}

/// The offset of the first byte at or after `at` that is not white space.
pub fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    base: u32,
    nodes: &'a mut Vec<Node>,
}

impl Parser<'_> {
    fn error(&self, message: &'static str) -> SyntaxError {
        SyntaxError { offset: self.at.min(self.text.len()), message }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        if self.peek().is_some_and(|byte| byte <= b' ') {
            self.at = skip_space(self.text, self.at);
        }
    }

    /// `"key" :` and the space after it; the span is the key without its quotes.
    #[inline]
    fn key(&mut self) -> Result<(Span, bool), SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("was expecting double-quote to start field name"));
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        let span = Span { start: self.base + start as u32, len: (self.at - 1 - start) as u32 };
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error("was expecting a colon to separate field name and value"));
        }
        self.at += 1;
        self.skip_space();
        Ok((span, escaped))
    }

    /// Pushes the value's node; a container is left open on the stack.
    #[inline]
    fn value(&mut self, key: Span, key_escaped: bool, stack: &mut Vec<Open>) -> Result<(), SyntaxError> {
        let start = self.at;
        let mut flags = if key_escaped { flag::KEY_ESCAPED } else { 0 };
        let kind = match self.peek() {
            Some(b'"') => {
                if self.string()? {
                    flags |= flag::TEXT_ESCAPED;
                }
                Kind::String
            }
            Some(b'{' | b'[') => {
                if stack.len() >= NESTING_DEPTH_MAX {
                    return Err(self.error("Document nesting depth exceeds the maximum allowed (1000)"));
                }
                let kind = if self.text[self.at] == b'{' { Kind::Object } else { Kind::Array };
                self.at += 1;
                stack.push(Open { node: self.nodes.len() as NodeId, last: NONE });
                kind
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Number
            }
            Some(b't') => self.word(b"true", Kind::True)?,
            Some(b'f') => self.word(b"false", Kind::False)?,
            Some(b'n') => self.word(b"null", Kind::Null)?,
            Some(_) => return Err(self.error("expected a valid value")),
            None => return Err(self.error("Unexpected end of file")),
        };
        let text = Span { start: self.base + start as u32, len: (self.at - start) as u32 };
        self.nodes.push(Node { kind, flags, key, text, first: NONE, next: NONE });
        Ok(())
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<Kind, SyntaxError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(kind)
        } else {
            Err(self.error("Unrecognized token: was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"))
        }
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.error("expected a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.error("Invalid numeric value: Leading zeroes not allowed"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Moves past the closing quote; true when the string holds escapes.
    #[inline]
    fn string(&mut self) -> Result<bool, SyntaxError> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at = find_special(self.text, self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.error("Illegal unquoted control character inside a string")),
                None => return Err(self.error("Unexpected end of file")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.text.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.text.get(self.at + 2..self.at + 6);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.error("expected four hexadecimal digits in an escape"));
                }
                self.at += 6;
            }
            Some(_) => return Err(self.error("Unrecognized character escape")),
            None => return Err(self.error("Unexpected end of file")),
        }
        Ok(())
    }
}

/// Offset of the first quote, backslash or control character at or after `at` (or the end), eight bytes a step.
#[inline]
fn find_special(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = text.get(at..at + 8) {
        let word = u64::from_le_bytes(chunk.try_into().expect("a slice of eight bytes"));
        let quote = word ^ (ONES * b'"' as u64);
        let backslash = word ^ (ONES * b'\\' as u64);
        // The lowest flagged byte of each is exact: borrows only reach bytes above a match.
        let found = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let found = found & HIGH;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while text.get(at).is_some_and(|&byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
        at += 1;
    }
    at
}

/// The value of a JSON string's inside (checked by [`parse`]). A lone surrogate becomes U+FFFD.
pub fn unescape(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or("");
        match escape {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => rest = unescape_unit(rest, &mut out),
            other => out.push(other as char),
        }
    }
    out.push_str(rest);
    out
}

/// Decodes the four hex digits (and a following low surrogate) at the start of `rest`; returns what follows.
fn unescape_unit<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let first = unit(rest).unwrap_or(0xFFFD);
    let rest = rest.get(4..).unwrap_or("");
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = rest.strip_prefix("\\u").and_then(unit)
        && (0xDC00..0xE000).contains(&second)
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return rest.get(6..).unwrap_or("");
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

/// Appends `value` escaped as the inside of a JSON string.
pub fn push_escaped(out: &mut String, value: &str) -> bool {
    let first = find_special(value.as_bytes(), 0);
    if first == value.len() {
        out.push_str(value);
        return false;
    }
    for char in value.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control if control < ' ' => {
                use std::fmt::Write as _;
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &str) -> bool {
        let mut nodes = Vec::new();
        match parse(text.as_bytes(), 0, 0, &mut nodes, &mut Vec::new()) {
            Ok((_, end)) => skip_space(text.as_bytes(), end) == text.len(),
            Err(_) => false,
        }
    }

    #[test]
    fn accepts_what_serde_json_accepts() {
        for text in [
            "{}",
            "[]",
            " { } ",
            "[1,]",
            "{\"a\":}",
            "{\"a\" : [ 1 , {\"b\":null} ] }",
            "\"a\\u00e9\"",
            "\"\\u12\"",
            "01",
            "-",
            "-0.5e+3",
            "1e",
            "tru",
            "true",
            "\"\u{1}\"",
            "\"\\x\"",
            "{,}",
            "[,]",
            "[1 2]",
            "{\"a\":1,\"b\":2}",
            "",
            " ",
            "{\"a\"}",
            "[[[[]]]]",
            "]",
            "}",
            "{\"a\":1}}",
        ] {
            let expected = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(accepts(text), expected, "{text}");
        }
        assert!(accepts(&("[".repeat(1000) + &"]".repeat(1000))));
        assert!(!accepts(&("[".repeat(1001) + &"]".repeat(1001))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn strings_survive(value in ".{0,40}") {
            let mut out = String::new();
            out.push('"');
            push_escaped(&mut out, &value);
            out.push('"');
            prop_assert_eq!(&serde_json::from_str::<String>(&out).expect("JSON"), &value);
            prop_assert_eq!(unescape(&out[1..out.len() - 1]), value.clone());
            let theirs = serde_json::to_string(&value).expect("JSON");
            prop_assert_eq!(unescape(&theirs[1..theirs.len() - 1]), value);
        }

        #[test]
        fn garbage_never_panics(text in "[\\[\\]{}\",:0-9a-e\\\\ .u-]{0,30}") {
            let ours = accepts(&text);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            // serde_json refuses numbers beyond f64 and lone surrogates; Elasticsearch and we do not.
            if theirs.is_ok() { prop_assert!(ours, "{}", text) }
        }
    }
}
