//! Generates the documents of the track `segment_memory`: events with unique keys, the same ones every time.
//!
//! Both corpora are NDJSON with action lines. All keys come from one function of a number (see [`key`]), so
//! that the track's template can compute the keys that it searches for.

use std::fmt::Write;

/// 2026-01-01T00:00:00Z, the time of the first event.
const START_MS: u64 = 1_767_225_600_000;
const INDICES: u64 = 40;
/// Indices that receive most updates.
const HOT_INDICES: u64 = 3;
/// Number of consecutive events in one index; the indices take turns.
const RUN: u64 = 2_500;
/// Number of consecutive updates in one index, which is the size of the track's bulks.
const BULK: u64 = 100;
/// One in this many bulks goes to a cold index.
const COLD_EVERY: u64 = 500;
/// Number of events in the corpus `events`.
pub(crate) const EVENTS: u64 = 1_000_000;
const SPANS: u64 = 8;

/// The numbers behind session keys and span keys start here; an event's id uses the event's own number.
const SESSIONS_FROM: u64 = 2_000_000;
const SPANS_FROM: u64 = 10_000_000;

const FACTOR: u128 = 3_141_592_653_589_793;
const STEP: u128 = 2_718_281_828_459_045;
/// The largest prime below 10^16.
const PRIME: u128 = 9_999_999_999_999_937;

/// Returns the `n`th key, which has 16 digits: n² FACTOR + n STEP modulo a prime. Keys are scattered like
/// random numbers, and differ for all n that occur.
fn key(n: u64) -> u64 {
    let n = u128::from(n);
    ((n * n * FACTOR + n * STEP) % PRIME) as u64
}

/// Returns the index of event `n`.
fn index_of(n: u64) -> u64 {
    n / RUN % INDICES
}

/// Returns the first `count` events.
pub(crate) fn events(count: u64) -> Vec<u8> {
    let mut ndjson = String::with_capacity(usize::try_from(count).unwrap_or(0) * 320);
    for n in 0..count {
        push(&mut ndjson, index_of(n), n, n, START_MS + 40 * n);
    }
    ndjson.into_bytes()
}

/// Returns the first `count` updates of the loaded events: nine of ten replace an event, the others add one.
pub(crate) fn updates(count: u64) -> Vec<u8> {
    let mut ndjson = String::with_capacity(usize::try_from(count).unwrap_or(0) * 320);
    for n in 0..count {
        let bulk = n / BULK;
        let is_cold = bulk % COLD_EVERY == COLD_EVERY - 1;
        let index = match is_cold {
            true => HOT_INDICES + key(bulk) % (INDICES - HOT_INDICES),
            false => bulk % HOT_INDICES,
        };
        let event = match n % 10 {
            0 => EVENTS + n,
            _ => {
                let choice = key(EVENTS + n);
                let sweep = choice % (EVENTS / (RUN * INDICES));
                (sweep * INDICES + index) * RUN + choice / 1_000 % RUN
            }
        };
        push(&mut ndjson, index, event, EVENTS + n, START_MS + 40 * (EVENTS + n));
    }
    ndjson.into_bytes()
}

/// Writes one event with its action line. `content` is the number from which the session and the spans are
/// computed.
fn push(ndjson: &mut String, index: u64, event: u64, content: u64, time_ms: u64) {
    let mut write = |arguments: std::fmt::Arguments<'_>| {
        ndjson.write_fmt(arguments).unwrap_or_else(|_| unreachable!("writing to a string"));
    };
    write(format_args!(
        "{{\"index\":{{\"_index\":\"events-{index:02}\",\"_id\":\"{:016}\"}}}}\n",
        key(event)
    ));
    write(format_args!(
        "{{\"@timestamp\":{time_ms},\"session\":\"{:016}\",\"spans\":[",
        key(SESSIONS_FROM + content)
    ));
    for span in 0..SPANS {
        let comma = if span == 0 { "" } else { "," };
        write(format_args!("{comma}\"{:016}\"", key(SPANS_FROM + SPANS * content + span)));
    }
    write(format_args!("],\"duration\":{}}}\n", key(content) % 10_000));
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;
    use crate::track::load::{TrackSource, TrackSpec, read};

    #[test]
    fn keys_occur_once() {
        let numbers = (0..EVENTS / 10)
            .chain(SESSIONS_FROM..SESSIONS_FROM + 100_000)
            .chain(SPANS_FROM..SPANS_FROM + 500_000);
        let count = numbers.clone().count();
        assert_eq!(numbers.map(key).collect::<BTreeSet<_>>().len(), count);
    }

    /// Checks that nine of ten updates name an event that was loaded, in the index where it was loaded.
    #[test]
    fn updates_meet_their_events() {
        let events: BTreeMap<u64, u64> = (0..EVENTS).map(|n| (key(n), n)).collect();
        let text = String::from_utf8(updates(2 * BULK)).unwrap();
        let mut known = 0;
        for action in text.lines().step_by(2) {
            let action: Value = serde_json::from_str(action).unwrap();
            let id: u64 = action["index"]["_id"].as_str().unwrap().parse().unwrap();
            if let Some(event) = events.get(&id) {
                assert_eq!(action["index"]["_index"], format!("events-{:02}", index_of(*event)));
                known += 1;
            }
        }
        assert_eq!(known, 2 * BULK * 9 / 10);
    }

    /// Checks that the template computes the same keys as the generator.
    #[test]
    fn searches_ask_for_keys_of_documents() {
        let spec = TrackSpec::new(TrackSource::BuiltIn { name: "segment_memory".into(), corpus: None }, 0.0);
        let track = read(&spec).unwrap();
        let mut tasks = track.challenges[0].schedule.iter().flat_map(|element| element.tasks());
        let query = tasks.find(|task| task.name == "query").unwrap();
        let searches = query.operation.params["searches"].as_array().unwrap();
        assert_eq!(searches.len(), 2_000);
        let numbers: BTreeMap<u64, u64> = (0..EVENTS).map(|n| (key(SESSIONS_FROM + n), n)).collect();
        for (terms, ids) in searches.iter().step_by(4).zip(searches.iter().skip(1).step_by(4)) {
            let number = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
            let n = numbers[&number(&terms["body"]["query"]["term"]["session"])];
            assert_eq!(terms["index"], format!("events-{:02}", index_of(n)));
            assert!(number(&ids["body"]["query"]["ids"]["values"][0]) < PRIME as u64);
        }
    }
}
