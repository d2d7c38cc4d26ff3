//! The order in which the sides of a round race.

use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Order {
    /// A B, A B, A B.
    #[default]
    Alternating,
    /// A B, B A, A B: no side is always first, and a steady drift affects all sides alike.
    Mirrored,
    /// A random order for each round.
    Random,
}

impl Order {
    /// Returns the sides (from 0) of round `round` (from 0) in racing order. Equal arguments give equal
    /// orders.
    pub(crate) fn of_round(self, sides_count: usize, round: usize, seed: u64) -> Vec<usize> {
        let mut sides: Vec<usize> = (0..sides_count).collect();
        match self {
            Order::Alternating => {}
            Order::Mirrored if round % 2 == 1 => sides.reverse(),
            Order::Mirrored => {}
            Order::Random => {
                // The Fisher-Yates shuffle, with a separate generator for each round, so that a round does
                // not depend on the previous ones.
                let mut random = Random::new(seed ^ (round as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                for last in (1..sides.len()).rev() {
                    sides.swap(last, random.below(last as u64 + 1) as usize);
                }
            }
        }
        sides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(order: Order, sides: usize, rounds: usize) -> Vec<Vec<usize>> {
        (0..rounds).map(|round| order.of_round(sides, round, 7)).collect()
    }

    #[test]
    fn orders() {
        assert_eq!(rounds(Order::Alternating, 2, 3), [[0, 1], [0, 1], [0, 1]]);
        assert_eq!(rounds(Order::Mirrored, 2, 3), [[0, 1], [1, 0], [0, 1]]);
        let random = rounds(Order::Random, 3, 40);
        assert_eq!(random, rounds(Order::Random, 3, 40));
        for round in &random {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        for first in 0..3 {
            let count = random.iter().filter(|round| round[0] == first).count();
            assert!((5..=25).contains(&count), "{count}");
        }
    }
}
