//! `human`: "what do these numbers mean?"

use limber_engine::{Result, format_utc_millis};
use limber_text::{byte_size, time_value};
use limber_work as work;
use serde_json::{Map, Value};

use crate::http::request::Request;

/// How the text of a number shows it.
#[derive(Clone, Copy)]
enum Form {
    Bytes,
    Millis,
    Nanos,
    /// Milliseconds since 1970.
    Date,
}

impl Form {
    fn show(self, number: u64) -> String {
        match self {
            Form::Bytes => byte_size::show(number),
            Form::Millis => time_value::show_millis(number),
            Form::Nanos => time_value::show_nanos(number),
            Form::Date => format_utc_millis(number),
        }
    }
}

/// Numbers whose text has another name than the rule gives it (see [`with_words`]), or another form: the
/// number, its text, and the form.
///
/// Source: calls of `XContentBuilder#humanReadableField` and `#timestampFieldsFromUnixEpochMillis`.
const EXCEPTIONS: &[(&str, &str, Form)] = &[
    ("fixed_bit_set_memory_in_bytes", "fixed_bit_set", Form::Bytes),
    ("total_time_excluding_waiting_on_lock_in_millis", "total_time_excluding_waiting", Form::Millis),
    ("throttled_millis", "throttled", Form::Millis),
    ("throttled_until_millis", "throttled_until", Form::Millis),
    ("running_time_in_nanos", "running_time", Form::Nanos),
    ("start_time_in_millis", "start_time", Form::Date),
    ("stop_time_in_millis", "stop_time", Form::Date),
    ("end_time_in_millis", "end_time", Form::Date),
    ("expiration_time_in_millis", "expiration_time", Form::Date),
    ("completion_time_in_millis", "completion_time", Form::Date),
    ("modified_date_in_millis", "modified_date", Form::Date),
    ("index_creation_date_millis", "index_creation_date", Form::Date),
    ("lifecycle_date_millis", "lifecycle_date", Form::Date),
    ("rollover_date_millis", "rollover_date", Form::Date),
    ("phase_time_millis", "phase_time", Form::Date),
    ("action_time_millis", "action_time", Form::Date),
    ("step_time_millis", "step_time", Form::Date),
    ("timestamp_millis", "timestamp", Form::Date),
    ("create_time", "create_time_string", Form::Date),
    ("last_search_time", "last_search_time_string", Form::Date),
    ("changes_last_detected_at", "changes_last_detected_at_string", Form::Date),
];

/// Adds a text before every number of bytes or milliseconds if the request asks for it: `size` before
/// `size_in_bytes`, `total_time` before `total_time_in_millis`. A text that is there already stays.
///
/// Source: `XContentBuilder#humanReadableField`.
pub fn with_words(request: &Request, answer: Value) -> Result<Value> {
    with_words_beside(request, answer, &[])
}

/// Does the same, except within members with these names, which hold what users wrote.
pub fn with_words_beside(request: &Request, mut answer: Value, written: &[&str]) -> Result<Value> {
    if request.flag_or("human", false)? {
        add_words(&mut answer, written)?;
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
        let date = format_utc_millis(millis);
        settings.insert("index.creation_date_string".to_owned(), date.into());
    }
    Ok(())
}

fn add_words(value: &mut Value, written: &[&str]) -> Result<()> {
    match value {
        Value::Object(members) => {
            work::check_beyond_deadline()?;
            let before = std::mem::take(members);
            let mut all = Map::with_capacity(before.len());
            for (name, mut value) in before {
                if let Some((word, text)) = word_of(&name, &value) {
                    all.entry(word).or_insert_with(|| text.into());
                }
                if !written.contains(&name.as_str()) {
                    add_words(&mut value, written)?;
                }
                all.insert(name, value);
            }
            *members = all;
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| add_words(item, written))?,
        _ => {}
    }
    Ok(())
}

/// Returns the name and the text of what stands before a number.
fn word_of<'n>(name: &'n str, value: &Value) -> Option<(&'n str, String)> {
    let number = value.as_u64()?;
    if let Some((_, word, form)) = EXCEPTIONS.iter().find(|(raw, ..)| *raw == name) {
        return Some((*word, form.show(number)));
    }
    match (name.strip_suffix("_in_bytes"), name.strip_suffix("_in_millis")) {
        (Some(word), _) => Some((word, Form::Bytes.show(number))),
        (_, Some(word)) => Some((word, Form::Millis.show(number))),
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
        add_words(&mut stats, &[]).expect("no request to end");
        assert_eq!(
            stats.to_string(),
            r#"{"store":{"size":"2kb","size_in_bytes":2048},"took":[{"time":"1.5s","time_in_millis":1500,"n_in_bytes":"x"}],"limit_size":"own","limit_size_in_bytes":1}"#
        );
    }

    #[test]
    fn dates_and_other_names_are_listed_and_what_users_wrote_stays() {
        let mut task = json!({
            "start_time_in_millis": 0, "running_time_in_nanos": 1_500_000, "throttled_millis": 2,
            "metadata": {"size_in_bytes": 1},
        });
        add_words(&mut task, &["metadata"]).expect("no request to end");
        assert_eq!(
            task,
            json!({
                "start_time": "1970-01-01T00:00:00.000Z", "start_time_in_millis": 0,
                "running_time": "1.5ms", "running_time_in_nanos": 1_500_000,
                "throttled": "2ms", "throttled_millis": 2,
                "metadata": {"size_in_bytes": 1},
            })
        );
    }
}
