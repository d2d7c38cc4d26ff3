//! The format of `timeline.ndjson`.
//!
//! There is one JSON object per line; `kind` distinguishes them:
//!
//! | kind | when | holds |
//! |---|---|---|
//! | `race` | first line | version of the layout, race id, epoch milliseconds that `start-s` counts from |
//! | `task` | a task's step starts | index, name, operation, clients, target throughput, start in seconds |
//! | `slice` | a slice of a task's time ends | requests, operations, failures that *ended* in it; times |
//! | `task-end` | the step ends | seconds since the race's start |
//!
//! A slice is 0.1 s long during a task's first 10 s and 1 s after that, so that short tasks have a course
//! too. The task's end is in `task-end`, and may be within its last slice. Slices in which no request ended
//! are not written: **an absent slice is zero**. Slices of warm-up and of measured requests are separate.
//! **Slices of the same task, type and start add up**: samples that arrive late are written late, on a
//! separate line. A file that ends in an incomplete line (after a crash of the machine) is readable up to
//! there.
//!
//! Histograms are HDR histograms with two significant digits in ticks of 100 ns, in the V2 encoding of
//! HdrHistogram (not deflated), as base64: <https://github.com/HdrHistogram/HdrHistogram>. An absent
//! `latency` equals the service time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

pub(crate) const VERSION: u32 = 1;
/// Finer than a socket can resolve.
pub(crate) const TICK_NS: u64 = 100;
/// Three hours, longer than any sensible `request-timeout`. Longer times count as this.
pub(crate) const TICKS_MAX: u64 = 3 * 3600 * 1_000_000_000 / TICK_NS;
/// Values are off by at most 0.8 %, which is finer than a plot shows, and a histogram takes a few hundred
/// bytes.
const SIGNIFICANT_DIGITS: u8 = 2;

/// Returns an empty histogram of times in ticks.
pub(crate) fn histogram() -> Histogram<u32> {
    Histogram::new(SIGNIFICANT_DIGITS).expect("two digits are a number histograms know")
}

pub(crate) fn ms(ticks: u64) -> f64 {
    (ticks * TICK_NS) as f64 / 1e6
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum Line {
    Race { version: u32, race_id: String, start_ms: u64 },
    Task(TaskLine),
    Slice(SliceLine),
    TaskEnd { task: u32, end_s: f64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct TaskLine {
    /// Index within the race, from 0.
    pub task: u32,
    pub name: String,
    pub operation: String,
    pub operation_type: String,
    pub clients: u32,
    /// Total over all clients, such as `100` and `docs/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_throughput: Option<(f64, String)>,
    pub start_s: f64,
    /// Whether reports name the task.
    pub is_reported: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct SliceLine {
    pub task: u32,
    /// Rally's sample type.
    #[serde(rename = "type")]
    pub sample_type: SampleType,
    /// Seconds since the race's start.
    pub start_s: f64,
    pub width_s: f64,
    pub requests: u64,
    /// Number of documents, pages or operations, as `unit` says.
    pub operations: u64,
    pub unit: String,
    pub errors: u64,
    /// `operations` per second of `width-s`, which counts only what ended in this slice. For a task's course,
    /// its empty slices have to be added.
    pub throughput: f64,
    pub service_time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<String>,
    pub processing_time: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SampleType {
    Warmup,
    Normal,
}

/// Encodes a histogram. `bytes` is scratch space.
pub(crate) fn encoded(
    histogram: &Histogram<u32>,
    serializer: &mut V2Serializer,
    bytes: &mut Vec<u8>,
) -> String {
    bytes.clear();
    serializer.serialize(histogram, bytes).expect("a histogram of two digits fits into memory");
    BASE64.encode(&bytes)
}

/// Why a string is not a histogram.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistogramError {
    /// The string is not base64.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// Its bytes are not in HdrHistogram's layout.
    #[error(transparent)]
    Layout(#[from] hdrhistogram::serialization::DeserializeError),
}

/// Decodes a histogram. Errors: why the string is not one.
pub(crate) fn decoded(text: &str, deserializer: &mut Deserializer) -> Result<Histogram<u64>, HistogramError> {
    let bytes = BASE64.decode(text)?;
    Ok(deserializer.deserialize(&mut bytes.as_slice())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_form() {
        #[track_caller]
        fn check(line: Line, expected: &str) {
            assert_eq!(serde_json::to_string(&line).unwrap(), expected);
            assert_eq!(serde_json::from_str::<Line>(expected).unwrap(), line);
        }
        check(
            Line::Race { version: 1, race_id: "a".into(), start_ms: 7 },
            r#"{"kind":"race","version":1,"race-id":"a","start-ms":7}"#,
        );
        check(Line::TaskEnd { task: 2, end_s: 1.5 }, r#"{"kind":"task-end","task":2,"end-s":1.5}"#);
        check(
            Line::Task(TaskLine {
                task: 0,
                name: "index".into(),
                operation: "bulk-index".into(),
                operation_type: "bulk".into(),
                clients: 8,
                target_throughput: None,
                start_s: 0.25,
                is_reported: true,
            }),
            r#"{"kind":"task","task":0,"name":"index","operation":"bulk-index","operation-type":"bulk","clients":8,"start-s":0.25,"is-reported":true}"#,
        );
    }

    #[test]
    fn histograms_survive() {
        let mut histogram = histogram();
        for ticks in [1, 15, 200, 200, 123_456, TICKS_MAX] {
            histogram.record(ticks).unwrap();
        }
        let text = encoded(&histogram, &mut V2Serializer::new(), &mut Vec::new());
        assert!(text.len() < 120, "{text}");
        let back = decoded(&text, &mut Deserializer::new()).unwrap();
        assert!(
            histogram
                .iter_recorded()
                .map(|step| (step.value_iterated_to(), u64::from(step.count_at_value())))
                .eq(back.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())))
        );
        for broken in ["", "!", "AAAA", &text[..text.len() - 8]] {
            assert!(decoded(broken, &mut Deserializer::new()).is_err(), "{broken}");
        }
    }
}
