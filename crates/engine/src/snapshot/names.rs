//! Names of repositories and snapshots, and expressions that select from a list of names.
//!
//! Source: Elasticsearch's `RepositoriesService#validate`, `SnapshotsService#validate`,
//! `SnapshotUtils#filterIndices`.

use limber_text::wildcard;

use super::errors::{invalid_snapshot_name, repository_error};
use crate::api::Result;
use crate::catalog::names::{check_part_count, index_not_found};

/// `Strings.INVALID_FILENAME_CHARS`, in the same order.
const INVALID: [char; 10] = [' ', '"', '*', ',', '/', '<', '>', '?', '\\', '|'];
/// Longest name of a repository or snapshot, in bytes.
const NAME_BYTES_MAX: usize = 255;

fn invalid_characters() -> String {
    let listed: Vec<String> = INVALID.iter().map(|character| format!("'{character}'")).collect();
    format!("must not contain the following characters [{}]", listed.join(","))
}

pub(crate) fn check_repository_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(repository_error(name, "cannot be empty"));
    }
    if name.contains('#') {
        return Err(repository_error(name, "must not contain '#'"));
    }
    if name.contains(INVALID) {
        return Err(repository_error(name, invalid_characters()));
    }
    if name.chars().any(char::is_control) {
        return Err(repository_error(name, "must not contain control characters"));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(repository_error(name, format!("must not have more than [{NAME_BYTES_MAX}] bytes")));
    }
    Ok(())
}

pub(crate) fn check_snapshot_name(repository: &str, name: &str) -> Result<()> {
    let refuse = |why: &str| Err(invalid_snapshot_name(repository, name, why));
    if name.is_empty() {
        return refuse("cannot be empty");
    }
    if name.chars().any(char::is_whitespace) {
        return refuse("must not contain whitespace");
    }
    if name.contains(',') {
        return refuse("must not contain ','");
    }
    if name.contains('#') {
        return refuse("must not contain '#'");
    }
    if name.starts_with('_') {
        return refuse("must not start with '_'");
    }
    if name.chars().any(char::is_uppercase) {
        return refuse("must be lowercase");
    }
    if name.contains(INVALID) {
        return refuse(&invalid_characters());
    }
    if name.chars().any(char::is_control) {
        return refuse("must not contain control characters");
    }
    if name.len() > NAME_BYTES_MAX {
        return refuse(&format!("must not have more than [{NAME_BYTES_MAX}] bytes"));
    }
    Ok(())
}

/// The names that an expression selects: `all`, patterns, names, and after a pattern `-` with names to
/// exclude.
pub(crate) struct Chosen {
    parts: Vec<String>,
}

impl Chosen {
    pub(crate) fn parse(expression: &str) -> Chosen {
        let parts = expression.split(',').map(str::trim).filter(|part| !part.is_empty());
        Chosen { parts: parts.map(str::to_owned).collect() }
    }

    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Whether the expression selects every index, as an empty list does.
    pub(crate) fn is_all(&self) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|part| part == "_all")
    }

    /// Whether the expression selects a name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        if self.is_all() {
            return true;
        }
        let (mut is_taken, mut wildcard_seen) = (false, false);
        for part in &self.parts {
            match part.strip_prefix('-').filter(|_| wildcard_seen) {
                Some(excluded) if wildcard::matches(excluded, name) => is_taken = false,
                Some(_) => {}
                None => {
                    wildcard_seen |= wildcard::is_pattern(part);
                    is_taken |= wildcard::matches(part, name);
                }
            }
        }
        is_taken
    }

    /// Returns the names without a wildcard.
    pub(crate) fn concrete(&self) -> impl Iterator<Item = &str> {
        let mut wildcard_seen = false;
        self.parts.iter().map(String::as_str).filter(move |part| {
            let is_excluded = part.starts_with('-') && wildcard_seen;
            wildcard_seen |= wildcard::is_pattern(part);
            !wildcard::is_pattern(part) && *part != "_all" && !is_excluded
        })
    }
}

/// Returns the indices of a snapshot that an expression selects, in order.
///
/// # Errors
/// Fails for a name that the snapshot does not contain, unless such names are ignored, and for too many
/// names.
pub(crate) fn filter_indices<'n>(
    available: impl Iterator<Item = &'n str> + Clone,
    expression: &str,
    ignore_unavailable: bool,
) -> Result<Vec<String>> {
    check_part_count(expression)?;
    let chosen = Chosen::parse(expression);
    if !ignore_unavailable
        && let Some(missing) = chosen.concrete().find(|name| !available.clone().any(|other| other == *name))
    {
        return Err(index_not_found(missing));
    }
    Ok(available.filter(|name| chosen.takes(name)).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use limber_mapping::ErrorClass;

    use super::*;

    #[test]
    fn names_of_snapshots() {
        for good in ["a", "snap-2024.01.01", "ä", "a:b", "..", "-x"] {
            assert!(check_snapshot_name("r", good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("", "cannot be empty"),
            ("a b", "must not contain whitespace"),
            ("a,b", "must not contain ','"),
            ("a#b", "must not contain '#'"),
            ("_a", "must not start with '_'"),
            ("A", "must be lowercase"),
            ("a/b", "must not contain the following characters [' ','\"','*',',','/','<','>','?','\\','|']"),
            ("a\u{7}b", "must not contain control characters"),
        ] {
            let error = check_snapshot_name("r", bad).expect_err(bad);
            assert_eq!(error.reason, format!("[r:{bad}] Invalid snapshot name [{bad}], {why}"));
        }
        assert!(check_snapshot_name("r", &"x".repeat(256)).is_err());
        assert!(check_repository_name("my repo").is_err() && check_repository_name("Repo-1").is_ok());
    }

    #[test]
    fn choices() {
        let names = ["a1", "a2", "b"];
        let check = |expression: &str, expected: &[&str]| {
            let found = filter_indices(names.into_iter(), expression, true).expect("lenient");
            assert_eq!(found, expected, "{expression}");
        };
        check("", &["a1", "a2", "b"]);
        check("_all", &["a1", "a2", "b"]);
        check("a*", &["a1", "a2"]);
        check("*,-a1", &["a2", "b"]);
        check("b,x", &["b"]);
        check("-a1", &[]);
        let missing = filter_indices(names.into_iter(), "b,x", false).expect_err("missing");
        assert_eq!((missing.class, &*missing.reason), (ErrorClass::NotFound, "no such index [x]"));
    }
}
