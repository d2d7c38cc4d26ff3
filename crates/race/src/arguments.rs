//! Values of options such as `--track-params`, as Rally reads them.

use serde_json::{Map, Value};

use crate::error::Error;

/// Reads `key:value,key2:value2`, a JSON object, or the name of a `.json` file (`esrally/utils/opts.py`,
/// `to_dict`).
///
/// In the list form a value is a string when it is quoted with `'`, else an integer, a float, `true`/`false`,
/// `none`, or a plain string. The same form serves `--user-tags`, `--client-options` and
/// `--telemetry-params`.
///
/// # Errors
/// The argument has neither form, or the file cannot be read.
pub(crate) fn parse(argument: &str) -> Result<Map<String, Value>, Error> {
    if argument.ends_with(".json") {
        let text = std::fs::read_to_string(argument)
            .map_err(|error| Error::Argument(format!("[{argument}]: {error}")))?;
        return match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Error::Argument(format!("[{argument}] does not contain a JSON object"))),
            Err(error) => Err(Error::Argument(format!("[{argument}] is not valid JSON: {error}"))),
        };
    }
    if let Ok(Value::Object(object)) = serde_json::from_str(argument) {
        return Ok(object);
    }
    let mut params = Map::new();
    for pair in argument.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once(':').ok_or_else(|| {
            Error::Argument(format!("[{pair}] is not of the form key:value; give key:value pairs separated by commas, or a JSON object"))
        })?;
        if value.contains(':') {
            return Err(Error::Argument(format!(
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
}
