//! The terms that a thread looked up last: "does it know this term already?"
//!
//! A query looks each of its terms up twice, for its frequency and for its postings, and popular terms come
//! again with other queries. Segments never change, so what was found stays true.

use std::cell::RefCell;

use super::info::TermInfo;
use crate::Result;

/// Terms that a thread remembers, at most; a power of two.
const SLOTS: usize = 128;
/// Longer terms are not remembered.
const TERM_BYTES_MAX: usize = 32;

thread_local! {
    /// Allocated by the first lookup.
    static RECENT: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// A term of one field of one segment, and what was found.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    segment_core: u64,
    field: u32,
    len: u32,
    term: [u8; TERM_BYTES_MAX],
}

#[derive(Clone, Copy)]
struct Slot {
    /// `None` while the slot is empty.
    key: Option<Key>,
    info: Option<TermInfo>,
}

impl Key {
    fn of(segment_core: u64, field: u32, term: &[u8]) -> Option<Key> {
        let mut bytes = [0; TERM_BYTES_MAX];
        bytes.get_mut(..term.len())?.copy_from_slice(term);
        Some(Key { segment_core, field, len: term.len() as u32, term: bytes })
    }

    fn slot(&self) -> usize {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let words = self.term.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let start = self.segment_core ^ u64::from(self.field) << 32 ^ u64::from(self.len) << 56;
        let mixed = words.fold(start, |hash, word| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29));
        mixed.wrapping_mul(FACTOR) as usize >> (usize::BITS - SLOTS.trailing_zeros())
    }
}

/// Returns what is known of a term; if nothing is, calls `look_up` and remembers what it finds.
pub(super) fn recent_or(
    segment_core: u64,
    field: u32,
    term: &[u8],
    look_up: impl FnOnce() -> Result<Option<TermInfo>>,
) -> Result<Option<TermInfo>> {
    let Some(key) = Key::of(segment_core, field, term) else { return look_up() };
    let at = key.slot();
    let known =
        RECENT.with_borrow(|slots| slots.get(at).filter(|slot| slot.key == Some(key)).map(|slot| slot.info));
    if let Some(info) = known {
        return Ok(info);
    }
    let info = look_up()?;
    RECENT.with_borrow_mut(|slots| {
        if slots.is_empty() {
            slots.resize(SLOTS, Slot { key: None, info: None });
        }
        slots[at] = Slot { key: Some(key), info };
    });
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::TermLocation;

    #[test]
    fn a_term_is_looked_up_once_for_each_segment_and_field() {
        let info = |ord| TermInfo { ord, doc_freq: 1, total_term_freq: 1, location: TermLocation::default() };
        let known = |core, field, term: &[u8]| {
            recent_or(core, field, term, || Ok(Some(info(99)))).expect("finds").map(|info| info.ord)
        };
        let long = [b'x'; TERM_BYTES_MAX + 1];
        for (ord, (core, field, term)) in
            [(1, 0, &b"a"[..]), (1, 1, b"a"), (2, 0, b"a"), (1, 0, b"a\0"), (1, 0, &long)]
                .into_iter()
                .enumerate()
        {
            let core = core + 1_000_000;
            let found = recent_or(core, field, term, || Ok(Some(info(ord as u64)))).expect("finds");
            assert_eq!(found.map(|info| info.ord), Some(ord as u64), "{term:?}");
            let again = if term.len() > TERM_BYTES_MAX { 99 } else { ord as u64 };
            assert_eq!(known(core, field, term), Some(again), "{term:?}");
        }
        let absent = recent_or(1_000_009, 0, b"absent", || Ok(None)).expect("looks up");
        assert_eq!((absent, known(1_000_009, 0, b"absent")), (None, None));
    }

    #[test]
    fn a_failure_is_not_remembered() {
        let failed = recent_or(1_000_010, 0, b"a", || Err(crate::Error::corrupt("terms", 0, "a block")));
        assert!(failed.is_err());
        assert!(recent_or(1_000_010, 0, b"a", || Ok(None)).expect("looks up").is_none());
    }
}
