//! `grok` and `dissect` in the scripts of runtime fields: "which named parts does this text have?"
//!
//! Source: Elasticsearch's `NamedGroupExtractor` and `DissectParser`.

use std::collections::HashMap;

use limber_mapping::RequestError;

use super::value::Value;
use crate::grok::{CaptureType, Ecs, Found, Grok, library};

/// A pattern, compiled with its script.
#[derive(Debug)]
pub(crate) enum Extractor {
    Grok(Grok),
    Dissect(Dissect),
}

impl Extractor {
    pub fn grok(pattern: &str) -> Result<Extractor, String> {
        let trouble = |reason| format!("error compiling grok pattern [{pattern}]: {reason}");
        Grok::parse(pattern, library(Ecs::Disabled), &HashMap::new()).map(Extractor::Grok).map_err(trouble)
    }

    pub fn dissect(pattern: &str, separator: &str) -> Result<Extractor, String> {
        Dissect::parse(pattern, separator)
            .map(Extractor::Dissect)
            .map_err(|reason| format!("error compiling dissect pattern [{pattern}]: {reason}"))
    }

    /// The parts of a text by name; `Null` when it does not fit.
    pub fn extract(&self, text: &str) -> Result<Value, RequestError> {
        Ok(match self {
            Extractor::Grok(grok) => match grok.captures(text)? {
                None => Value::Null,
                Some(found) => Value::map(groups(&found)?, true),
            },
            Extractor::Dissect(dissect) => match dissect.parts(text) {
                None => Value::Null,
                Some(parts) => Value::map(
                    parts.into_iter().map(|(name, text)| (Value::str(name), Value::str(text))).collect(),
                    true,
                ),
            },
        })
    }
}

/// A name that was captured several times stands for a list.
fn groups(found: &[Found<'_, '_>]) -> Result<Vec<(Value, Value)>, RequestError> {
    let mut entries = Vec::new();
    let mut rest = found;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|other| other.name == first.name).count();
        let mut values = rest[..count].iter().map(typed).collect::<Result<Vec<_>, _>>()?;
        let value = if count == 1 { values.remove(0) } else { Value::list(values) };
        entries.push((Value::str(first.name), value));
        rest = &rest[count..];
    }
    Ok(entries)
}

fn typed(found: &Found<'_, '_>) -> Result<Value, RequestError> {
    let text = found.text;
    let wrong = || crate::json::number_format(text);
    Ok(match found.kind {
        CaptureType::Text => Value::str(text),
        CaptureType::Boolean => Value::Bool(text.eq_ignore_ascii_case("true")),
        CaptureType::Integer => Value::Int(text.parse().map_err(|_| wrong())?),
        CaptureType::Long => Value::Long(text.parse().map_err(|_| wrong())?),
        CaptureType::Float => Value::Float(text.parse().map_err(|_| wrong())?),
        CaptureType::Double => Value::Double(text.parse().map_err(|_| wrong())?),
    })
}

/// A dissect pattern: literal text and keys in turn.
#[derive(Debug)]
pub(crate) struct Dissect {
    leading: String,
    /// Each key with the text behind it; empty behind the last: all that is left.
    keys: Vec<(Key, String)>,
    /// Joins the parts of a `%{+name}`.
    separator: String,
}

#[derive(Debug)]
struct Key {
    name: String,
    kind: KeyKind,
    /// `->`: the text behind it may be repeated.
    skips_padding: bool,
}

#[derive(Debug, PartialEq)]
enum KeyKind {
    Plain,
    /// `%{}` and `%{?name}`.
    Skipped,
    /// `%{+name}`, with the place of `/n`.
    Appended(u32),
    /// `%{*name}`: the text is a name.
    Name,
    /// `%{&name}`: the value of that name.
    Value,
}

impl Dissect {
    fn parse(pattern: &str, separator: &str) -> Result<Dissect, String> {
        let unable = |why: &str| format!("Unable to parse pattern: {pattern} Reason: {why}");
        let (leading, mut rest) = match pattern.split_once("%{") {
            Some((leading, rest)) => (leading.to_owned(), rest),
            None => return Err(unable("Unable to find any keys or delimiters.")),
        };
        let mut keys = Vec::new();
        loop {
            let (key, behind) = rest.split_once('}').ok_or_else(|| unable("a key is not closed"))?;
            let (delimiter, next) = match behind.split_once("%{") {
                Some((delimiter, next)) => (delimiter, Some(next)),
                None => (behind, None),
            };
            keys.push((Key::parse(key).map_err(|why| unable(&why))?, delimiter.to_owned()));
            match next {
                Some(next) => rest = next,
                None => break,
            }
        }
        let is_paired = |(key, _): &(Key, String), kind: KeyKind| {
            let count =
                |kind| keys.iter().filter(|(other, _)| other.kind == kind && other.name == key.name).count();
            key.kind != kind || (count(KeyKind::Name) == 1 && count(KeyKind::Value) == 1)
        };
        if !keys.iter().all(|key| is_paired(key, KeyKind::Name) && is_paired(key, KeyKind::Value)) {
            return Err(unable("Found invalid key/reference associations"));
        }
        Ok(Dissect { leading, keys, separator: separator.to_owned() })
    }

    /// (name, text) of all keys, in the order of the pattern; `None` when the text does not fit.
    fn parts(&self, text: &str) -> Option<Vec<(String, String)>> {
        let mut rest = text.strip_prefix(self.leading.as_str())?;
        let mut found: Vec<(&Key, &str)> = Vec::new();
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
        Some(self.named(&found))
    }

    fn named(&self, found: &[(&Key, &str)]) -> Vec<(String, String)> {
        let mut named: Vec<(String, String)> = Vec::new();
        let mut done: Vec<&str> = Vec::new();
        for (key, text) in found {
            match key.kind {
                KeyKind::Skipped | KeyKind::Value => {}
                KeyKind::Name => {
                    let value = found
                        .iter()
                        .find(|(other, _)| other.kind == KeyKind::Value && other.name == key.name);
                    named.push(((*text).to_owned(), value.map_or("", |(_, value)| value).to_owned()));
                }
                KeyKind::Plain | KeyKind::Appended(_) => {
                    let is_appended = |other: &&(&Key, &str)| {
                        other.0.name == key.name
                            && matches!(other.0.kind, KeyKind::Appended(_) | KeyKind::Plain)
                    };
                    if done.contains(&key.name.as_str()) {
                        continue;
                    }
                    done.push(&key.name);
                    let mut parts: Vec<_> = found.iter().filter(is_appended).collect();
                    parts.sort_by_key(|(key, _)| match key.kind {
                        KeyKind::Appended(order) => order,
                        _ => 0,
                    });
                    let texts: Vec<&str> = parts.iter().map(|(_, text)| *text).collect();
                    named.push((key.name.clone(), texts.join(&self.separator)));
                }
            }
        }
        named
    }
}

impl Key {
    fn parse(text: &str) -> Result<Key, String> {
        let (text, skips_padding) = match text.strip_suffix("->") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut characters = text.chars();
        let (kind, name) = match characters.next() {
            None => (KeyKind::Skipped, ""),
            Some('?') => (KeyKind::Skipped, characters.as_str()),
            Some('*') => (KeyKind::Name, characters.as_str()),
            Some('&') => (KeyKind::Value, characters.as_str()),
            Some('+') => match characters.as_str().split_once('/') {
                Some((name, order)) => {
                    let order = order.parse().map_err(|_| format!("the key [{text}] has no valid order"))?;
                    (KeyKind::Appended(order), name)
                }
                None => (KeyKind::Appended(0), characters.as_str()),
            },
            Some(_) => (KeyKind::Plain, text),
        };
        if name.is_empty() && kind != KeyKind::Skipped {
            return Err(format!("The key name could not be determined from [{text}]"));
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
        assert_eq!(dissect.parts(text), expected.map(own), "{pattern} on {text}");
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

    #[test]
    fn wrong_patterns_are_refused() {
        for pattern in ["", "abc", "%{a", "%{*k}=%{b}", "%{+}"] {
            assert!(Dissect::parse(pattern, "").is_err(), "{pattern}");
        }
    }
}
