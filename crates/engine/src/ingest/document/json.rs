//! Parses JSON text to nodes: "where does every member of this document start and end?"
//!
//! One pass, iterative, allocating only the vector of nodes. Numbers and strings are checked but not copied;
//! a node holds only their position. Grammar: RFC 8259.

use limber_mapping::document;
use limber_mapping::document::scan::string_stop;

use super::NODE_COUNT_MAX;
use super::node::{Key, Kind, NONE, Node, NodeId, Span, flag, key_tag};

/// How many containers may be open at once: the default of Jackson's `StreamReadConstraints`, which
/// Elasticsearch uses.
pub const NESTING_DEPTH_MAX: usize = 1000;

/// A syntax error in JSON: its position and the reason. Offsets are bytes into the text passed to [`parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub offset: usize,
    pub message: &'static str,
}

/// A container that is not closed yet, and its last child so far.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    node: NodeId,
    last: NodeId,
    is_object: bool,
}

/// Parses one value at `start`. Returns its node and the offset after it. `base` is added to every stored
/// position.
///
/// `text` must be valid UTF-8. After an error, `nodes` holds garbage beyond its former length; the caller
/// truncates it.
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
    // The innermost open container; the ones around it are on the stack.
    let Some(mut open) = parser.value(Key::default(), false)? else { return Ok((root, parser.at)) };
    loop {
        parser.skip_space();
        let end = if open.is_object { b'}' } else { b']' };
        let is_first = open.last == NONE;
        match parser.peek() {
            Some(byte) if byte == end => {
                parser.at += 1;
                let node = &mut parser.nodes[open.node as usize];
                node.text.len = parser.base + parser.at as u32 - node.text.start;
                match stack.pop() {
                    Some(outer) => open = outer,
                    None => return Ok((root, parser.at)),
                }
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
        let (key, key_escaped) = if open.is_object { parser.key()? } else { (Key::default(), false) };
        let child = parser.nodes.len() as NodeId;
        if is_first {
            parser.nodes[open.node as usize].first = child;
        } else {
            parser.nodes[open.last as usize].next = child;
        }
        open.last = child;
        if let Some(inner) = parser.value(key, key_escaped)? {
            stack.push(open);
            if stack.len() >= NESTING_DEPTH_MAX {
                // The error points to where the container begins.
                parser.at -= 1;
                return Err(parser.error("Document nesting depth exceeds the maximum allowed (1000)"));
            }
            open = inner;
        }
    }
}

/// Returns the offset of the first byte at or after `at` that is not white space.
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
    #[cold]
    fn error(&self, message: &'static str) -> SyntaxError {
        error_at(self.text, self.at, message)
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

    /// Parses `"key" :` and the white space after it. Returns whether the key contains escapes, too.
    #[inline(always)]
    fn key(&mut self) -> Result<(Key, bool), SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("was expecting double-quote to start field name"));
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        let inside = &self.text[start..self.at - 1];
        let tag = if escaped { tag_of_escaped(inside) } else { key_tag(inside) };
        let text = Span { start: self.base + start as u32, len: inside.len() as u32 };
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error("was expecting a colon to separate field name and value"));
        }
        self.at += 1;
        self.skip_space();
        Ok((Key { text, tag }, escaped))
    }

    /// Pushes the value's node. A container is left open and returned.
    #[inline(always)]
    fn value(&mut self, key: Key, key_escaped: bool) -> Result<Option<Open>, SyntaxError> {
        let start = self.at;
        let mut open = None;
        let mut flags = if key_escaped { flag::KEY_ESCAPED } else { 0 };
        let kind = match self.peek() {
            Some(b'"') => {
                if self.string()? {
                    flags |= flag::TEXT_ESCAPED;
                }
                Kind::String
            }
            Some(bracket @ (b'{' | b'[')) => {
                let is_object = bracket == b'{';
                self.at += 1;
                open = Some(Open { node: self.nodes.len() as NodeId, last: NONE, is_object });
                if is_object { Kind::Object } else { Kind::Array }
            }
            Some(b'-' | b'0'..=b'9') => {
                self.at = number(self.text, self.at)?;
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
        Ok(open)
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<Kind, SyntaxError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(kind)
        } else {
            Err(self.error("Unrecognized token: was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"))
        }
    }

    /// Moves past the closing quote. Returns whether the string contains escapes.
    #[inline(always)]
    fn string(&mut self) -> Result<bool, SyntaxError> {
        self.at = string_stop(self.text, self.at + 1);
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(false);
        }
        self.at = rest_of_string(self.text, self.at)?;
        Ok(true)
    }
}

#[cold]
fn tag_of_escaped(inside: &[u8]) -> u32 {
    key_tag(unescape(&String::from_utf8_lossy(inside)).as_bytes())
}

fn error_at(text: &[u8], at: usize, message: &'static str) -> SyntaxError {
    SyntaxError { offset: at.min(text.len()), message }
}

/// Returns the offset after the closing quote of a string that has a byte other than plain text or a quote at
/// `at`.
#[cold]
fn rest_of_string(text: &[u8], mut at: usize) -> Result<usize, SyntaxError> {
    loop {
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape(text, at)?,
            Some(_) => {
                return Err(error_at(text, at, "Illegal unquoted control character inside a string"));
            }
            None => return Err(error_at(text, at, "Unexpected end of file")),
        }
        at = string_stop(text, at);
    }
}

fn escape(text: &[u8], at: usize) -> Result<usize, SyntaxError> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let digits = text.get(at + 2..at + 6);
            if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                return Err(error_at(text, at, "expected four hexadecimal digits in an escape"));
            }
            Ok(at + 6)
        }
        Some(_) => Err(error_at(text, at, "Unrecognized character escape")),
        None => Err(error_at(text, at, "Unexpected end of file")),
    }
}

/// Returns the offset after the number at `at`.
fn number(text: &[u8], mut at: usize) -> Result<usize, SyntaxError> {
    let byte = |at: usize| text.get(at).copied().unwrap_or(b' ');
    let digits = |start: usize| {
        let mut at = start;
        while byte(at).is_ascii_digit() {
            at += 1;
        }
        if at == start { Err(error_at(text, at, "expected a digit")) } else { Ok(at) }
    };
    if byte(at) == b'-' {
        at += 1;
    }
    if byte(at) == b'0' {
        at += 1;
        if byte(at).is_ascii_digit() {
            return Err(error_at(text, at, "Invalid numeric value: Leading zeroes not allowed"));
        }
    } else {
        at = digits(at)?;
    }
    if byte(at) == b'.' {
        at = digits(at + 1)?;
    }
    if matches!(byte(at), b'e' | b'E') {
        at += 1;
        if matches!(byte(at), b'+' | b'-') {
            at += 1;
        }
        at = digits(at)?;
    }
    Ok(at)
}

/// Unescapes the inside of a JSON string, which [`parse`] has checked. A lone surrogate becomes U+FFFD.
pub fn unescape(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    document::unescape(inside, &mut out);
    out
}

/// Appends `value`, escaped as the inside of a JSON string. Returns whether anything was escaped.
pub fn push_escaped(out: &mut String, value: &str) -> bool {
    let first = string_stop(value.as_bytes(), 0);
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

    #[test]
    fn surrogates_are_joined() {
        assert_eq!(unescape("\\ud83d\\ude00\\ud83dx\\u00e9\\n"), "\u{1f600}\u{fffd}x\u{e9}\n");
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
            // serde_json refuses numbers beyond f64 and lone surrogates. Elasticsearch and this parser accept
            // them.
            if theirs.is_ok() { prop_assert!(ours, "{}", text) }
        }
    }
}
