//! Sources that end in a byte which none of them has: "where in the body of a block is this source?"

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::format::TERMINATOR;

/// Whether the terminators of `count` sources are the only ones in `sources`, which the last one ends.
pub(super) fn are_unique(sources: &[u8], count: usize) -> bool {
    memchr_iter(TERMINATOR, sources).count() == count && sources.last().is_none_or(|end| *end == TERMINATOR)
}

/// Removes the byte after each source; `lens` are the lengths without it.
pub(super) fn remove(sources: &mut Vec<u8>, lens: &[u64]) {
    let (mut from, mut to) = (0, 0);
    for len in lens.iter().map(|len| *len as usize) {
        sources.copy_within(from..from + len, to);
        (from, to) = (from + len + 1, to + len);
    }
    sources.truncate(to);
}

/// A source of a body, from which those after it are found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Sources before it.
    number: usize,
    start: usize,
}

/// The terminators of so many bytes are counted at once, which is faster than to stop at each of them.
const COUNTED_BYTES: usize = 1024;
/// Up to so many terminators are passed one by one.
const PASSED_SINGLY: usize = 8;

impl Place {
    /// Returns the bytes of the source with this number, or `None` if the body has fewer, and moves past it.
    pub fn find(&mut self, body: &[u8], number: usize) -> Option<Range<usize>> {
        if number < self.number {
            *self = Place::default();
        }
        let mut left = number - self.number;
        let mut start = self.start;
        while left > PASSED_SINGLY {
            let next = body.get(start..)?;
            let next = &next[..next.len().min(COUNTED_BYTES)];
            let count = memchr_iter(TERMINATOR, next).count();
            if count >= left || next.is_empty() {
                break;
            }
            (left, start) = (left - count, start + next.len());
        }
        // `start` may be within a source now, but before the end of the one in front of the one wanted.
        if left > 0 {
            start += memchr_iter(TERMINATOR, body.get(start..)?).nth(left - 1)? + 1;
        }
        let end = start + memchr(TERMINATOR, body.get(start..)?)?;
        *self = Place { number: number + 1, start: end + 1 };
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_found_from_every_other() {
        let lens: Vec<usize> = (0..300).map(|n| if n % 50 == 7 { 3000 } else { n * n % 97 }).collect();
        let body: Vec<u8> =
            lens.iter().flat_map(|len| [vec![b'x'; *len], vec![TERMINATOR]].concat()).collect();
        let starts: Vec<usize> = (0..300).map(|n| lens[..n].iter().sum::<usize>() + n).collect();
        assert!(
            are_unique(&body, 300) && !are_unique(&body, 299) && !are_unique(&body[..body.len() - 1], 299)
        );
        for step in [1, 7, 40, 299] {
            let mut place = Place::default();
            for number in (0..300).map(|n| n * step % 300) {
                let found = place.find(&body, number);
                assert_eq!(found, Some(starts[number]..starts[number] + lens[number]), "{number}");
            }
        }
        assert_eq!(Place::default().find(&body, 300), None);
        assert_eq!(Place::default().find(&body[..body.len() - 1], 299), None);
        assert_eq!(Place::default().find(b"", 20), None);
        let mut sources = body;
        remove(&mut sources, &lens.iter().map(|len| *len as u64).collect::<Vec<_>>());
        assert_eq!(sources, vec![b'x'; lens.iter().sum()]);
    }
}
