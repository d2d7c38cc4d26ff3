//! `mapping`: replaces strings by others. If several match at a position, the longest one counts.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use limber_work as work;

use super::{CharFilter, Rewrite, Rewriter, Rewritten};
use crate::RequestError;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;

/// Bytes per state of the automaton while it is built.
const STATE_BYTES: u64 = 40;

/// The longest string of `from` that matches at a position is replaced by the string with the same index in
/// `to`.
#[derive(Debug)]
struct Mapping {
    from: AhoCorasick,
    to: Vec<String>,
}

impl Mapping {
    fn new(from: &[String], to: Vec<String>) -> Result<Mapping, RequestError> {
        // At most one state per byte.
        let states = from.iter().map(String::len).sum::<usize>() as u64;
        work::claim(states * STATE_BYTES)?;
        let from = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .match_kind(MatchKind::LeftmostLongest)
            .build(from)
            .map_err(|error| RequestError::illegal_argument(format!("too many mappings: {error}")))?;
        Ok(Mapping { from, to })
    }
}

/// Reads the rules `a => b` of `mappings` or `mappings_path`, one of which is required.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<CharFilter, RequestError> {
    let rules = context.list(settings, "mappings")?.unwrap_or_default();
    if rules.is_empty() {
        return Err(RequestError::illegal_argument(
            "mapping requires either `mappings` or `mappings_path` to be configured",
        ));
    }
    let (mut from_texts, mut to_texts) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for rule in &rules {
        // As in Elasticsearch, the last arrow separates the sides.
        let (from, to) = rule
            .rsplit_once("=>")
            .ok_or_else(|| RequestError::illegal_argument(format!("Invalid Mapping Rule : [{rule}]")))?;
        let (from, to) = (unescaped(from.trim(), rule)?, unescaped(to.trim(), rule)?);
        work::check_beyond_deadline()?;
        if from.is_empty() {
            return Err(RequestError::illegal_argument("cannot match the empty string"));
        }
        if !known.insert(from.clone()) {
            let reason = format!("match \"{from}\" was already added");
            return Err(RequestError::illegal_argument(reason));
        }
        from_texts.push(from);
        to_texts.push(to);
    }
    Ok(CharFilter::new(Mapping::new(&from_texts, to_texts)?, true))
}

/// Makes a filter that replaces one string by another.
pub(in crate::analysis) fn of(from: &str, to: &str) -> Result<CharFilter, RequestError> {
    Ok(CharFilter::new(Mapping::new(&[from.to_owned()], vec![to.to_owned()])?, true))
}

impl Rewrite for Mapping {
    fn apply(&self, text: &str) -> Rewritten {
        let mut rewriter = Rewriter::new(text);
        let mut read = 0;
        for found in self.from.find_iter(text) {
            rewriter.keep(found.start() - read);
            if !rewriter.replace(found.len(), &self.to[found.pattern().as_usize()]) {
                break;
            }
            read = found.end();
        }
        rewriter.finish()
    }
}

/// Parses one character after a backslash.
pub(in crate::analysis) fn unescaped_char(text: &str) -> Result<char, RequestError> {
    let invalid = || RequestError::illegal_argument(format!("Invalid escaped char in [{text}]"));
    let out = unescaped(text, text)?;
    let mut chars = out.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(invalid()),
    }
}

/// Replaces Java's escapes such as `\n`, `\t`, `\u00e9` by the characters they mean.
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
