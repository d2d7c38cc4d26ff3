//! Reads a few values of a large response without parsing the rest.
//!
//! Bulk and search responses are as large as the requests, but operations need two or three of their values.
//! [`probe`] walks the text once, skips every subtree that no wanted path leads into, and stops when it has
//! found everything (Rally's `runner.py`, `parse`).

/// The value at a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found<'a> {
    /// A number, `true`, `false`, `null`, or a string with its quotes, as written.
    Scalar(&'a [u8]),
    Array {
        is_empty: bool,
    },
    Object,
}

impl<'a> Found<'a> {
    pub(super) fn as_bool(self) -> Option<bool> {
        match self {
            Found::Scalar(b"true") => Some(true),
            Found::Scalar(b"false") => Some(false),
            _ => None,
        }
    }

    pub(super) fn as_u64(self) -> Option<u64> {
        match self {
            Found::Scalar(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// Returns a string with its escapes resolved.
    pub(super) fn as_string(self) -> Option<String> {
        match self {
            Found::Scalar(text) => serde_json::from_slice(text).ok(),
            _ => None,
        }
    }
}

/// Returns the values at `paths` in the same order. A path is keys joined by dots, so no key may contain a
/// dot.
///
/// Damaged JSON ends the walk: the values found until then are returned.
pub(super) fn probe<'a, const N: usize>(json: &'a [u8], paths: [&str; N]) -> [Option<Found<'a>>; N] {
    let mut walk = Walk { json, at: 0, found: [None; N], left: N };
    let wanted: [Option<&str>; N] = paths.map(Some);
    walk.object(&wanted);
    walk.found
}

struct Walk<'a, const N: usize> {
    json: &'a [u8],
    at: usize,
    found: [Option<Found<'a>>; N],
    left: usize,
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Walks the object that starts here. For each path, `wanted` has the part below this object, or `None`
    /// if the path does not lead here. The recursion is as deep as the longest path, whatever the input.
    /// Returning `None` ends the walk.
    fn object(&mut self, wanted: &[Option<&str>; N]) -> Option<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.string()?;
            let key = &key[1..key.len() - 1];
            self.expect(b':')?;
            self.value(&wanted.map(|path| below(path?, key)))?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Walks or skips one value. For each path, `paths` has the part after this value's key; an empty part
    /// means that this value is wanted.
    fn value(&mut self, paths: &[Option<&str>; N]) -> Option<()> {
        let first = self.peek()?;
        let is_wanted = paths.contains(&Some(""));
        let leads_on = first == b'{' && paths.iter().any(|path| path.is_some_and(|rest| !rest.is_empty()));
        let from = self.at;
        if is_wanted && matches!(first, b'{' | b'[') {
            self.at += 1;
            let found = match first {
                b'{' => Found::Object,
                _ => Found::Array { is_empty: self.peek()? == b']' },
            };
            self.at = from;
            self.note(paths, found)?;
        }
        if leads_on {
            return self.object(paths);
        }
        self.skip()?;
        if is_wanted && !matches!(first, b'{' | b'[') {
            let scalar = &self.json[from..self.at];
            self.note(paths, Found::Scalar(scalar))?;
        }
        Some(())
    }

    fn note(&mut self, paths: &[Option<&str>; N], found: Found<'a>) -> Option<()> {
        for (slot, path) in self.found.iter_mut().zip(paths) {
            if *path == Some("") && slot.is_none() {
                *slot = Some(found);
                self.left -= 1;
            }
        }
        (self.left > 0).then_some(())
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.json.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        Some(self.json[self.at])
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Skips a string and returns it with its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        (self.peek()? == b'"').then_some(())?;
        let from = self.at;
        self.at += 1;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.json.get(self.at..)?)?;
            if self.json[self.at] == b'"' {
                self.at += 1;
                return Some(&self.json[from..self.at]);
            }
            self.at += 2;
        }
    }

    /// Skips one value of any depth.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                b',' | b':' => return None,
                _ => {
                    let rest = &self.json[self.at..];
                    let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[');
                    self.at += rest
                        .iter()
                        .position(|byte| is_end(byte) || byte.is_ascii_whitespace())
                        .unwrap_or(rest.len());
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

/// Returns the rest of `path` after `key`; empty when the path ends there.
fn below<'p>(path: &'p str, key: &[u8]) -> Option<&'p str> {
    let rest = path.as_bytes().strip_prefix(key)?;
    match rest.first() {
        None => Some(""),
        Some(b'.') => path.get(key.len() + 1..),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(json: &str, paths: [&str; 3], expected: [Option<Found<'_>>; 3]) {
        assert_eq!(probe(json.as_bytes(), paths), expected, "{json}");
    }

    #[test]
    fn values_at_paths() {
        let scalar = |text: &'static str| Some(Found::Scalar(text.as_bytes()));
        check(
            r#"{ "took" : 7 , "items":[{"took":1,"a":"}\"]"}],"errors":false}"#,
            ["took", "errors", "none"],
            [scalar("7"), scalar("false"), None],
        );
        check(
            r#"{"hits":{"total":{"value":12,"relation":"eq"},"hits":[{"_id":"1"}]},"_scroll_id":"x=="}"#,
            ["hits.total.value", "hits.hits", "_scroll_id"],
            [scalar("12"), Some(Found::Array { is_empty: false }), scalar("\"x==\"")],
        );
        check(
            r#"{"hits":{"total":3,"hits":[ ]}}"#,
            ["hits.total", "hits.hits", "hits"],
            [scalar("3"), Some(Found::Array { is_empty: true }), Some(Found::Object)],
        );
        check(r#"{"took":1,"#, ["took", "errors", "x"], [scalar("1"), None, None]);
        check("[1]", ["took", "errors", "x"], [None, None, None]);
        check(r#"{"a"}"#, ["a", "b", "c"], [None, None, None]);
    }

    #[test]
    fn stops_when_all_was_found() {
        let [took, errors] = probe(br#"{"errors":true,"took":5,!!!"#, ["took", "errors"]);
        assert_eq!((took.and_then(Found::as_u64), errors.and_then(Found::as_bool)), (Some(5), Some(true)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_bytes_are_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            probe(&bytes, ["a", "a.b", "c"]);
        }

        #[test]
        fn json_like_bytes_are_harmless(text in r#"[\[\]{}",:a\\ 1]{0,40}"#) {
            probe(text.as_bytes(), ["a", "a.a", "1"]);
        }
    }
}
