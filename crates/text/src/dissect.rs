//! `dissect`: "which named parts does this text have between these delimiters?"
//!
//! Source: Elasticsearch's `DissectParser`, checked against the answers of 9.4.3.

use std::borrow::Cow;
use std::collections::HashMap;

/// A dissect pattern: literal text and keys alternate.
#[derive(Debug)]
pub struct Dissect {
    leading: String,
    /// Each key with the literal text after it; if that is empty for the last key, it takes the rest.
    keys: Vec<(Key, String)>,
    /// Joins the values of several `%{+name}`.
    separator: String,
    /// Whether each key simply yields one part.
    is_plain: bool,
}

/// The error of a pattern.
#[derive(Debug)]
pub struct DissectError {
    /// Name of Elasticsearch's exception as a class within `DissectException`: `PatternParse`.
    pub class: &'static str,
    /// The exception's type as in a response: `pattern_parse`.
    pub kind: &'static str,
    /// The reason, in Elasticsearch's words.
    pub reason: String,
}

#[derive(Debug)]
struct Key {
    name: String,
    kind: KeyKind,
    /// `->`: the literal text after the key may be repeated.
    skips_padding: bool,
}

#[derive(Debug, PartialEq)]
enum KeyKind {
    Plain,
    /// `%{}` and `%{?name}`.
    Skipped,
    /// `%{+name}`, with the order of `/n`.
    Appended(u32),
    /// `%{*name}`: the matched text is the name of a part.
    Name,
    /// `%{&name}`: the matched text is the value for that name.
    Value,
}

/// A named part of a text.
pub type Part<'p, 't> = (&'p str, Cow<'t, str>);

impl Dissect {
    /// Parses a pattern. `separator` joins the values of several `%{+name}`.
    pub fn parse(pattern: &str, separator: &str) -> Result<Dissect, DissectError> {
        let unable = |why: &str| DissectError {
            class: "PatternParse",
            kind: "pattern_parse",
            reason: format!("Unable to parse pattern: {pattern} Reason: {why}"),
        };
        let nothing = || unable("Unable to find any keys or delimiters.");
        let (leading, mut rest) = pattern.split_once("%{").ok_or_else(nothing)?;
        let mut keys = Vec::new();
        loop {
            let (key, behind) = rest.split_once('}').ok_or_else(nothing)?;
            let (delimiter, next) = match behind.split_once("%{") {
                Some((delimiter, next)) => (delimiter, Some(next)),
                None => (behind, None),
            };
            keys.push((Key::parse(key)?, delimiter.to_owned()));
            match next {
                Some(next) => rest = next,
                None => break,
            }
        }
        if keys.iter().all(|(key, _)| key.kind == KeyKind::Skipped) {
            return Err(nothing());
        }
        // How often each name is given as the name of a key, and as its value.
        let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
        for (key, _) in &keys {
            match key.kind {
                KeyKind::Name => counts.entry(&key.name).or_default().0 += 1,
                KeyKind::Value => counts.entry(&key.name).or_default().1 += 1,
                _ => {}
            }
        }
        let is_unpaired = |(key, _): &&(Key, String)| {
            matches!(key.kind, KeyKind::Name | KeyKind::Value) && counts[key.name.as_str()] != (1, 1)
        };
        if let Some((key, _)) = keys.iter().find(is_unpaired) {
            return Err(unable(&format!(
                "Found invalid key/reference associations: '{}' Please ensure each '*<key>' is matched with a matching '&<key>",
                key.name
            )));
        }
        let is_plain = keys.iter().all(|(key, _)| matches!(key.kind, KeyKind::Plain | KeyKind::Skipped));
        Ok(Dissect { leading: leading.to_owned(), keys, separator: separator.to_owned(), is_plain })
    }

    /// Returns the parts of a text, in the order of the pattern; of several with one name, the last counts.
    /// `None` if the text does not match.
    pub fn parts<'p, 't: 'p>(&'p self, text: &'t str) -> Option<Vec<Part<'p, 't>>> {
        let mut rest = text.strip_prefix(self.leading.as_str())?;
        let mut found: Vec<(&Key, &'t str)> = Vec::with_capacity(self.keys.len());
        for (number, (key, delimiter)) in self.keys.iter().enumerate() {
            let is_last = number + 1 == self.keys.len();
            let part = if delimiter.is_empty() {
                if !is_last {
                    return None;
                }
                std::mem::take(&mut rest)
            } else {
                let end = rest.find(delimiter.as_str())?;
                let part = &rest[..end];
                rest = &rest[end + delimiter.len()..];
                while key.skips_padding
                    && let Some(next) = rest.strip_prefix(delimiter.as_str())
                {
                    rest = next;
                }
                part
            };
            found.push((key, part));
        }
        if self.is_plain {
            let named = found.iter().filter(|(key, _)| key.kind == KeyKind::Plain);
            return Some(named.map(|(key, text)| (key.name.as_str(), Cow::Borrowed(*text))).collect());
        }
        Some(self.named(&found))
    }

    fn named<'p, 't: 'p>(&'p self, found: &[(&'p Key, &'t str)]) -> Vec<Part<'p, 't>> {
        let mut named: Vec<Part<'p, 't>> = Vec::new();
        let mut values: HashMap<&str, &'t str> = HashMap::new();
        // The parts of each name, if some of them are appended to the others.
        let mut parts: HashMap<&str, Vec<(u32, &'t str)>> = HashMap::new();
        for (key, text) in found {
            match key.kind {
                KeyKind::Value => drop(values.entry(&key.name).or_insert(*text)),
                KeyKind::Appended(_) => drop(parts.entry(&key.name).or_default()),
                _ => {}
            }
        }
        for (key, text) in found {
            let order = match key.kind {
                KeyKind::Plain => 0,
                KeyKind::Appended(order) => order,
                _ => continue,
            };
            if let Some(parts) = parts.get_mut(key.name.as_str()) {
                parts.push((order, *text));
            }
        }
        for (key, text) in found {
            match key.kind {
                KeyKind::Skipped | KeyKind::Value => {}
                KeyKind::Name => {
                    named.push((text, Cow::Borrowed(values.get(key.name.as_str()).copied().unwrap_or(""))));
                }
                KeyKind::Plain | KeyKind::Appended(_) => match parts.get_mut(key.name.as_str()) {
                    None => named.push((&key.name, Cow::Borrowed(text))),
                    // They were joined where the first of them is.
                    Some(parts) if parts.is_empty() => {}
                    Some(parts) => {
                        let mut parts = std::mem::take(parts);
                        parts.sort_by_key(|(order, _)| *order);
                        let texts: Vec<&str> = parts.iter().map(|(_, text)| *text).collect();
                        named.push((&key.name, Cow::Owned(texts.join(&self.separator))));
                    }
                },
            }
        }
        named
    }
}

impl Key {
    fn parse(written: &str) -> Result<Key, DissectError> {
        let refused = |why: &str| DissectError {
            class: "KeyParse",
            kind: "key_parse",
            reason: format!("Unable to parse key: {written} Reason: {why}"),
        };
        let unnamed = || refused("The key name could not be determined");
        let (text, skips_padding) = match written.strip_suffix("->") {
            Some(text) => (text, true),
            None => (written, false),
        };
        let is_modifier = |first: char| matches!(first, '?' | '*' | '&' | '+');
        let (kind, mut name) = match text.chars().next() {
            None => (KeyKind::Skipped, ""),
            Some('?') => (KeyKind::Skipped, &text[1..]),
            Some('*') => (KeyKind::Name, &text[1..]),
            Some('&') => (KeyKind::Value, &text[1..]),
            Some('+') => (KeyKind::Appended(0), &text[1..]),
            Some(_) => (KeyKind::Plain, text),
        };
        if kind != KeyKind::Plain && name.starts_with(is_modifier) {
            return Err(refused("multiple modifiers are not allowed."));
        }
        let mut kind = kind;
        if let (KeyKind::Appended(_), Some((own, order))) = (&kind, name.split_once('/')) {
            (kind, name) = (KeyKind::Appended(order.parse().map_err(|_| unnamed())?), own);
        }
        if (name.is_empty() && kind != KeyKind::Skipped) || name.contains('/') {
            return Err(unnamed());
        }
        Ok(Key { name: name.to_owned(), kind, skips_padding })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, separator: &str, text: &str, expected: Option<&[(&str, &str)]>) {
        let dissect = Dissect::parse(pattern, separator).expect("the pattern is valid");
        let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let made = dissect.parts(text).map(|parts| {
            parts.into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())).collect()
        });
        assert_eq!(made, expected.map(own), "{pattern} on {text}");
    }

    #[test]
    fn dissect_takes_texts_apart() {
        check("%{a} %{b}", "", "x y z", Some(&[("a", "x"), ("b", "y z")]));
        check("[%{a}] %{?skip} %{b}.", "", "[x] y z.", Some(&[("a", "x"), ("b", "z")]));
        check("%{a->} %{b}", "", "x    y", Some(&[("a", "x"), ("b", "y")]));
        check("%{+a/2} %{+a/1} %{b}", "-", "x y z", Some(&[("a", "y-x"), ("b", "z")]));
        check("%{*k}=%{&k};", "", "name=value;", Some(&[("name", "value")]));
        check("%{a},%{b}", "", "no comma", None);
    }

    /// Each key used to be compared with all others.
    #[test]
    fn many_keys_take_little_time() {
        let pairs: Vec<String> =
            (0..100_000).map(|number| format!("%{{*a{number}}},%{{&a{number}}}")).collect();
        let plain: Vec<String> = (0..100_000).map(|number| format!("%{{b{number}}}")).collect();
        let pattern = format!("%{{+z}},{},{}", pairs.join(","), plain.join(","));
        let dissect = Dissect::parse(&pattern, "").expect("the pattern is valid");
        let text = "x,".repeat(300_001);
        let parts = dissect.parts(&text).expect("it fits");
        assert_eq!(parts.len(), 200_001);
    }

    #[test]
    fn wrong_patterns_are_refused() {
        for pattern in ["", "abc", "%{a", "%{*k}=%{b}", "%{+}"] {
            assert!(Dissect::parse(pattern, "").is_err(), "{pattern}");
        }
    }
}
