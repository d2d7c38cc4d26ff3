//! One grok expression: references expanded, captures named and typed, compiled to one pattern.
//!
//! Source: Elasticsearch's `Grok`, `PatternBank` and `GrokCaptureConfig`.

use std::collections::HashMap;

use super::patterns::{Library, PATTERNS_NOT_YET};
use crate::Error;
use crate::pattern::Pattern;

/// Largest nesting of references between patterns (Elasticsearch's limit).
const REFERENCE_DEPTH_MAX: usize = 500;

/// Maximum number of references expanded in one expression; without this limit a few short definitions could
/// grow without bound.
const REFERENCE_COUNT_MAX: usize = 20_000;

/// Maximum number of characters of an expanded expression.
const EXPANDED_CHARS_MAX: usize = 200_000;

/// The type a capture is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureType {
    /// A string, unchanged: the type of a capture that names none.
    Text,
    /// `int`: a whole number of 32 bits.
    Integer,
    /// `long`: a whole number of 64 bits.
    Long,
    /// `float`: a number of single precision.
    Float,
    /// `double`: a number of double precision.
    Double,
    /// `boolean`: true if the text is `true` in any letter case.
    Boolean,
}

/// A named part, and the groups that may hold it.
#[derive(Debug)]
struct Capture {
    name: String,
    kind: CaptureType,
    groups: Vec<usize>,
}

/// A value captured by an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'g, 't> {
    /// The capture's name in the expression.
    pub name: &'g str,
    /// The type that the text is converted to.
    pub kind: CaptureType,
    /// The matched text.
    pub text: &'t str,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Grok {
    pattern: Pattern,
    captures: Vec<Capture>,
}

impl Grok {
    /// Compiles an expression. `definitions` take precedence over the library. The error is only the
    /// reason.
    pub fn parse(
        expression: &str,
        library: &Library,
        definitions: &HashMap<String, String>,
    ) -> Result<Grok, String> {
        let mut expansion =
            Expansion { library, definitions, names: Vec::new(), out: String::new(), reference_count: 0 };
        expansion.expand(expression, &mut Vec::new())?;
        let pattern = Pattern::parse_oniguruma(&expansion.out)?;
        let mut captures: Vec<Capture> = Vec::new();
        for (group, name) in pattern.group_names().iter().enumerate() {
            let Some(number) = name
                .and_then(|name| name.strip_prefix("limber"))
                .and_then(|number| number.parse::<usize>().ok())
            else {
                continue;
            };
            let (name, kind) = &expansion.names[number];
            match captures.iter_mut().find(|capture| capture.name == *name) {
                Some(capture) => capture.groups.push(group),
                None => captures.push(Capture { name: name.clone(), kind: *kind, groups: vec![group] }),
            }
        }
        Ok(Grok { pattern, captures })
    }

    /// Returns the named captures of the first match; a name occurs several times if it was captured
    /// several times. `None` if there is no match.
    pub fn captures<'g, 't>(&'g self, text: &'t str) -> Result<Option<Vec<Found<'g, 't>>>, Error> {
        let Some(groups) = self.pattern.captures(text, 0)? else { return Ok(None) };
        let mut found = Vec::new();
        for capture in &self.captures {
            for (start, end) in capture.groups.iter().filter_map(|&group| groups[group]) {
                found.push(Found { name: &capture.name, kind: capture.kind, text: &text[start..end] });
            }
        }
        Ok(Some(found))
    }
}

impl Grok {
    /// Returns the name of the last capture; `None` if there is none.
    pub fn last_name(&self) -> Option<&str> {
        self.captures.last().map(|capture| &*capture.name)
    }

    /// Calls `each` with the start and end of every match in `text`.
    ///
    /// # Errors
    /// As [`Grok::captures`].
    pub fn find_each(&self, text: &str, each: impl FnMut(usize, usize)) -> Result<(), Error> {
        self.pattern.find_each(text, each)
    }
}

struct Expansion<'l> {
    library: &'l Library,
    definitions: &'l HashMap<String, String>,
    /// Names and types of captures in the order of their groups, which are called `limber0`, `limber1`, ...
    names: Vec<(String, CaptureType)>,
    out: String,
    reference_count: usize,
}

impl<'l> Expansion<'l> {
    /// Appends `expression` with every reference replaced. `open` holds the names being expanded.
    fn expand(&mut self, expression: &str, open: &mut Vec<String>) -> Result<(), String> {
        if expression.len() > EXPANDED_CHARS_MAX {
            return Err(too_long());
        }
        let mut rest = expression;
        loop {
            let reference = rest.find("%{");
            let group = find_named_group(rest);
            match (reference, group) {
                (None, None) => break,
                (Some(at), group) if group.is_none_or(|group| at < group) => {
                    self.push(&rest[..at])?;
                    let end = rest[at..].find('}').map(|end| at + end);
                    let Some(end) = end.filter(|&end| is_reference(&rest[at + 2..end])) else {
                        self.push("%{")?;
                        rest = &rest[at + 2..];
                        continue;
                    };
                    self.reference(&rest[at + 2..end], open)?;
                    rest = &rest[end + 1..];
                }
                (_, Some(at)) => {
                    let end = rest[at..].find('>').map_or(rest.len(), |end| at + end);
                    self.push(&rest[..at])?;
                    self.open_group(&rest[at + 3..end])?;
                    rest = rest.get(end + 1..).unwrap_or("");
                }
                (Some(_), None) => unreachable!("a reference without a group matches above"),
            }
        }
        self.push(rest)
    }

    fn push(&mut self, text: &str) -> Result<(), String> {
        if self.out.len() + text.len() > EXPANDED_CHARS_MAX {
            return Err(too_long());
        }
        self.out.push_str(text);
        Ok(())
    }

    fn open_group(&mut self, capture: &str) -> Result<(), String> {
        let (name, kind) = capture.split_once(':').unwrap_or((capture, ""));
        let kind = match kind {
            "int" | "integer" => CaptureType::Integer,
            "long" => CaptureType::Long,
            "float" => CaptureType::Float,
            "double" => CaptureType::Double,
            "boolean" => CaptureType::Boolean,
            _ => CaptureType::Text,
        };
        let group = format!("(?<limber{}>", self.names.len());
        self.names.push((name.to_owned(), kind));
        self.push(&group)
    }

    fn reference(&mut self, inside: &str, open: &mut Vec<String>) -> Result<(), String> {
        self.reference_count += 1;
        if self.reference_count > REFERENCE_COUNT_MAX {
            return Err("the expression holds too many references".to_owned());
        }
        let (name, capture) = inside.split_once(':').unwrap_or((inside, ""));
        let Some(expression) = self.definitions.get(name).or_else(|| self.library.get(name)) else {
            if PATTERNS_NOT_YET.iter().any(|start| name.starts_with(start)) {
                return Err(format!("the pattern [{name}] is not supported by Limber yet"));
            }
            return Err(format!("Unable to find pattern [{name}] in Grok's pattern dictionary"));
        };
        if let Some(start) = open.iter().position(|other| other == name) {
            let mut circle = open[start..].to_vec();
            circle.push(name.to_owned());
            return Err(format!("circular reference detected: {}", circle.join("->")));
        }
        if open.len() >= REFERENCE_DEPTH_MAX {
            return Err(format!("Pattern references exceeded maximum depth of {REFERENCE_DEPTH_MAX}"));
        }
        if capture.is_empty() {
            self.push("(?:")?;
        } else {
            self.open_group(capture)?;
        }
        open.push(name.to_owned());
        let expression = expression.clone();
        self.expand(&expression, open)?;
        open.pop();
        self.push(")")
    }
}

fn too_long() -> String {
    "the expanded expression is too long".to_owned()
}

/// Whether the text between `%{` and `}` is a reference (`NAME`, `NAME:field`, `NAME:field:type`).
fn is_reference(inside: &str) -> bool {
    let name = inside.split(':').next().unwrap_or("");
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'='))
}

/// Finds the first `(?<name>` that is no look-behind.
fn find_named_group(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find("(?<").map(|at| from + at) {
        if !matches!(text.as_bytes().get(at + 3), Some(b'=' | b'!') | None) {
            return Some(at);
        }
        from = at + 3;
    }
    None
}
