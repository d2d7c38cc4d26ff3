//! Ids for documents that come without one: unique on this node, and cheap to store.
//!
//! 15 bytes as 20 characters of URL-safe base64: sequence number (3), time in milliseconds (6), node (6). The
//! order puts bytes that differ first (so that terms diverge early), followed by those that ids of the same
//! hour share (so that terms compress well).
//!
//! Source: `org.elasticsearch.common.TimeBasedUUIDGenerator`, whose byte order is used.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::environment::Environment;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Length of an id in characters.
pub(crate) const ID_BYTES: usize = 20;

pub(crate) struct FlakeIds {
    sequence: AtomicU32,
    last_millis: AtomicU64,
    node: [u8; 6],
}

impl FlakeIds {
    pub(crate) fn new(environment: &Environment) -> FlakeIds {
        let mut random = [0u8; 10];
        environment.randomness.fill(&mut random);
        let sequence = u32::from_le_bytes([random[6], random[7], random[8], random[9]]);
        let mut node = [0u8; 6];
        node.copy_from_slice(&random[..6]);
        // Set as in a multicast address, so that it never equals the address of a network card.
        node[0] |= 1;
        FlakeIds { sequence: AtomicU32::new(sequence), last_millis: AtomicU64::new(0), node }
    }

    /// Generates `count` ids. `now_millis` may go back, but the time in ids never does.
    pub(crate) fn generate(&self, count: u32, now_millis: u64) -> GeneratedIds {
        if count == 0 {
            return GeneratedIds::default();
        }
        let first = self.sequence.fetch_add(count, Ordering::Relaxed);
        let mut wraps = (first & 0xff_ffff).checked_add(count).is_none_or(|end| end > 0xff_ffff);
        // The same sequence number must not be combined with the same millisecond again.
        let mut millis = self
            .last_millis
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
                Some(last.max(now_millis) + u64::from(wraps))
            })
            .map_or(now_millis, |last| last.max(now_millis));
        let mut bytes = Vec::with_capacity(count as usize * ID_BYTES);
        let mut text = self.frame(millis);
        for number in 0..count {
            let sequence = first.wrapping_add(number) & 0xff_ffff;
            text[..4].copy_from_slice(&encode([
                sequence as u8,
                (sequence >> 16) as u8,
                (millis >> 16) as u8,
            ]));
            text[16..].copy_from_slice(&encode([(millis >> 8) as u8, (sequence >> 8) as u8, millis as u8]));
            bytes.extend_from_slice(&text);
            // After the sequence number wraps, the ids continue in the next millisecond, which was reserved
            // above.
            if wraps && sequence == 0xff_ffff {
                millis += 1;
                wraps = false;
                text = self.frame(millis);
            }
        }
        GeneratedIds { text: String::from_utf8(bytes).expect("base64 is ASCII") }
    }

    /// Returns an id without its first and last four characters, the only ones that differ between ids of the
    /// same millisecond.
    fn frame(&self, millis: u64) -> [u8; ID_BYTES] {
        let mut text = [0u8; ID_BYTES];
        let node = &self.node;
        text[4..8].copy_from_slice(&encode([
            (millis >> 24) as u8,
            (millis >> 32) as u8,
            (millis >> 40) as u8,
        ]));
        text[8..12].copy_from_slice(&encode([node[0], node[1], node[2]]));
        text[12..16].copy_from_slice(&encode([node[3], node[4], node[5]]));
        text
    }
}

/// The ids of one request, one after another in a single string, whose UTF-8 is checked only once.
#[derive(Debug, Default)]
pub(crate) struct GeneratedIds {
    text: String,
}

impl GeneratedIds {
    pub(crate) fn get(&self, number: u32) -> &str {
        let start = number as usize * ID_BYTES;
        &self.text[start..start + ID_BYTES]
    }

    pub(crate) fn bytes(&self, number: u32) -> [u8; ID_BYTES] {
        let mut bytes = [0u8; ID_BYTES];
        bytes.copy_from_slice(self.get(number).as_bytes());
        bytes
    }
}

fn encode(bytes: [u8; 3]) -> [u8; 4] {
    let word = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
    [18, 12, 6, 0].map(|shift| ALPHABET[(word >> shift) as usize & 63])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{ManualClock, SeededRandomness};
    use limber_store::FsDisk;
    use std::collections::HashSet;
    use std::sync::Arc;

    fn flake_ids() -> FlakeIds {
        let environment = Environment {
            clock: Arc::new(ManualClock::at(5)),
            randomness: Arc::new(SeededRandomness::new(1)),
            disk: Arc::new(FsDisk::open_unlocked("/nonexistent")),
        };
        FlakeIds::new(&environment)
    }

    #[test]
    fn ids_are_unique_even_when_the_clock_stands() {
        let ids = flake_ids();
        ids.sequence.store(0xff_ff00, Ordering::Relaxed);
        let mut seen = HashSet::new();
        for _ in 0..300 {
            let run = ids.generate(100, 1_700_000_000_000);
            for number in 0..100 {
                let id = run.get(number);
                assert!(id.bytes().all(|byte| ALPHABET.contains(&byte)));
                assert_eq!(id.as_bytes(), run.bytes(number));
                assert!(seen.insert(id.to_owned()));
            }
        }
    }

    #[test]
    fn characters_of_a_tiny_example() {
        let mut ids = flake_ids();
        ids.node = [1, 2, 3, 4, 5, 6];
        ids.sequence.store(0x0a_0b0c, Ordering::Relaxed);
        let run = ids.generate(2, 0x1011_1213_1415);
        // Bytes 0c 0a 13 | 12 11 10 | 01 02 03 | 04 05 06 | 14 0b 15, and the same with 0d.
        assert_eq!((run.get(0), run.get(1)), ("DAoTEhEQAQIDBAUGFAsV", "DQoTEhEQAQIDBAUGFAsV"));
    }
}
