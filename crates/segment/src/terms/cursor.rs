//! Terms in order: "which term comes next?"

use super::block::BlockView;
use super::dictionary::TermDictionary;
use super::format::{BLOCK_SHIFT, BLOCK_TERMS};
use super::info::TermInfo;
use crate::Result;

/// Walks a range of a dictionary's terms.
pub struct TermCursor<'a> {
    dictionary: &'a TermDictionary,
    /// Ordinal of the next term in the whole dictionary; `end` is the end of the range.
    next: u64,
    end: u64,
    block: Option<BlockView<'a>>,
    suffix_at: usize,
    /// The term as it is stored.
    term: Vec<u8>,
}

impl<'a> TermCursor<'a> {
    pub(super) fn new(dictionary: &'a TermDictionary, start: u64, end: u64) -> TermCursor<'a> {
        let first = dictionary.first();
        TermCursor {
            dictionary,
            next: start + first,
            end: end + first,
            block: None,
            suffix_at: 0,
            term: Vec::new(),
        }
    }

    /// Moves to the next term and returns it; `None` at the end of the range. The term is lent from this
    /// cursor's buffer, which an `Iterator` cannot express.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<(&[u8], TermInfo)>> {
        if !self.advance()? {
            return Ok(None);
        }
        let info = self.info()?;
        Ok(Some((self.term(), info)))
    }

    /// Moves to the next term without reading its information; returns `false` at the end of the range.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        if self.next >= self.end {
            return Ok(false);
        }
        let ord = self.next;
        let index = (ord % BLOCK_TERMS as u64) as usize;
        match self.block {
            Some(block) if index > 0 => {
                self.suffix_at = block.next_term(index, self.suffix_at, &mut self.term)?;
            }
            _ => {
                let block = self.dictionary.block(ord >> BLOCK_SHIFT)?;
                self.term.clear();
                self.suffix_at = 0;
                for i in 0..=index {
                    self.suffix_at = block.next_term(i, self.suffix_at, &mut self.term)?;
                }
                self.block = Some(block);
            }
        }
        self.next += 1;
        Ok(true)
    }

    /// Returns the current term; empty before the first.
    pub fn term(&self) -> &[u8] {
        self.term.get(self.dictionary.hidden_bytes()..).unwrap_or_default()
    }

    /// Returns the ordinal of the current term.
    pub fn ord(&self) -> u64 {
        self.next.saturating_sub(1 + self.dictionary.first())
    }

    /// Returns the information about the current term; the cursor must have moved to one.
    pub fn info(&self) -> Result<TermInfo> {
        let block = self.block.expect("a cursor that moved to a term has its block");
        let ord = self.next - 1;
        block.info((ord % BLOCK_TERMS as u64) as usize, ord >> BLOCK_SHIFT << BLOCK_SHIFT)
    }

    /// Returns the number of terms still to come.
    pub fn remaining(&self) -> u64 {
        self.end - self.next
    }

    /// Jumps forward to the first term at or after `target`: the next [`TermCursor::next`] returns it.
    pub fn seek(&mut self, target: &[u8]) -> Result<()> {
        let ord = self.dictionary.ordinal(target)?.unwrap_or_else(|ord| ord) + self.dictionary.first();
        if ord > self.next {
            self.next = ord.min(self.end);
            self.block = None;
        }
        Ok(())
    }
}
