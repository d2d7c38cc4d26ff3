//! Ids for documents that come without one: unique on this node, and cheap to store.
//!
//! 15 bytes as 20 characters of URL-safe base64: sequence number (3), time in milliseconds (6), node (6), in an order that
//! puts bytes that differ first (terms split early) and those that ids of one hour share next (terms compress).
//!
//! Source: `org.elasticsearch.common.TimeBasedUUIDGenerator`, whose byte order is kept.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::environment::Environment;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A generated id.
pub(crate) type FlakeId = [u8; 20];

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
        // Like a multicast address, so that it never equals a network card's.
        node[0] |= 1;
        FlakeIds { sequence: AtomicU32::new(sequence), last_millis: AtomicU64::new(0), node }
    }

    /// Reserves `count` ids at once. `now_millis` may go back: time in ids does not.
    pub(crate) fn reserve(&self, count: u32, now_millis: u64) -> Reserved<'_> {
        let first = self.sequence.fetch_add(count, Ordering::Relaxed);
        let wraps = (first & 0xff_ffff).checked_add(count).is_none_or(|end| end > 0xff_ffff);
        // The same sequence number must not meet the same millisecond again.
        let millis = self
            .last_millis
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
                Some(last.max(now_millis) + u64::from(wraps))
            })
            .map_or(now_millis, |last| last.max(now_millis));
        Reserved { ids: self, next: first, millis, carried: wraps }
    }
}

/// A run of ids.
pub(crate) struct Reserved<'a> {
    ids: &'a FlakeIds,
    next: u32,
    millis: u64,
    carried: bool,
}

impl Reserved<'_> {
    pub(crate) fn next(&mut self) -> FlakeId {
        let sequence = self.next & 0xff_ffff;
        self.next = self.next.wrapping_add(1);
        // Behind the wrap the run continues in the next millisecond, which `reserve` has taken.
        let millis = self.millis;
        if self.carried && sequence == 0xff_ffff {
            self.millis += 1;
            self.carried = false;
        }
        let node = &self.ids.node;
        encode([
            sequence as u8,
            (sequence >> 16) as u8,
            (millis >> 16) as u8,
            (millis >> 24) as u8,
            (millis >> 32) as u8,
            (millis >> 40) as u8,
            node[0],
            node[1],
            node[2],
            node[3],
            node[4],
            node[5],
            (millis >> 8) as u8,
            (sequence >> 8) as u8,
            millis as u8,
        ])
    }
}

fn encode(bytes: [u8; 15]) -> FlakeId {
    let mut text = [0u8; 20];
    for (group, out) in bytes.chunks_exact(3).zip(text.chunks_exact_mut(4)) {
        let word = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for (place, character) in out.iter_mut().enumerate() {
            *character = ALPHABET[(word >> (18 - 6 * place)) as usize & 63];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{ManualClock, SeededRandomness};
    use limber_store::FsDisk;
    use std::collections::HashSet;
    use std::sync::Arc;

    #[test]
    fn ids_are_unique_even_when_the_clock_stands() {
        let environment = Environment {
            clock: Arc::new(ManualClock::at(5)),
            randomness: Arc::new(SeededRandomness::new(1)),
            disk: Arc::new(FsDisk::open_unlocked("/nonexistent")),
        };
        let ids = FlakeIds::new(&environment);
        ids.sequence.store(0xff_ff00, Ordering::Relaxed);
        let mut seen = HashSet::new();
        for _ in 0..300 {
            let mut run = ids.reserve(100, 1_700_000_000_000);
            for _ in 0..100 {
                let id = run.next();
                assert!(id.iter().all(|byte| ALPHABET.contains(byte)));
                assert!(seen.insert(id));
            }
        }
    }
}
