//! Short texts of one token, with the number of its term. Codes, states, levels and small numbers as text
//! repeat more often than any others.
//!
//! A text and its data are in one slot, so a lookup has one cache miss; in [`super::table::TermTable`] it
//! has two.

/// Longest text that has a key.
const TEXT_BYTES_MAX: usize = 7;
const SLOTS_MIN: usize = 16;

/// Maps a key (a text, see [`key_of`]) to the number of its token and the number of its twin
/// ([`super::memo::Memo::twin`]). It is a hash table with open addressing that is at most half full. Keys are
/// never removed.
#[derive(Default)]
pub struct ShortTexts {
    slots: Vec<Slot>,
    len: usize,
}

/// A slot of the hash table.
#[derive(Clone, Copy, Default)]
pub struct Slot {
    /// 0 if the slot is free.
    key: u64,
    pub number: u32,
    /// Number of the twin + 1; 0 if it is not known.
    twin: u32,
}

impl Slot {
    pub(crate) fn twin(&self) -> Option<u32> {
        self.twin.checked_sub(1)
    }
}

/// Returns the key of a text of 1 to 7 bytes: its bytes, and its length in the highest byte.
#[inline]
pub fn key_of(text: &[u8]) -> Option<u64> {
    let len = text.len();
    let bytes = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        _ if len > TEXT_BYTES_MAX => return None,
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << ((len - 4) * 8)
        }
        _ => {
            let (&first, &last) = text.first().zip(text.last())?;
            let middle = len / 2;
            u64::from(first) | u64::from(text[middle]) << (middle * 8) | u64::from(last) << ((len - 1) * 8)
        }
    };
    Some(bytes | (len as u64) << 56)
}

impl ShortTexts {
    /// Returns `Ok` with the slot of a key, or `Err` with the slot where it would go.
    #[inline]
    fn find(&self, key: u64) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = slot_of(key) & mask;
        loop {
            match self.slots[at].key {
                found if found == key => return Ok(at),
                0 => return Err(at),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Returns the slot of a key and its index, which is valid until the next key is added.
    #[inline]
    pub fn get(&self, key: u64) -> Option<(u32, Slot)> {
        if self.slots.is_empty() {
            return None;
        }
        self.find(key).ok().map(|at| (at as u32, self.slots[at]))
    }

    /// Adds a key that does not exist; returns the index of its slot.
    #[cold]
    pub fn add(&mut self, key: u64, number: u32) -> u32 {
        if self.len * 2 >= self.slots.len() {
            let slots = vec![Slot::default(); (self.slots.len() * 2).max(SLOTS_MIN)];
            for slot in std::mem::replace(&mut self.slots, slots) {
                if slot.key != 0
                    && let Err(at) = self.find(slot.key)
                {
                    self.slots[at] = slot;
                }
            }
        }
        self.len += 1;
        let (Ok(at) | Err(at)) = self.find(key);
        self.slots[at] = Slot { key, number, twin: 0 };
        at as u32
    }

    /// Returns the slot at an index if its text is `text`.
    #[inline]
    pub fn at(&self, place: u32, text: &[u8]) -> Option<&Slot> {
        let slot = self.slots.get(place as usize)?;
        (key_of(text) == Some(slot.key)).then_some(slot)
    }

    pub(crate) fn set_twin(&mut self, place: u32, number: u32) {
        self.slots[place as usize].twin = number + 1;
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}

/// Fibonacci hashing (Knuth): the upper half of the product with 2^64 divided by the golden ratio.
#[inline]
fn slot_of(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_tell_texts_apart() {
        assert_eq!((key_of(b""), key_of(b"12345678")), (None, None));
        let mut texts: Vec<Vec<u8>> = vec![vec![]];
        let mut seen = HashMap::new();
        for _ in 1..=TEXT_BYTES_MAX {
            let longer = |text: &Vec<u8>| [0, b'a', 0xff].map(|byte| [&text[..], &[byte]].concat());
            texts = texts.iter().flat_map(longer).collect();
            texts.iter().for_each(|text| {
                let key = key_of(text).expect("short");
                assert_eq!(&key.to_le_bytes()[..text.len()], &text[..]);
                assert_eq!(seen.insert(key, text.clone()), None);
            });
        }
    }

    proptest! {
        #[test]
        fn as_a_map(texts in prop::collection::vec("[a-d]{1,4}", 0..400)) {
            let (mut short, mut model) = (ShortTexts::default(), HashMap::new());
            for (number, text) in texts.iter().enumerate() {
                let key = key_of(text.as_bytes()).expect("short");
                let known = model.get(text).copied();
                let found = short.get(key);
                prop_assert_eq!(found.map(|(_, slot)| (slot.number, slot.twin())), known);
                let place = match found {
                    Some((place, _)) => place,
                    None => short.add(key, number as u32),
                };
                prop_assert_eq!(short.at(place, b"abcde").is_some(), false);
                prop_assert!(short.at(place, text.as_bytes()).is_some());
                let entry = model.entry(text.clone()).or_insert((number as u32, None));
                if number % 3 == 0 {
                    short.set_twin(place, number as u32);
                    entry.1 = Some(number as u32);
                }
            }
        }
    }
}
