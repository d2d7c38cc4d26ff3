//! Similarity of two words: the measures of `string_distance`, each from 0 (nothing in common) to 1
//! (equal).
//!
//! Source: Lucene's `LevenshteinDistance`, `LuceneLevenshteinDistance`, `JaroWinklerDistance`,
//! `NGramDistance`.

use limber_mapping::RequestError;
use limber_work::{self as work, Stop};

use super::words::no_constant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Similarity {
    /// Measured by the edits that the search itself counted.
    Internal,
    DamerauLevenshtein,
    Levenshtein,
    JaroWinkler,
    NGram,
}

impl Similarity {
    /// Parses the name of a measure.
    ///
    /// # Errors
    /// There is no such measure.
    pub fn parse(name: &str) -> Result<Similarity, RequestError> {
        match name {
            "internal" => Ok(Similarity::Internal),
            "damerau_levenshtein" | "damerauLevenshtein" => Ok(Similarity::DamerauLevenshtein),
            "levenshtein" | "levenstein" => Ok(Similarity::Levenshtein),
            "jaro_winkler" | "jarowinkler" => Ok(Similarity::JaroWinkler),
            "ngram" => Ok(Similarity::NGram),
            other => Err(no_constant("StringDistanceImpl", other)),
        }
    }

    /// Returns the similarity of two words. `edits`: the distance between them, counting a swap of
    /// neighbours as one edit. The time is the product of their lengths.
    ///
    /// # Errors
    /// Why the request must end.
    pub fn of(self, word: &str, other: &str, edits: u8) -> Result<f32, Stop> {
        let left: Vec<char> = word.chars().collect();
        let right: Vec<char> = other.chars().collect();
        let (shorter, longer) = (left.len().min(right.len()).max(1), left.len().max(right.len()).max(1));
        Ok(match self {
            Similarity::Internal => 1.0 - f32::from(edits) / shorter as f32,
            Similarity::DamerauLevenshtein => 1.0 - distance(&left, &right, true)? as f32 / shorter as f32,
            Similarity::Levenshtein => 1.0 - distance(&left, &right, false)? as f32 / longer as f32,
            Similarity::JaroWinkler => jaro_winkler(&left, &right)?,
            Similarity::NGram => n_gram(&left, &right)?,
        })
    }
}

/// Counts the edits row by row. Three rows of the table are kept, because a word may have 32,766 characters.
fn distance(left: &[char], right: &[char], swaps: bool) -> Result<usize, Stop> {
    let width = right.len() + 1;
    let (mut second_last, mut row) = (vec![0; width], vec![0; width]);
    let mut last: Vec<usize> = (0..width).collect();
    for i in 1..=left.len() {
        work::check()?;
        row[0] = i;
        for j in 1..=right.len() {
            let cost = usize::from(left[i - 1] != right[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + cost);
            if swaps && i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(second_last[j - 2] + cost);
            }
            row[j] = best;
        }
        std::mem::swap(&mut second_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    Ok(last[right.len()])
}

/// Only above this similarity a common prefix counts. Source: `JaroWinklerDistance#threshold`.
const PREFIX_COUNTS_ABOVE: f32 = 0.7;

fn jaro_winkler(left: &[char], right: &[char]) -> Result<f32, Stop> {
    let (long, short) = if left.len() > right.len() { (left, right) } else { (right, left) };
    let range = (long.len() / 2).saturating_sub(1);
    let mut of_short: Vec<Option<usize>> = vec![None; short.len()];
    let mut is_taken = vec![false; long.len()];
    for (at, char) in short.iter().enumerate() {
        work::check()?;
        let window = at.saturating_sub(range)..(at + range + 1).min(long.len());
        let found = window.into_iter().find(|&other| !is_taken[other] && long[other] == *char);
        if let Some(other) = found {
            of_short[at] = Some(other);
            is_taken[other] = true;
        }
    }
    let matched: Vec<char> =
        of_short.iter().zip(short).filter_map(|(found, char)| found.map(|_| *char)).collect();
    let matches = matched.len() as f32;
    if matched.is_empty() {
        return Ok(0.0);
    }
    let in_long = long.iter().zip(&is_taken).filter(|(_, taken)| **taken).map(|(char, _)| *char);
    let transpositions = matched.iter().zip(in_long).filter(|(a, b)| **a != *b).count() / 2;
    let prefix = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let jaro = (matches / left.len() as f32
        + matches / right.len() as f32
        + (matches - transpositions as f32) / matches)
        / 3.0;
    if jaro < PREFIX_COUNTS_ABOVE {
        return Ok(jaro);
    }
    Ok(jaro + (0.1f32).min(1.0 / long.len() as f32) * prefix as f32 * (1.0 - jaro))
}

/// Compares pairs of neighbouring characters; the first character is paired with a padding character before
/// it.
fn n_gram(left: &[char], right: &[char]) -> Result<f32, Stop> {
    const SIZE: usize = 2;
    let (rows, columns) = (left.len(), right.len());
    if rows == 0 || columns == 0 {
        return Ok(if rows == columns { 1.0 } else { 0.0 });
    }
    if rows < SIZE || columns < SIZE {
        let same = left.iter().zip(right).filter(|(a, b)| a == b).count();
        return Ok(same as f32 / rows.max(columns) as f32);
    }
    let gram = |of: &[char], at: usize| [if at == 0 { '\0' } else { of[at - 1] }, of[at]];
    let mut before: Vec<f32> = (0..=rows).map(|at| at as f32).collect();
    for j in 1..=columns {
        work::check()?;
        let mut now = vec![j as f32; rows + 1];
        let wanted = gram(right, j - 1);
        for i in 1..=rows {
            let have = gram(left, i - 1);
            let differs = (0..SIZE).filter(|&at| have[at] != wanted[at]).count();
            let is_start = (0..SIZE).filter(|&at| have[at] == wanted[at] && have[at] == '\0').count();
            let cost = differs as f32 / (SIZE - is_start).max(1) as f32;
            now[i] = (now[i - 1] + 1.0).min(before[i] + 1.0).min(before[i - 1] + cost);
        }
        before = now;
    }
    Ok(1.0 - before[rows] / rows.max(columns) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_of_known_pairs() {
        let check = |measure: Similarity, left: &str, right: &str, expected: f32| {
            let found = measure.of(left, right, 1).expect("no request");
            assert!((found - expected).abs() < 0.001, "{measure:?} {left} {right}: {found}");
        };
        check(Similarity::JaroWinkler, "martha", "marhta", 0.961);
        check(Similarity::JaroWinkler, "jones", "johnson", 0.832);
        check(Similarity::Levenshtein, "foob", "foo", 0.75);
        check(Similarity::DamerauLevenshtein, "amsterdma", "amsterdam", 0.889);
        check(Similarity::NGram, "university", "univearsitty", 0.792);
        check(Similarity::Internal, "tset", "test", 0.75);
        let (long, longer) = ("a".repeat(3_000), "a".repeat(3_001));
        check(Similarity::Levenshtein, &long, &longer, 3_000.0 / 3_001.0);
    }
}
