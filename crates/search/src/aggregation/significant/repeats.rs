//! `filter_duplicate_text`: "which words of this text stand in a passage that was read before?"
//!
//! Source: Elasticsearch's `DeDuplicatingTokenFilter` and `DuplicateByteSequenceSpotter`, which takes a byte
//! for a word. Here each passage has a hash of 64 bits, so that fewer are taken for another.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

use super::super::budget::Budget;
use crate::error::Result;

/// Words in a row that make a passage (`DuplicateByteSequenceSpotter.TREE_DEPTH`).
const PASSAGE_WORDS: usize = 6;
/// Bytes that the set keeps for each passage, including its free slots.
const PASSAGE_BYTES: u64 = 16;

/// A word of the current text: its hash, and its number if the word may count.
type Word = (u64, Option<u32>);

/// The passages of the texts of a shard that were read so far.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    passages: HashSet<u64, FixedState>,
    /// The words of the current text, in order.
    words: Vec<Word>,
    /// For each of the words, whether it is in a passage that has occurred before.
    repeated: Vec<bool>,
}

impl Repeats {
    /// Adds the next word of a text.
    pub fn add(&mut self, word: &[u8], number: Option<u32>, budget: &Budget) -> Result<()> {
        let room = self.words.capacity();
        self.words.push((FixedState::default().hash_one(word), number));
        let more_words = self.words.capacity() - room;
        budget.spend((more_words * (size_of::<Word>() + size_of::<bool>())) as u64)
    }

    /// Ends the text, and adds to `found` the numbers of those words that are in no passage that has occurred
    /// before.
    pub fn end(&mut self, found: &mut Vec<u32>, budget: &Budget) -> Result<()> {
        self.repeated.clear();
        self.repeated.resize(self.words.len(), false);
        for (start, passage) in self.words.windows(PASSAGE_WORDS).enumerate() {
            let mut hasher = FixedState::default().build_hasher();
            passage.iter().for_each(|(word, _)| hasher.write_u64(*word));
            match self.passages.insert(hasher.finish()) {
                true => budget.spend(PASSAGE_BYTES)?,
                false => self.repeated[start..start + PASSAGE_WORDS].fill(true),
            }
        }
        let words = self.words.drain(..).zip(&self.repeated);
        found.extend(words.filter_map(|((_, number), is_repeated)| number.filter(|_| !is_repeated)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use limber_store::Ledger;

    use super::*;
    use crate::context::SearchContext;

    #[test]
    fn words_of_a_passage_that_was_read_before_are_left_out() {
        let mut repeats = Repeats::default();
        let budget = Budget::new(&SearchContext::new(Ledger::new(1 << 20), 0)).expect("room");
        let mut check = |text: &str, expected: &[u32]| {
            let mut found = Vec::new();
            for (number, word) in text.split(' ').enumerate() {
                let number = Some(number as u32).filter(|_| word != "not");
                repeats.add(word.as_bytes(), number, &budget).expect("room");
            }
            repeats.end(&mut found, &budget).expect("room");
            assert_eq!(found, expected, "{text}");
        };
        check("a b c d e f g", &[0, 1, 2, 3, 4, 5, 6]);
        check("x b c d e f g y not", &[0, 7]);
        check("a b c d e", &[0, 1, 2, 3, 4]);
        check("a a a a a a a", &[0]);
    }
}
