//! A log line as one JSON object, for programs that collect logs.
//!
//! Source: the Elastic Common Schema and Elasticsearch's `ECSJsonLayout`: `@timestamp`, `log.level`,
//! `message`, `log.logger`, `process.thread.name`, `service.name`. Further members have the names of the
//! event's own fields.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use limber_engine::format_utc_millis;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes lines as JSON.
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        writeln!(out, "{}", Value::Object(members(event)))
    }
}

fn members(event: &Event<'_>) -> Map<String, Value> {
    let mut own = Members::default();
    event.record(&mut own);
    let metadata = event.metadata();
    let thread = std::thread::current();
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64);
    let mut line = Map::new();
    for (name, value) in [
        ("@timestamp", format_utc_millis(millis)),
        ("log.level", metadata.level().to_string()),
        ("message", own.message),
        ("service.name", "limber".to_owned()),
        ("log.logger", metadata.target().to_owned()),
        ("process.thread.name", thread.name().unwrap_or("").to_owned()),
    ] {
        line.insert(name.to_owned(), value.into());
    }
    for (name, value) in own.fields {
        line.entry(name).or_insert(value);
    }
    line
}

/// What an event contains besides its time and origin.
#[derive(Default)]
struct Members {
    message: String,
    fields: Map<String, Value>,
}

impl Visit for Members {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => {
                self.fields.insert(name.to_owned(), format!("{value:?}").into());
            }
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = value.to_owned(),
            name => {
                self.fields.insert(name.to_owned(), value.into());
            }
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.fields.insert(field.name().to_owned(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.fields.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.fields.insert(field.name().to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::io::{self, Write};
    use std::sync::Arc;
    use tracing_subscriber::fmt::MakeWriter;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'w> MakeWriter<'w> for Kept {
        type Writer = Kept;

        fn make_writer(&'w self) -> Kept {
            self.clone()
        }
    }

    #[test]
    fn a_line_is_an_object() {
        let kept = Kept::default();
        let subscriber = tracing_subscriber::fmt().event_format(JsonLines).with_writer(kept.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(target: "a.b", count = 3_u64, text = "x\"y", error = %"bad", "what happened");
        });
        let line: Value = serde_json::from_slice(&kept.0.lock()).expect("one object");
        for (name, expected) in [
            ("log.level", Value::from("WARN")),
            ("message", "what happened".into()),
            ("log.logger", "a.b".into()),
            ("count", 3.into()),
            ("text", "x\"y".into()),
            ("error", "bad".into()),
        ] {
            assert_eq!(line[name], expected, "{name}: {line}");
        }
        assert!(line["@timestamp"].as_str().is_some_and(|text| text.ends_with('Z')));
    }
}
