//! Ids for documents that come without one: unique, and cheap to find and to store.
//!
//! An id is a number of 120 bits as 20 characters of [`limber_codec::ordered64`]: seconds since 1970 at the
//! start of the process (32), random bits of the process (48), a counter (40). So ids ascend in the order in
//! which they are handed out, also after a restart, and those of a segment are mostly a run: its dictionary,
//! its filter and the ids beside its sources take half a byte a document. Ids in the order of Elasticsearch's
//! (`org.elasticsearch.common.TimeBasedUUIDGenerator`), which begin with what differs, took seven.
//!
//! The start of a process reads no state: each process draws new random bits, also after a crash. Two
//! processes have the same ids only if they start in the same second and draw the same 48 bits.

use std::sync::atomic::{AtomicU64, Ordering};

use limber_codec::ordered64;

use crate::environment::Environment;

/// Length of an id in characters.
pub(crate) const ID_BYTES: usize = 20;
/// Characters at the end that are a number of 64 bits or less.
const LOW_CHARACTERS: usize = ordered64::CHARACTERS_MAX;
const LOW_BITS: u32 = 6 * LOW_CHARACTERS as u32;
const LOW_MASK: u64 = (1 << LOW_BITS) - 1;
const COUNTER_BITS: u32 = 40;

pub(crate) struct FlakeIds {
    /// The number of the first id.
    first: u128,
    /// How many ids were generated. It may exceed its bits: it is added to the first number.
    count: AtomicU64,
}

impl FlakeIds {
    pub(crate) fn new(environment: &Environment) -> FlakeIds {
        let mut random = [0u8; 6];
        environment.randomness.fill(&mut random);
        let random = random.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        let seconds = u128::from((environment.clock.now_millis() / 1000) as u32);
        FlakeIds { first: (seconds << 48 | random) << COUNTER_BITS, count: AtomicU64::new(0) }
    }

    /// Generates `count` ids, which follow each other.
    pub(crate) fn generate(&self, count: u32) -> GeneratedIds {
        let first = self.first + u128::from(self.count.fetch_add(u64::from(count), Ordering::Relaxed));
        let mut bytes = Vec::with_capacity(count as usize * ID_BYTES);
        let mut text = characters(first);
        for number in (0..u128::from(count)).map(|number| first + number) {
            let low = number as u64 & LOW_MASK;
            match low {
                0 => text = characters(number),
                _ => ordered64::fill(low, &mut text[ID_BYTES - LOW_CHARACTERS..]),
            }
            bytes.extend_from_slice(&text);
        }
        GeneratedIds { text: String::from_utf8(bytes).expect("the characters are ASCII") }
    }
}

/// Returns the lowest 120 bits of a number as characters.
fn characters(number: u128) -> [u8; ID_BYTES] {
    let mut text = [0; ID_BYTES];
    let (high, low) = text.split_at_mut(ID_BYTES - LOW_CHARACTERS);
    let (highest, middle) = high.split_at_mut(ID_BYTES - 2 * LOW_CHARACTERS);
    ordered64::fill((number >> (2 * LOW_BITS)) as u64, highest);
    ordered64::fill((number >> LOW_BITS) as u64, middle);
    ordered64::fill(number as u64, low);
    text
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{ManualClock, SeededRandomness};
    use limber_store::FsDisk;
    use std::sync::Arc;

    fn flake_ids(seed: u64, millis: u64) -> FlakeIds {
        let environment = Environment {
            clock: Arc::new(ManualClock::at(millis)),
            randomness: Arc::new(SeededRandomness::new(seed)),
            disk: Arc::new(FsDisk::open_unlocked("/nonexistent")),
        };
        FlakeIds::new(&environment)
    }

    #[test]
    fn ids_ascend_within_and_between_requests() {
        let ids = flake_ids(1, 1_700_000_000_000);
        let mut last = String::new();
        for _ in 0..300 {
            let run = ids.generate(100);
            for number in 0..100 {
                let id = run.get(number);
                assert!(id.bytes().all(|byte| ordered64::CHARACTERS.contains(&byte)));
                assert_eq!((id.as_bytes(), id.len()), (&run.bytes(number)[..], ID_BYTES));
                assert!(*id > *last, "{id} after {last}");
                last = id.to_owned();
            }
        }
        assert_eq!(ids.generate(0).text, "");
    }

    #[test]
    fn processes_have_different_ids() {
        let id = |seed, millis| flake_ids(seed, millis).generate(1).get(0).to_owned();
        assert_ne!(id(1, 5), id(2, 5));
        assert_eq!(id(1, 5), id(1, 5));
        assert!(id(1, 1_700_000_001_000) > id(2, 1_700_000_000_000), "later ones follow");
        // A counter that ran over goes on in the random bits.
        let ids = flake_ids(1, 5);
        let first = ids.generate(1).get(0).to_owned();
        ids.count.store((1 << COUNTER_BITS) + 1, Ordering::Relaxed);
        let after = ids.generate(1).get(0).to_owned();
        assert!(after > first && after[..14] != first[..14]);
    }

    #[test]
    fn characters_of_a_tiny_example() {
        let mut ids = flake_ids(1, 0);
        // Digits 1 to 20 of six bits each.
        ids.first = (1..=20).fold(0, |number, digit| number << 6 | digit);
        let run = ids.generate(2);
        assert_eq!((run.get(0), run.get(1)), ("0123456789ABCDEFGHIJ", "0123456789ABCDEFGHIK"));
    }
}
