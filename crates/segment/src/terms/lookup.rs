//! Looks up many terms in ascending order: walks through the terms and the blocks that hold them in parallel.

use std::cmp::Ordering;

use super::block::BlockView;
use super::dictionary::TermDictionary;
use super::format::BLOCK_SHIFT;
use super::info::TermInfo;
use crate::Result;

/// Made by [`TermDictionary::ascending`].
pub struct AscendingLookup<'d> {
    dictionary: &'d TermDictionary,
    at: Option<Place<'d>>,
}

/// A position in the dictionary: one of its terms.
struct Place<'d> {
    block: u64,
    view: BlockView<'d>,
    /// Index of the term in its block.
    index: usize,
    /// The offset of the next term's suffix.
    next: usize,
    term: Vec<u8>,
}

impl<'d> Place<'d> {
    /// Moves to the first term of a block.
    fn enter(dictionary: &'d TermDictionary, block: u64, mut term: Vec<u8>) -> Result<Place<'d>> {
        let view = dictionary.block(block)?;
        term.clear();
        let next = view.next_term(0, 0, &mut term)?;
        Ok(Place { block, view, index: 0, next, term })
    }

    fn advance(&mut self) -> Result<bool> {
        if self.index + 1 == self.view.count() {
            return Ok(false);
        }
        self.index += 1;
        self.next = self.view.next_term(self.index, self.next, &mut self.term)?;
        Ok(true)
    }
}

impl<'d> AscendingLookup<'d> {
    pub(super) fn new(dictionary: &'d TermDictionary) -> AscendingLookup<'d> {
        AscendingLookup { dictionary, at: None }
    }

    /// Returns the same as [`TermDictionary::get`]. No term may be less than that of the preceding call.
    pub fn get(&mut self, term: &[u8]) -> Result<Option<TermInfo>> {
        let term = &*self.dictionary.whole_term(term);
        let mut place = match self.at.take() {
            Some(place) => place,
            None => match self.dictionary.block_for(term)? {
                Some(block) => Place::enter(self.dictionary, block, Vec::new())?,
                None => return Ok(None),
            },
        };
        let mut blocks_entered = 0;
        let found = loop {
            match (*place.term).cmp(term) {
                Ordering::Equal => {
                    break Some(place.view.info(place.index, place.block << BLOCK_SHIFT)?);
                }
                Ordering::Greater => break None,
                Ordering::Less if place.advance()? => {}
                Ordering::Less if place.block + 1 == self.dictionary.block_count() => break None,
                Ordering::Less => {
                    // Tries the next block first; a term that is not in it is far away.
                    let block = match blocks_entered {
                        0 => place.block + 1,
                        _ => self.dictionary.block_for(term)?.unwrap_or(0).max(place.block + 1),
                    };
                    blocks_entered += 1;
                    place = Place::enter(self.dictionary, block, place.term)?;
                }
            }
        };
        self.at = Some(place);
        Ok(found)
    }
}
