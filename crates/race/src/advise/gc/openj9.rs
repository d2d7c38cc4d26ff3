//! OpenJ9's verbose:gc log (`-verbose:gc`, `-Xverbosegclog`).
//!
//! The log is a stream of XML elements, one or a few per line. The document is closed only when the JVM exits
//! normally, so elements are read one by one and the document need not be complete. The reader follows the
//! elements that OpenJ9 documents ("Verbose GC logs": `af-start`, `gc-start`, `mem-info`, `memory-copied`,
//! `gc-end`, `exclusive-end`); it was not written from logs of a running OpenJ9.

use jiff::civil::DateTime;

use super::events::{GcEvents, HeapChange, PauseKind};

pub(super) const FORMAT: &str = "verbose:gc (OpenJ9)";

/// State of the reader between elements.
#[derive(Debug, Default)]
pub(super) struct OpenJ9 {
    /// What was collected since the application was stopped; `None` while the application runs.
    stopped_for: Option<PauseKind>,
    before_bytes: Option<u64>,
    is_ending: bool,
}

impl OpenJ9 {
    pub(super) fn recognizes(line: &str) -> bool {
        let line = line.trim_start_matches('\u{feff}').trim_start();
        line.starts_with("<?xml") || line.starts_with("<verbosegc")
    }

    pub(super) fn line(&mut self, text: &str, events: &mut GcEvents) {
        let mut is_unrecognized = !text.trim().is_empty();
        let mut rest = text;
        while let Some(start) = rest.find('<') {
            rest = &rest[start + 1..];
            let Some(end) = rest.find('>') else { break };
            is_unrecognized = false;
            self.element(&rest[..end], events);
            rest = &rest[end + 1..];
        }
        events.unrecognized_line_count += u64::from(is_unrecognized);
    }

    /// Reads one element. `element` is the text between the angle brackets.
    fn element(&mut self, element: &str, events: &mut GcEvents) {
        let name = element.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        if name == "initialized" {
            events.begin_run();
        }
        if let Some(at_s) = attribute(element, "timestamp").and_then(seconds_of) {
            events.at(at_s);
        }
        match name {
            "attribute" => initial(element, events),
            "exclusive-start" => self.stopped_for = Some(PauseKind::Phase),
            "gc-start" => {
                self.stopped_for = Some(kind_of(attribute(element, "type").unwrap_or_default()));
                self.is_ending = false;
                self.before_bytes = None;
            }
            "gc-end" => self.is_ending = true,
            "mem-info" => self.memory(element, events),
            "allocation-stats" => events.allocate(number(element, "totalBytes").unwrap_or(0)),
            "memory-copied" if attribute(element, "type") == Some("tenure") => {
                events.promote(number(element, "bytes").unwrap_or(0));
            }
            "copy-failed" => events.evacuation_failures += 1,
            "exclusive-end" => {
                let millis = attribute(element, "durationms").and_then(|text| text.parse().ok());
                if let Some(millis) = millis {
                    events.pause(millis, self.stopped_for.take().unwrap_or(PauseKind::Phase));
                }
                self.before_bytes = None;
                self.is_ending = false;
            }
            _ => {}
        }
    }

    /// Reads a `mem-info`: the sizes at the start of a collection, and the next time those at its end.
    fn memory(&mut self, element: &str, events: &mut GcEvents) {
        let (Some(free), Some(total)) = (number(element, "free"), number(element, "total")) else { return };
        let used = total.saturating_sub(free);
        events.capacity(total);
        if !self.is_ending {
            self.before_bytes = Some(used);
        } else if self.before_bytes.take().is_some() {
            // `allocation-stats` already counts what was allocated. A real `before_bytes` would count it
            // again.
            let change = HeapChange { before_bytes: 0, after_bytes: used, capacity_bytes: Some(total) };
            events.heap(change, true);
        }
    }
}

fn initial(element: &str, events: &mut GcEvents) {
    let (Some(name), Some(value)) = (attribute(element, "name"), attribute(element, "value")) else { return };
    match name {
        "gcPolicy" => events.collector = Some(value.trim_start_matches("-Xgcpolicy:").to_owned()),
        "maxHeapSize" => {
            let bytes = value.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
            events.capacity(bytes.unwrap_or(0));
        }
        "compressedRefs" => events.has_compressed_oops = Some(value == "true"),
        _ => {}
    }
}

fn kind_of(collection: &str) -> PauseKind {
    match collection {
        "scavenge" => PauseKind::Young,
        "partial gc" => PauseKind::Mixed,
        "global" | "global garbage collect" => PauseKind::Full,
        _ => PauseKind::Phase,
    }
}

fn number(element: &str, name: &str) -> Option<u64> {
    attribute(element, name)?.parse().ok()
}

/// Returns the value of ` name="value"`.
fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = element;
    loop {
        let at = rest.find(name)?;
        let starts_word = rest[..at].ends_with(|c: char| c.is_whitespace());
        rest = &rest[at + name.len()..];
        if let Some(value) = rest.strip_prefix("=\"").filter(|_| starts_word) {
            return value.split_once('"').map(|(value, _)| value);
        }
    }
}

/// Returns the seconds of a time such as `2020-10-18T13:35:45.020`, on the machine's clock.
fn seconds_of(timestamp: &str) -> Option<f64> {
    let time: DateTime = timestamp.parse().ok()?;
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond() as f64 / 1e3)
}
