//! Finds the terms of a range field that a query wants by the ends of their ranges, skipping terms that
//! begin or end elsewhere.

use limber_mapping::{Ends, RangesWanted};
use limber_text::automaton::{TermAutomaton, Verdict};

/// Accepts the terms of wanted ranges.
#[derive(Debug)]
pub(crate) struct RangeEnds(pub RangesWanted);

impl TermAutomaton for RangeEnds {
    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict {
        let RangesWanted { lower, upper, .. } = self.0;
        let Some(ends) = self.0.decode(term) else { return Verdict::Refuses };
        if ends.lower > lower.1 {
            return Verdict::End;
        }
        // The first range with the same beginning that ends late enough, or the next beginning.
        let next = if ends.lower < lower.0 {
            Ends { lower: lower.0, upper: 0 }
        } else if ends.upper < upper.0 {
            Ends { lower: ends.lower, upper: upper.0 }
        } else if ends.upper > upper.1 {
            match ends.lower.checked_add(1) {
                Some(lower) => Ends { lower, upper: 0 },
                None => return Verdict::End,
            }
        } else {
            return Verdict::Accepts(0);
        };
        *skip = self.0.encode(next);
        // The encoded target is not greater if the next beginning does not fit its bytes.
        if skip.as_slice() <= term { Verdict::End } else { Verdict::Skip }
    }

    fn prefix(&self) -> &[u8] {
        &[]
    }

    fn least_tail(&self) -> Option<(u128, usize)> {
        (self.0.upper.0 > 0).then_some((self.0.upper.0, self.0.width))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_walk_finds_what_a_look_at_every_range_finds(
            mut ranges in proptest::collection::vec((0u128..12, 0u128..12), 0..60),
            lower in (0u128..12, 0u128..12),
            upper in (0u128..12, 0u128..12),
        ) {
            ranges.sort_unstable();
            ranges.dedup();
            let wanted = RangesWanted { lower, upper, width: 8 };
            let automaton = RangeEnds(wanted);
            let (mut found, mut least, mut skip) = (Vec::new(), Vec::new(), Vec::new());
            for &(lower, upper) in &ranges {
                let term = wanted.encode(Ends { lower, upper });
                if term < least {
                    continue;
                }
                match automaton.ask(&term, &mut skip) {
                    Verdict::Accepts(_) => found.push((lower, upper)),
                    Verdict::Refuses => {}
                    Verdict::Skip => {
                        prop_assert!(skip > term);
                        least.clone_from(&skip);
                    }
                    Verdict::End => break,
                }
            }
            let expected: Vec<(u128, u128)> =
                ranges.into_iter().filter(|&(lower, upper)| wanted.accepts(Ends { lower, upper })).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
