//! `filter_duplicate_text`: "which words of this text stand in a passage that was read before?"
//!
//! Source: Elasticsearch's `DeDuplicatingTokenFilter` and `DuplicateByteSequenceSpotter`, which takes a byte
//! for a word. Here each passage has a hash of 64 bits, so that fewer are taken for another.

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use limber_mapping::analysis::Analyzer;

use super::super::budget::Budget;
use crate::error::Result;

/// Words in a row that make a passage (`DuplicateByteSequenceSpotter.TREE_DEPTH`).
const PASSAGE_WORDS: usize = 6;
/// What is kept of a passage, with the room that a set leaves.
const PASSAGE_BYTES: u64 = 16;

/// The passages of the texts of a shard that were read so far.
#[derive(Debug, Default)]
pub(super) struct Repeats(HashSet<u64, FixedState>);

impl Repeats {
    /// Reads a text: for each of its words whether it stands in a passage that was there before.
    pub fn read(&mut self, analyzer: &Analyzer, text: &str, budget: &Budget) -> Result<Vec<bool>> {
        let hasher = FixedState::default();
        let mut words: Vec<u64> = Vec::new();
        analyzer.tokens(text, |token| words.push(hasher.hash_one(token.text.as_bytes())));
        let mut repeated = vec![false; words.len()];
        for (start, passage) in words.windows(PASSAGE_WORDS).enumerate() {
            match self.0.insert(hasher.hash_one(passage)) {
                true => budget.spend(PASSAGE_BYTES)?,
                false => repeated[start..start + PASSAGE_WORDS].fill(true),
            }
        }
        Ok(repeated)
    }
}
