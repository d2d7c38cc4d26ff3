//! A pool of terms: each distinct term of a shard is stored once and has a number.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::super::budget::Budget;
use crate::error::Result;

/// Distinct terms in one buffer, by number.
#[derive(Debug, Default)]
pub struct TermPool {
    bytes: Vec<u8>,
    /// Term `t` is `bytes[ends[t - 1]..ends[t]]`.
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl TermPool {
    /// Returns the bytes of a term. Panics if there is no such number.
    pub fn term(&self, number: u32) -> &[u8] {
        term(&self.bytes, &self.ends, number)
    }

    /// Returns the number of a term, which is added if it is new.
    pub fn number(&mut self, wanted: &[u8], budget: &Budget) -> Result<u32> {
        let hash = self.hasher.hash_one(wanted);
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(&number) = self.table.find(hash, |&number| term(bytes, ends, number) == wanted) {
            return Ok(number);
        }
        budget.spend(wanted.len() as u64 + 24)?;
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(wanted);
        self.ends.push(self.bytes.len());
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.table.insert_unique(hash, number, |&number| hasher.hash_one(term(bytes, ends, number)));
        Ok(number)
    }
}

fn term<'b>(bytes: &'b [u8], ends: &[usize], number: u32) -> &'b [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &bytes[start..ends[number]]
}
