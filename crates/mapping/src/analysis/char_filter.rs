//! Character filters: what becomes of a whole text before anything else looks at it.

use std::collections::HashSet;
use std::time::Instant;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use limber_work as work;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::html::without_html;
use super::registry::{strings, text};
use super::rewrite::{Rewriter, Rewritten};
use crate::RequestError;

#[derive(Debug)]
pub(super) enum CharFilter {
    HtmlStrip {
        escaped_tags: Vec<String>,
    },
    /// The longest of these that the text goes on with is replaced, by the text of the same number.
    Mapping {
        from: AhoCorasick,
        to: Vec<String>,
    },
    Pattern {
        pattern: Regex,
        replacement: String,
    },
}

/// Those of Elasticsearch that are not here yet.
const MISSING: &[&str] = &["icu_normalizer", "kuromoji_iteration_mark", "first_non_blank_line"];

/// What a state of the automaton over mappings takes while it is made.
const STATE_BYTES: u64 = 40;
/// Bytes that a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 1 << 20;

impl CharFilter {
    /// The filter of this type that `settings.analysis.char_filter` declares as `name`.
    pub fn parse(name: &str, kind: &str, body: &Map<String, Value>) -> Result<CharFilter, RequestError> {
        let (allowed, filter): (&[&str], CharFilter) = match kind {
            "html_strip" => {
                (&["escaped_tags"], CharFilter::HtmlStrip { escaped_tags: strings(body.get("escaped_tags")) })
            }
            "mapping" => (&["mappings"], CharFilter::mapping(body)?),
            "pattern_replace" => (&["pattern", "replacement", "flags"], CharFilter::pattern(name, body)?),
            other if MISSING.contains(&other) => {
                return Err(RequestError::unsupported(format!("character filter [{other}]")));
            }
            other => {
                return Err(RequestError::illegal_argument(format!(
                    "Unknown char_filter type [{other}] for [{name}]"
                )));
            }
        };
        super::registry::refuse_others(body, allowed, &format!("character filter [{name}]"))?;
        Ok(filter)
    }

    fn mapping(body: &Map<String, Value>) -> Result<CharFilter, RequestError> {
        let rules = match body.get("mappings") {
            Some(Value::Array(list)) => list.iter().map(text).collect(),
            other => strings(other),
        };
        if rules.is_empty() {
            return Err(RequestError::illegal_argument(
                "mapping requires either `mappings` or `mappings_path` to be configured",
            ));
        }
        let (mut from_texts, mut to_texts) = (Vec::new(), Vec::new());
        let mut known = HashSet::new();
        for rule in &rules {
            let (from, to) = rule
                .split_once("=>")
                .ok_or_else(|| RequestError::illegal_argument(format!("Invalid Mapping Rule : [{rule}]")))?;
            let (from, to) = (unescaped(from.trim_end(), rule)?, unescaped(to.trim(), rule)?);
            work::check_beyond_deadline()?;
            if from.is_empty() || !known.insert(from.clone()) {
                return Err(RequestError::illegal_argument(format!(
                    "Invalid Mapping Rule : [{rule}]. Illegal mapping."
                )));
            }
            from_texts.push(from);
            to_texts.push(to);
        }
        // A state a byte at most.
        let states = from_texts.iter().map(String::len).sum::<usize>() as u64;
        work::claim(states * STATE_BYTES)?;
        let from = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(&from_texts)
            .map_err(|error| RequestError::illegal_argument(format!("too many mappings: {error}")))?;
        Ok(CharFilter::Mapping { from, to: to_texts })
    }

    fn pattern(name: &str, body: &Map<String, Value>) -> Result<CharFilter, RequestError> {
        let Some(pattern) = body.get("pattern").map(text).filter(|pattern| !pattern.is_empty()) else {
            return Err(RequestError::illegal_argument(format!(
                "pattern is missing for [{name}] char filter of type 'pattern_replace'"
            )));
        };
        let mut builder = RegexBuilder::new(&pattern);
        builder.size_limit(PATTERN_BYTES_MAX);
        let flags = body.get("flags").map(text).unwrap_or_default();
        for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            match flag {
                "CASE_INSENSITIVE" => builder.case_insensitive(true),
                "MULTILINE" => builder.multi_line(true),
                "DOTALL" => builder.dot_matches_new_line(true),
                "COMMENTS" => builder.ignore_whitespace(true),
                "UNICODE_CASE" => &mut builder,
                other => {
                    return Err(RequestError::unsupported(format!(
                        "flag [{other}] of character filter [{name}]"
                    )));
                }
            };
        }
        let pattern = builder.build().map_err(|_| {
            RequestError::unsupported(format!("pattern [{pattern}] of character filter [{name}]"))
        })?;
        let replacement = body.get("replacement").map(text).unwrap_or_default();
        Ok(CharFilter::Pattern { pattern, replacement: rust_replacement(&replacement) })
    }

    /// Whether a normalizer may have it: it must not look at more than characters.
    pub fn is_normalizing(&self) -> bool {
        !matches!(self, CharFilter::HtmlStrip { .. })
    }

    /// The text with every match replaced.
    pub fn apply(&self, text: &str) -> Rewritten {
        match self {
            CharFilter::HtmlStrip { escaped_tags } => without_html(text, escaped_tags),
            CharFilter::Mapping { from, to } => {
                let mut rewriter = Rewriter::new(text);
                let mut read = 0;
                for found in from.find_iter(text) {
                    rewriter.keep(found.start() - read);
                    if !rewriter.replace(found.len(), &to[found.pattern().as_usize()]) {
                        break;
                    }
                    read = found.end();
                }
                rewriter.finish()
            }
            CharFilter::Pattern { pattern, replacement } => {
                let mut rewriter = Rewriter::new(text);
                let (mut read, mut expanded) = (0, String::new());
                let mut since = Instant::now();
                for captures in pattern.captures_iter(text) {
                    if !work::goes_on(&mut since) {
                        break;
                    }
                    let Some(found) = captures.get(0) else { continue };
                    rewriter.keep(found.start() - read);
                    expanded.clear();
                    captures.expand(replacement, &mut expanded);
                    if !rewriter.replace(found.len(), &expanded) {
                        break;
                    }
                    read = found.end();
                }
                rewriter.finish()
            }
        }
    }
}

/// Java's `\n`, `\t`, `\u00e9` and the like as the characters they stand for.
fn unescaped(side: &str, rule: &str) -> Result<String, RequestError> {
    let invalid = || RequestError::illegal_argument(format!("Invalid escaped char in [{rule}]"));
    let mut out = String::with_capacity(side.len());
    let mut characters = side.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match characters.next().ok_or_else(invalid)? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits: String = characters.by_ref().take(4).collect();
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or_else(invalid)?
            }
            other => other,
        });
    }
    Ok(out)
}

/// Java's `$1` goes on as long as digits do, and `\` takes the next character as it is.
fn rust_replacement(java: &str) -> String {
    let mut out = String::with_capacity(java.len());
    let mut characters = java.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => {}
            },
            '$' if characters.peek().is_some_and(char::is_ascii_digit) => {
                out.push_str("${");
                while let Some(digit) = characters.next_if(char::is_ascii_digit) {
                    out.push(digit);
                }
                out.push('}');
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: &str, body: Value, text: &str, expected: &str) {
        let filter = CharFilter::parse("f", kind, body.as_object().expect("an object")).expect("sound");
        assert_eq!(filter.apply(text).text, expected);
    }

    #[test]
    fn texts_are_replaced() {
        check("mapping", json!({"mappings": ["a => 1", "ab => 2", "\\u00e9=>e", "x =>"]}), "abaéxx.", "21e.");
        check(
            "pattern_replace",
            json!({"pattern": "(\\d+)-(\\d+)", "replacement": "$2/$1"}),
            "12-34 5-6",
            "34/12 6/5",
        );
        check("pattern_replace", json!({"pattern": "B", "flags": "CASE_INSENSITIVE"}), "abB", "a");
        check("pattern_replace", json!({"pattern": "a", "replacement": "\\$1"}), "a", "$1");
        check("pattern_replace", json!({"pattern": "x*", "replacement": "-"}), "axb", "-a-b-");
        check("html_strip", json!({"escaped_tags": ["b"]}), "<i>a</i><b>c</b>", "a<b>c</b>");
    }
}
