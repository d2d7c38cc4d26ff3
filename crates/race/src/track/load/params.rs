//! Checks that the track has the parameters that the user gave.

use std::collections::BTreeSet;

use super::LoadError;
use super::template::RESERVED_NAMES;
use crate::model::Params;

/// Refuses parameters with names that Rally reserves, and parameters that no template of the track reads.
///
/// # Errors
/// `Parameters` with Rally's message, which lists the closest names that the track has.
pub(crate) fn check_used(params: &Params, known: &BTreeSet<String>) -> Result<(), LoadError> {
    let reserved: Vec<&str> =
        RESERVED_NAMES.iter().copied().filter(|name| params.contains_key(*name)).collect();
    if !reserved.is_empty() {
        return Err(LoadError::Parameters(format!(
            "Some of your track parameter(s) {} are defined by Rally and cannot be modified.",
            quoted(reserved.iter().copied())
        )));
    }
    let mut unused: Vec<&str> =
        params.keys().map(String::as_str).filter(|name| !known.contains(*name)).collect();
    if unused.is_empty() {
        return Ok(());
    }
    unused.sort_unstable();
    let mut close: Vec<&str> = unused.iter().filter_map(|name| closest(name, known)).collect();
    close.sort_unstable();
    let mut given: Vec<&str> = params.keys().map(String::as_str).collect();
    given.sort_unstable();
    let guess = match close.is_empty() {
        true => ".".to_owned(),
        false => format!("; perhaps you intend to use {} instead.", quoted(close.iter().copied())),
    };
    Err(LoadError::Parameters(format!(
        "Some of your track parameter(s) {} are not used by this track{guess}\n\n\
         All track parameters you provided are:\n{}\n\nAll parameters exposed by this track:\n{}",
        quoted(unused.iter().copied()),
        bulleted(given.iter().copied()),
        bulleted(known.iter().map(String::as_str)),
    )))
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",")
}

fn bulleted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("- {name}")).collect::<Vec<_>>().join("\n")
}

/// Returns the most similar known name, if one is at least 60 % similar (Python's `difflib.get_close_matches`
/// with its defaults).
fn closest<'a>(name: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    const SIMILARITY_MIN: f64 = 0.6;
    let name: Vec<char> = name.chars().collect();
    known
        .iter()
        .map(|candidate| {
            let chars: Vec<char> = candidate.chars().collect();
            let total = chars.len() + name.len();
            let ratio =
                if total == 0 { 1.0 } else { 2.0 * matching_chars(&chars, &name) as f64 / total as f64 };
            (ratio, candidate.as_str())
        })
        .filter(|(ratio, _)| *ratio >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)))
        .map(|(_, candidate)| candidate)
}

/// Returns the number of characters in common blocks: the longest common run, then the same to the left and
/// right of it (Ratcliff/Obershelp).
fn matching_chars(a: &[char], b: &[char]) -> usize {
    let (mut best_a, mut best_b, mut best) = (0, 0, 0);
    for start_a in 0..a.len() {
        for start_b in 0..b.len() {
            let run = a[start_a..].iter().zip(&b[start_b..]).take_while(|(x, y)| x == y).count();
            if run > best {
                (best_a, best_b, best) = (start_a, start_b, run);
            }
        }
    }
    if best == 0 {
        return 0;
    }
    best + matching_chars(&a[..best_a], &b[..best_b])
        + matching_chars(&a[best_a + best..], &b[best_b + best..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_parameters_get_a_suggestion() {
        let known = BTreeSet::from(["number_of_shards".to_owned(), "number_of_replicas".to_owned()]);
        let params = json!({"number_of-shards": 5}).as_object().cloned().unwrap();
        let error = check_used(&params, &known).unwrap_err().to_string();
        assert!(error.starts_with(
            "Some of your track parameter(s) \"number_of-shards\" are not used by this track; perhaps you intend to use \"number_of_shards\" instead."
        ), "{error}");
        assert!(error.ends_with("- number_of_replicas\n- number_of_shards"), "{error}");
        let params = json!({"now": 5}).as_object().cloned().unwrap();
        assert!(check_used(&params, &known).unwrap_err().to_string().contains("cannot be modified"));
    }
}
