//! `human`: "what do these numbers mean?"

use limber_engine::Result;
use limber_text::{byte_size, time_value};
use limber_work as work;
use serde_json::{Map, Value};

use crate::http::request::Request;

/// Adds a text before every number of bytes or milliseconds if the request asks for it: `size` before
/// `size_in_bytes`, `total_time` before `total_time_in_millis`. A text that is there already stays.
///
/// Source: `XContentBuilder#humanReadableField`.
pub fn with_words(request: &Request, mut answer: Value) -> Result<Value> {
    if request.flag_or("human", false)? {
        add_words(&mut answer)?;
    }
    Ok(answer)
}

/// Adds an index's date of creation to its settings if the request asks for it.
pub fn add_date(request: &Request, settings: &mut Map<String, Value>) -> Result<()> {
    if !request.flag_or("human", false)? {
        return Ok(());
    }
    let created = settings.get("index.creation_date").and_then(Value::as_str);
    if let Some(millis) = created.and_then(|millis| millis.parse().ok()) {
        let date = limber_engine::format_utc_millis(millis);
        settings.insert("index.creation_date_string".to_owned(), date.into());
    }
    Ok(())
}

fn add_words(value: &mut Value) -> Result<()> {
    match value {
        Value::Object(members) => {
            work::check_beyond_deadline()?;
            let before = std::mem::take(members);
            let mut all = Map::with_capacity(before.len());
            for (name, mut value) in before {
                if let Some((word, text)) = word_of(&name, &value) {
                    all.entry(word).or_insert_with(|| text.into());
                }
                add_words(&mut value)?;
                all.insert(name, value);
            }
            *members = all;
        }
        Value::Array(items) => items.iter_mut().try_for_each(add_words)?,
        _ => {}
    }
    Ok(())
}

/// Returns the name and the text of what stands before a number.
fn word_of<'n>(name: &'n str, value: &Value) -> Option<(&'n str, String)> {
    let number = value.as_u64()?;
    match (name.strip_suffix("_in_bytes"), name.strip_suffix("_in_millis")) {
        (Some(word), _) => Some((word, byte_size::show(number))),
        (_, Some(word)) => Some((word, time_value::show_millis(number))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_stand_before_their_numbers() {
        let mut stats = json!({"store": {"size_in_bytes": 2048}, "took": [{"time_in_millis": 1500, "n_in_bytes": "x"}],
            "limit_size": "own", "limit_size_in_bytes": 1});
        add_words(&mut stats).expect("no request to end");
        assert_eq!(
            stats.to_string(),
            r#"{"store":{"size":"2kb","size_in_bytes":2048},"took":[{"time":"1.5s","time_in_millis":1500,"n_in_bytes":"x"}],"limit_size":"own","limit_size_in_bytes":1}"#
        );
    }
}
