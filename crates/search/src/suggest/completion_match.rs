//! Whether an input continues what was typed, and how well.
//!
//! Source: Lucene's `PrefixCompletionQuery`, `FuzzyCompletionQuery`, `RegexCompletionQuery`.

use limber_mapping::analysis::Analyzer;
use limber_mapping::{Completion, RequestError};
use limber_text::automaton::{Regexp, TermAutomaton};

use crate::request::suggest::CompletionRequest;

/// The typed text, prepared for comparison with tokens.
#[derive(Debug)]
pub(super) enum Typed {
    /// The prefix, and the boost of every match.
    Prefix(Vec<u8>, f32),
    Fuzzy {
        /// The units that edits count: bytes or characters.
        units: Vec<u32>,
        edits: usize,
        /// Number of leading units that must be equal.
        exact: usize,
        swaps: bool,
        counts_letters: bool,
    },
    Regex(Box<Regexp>),
}

impl Typed {
    /// Prepares the typed text.
    ///
    /// # Errors
    /// The regular expression is invalid or needs too many states.
    pub fn new(
        text: &str,
        analyzer: &Analyzer,
        field: &Completion,
        request: &CompletionRequest,
    ) -> Result<Typed, RequestError> {
        if request.is_regex {
            return Ok(Typed::Regex(Box::new(Regexp::parse(text, request.regex)?)));
        }
        let key = field.key(analyzer, text);
        let Some(fuzzy) = &request.fuzzy else { return Ok(Typed::Prefix(key, 0.0)) };
        let units = units(&key, fuzzy.counts_letters);
        let edits = usize::from(fuzzy.fuzziness.distance_from_any());
        if units.len() < fuzzy.length_min.max(1) || edits == 0 || units.len() <= fuzzy.prefix_length {
            // No unit may differ, so all of them are equal.
            return Ok(Typed::Prefix(key, units.len() as f32));
        }
        Ok(Typed::Fuzzy {
            units,
            edits,
            exact: fuzzy.prefix_length,
            swaps: fuzzy.transpositions,
            counts_letters: fuzzy.counts_letters,
        })
    }

    /// Whether no text was typed, or none that the analyzer keeps, which matches no input.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Typed::Prefix(key, _) if key.is_empty())
    }

    /// Returns the prefix of the tokens of every matching input.
    pub fn exact_prefix(&self) -> &[u8] {
        match self {
            Typed::Prefix(key, _) => key,
            Typed::Regex(regex) => regex.prefix(),
            Typed::Fuzzy { .. } => &[],
        }
    }

    /// Returns the boost of a match, 0 if all matches count the same; `None` if there is no match.
    pub fn boost(&self, key: &[u8]) -> Option<f32> {
        match self {
            Typed::Prefix(prefix, boost) => key.starts_with(prefix).then_some(*boost),
            Typed::Regex(regex) => (1..=key.len()).any(|end| regex.accepts(&key[..end])).then_some(0.0),
            Typed::Fuzzy { units, edits, exact, swaps, counts_letters } => {
                let other = self::units(key, *counts_letters);
                let length = (*exact).min(units.len());
                if other.get(..length) != Some(&units[..length]) {
                    return None;
                }
                let end = shortest_match(units, &other, *edits, *swaps)?;
                let common = units.iter().zip(&other[..end]).take_while(|(left, right)| left == right);
                Some(common.count() as f32)
            }
        }
    }
}

fn units(key: &[u8], counts_letters: bool) -> Vec<u32> {
    match counts_letters {
        true => String::from_utf8_lossy(key).chars().map(u32::from).collect(),
        false => key.iter().map(|byte| u32::from(*byte)).collect(),
    }
}

/// Returns the length of the shortest prefix of `text` that is at most `edits` edits from `word`.
fn shortest_match(word: &[u32], text: &[u32], edits: usize, swaps: bool) -> Option<usize> {
    if text.len() + edits < word.len() {
        return None;
    }
    let width = word.len() + 1;
    let mut before_last = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    if last[width - 1] <= edits {
        return Some(0);
    }
    for end in 1..=text.len() {
        let mut now = vec![end; width];
        for at in 1..width {
            let cost = usize::from(word[at - 1] != text[end - 1]);
            now[at] = (last[at] + 1).min(now[at - 1] + 1).min(last[at - 1] + cost);
            if swaps && at > 1 && end > 1 && word[at - 1] == text[end - 2] && word[at - 2] == text[end - 1] {
                now[at] = now[at].min(before_last[at - 2] + 1);
            }
        }
        if now[width - 1] <= edits {
            return Some(end);
        }
        if now.iter().all(|distance| *distance > edits) {
            return None;
        }
        before_last = std::mem::replace(&mut last, now);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_start_within_the_edits_is_found() {
        let check = |word: &str, text: &str, edits: usize, expected: Option<usize>| {
            let found =
                shortest_match(&units(word.as_bytes(), false), &units(text.as_bytes(), false), edits, true);
            assert_eq!(found, expected, "{word} {text} {edits}");
        };
        check("nirvana", "nirvana live", 0, Some(7));
        check("nirvana", "nirvana live", 1, Some(6));
        check("nrivana", "nirvana live", 1, Some(7));
        check("nxrvana", "nirvana", 1, Some(7));
        check("nirvana", "nixxana", 1, None);
        check("nirvana", "nir", 2, None);
    }
}
