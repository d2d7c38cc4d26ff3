//! The greatest tail of every group of terms: "where is the next term with a tail of at least this value?"
//!
//! Terms that are pairs of numbers (both ends of a range) are sorted by the first. A query for ranges that
//! end at or after a value would have to read all terms that begin early enough. The greatest second number
//! of each group lets it skip whole groups, as an interval tree does. It is computed in one pass at the
//! first such query and kept while the dictionary is open; it takes an eighth of a byte per term.

use crate::Result;
use crate::terms::TermDictionary;

/// Terms per group; decoding a group takes a few microseconds.
const GROUP_TERMS: u64 = 128;
/// Groups per entry of the upper level.
const FAN: usize = 64;
/// A dictionary of fewer terms is faster to scan.
const TERMS_LEAST: u64 = 1024;

/// Greatest tails of one dictionary.
#[derive(Debug, Default)]
pub struct SuffixMaxima {
    /// One entry per [`GROUP_TERMS`] terms.
    groups: Vec<u128>,
    /// One entry per [`FAN`] groups.
    wide: Vec<u128>,
}

impl SuffixMaxima {
    /// Computes the greatest tails of all terms. The last `width` bytes (at most 16) of a term are a
    /// number, most significant byte first. Returns `None` for dictionaries too small to be worth it.
    ///
    /// # Errors
    /// Fails for corrupt terms.
    pub(super) fn of(dictionary: &TermDictionary, width: usize) -> Result<Option<SuffixMaxima>> {
        if dictionary.len() < TERMS_LEAST {
            return Ok(None);
        }
        let mut suffix_maxima = SuffixMaxima::default();
        let mut cursor = dictionary.cursor();
        while cursor.advance()? {
            let term = cursor.term();
            let tail = &term[term.len().saturating_sub(width)..];
            let number = tail.iter().fold(0, |number, &byte| number << 8 | u128::from(byte));
            suffix_maxima.push(cursor.ord(), number);
        }
        Ok(Some(suffix_maxima))
    }

    fn push(&mut self, ord: u64, tail: u128) {
        let group = (ord / GROUP_TERMS) as usize;
        for (list, place) in [(&mut self.groups, group), (&mut self.wide, group / FAN)] {
            match list.get_mut(place) {
                Some(most) => *most = tail.max(*most),
                None => list.push(tail),
            }
        }
    }

    /// Returns `None` if a term in the group of `ord` may have a tail of at least `least`. Otherwise returns
    /// the ordinal of the first term in the next such group, or one past all terms if there is none.
    pub fn next_group(&self, ord: u64, least: u128) -> Option<u64> {
        let own = (ord / GROUP_TERMS) as usize;
        if self.groups.get(own).is_none_or(|most| *most >= least) {
            return None;
        }
        let mut group = own + 1;
        while group < self.groups.len() {
            if group.is_multiple_of(FAN) && self.wide[group / FAN] < least {
                group += FAN;
            } else if self.groups[group] < least {
                group += 1;
            } else {
                return Some(group as u64 * GROUP_TERMS);
            }
        }
        Some(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_group_that_matters_is_passed_over(
            blocks in proptest::collection::vec((1usize..400, 0u128..20), 1..80),
            least in 0u128..22,
        ) {
            let list: Vec<u128> = blocks.iter().flat_map(|&(count, tail)| std::iter::repeat_n(tail, count)).collect();
            let mut suffix_maxima = SuffixMaxima::default();
            (0..).zip(&list).for_each(|(ord, tail)| suffix_maxima.push(ord, *tail));
            let (mut ord, mut found) = (0, 0);
            while ord < list.len() as u64 {
                match suffix_maxima.next_group(ord, least) {
                    Some(next) => {
                        prop_assert!(next > ord);
                        ord = next;
                    }
                    None => {
                        found += usize::from(list[ord as usize] >= least);
                        ord += 1;
                    }
                }
            }
            prop_assert_eq!(found, list.iter().filter(|tail| **tail >= least).count());
        }
    }
}
