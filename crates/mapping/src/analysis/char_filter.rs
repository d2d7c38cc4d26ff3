//! Character filters: what becomes of a whole text before anything else looks at it.

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
    /// The longest of these that the text goes on with is replaced.
    Mapping(Vec<(String, String)>),
    Pattern {
        pattern: Regex,
        replacement: String,
    },
}

/// Those of Elasticsearch that are not here yet.
const MISSING: &[&str] = &["icu_normalizer", "kuromoji_iteration_mark", "first_non_blank_line"];

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
        let mut pairs: Vec<(String, String)> = Vec::with_capacity(rules.len());
        for rule in &rules {
            let (from, to) = rule
                .split_once("=>")
                .ok_or_else(|| RequestError::illegal_argument(format!("Invalid Mapping Rule : [{rule}]")))?;
            let pair = (unescaped(from.trim_end(), rule)?, unescaped(to.trim(), rule)?);
            if pair.0.is_empty() || pairs.iter().any(|(known, _)| *known == pair.0) {
                return Err(RequestError::illegal_argument(format!(
                    "Invalid Mapping Rule : [{rule}]. Illegal mapping."
                )));
            }
            pairs.push(pair);
        }
        // The longest first.
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Ok(CharFilter::Mapping(pairs))
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
            CharFilter::Mapping(pairs) => {
                let mut rewriter = Rewriter::new(text);
                while let Some(next) = rewriter.rest().chars().next() {
                    match pairs.iter().find(|(from, _)| rewriter.rest().starts_with(from.as_str())) {
                        Some((from, to)) if !rewriter.replace(from.len(), to) => break,
                        Some(_) => {}
                        None => rewriter.keep(next.len_utf8()),
                    }
                }
                rewriter.finish()
            }
            CharFilter::Pattern { pattern, replacement } => {
                let mut rewriter = Rewriter::new(text);
                let (mut read, mut expanded) = (0, String::new());
                for captures in pattern.captures_iter(text) {
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
