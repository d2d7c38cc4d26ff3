//! "What did the user write after `--track-params`, and does the track know these parameters?"

use std::collections::BTreeSet;

use serde_json::Value;

use super::LoadError;
use super::template::RESERVED_NAMES;
use crate::model::Params;

/// Reads `key:value,key2:value2`, a JSON object, or the name of a `.json` file (`esrally/utils/opts.py`, `to_dict`).
///
/// In the list form a value is a string when it is quoted with `'`, else an integer, a float, `true`/`false`, `none`, or a plain string.
/// The same form serves `--user-tags`, `--client-options` and `--telemetry-params`.
///
/// # Errors
/// `Parameters` for anything that is neither, `Io` when the file cannot be read.
pub fn parse(argument: &str) -> Result<Params, LoadError> {
    let refused = |reason: String| LoadError::Parameters(reason);
    if argument.ends_with(".json") {
        let path = std::path::PathBuf::from(argument);
        let text = std::fs::read_to_string(&path).map_err(LoadError::at(&path))?;
        return match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(refused(format!("[{argument}] does not hold a JSON object"))),
            Err(error) => Err(refused(format!("[{argument}] is not valid JSON: {error}"))),
        };
    }
    if let Ok(Value::Object(object)) = serde_json::from_str(argument) {
        return Ok(object);
    }
    let mut params = Params::new();
    for pair in argument.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once(':').ok_or_else(|| {
            refused(format!("[{pair}] is not of the form key:value; give key:value pairs separated by commas, or a JSON object"))
        })?;
        if value.contains(':') {
            return Err(refused(format!(
                "[{pair}] has more than one colon; write such values as a JSON object"
            )));
        }
        params.insert(key.trim().to_owned(), scalar(value.trim()));
    }
    Ok(params)
}

fn scalar(text: &str) -> Value {
    if let Some(quoted) = text.strip_prefix('\'') {
        return Value::from(quoted.strip_suffix('\'').unwrap_or(quoted));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::from(number);
    }
    if let Some(number) = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
        return Value::Number(number);
    }
    match text.to_ascii_lowercase().as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "none" => Value::Null,
        _ => Value::from(text),
    }
}

/// Refuses parameters that are Rally's own names, and parameters that no template of the track reads.
///
/// # Errors
/// `Parameters`, in Rally's words, with the closest names the track knows.
pub fn check_used(params: &Params, known: &BTreeSet<String>) -> Result<(), LoadError> {
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

/// The most similar known name, if any is at least 60 % alike (Python's `difflib.get_close_matches` with its defaults).
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

/// Characters in common blocks: the longest common run, then the same left and right of it (Ratcliff/Obershelp).
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
    fn pairs_are_typed_like_rallys() {
        let parsed = parse("clients:8, ratio:0.5,on:True,off:false,codec:best,text:'12',nil:none").unwrap();
        let expected = json!({"clients": 8, "ratio": 0.5, "on": true, "off": false, "codec": "best", "text": "12", "nil": null});
        assert_eq!(Value::Object(parsed), expected);
        assert_eq!(Value::Object(parse(r#"{"a": [1]}"#).unwrap()), json!({"a": [1]}));
        assert!(parse("novalue").is_err());
        assert!(parse("a:b:c").is_err());
        assert!(parse("").unwrap().is_empty());
    }

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
