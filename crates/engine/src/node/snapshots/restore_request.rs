//! The body of a restore request, and how it changes the settings of an index.
//!
//! Source: Elasticsearch's `RestoreSnapshotRequest`, `RestoreService#updateIndexSettings`.

use limber_mapping::RequestError;
use limber_text::wildcard;
use regex::Regex;
use serde_json::Value;

use super::request::{check_feature_states, flag, texts};
use crate::api::{IndicesOptions, Result};
use crate::catalog::names::check_part_count;
use crate::notation::body::optional_members;
use crate::settings::{FlatSettings, flatten, normalize_index_keys};
use crate::snapshot::errors::restore_error;

/// Which indices are restored, and under which names and settings.
pub(super) struct RestoreRequest {
    pub indices: String,
    pub ignore_unavailable: bool,
    pub rename: Option<(Regex, String)>,
    pub rename_aliases: Option<(Regex, String)>,
    pub include_global_state: bool,
    pub include_aliases: bool,
    pub partial: bool,
    pub index_settings: FlatSettings,
    pub ignore_index_settings: Vec<String>,
}

/// Limit on the compiled size of a rename pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Longest text of a rename pattern.
const PATTERN_TEXT_BYTES_MAX: usize = 64 << 10;
/// Settings that define an index and cannot be changed by a restore.
const UNMODIFIABLE: &[&str] = &[
    "index.number_of_shards",
    "index.version.created",
    "index.uuid",
    "index.creation_date",
    "index.history.uuid",
];
const UNREMOVABLE: &[&str] =
    &["index.number_of_replicas", "index.auto_expand_replicas", "index.version.upgraded"];

impl RestoreRequest {
    /// Parses the body of `POST _snapshot/{repository}/{snapshot}/_restore`. An unknown member or a wrong
    /// type is an error.
    pub fn parse(body: &Value) -> Result<RestoreRequest> {
        let mut request = RestoreRequest {
            indices: String::new(),
            ignore_unavailable: false,
            rename: None,
            rename_aliases: None,
            include_global_state: false,
            include_aliases: true,
            partial: false,
            index_settings: FlatSettings::new(),
            ignore_index_settings: Vec::new(),
        };
        let Some(members) = optional_members(body)? else { return Ok(request) };
        let (mut index_pattern, mut index_replacement) = (None, None);
        let (mut alias_pattern, mut alias_replacement) = (None, None);
        for (key, value) in members {
            match &**key {
                "indices" => request.indices = texts(key, value)?,
                "ignore_unavailable" => request.ignore_unavailable = flag(key, value)?,
                // The snapshot's indices are a plain list of names, so these options have no effect.
                "allow_no_indices" | "expand_wildcards" => {
                    let text = texts(key, value).unwrap_or_else(|_| value.to_string());
                    IndicesOptions::METADATA.apply(
                        None,
                        None,
                        (key == "expand_wildcards").then_some(&*text),
                    )?;
                    return Err(RequestError::unsupported(format_args!("[{key}] of a restore")));
                }
                "feature_states" => check_feature_states(value)?,
                "include_global_state" => request.include_global_state = flag(key, value)?,
                "include_aliases" => request.include_aliases = flag(key, value)?,
                "partial" => request.partial = flag(key, value)?,
                "rename_pattern" => index_pattern = Some(text(key, value)?),
                "rename_replacement" => index_replacement = Some(text(key, value)?),
                "rename_alias_pattern" => alias_pattern = Some(text(key, value)?),
                "rename_alias_replacement" => alias_replacement = Some(text(key, value)?),
                "index_settings" => {
                    if !value.is_object() {
                        return Err(RequestError::illegal_argument("malformed index_settings section"));
                    }
                    request.index_settings = normalize_index_keys(flatten(value)?);
                }
                "ignore_index_settings" => {
                    let list = texts(key, value)?;
                    // Each index is compared with each of them.
                    check_part_count(&list)?;
                    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
                    request.ignore_index_settings = names.map(with_prefix).collect();
                }
                // OpenSearch's: where the restored shards are read.
                "storage_type" if value == "local" => {}
                "storage_type" => {
                    return Err(RequestError::unsupported(format_args!(
                        "[storage_type: {value}] of a restore"
                    )));
                }
                _ => return Err(RequestError::illegal_argument(format!("Unknown parameter {key}"))),
            }
        }
        request.rename = renaming("rename", index_pattern, index_replacement)?;
        request.rename_aliases = renaming("rename_alias", alias_pattern, alias_replacement)?;
        Ok(request)
    }

    /// Returns the name under which an index of the snapshot is restored.
    pub fn renamed(&self, name: &str) -> String {
        renamed(&self.rename, name)
    }

    /// Returns the name under which an alias of the snapshot is restored.
    pub fn renamed_alias(&self, name: &str) -> String {
        renamed(&self.rename_aliases, name)
    }

    /// Returns the settings without those that the request ignores and with those that it adds.
    pub fn settings(&self, repository: &str, snapshot: &str, saved: &FlatSettings) -> Result<FlatSettings> {
        let refuse = |what: String| Err(restore_error(repository, snapshot, what));
        let mut settings = saved.clone();
        for ignored in &self.ignore_index_settings {
            if wildcard::is_pattern(ignored) {
                let is_fixed = |key: &str| UNMODIFIABLE.contains(&key) || UNREMOVABLE.contains(&key);
                settings.retain(|key, _| is_fixed(key) || !wildcard::matches(ignored, key));
                continue;
            }
            if UNMODIFIABLE.contains(&&**ignored) || UNREMOVABLE.contains(&&**ignored) {
                return refuse(format!("cannot remove setting [{ignored}] on restore"));
            }
            settings.shift_remove(ignored);
        }
        for (key, value) in &self.index_settings {
            if UNMODIFIABLE.contains(&&**key) {
                return refuse(format!("cannot modify setting [{key}] on restore"));
            }
            match value {
                Value::Null if UNREMOVABLE.contains(&&**key) => {
                    return refuse(format!("cannot remove setting [{key}] on restore"));
                }
                Value::Null => drop(settings.shift_remove(key)),
                value => drop(settings.insert(key.clone(), value.clone())),
            }
        }
        Ok(settings)
    }
}

fn with_prefix(name: &str) -> String {
    if name.starts_with("index.") || name == "*" { name.to_owned() } else { format!("index.{name}") }
}

fn text(key: &str, value: &Value) -> Result<String> {
    let malformed = || RequestError::illegal_argument(format!("malformed {key}"));
    value.as_str().map(str::to_owned).ok_or_else(malformed)
}

/// Longest replacement in the name of an index or alias, in bytes.
const REPLACEMENT_BYTES_MAX: usize = 255;

fn renaming(
    what: &str,
    pattern: Option<String>,
    replacement: Option<String>,
) -> Result<Option<(Regex, String)>> {
    let (Some(pattern), Some(replacement)) = (pattern, replacement) else { return Ok(None) };
    // No name is longer than that.
    if replacement.len() > REPLACEMENT_BYTES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "[{what}_replacement] may have at most [{REPLACEMENT_BYTES_MAX}] bytes"
        )));
    }
    // Parsing a pattern takes a hundred times its length in memory.
    if pattern.len() > PATTERN_TEXT_BYTES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "[{what}_pattern] may have at most [{PATTERN_TEXT_BYTES_MAX}] bytes"
        )));
    }
    let compiled =
        regex::RegexBuilder::new(&pattern).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
            RequestError::illegal_argument(format!("[{what}_pattern] [{pattern}] cannot be used: {error}"))
        })?;
    Ok(Some((compiled, java_replacement(&replacement))))
}

/// Converts a Java replacement string (`$1`, `${name}`, `\$`) to the syntax of the regex crate, in which
/// `$1_` would be a name.
fn java_replacement(replacement: &str) -> String {
    let mut out = String::new();
    let mut rest = replacement.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('$') => out.push_str("$$"),
                Some(other) => out.push(other),
                None => {}
            },
            '$' if rest.peek().is_some_and(char::is_ascii_digit) => {
                let mut digits = String::new();
                while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                out.push_str(&format!("${{{digits}}}"));
            }
            other => out.push(other),
        }
    }
    out
}

fn renamed(rename: &Option<(Regex, String)>, name: &str) -> String {
    match rename {
        Some((pattern, replacement)) => pattern.replace_all(name, replacement.as_str()).into_owned(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_replaced_as_java_does() {
        let check = |pattern: &str, replacement: &str, name: &str, expected: &str| {
            let body = json!({"rename_pattern": pattern, "rename_replacement": replacement});
            assert_eq!(RestoreRequest::parse(&body).expect("valid").renamed(name), expected);
        };
        check("index_(.+)", "restored_index_$1", "index_7", "restored_index_7");
        check("(.+)", "$1_copy", "a", "a_copy");
        check("a", "b", "a-a", "b-b");
        check("x", "\\$1", "x", "$1");
    }

    #[test]
    fn a_list_of_ignored_settings_has_a_length() {
        let body = json!({"ignore_index_settings": "a,".repeat(10_000)});
        let error = RestoreRequest::parse(&body).map(drop).expect_err("too long");
        assert_eq!(error.reason, "more than [10000] names in one expression");
    }

    #[test]
    fn patterns_have_a_length() {
        let pattern = "a".repeat(PATTERN_TEXT_BYTES_MAX + 1);
        let body = json!({"rename_pattern": pattern, "rename_replacement": "b"});
        let error = RestoreRequest::parse(&body).map(drop).expect_err("too long");
        assert_eq!(error.reason, "[rename_pattern] may have at most [65536] bytes");
    }

    #[test]
    fn settings_that_make_an_index_stay() {
        let saved = flatten(
            &json!({"index": {"number_of_shards": 2, "number_of_replicas": 1, "refresh_interval": "1s"}}),
        );
        let saved = saved.expect("settings");
        let settings = |body: Value| RestoreRequest::parse(&body)?.settings("r", "s", &saved);
        let kept = settings(json!({"ignore_index_settings": ["refresh_interval"]})).expect("allowed");
        assert!(!kept.contains_key("index.refresh_interval"));
        assert_eq!(settings(json!({"ignore_index_settings": "*"})).expect("allowed").len(), 2);
        let changed = settings(json!({"index_settings": {"index.number_of_replicas": 0}})).expect("allowed");
        assert_eq!(changed["index.number_of_replicas"], "0");
        let refused = settings(json!({"index_settings": {"number_of_shards": 3}})).expect_err("refused");
        assert_eq!(refused.reason, "[r:s] cannot modify setting [index.number_of_shards] on restore");
        let refused =
            settings(json!({"ignore_index_settings": ["index.number_of_replicas"]})).expect_err("refused");
        assert_eq!(refused.reason, "[r:s] cannot remove setting [index.number_of_replicas] on restore");
    }
}
