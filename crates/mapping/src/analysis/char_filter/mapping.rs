//! `mapping`: some texts become others, the longest first.

use std::collections::HashMap;

use super::{CharFilter, Rewrite, Rewriter, Rewritten};
use crate::RequestError;
use crate::analysis::settings::Settings;

#[derive(Debug)]
struct Mapping {
    /// By its first character, what the text may go on with and what stands for it, the longest first.
    rules: HashMap<char, Vec<(String, String)>>,
}

pub fn make(settings: &Settings<'_>) -> Result<CharFilter, RequestError> {
    if settings.value("mappings_path").is_some() {
        return Err(RequestError::unsupported(format!(
            "[mappings_path] of character filter [{}]",
            settings.name
        )));
    }
    let rules = settings.list("mappings").unwrap_or_default();
    if rules.is_empty() {
        return Err(RequestError::illegal_argument(
            "mapping requires either `mappings` or `mappings_path` to be configured",
        ));
    }
    let mut pairs: HashMap<char, Vec<(String, String)>> = HashMap::new();
    for rule in &rules {
        let (from, to) = rule
            .split_once("=>")
            .ok_or_else(|| RequestError::illegal_argument(format!("Invalid Mapping Rule : [{rule}]")))?;
        let (from, to) = (unescaped(from.trim_end(), rule)?, unescaped(to.trim(), rule)?);
        let illegal =
            || RequestError::illegal_argument(format!("Invalid Mapping Rule : [{rule}]. Illegal mapping."));
        let like = pairs.entry(from.chars().next().ok_or_else(illegal)?).or_default();
        if like.iter().any(|(known, _)| *known == from) {
            return Err(illegal());
        }
        like.push((from, to));
    }
    for like in pairs.values_mut() {
        like.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    }
    Ok(CharFilter::new(Mapping { rules: pairs }, true))
}

/// One text for another.
pub(in crate::analysis) fn of(from: &str, to: &str) -> CharFilter {
    let first = from.chars().next().unwrap_or_default();
    CharFilter::new(Mapping { rules: HashMap::from([(first, vec![(from.to_owned(), to.to_owned())])]) }, true)
}

impl Rewrite for Mapping {
    fn apply(&self, text: &str) -> Rewritten {
        let mut rewriter = Rewriter::new(text);
        while let Some(next) = rewriter.rest().chars().next() {
            let like = self.rules.get(&next).map_or(&[][..], Vec::as_slice);
            match like.iter().find(|(from, _)| rewriter.rest().starts_with(from.as_str())) {
                Some((from, to)) if !rewriter.replace(from.len(), to) => break,
                Some(_) => {}
                None => rewriter.keep(next.len_utf8()),
            }
        }
        rewriter.finish()
    }
}

/// One character with a backslash before it.
pub(in crate::analysis) fn unescaped_char(text: &str) -> Result<char, RequestError> {
    let invalid = || RequestError::illegal_argument(format!("Invalid escaped char in [{text}]"));
    let out = unescaped(text, text)?;
    let mut chars = out.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(invalid()),
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
