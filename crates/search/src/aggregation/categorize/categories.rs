//! Sorts strings into categories, one after the other.
//!
//! A string joins the most similar category, if the similarity is high enough. The category then keeps the
//! tokens that both have in common: their longest common subsequence by weight. Words weigh more than names
//! and identifiers, so that the latter may differ.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::super::budget::Budget;
use crate::error::Result;

/// Weight of a token that is a word, and of any other.
const WORD_WEIGHT: u32 = 3;
const NAME_WEIGHT: u32 = 1;

/// Bytes of a category and its table entry, without its tokens.
const CATEGORY_BYTES: u64 = 160;

/// Returns the weight of a token: how much it says about the kind of its message.
pub fn weight_of(token: &[u8]) -> u32 {
    let is_word = token.len() > 1 && token.iter().all(u8::is_ascii_alphabetic);
    if is_word { WORD_WEIGHT } else { NAME_WEIGHT }
}

/// A token, given by its number in the pool, and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Weighed {
    pub token: u32,
    pub weight: u32,
}

fn total(tokens: &[Weighed]) -> u64 {
    tokens.iter().map(|token| u64::from(token.weight)).sum()
}

/// Strings that have most of their tokens in common.
#[derive(Debug)]
pub struct Category {
    /// The tokens that all of its strings have in common, in this order.
    pub tokens: Vec<Weighed>,
    /// The total weight of the tokens of its first string.
    weight: u64,
    /// The number of characters of its longest string.
    pub length_max: u64,
}

/// The categories of one bucket.
#[derive(Debug)]
pub struct Categories {
    /// The share of the weight of two strings that must be common to both, from 0 to 1.
    similarity: f64,
    pub list: Vec<Category>,
    /// The category by the tokens of a string that was seen before.
    known: HashMap<Box<[Weighed]>, u32, FixedState>,
    /// How often each token occurs in the current string.
    counts: HashMap<u32, u32, FixedState>,
    /// The two rows of the table from which the longest common subsequence is computed, holding the best
    /// weights.
    rows: Vec<u64>,
}

impl Categories {
    pub(crate) fn new(similarity: f64) -> Categories {
        Categories {
            similarity,
            list: Vec::new(),
            known: HashMap::default(),
            counts: HashMap::default(),
            rows: Vec::new(),
        }
    }

    /// Returns the number of the category that a string with these tokens joins; a new category if it is
    /// similar to none.
    ///
    /// # Errors
    /// Fails if there is no memory for a new category, or if the request is cancelled.
    pub fn join(&mut self, tokens: &[Weighed], length: u64, budget: &Budget) -> Result<u32> {
        let number = match self.known.get(tokens) {
            Some(&number) => number,
            None => {
                budget.spend(CATEGORY_BYTES + size_of_val(tokens) as u64)?;
                let number = self.alike(tokens, budget)?;
                self.known.insert(tokens.into(), number);
                number
            }
        };
        let category = &mut self.list[number as usize];
        category.length_max = category.length_max.max(length);
        Ok(number)
    }

    fn alike(&mut self, tokens: &[Weighed], budget: &Budget) -> Result<u32> {
        let weight = total(tokens);
        self.counts.clear();
        tokens.iter().for_each(|token| *self.counts.entry(token.token).or_default() += 1);
        let mut best: Option<(f64, usize)> = None;
        for (number, category) in self.list.iter().enumerate() {
            if number % 256 == 255 {
                budget.check()?;
            }
            let of = weight.max(category.weight).max(1) as f64;
            let wanted = best.map_or(self.similarity, |(most, _)| most.max(self.similarity));
            // The tokens in common, in any order, are an upper bound of the longest common subsequence.
            let any_order: u64 = category
                .tokens
                .iter()
                .filter(|token| self.counts.contains_key(&token.token))
                .map(|token| u64::from(token.weight))
                .sum();
            if (any_order as f64) < wanted * of || any_order == 0 && weight > 0 {
                continue;
            }
            let similarity = common_weight(&category.tokens, tokens, &mut self.rows) as f64 / of;
            if similarity >= self.similarity && best.is_none_or(|(most, _)| similarity > most)
                || weight == 0 && category.weight == 0
            {
                best = Some((similarity, number));
            }
        }
        let Some((_, number)) = best else {
            budget.spend(CATEGORY_BYTES + size_of_val(tokens) as u64)?;
            self.list.push(Category { tokens: tokens.to_vec(), weight, length_max: 0 });
            return Ok(self.list.len() as u32 - 1);
        };
        let category = &mut self.list[number];
        category.tokens = common(&category.tokens, tokens);
        Ok(number as u32)
    }
}

/// Returns the weight of the longest common subsequence. `rows` is a scratch buffer.
fn common_weight(left: &[Weighed], right: &[Weighed], rows: &mut Vec<u64>) -> u64 {
    let width = right.len() + 1;
    rows.clear();
    rows.resize(2 * width, 0);
    let (mut above, mut row) = rows.split_at_mut(width);
    for one in left {
        row[0] = 0;
        for (place, other) in right.iter().enumerate() {
            row[place + 1] = match one.token == other.token {
                true => above[place] + u64::from(one.weight),
                false => above[place + 1].max(row[place]),
            };
        }
        std::mem::swap(&mut above, &mut row);
    }
    above[width - 1]
}

/// Returns the longest common subsequence by weight.
fn common(left: &[Weighed], right: &[Weighed]) -> Vec<Weighed> {
    let width = right.len() + 1;
    // `[left + 1][right + 1]`: the largest common weight of the tokens from here on.
    let mut best = vec![0u64; (left.len() + 1) * width];
    for (row, one) in left.iter().enumerate().rev() {
        for (place, other) in right.iter().enumerate().rev() {
            best[row * width + place] = match one.token == other.token {
                true => best[(row + 1) * width + place + 1] + u64::from(one.weight),
                false => best[(row + 1) * width + place].max(best[row * width + place + 1]),
            };
        }
    }
    let (mut row, mut place, mut out) = (0, 0, Vec::new());
    while row < left.len() && place < right.len() {
        if left[row].token == right[place].token {
            out.push(left[row]);
            (row, place) = (row + 1, place + 1);
        } else if best[(row + 1) * width + place] >= best[row * width + place + 1] {
            row += 1;
        } else {
            place += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_texts_have_in_common_keeps_its_order() {
        let tokens = |text: &str| -> Vec<Weighed> {
            text.bytes().map(|byte| Weighed { token: u32::from(byte), weight: 3 }).collect()
        };
        let both = common(&tokens("abcxdef"), &tokens("zabdcef"));
        let text: String = both.iter().map(|token| char::from(token.token as u8)).collect();
        assert_eq!(text.len(), 5);
        assert!(text == "abcef" || text == "abdef", "{text}");
        assert_eq!(common_weight(&tokens("abcxdef"), &tokens("zabdcef"), &mut Vec::new()), 15);
        assert_eq!(common(&tokens(""), &tokens("abc")), []);
    }
}
