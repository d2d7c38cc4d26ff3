//! `filter_path`: keeps or drops members of a response by dotted path patterns.
//!
//! `*` matches any characters within one name, `**` any number of names; a leading `-` excludes; `\.` is a
//! dot within a name. Arrays are transparent. Source: Elasticsearch "Common options: response filtering",
//! class `FilterPath`.

use limber_text::wildcard;
use limber_work::{self as work, Stop};
use serde_json::{Map, Value};

/// A pattern, split at its dots.
type Names = [String];

/// Returns the part of `value` that the comma-separated `patterns` select; an empty object if nothing is
/// left.
///
/// # Errors
/// The client has disconnected, or there is not enough memory.
pub fn apply(mut value: Value, patterns: &str) -> Result<Value, Stop> {
    let (mut includes, mut excludes) = (Vec::new(), Vec::new());
    for pattern in patterns.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        match pattern.strip_prefix('-') {
            Some(rest) => excludes.push(split_at_dots(rest)),
            None => includes.push(split_at_dots(pattern)),
        }
    }
    if !excludes.is_empty() {
        let excludes: Vec<&Names> = excludes.iter().map(Vec::as_slice).collect();
        value = exclude(value, &excludes)?.unwrap_or_else(|| Value::Object(Map::new()));
    }
    if includes.is_empty() {
        return Ok(value);
    }
    let includes: Vec<&Names> = includes.iter().map(Vec::as_slice).collect();
    Ok(include(value, &includes)?.unwrap_or_else(|| Value::Object(Map::new())))
}

fn split_at_dots(pattern: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'.') => {
                characters.next();
                names.last_mut().expect("starts with one name").push('.');
            }
            '.' => names.push(String::new()),
            other => names.last_mut().expect("starts with one name").push(other),
        }
    }
    // `**.**` selects the same as `**`.
    names.dedup_by(|name, before| name == "**" && before == "**");
    names
}

/// Returns the rest of each pattern below the member `name`, and whether some pattern ends exactly here.
fn descend<'a>(patterns: &[&'a Names], name: &str) -> (Vec<&'a Names>, bool) {
    let (mut below, mut ends) = (Vec::new(), false);
    for &pattern in patterns {
        let mut rest = pattern;
        while rest.first().is_some_and(|first| first == "**") {
            below.push(rest);
            rest = &rest[1..];
            ends |= rest.is_empty();
        }
        if rest.first().is_some_and(|first| wildcard::matches(first, name)) {
            ends |= rest.len() == 1;
            if rest.len() > 1 {
                below.push(&rest[1..]);
            }
        }
    }
    // `**` yields both the unchanged pattern and its rest. Without this, equal patterns would multiply with
    // every level.
    if below.len() > 1 {
        below.sort_unstable_by_key(|names| (names.as_ptr() as usize, names.len()));
        below.dedup_by_key(|names| (names.as_ptr() as usize, names.len()));
    }
    (below, ends)
}

fn include(value: Value, patterns: &[&Names]) -> Result<Option<Value>, Stop> {
    work::check_beyond_deadline()?;
    Ok(match value {
        Value::Object(object) => {
            let mut kept = Map::new();
            for (name, member) in object {
                let (below, ends) = descend(patterns, &name);
                if ends {
                    kept.insert(name, member);
                } else if !below.is_empty()
                    && let Some(member) = include(member, &below)?
                {
                    kept.insert(name, member);
                }
            }
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter_map(|item| include(item, patterns).transpose());
            let kept: Vec<Value> = kept.collect::<Result<_, Stop>>()?;
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        _ => None,
    })
}

fn exclude(value: Value, patterns: &[&Names]) -> Result<Option<Value>, Stop> {
    work::check_beyond_deadline()?;
    Ok(match value {
        Value::Object(object) => {
            let mut kept = Map::new();
            let was_empty = object.is_empty();
            for (name, member) in object {
                let (below, ends) = descend(patterns, &name);
                if ends {
                    continue;
                }
                let member = if below.is_empty() { Some(member) } else { exclude(member, &below)? };
                if let Some(member) = member {
                    kept.insert(name, member);
                }
            }
            (was_empty || !kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let was_empty = items.is_empty();
            let kept = items.into_iter().filter_map(|item| exclude(item, patterns).transpose());
            let kept: Vec<Value> = kept.collect::<Result<_, Stop>>()?;
            (was_empty || !kept.is_empty()).then_some(Value::Array(kept))
        }
        other => Some(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_select_as_elasticsearch_does() {
        let value = json!({"took": 3, "hits": {"total": 2, "hits": [{"_id": "1", "_score": 1.0}, {"_id": "2"}]}, "a.b": 1});
        let check = |patterns: &str, expected: Value| {
            assert_eq!(apply(value.clone(), patterns).expect("no request"), expected, "{patterns}")
        };
        check("took", json!({"took": 3}));
        check("hits.hits._id", json!({"hits": {"hits": [{"_id": "1"}, {"_id": "2"}]}}));
        check("hits.hits._score", json!({"hits": {"hits": [{"_score": 1.0}]}}));
        check("**._id", json!({"hits": {"hits": [{"_id": "1"}, {"_id": "2"}]}}));
        check("h*.t*l", json!({"hits": {"total": 2}}));
        check("nothing", json!({}));
        check("a\\.b", json!({"a.b": 1}));
        check("-hits", json!({"took": 3, "a.b": 1}));
        check("hits.*,-hits.hits", json!({"hits": {"total": 2}}));
        check("took,-**.hits", json!({"took": 3}));
    }
}
