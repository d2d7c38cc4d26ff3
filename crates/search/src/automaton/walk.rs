//! A walk over those terms of a dictionary that an automaton accepts.

use std::fmt;
use std::ops::Bound;

use limber_segment::terms::{TermCursor, TermDictionary};

use crate::error::Result;

/// Terms passed one by one before the walk seeks: what is left of a block costs less than a look-up.
const STEPS_MAX: u32 = 16;

/// What an automaton says of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// At this distance; 0 where there is none.
    Accepts(u8),
    Refuses,
    /// Nothing before what was written into the buffer can be accepted.
    Skip,
    /// Nothing behind the term can be accepted.
    End,
}

/// A set of terms. Immutable; shared by the segments of a shard.
pub(crate) trait TermAutomaton: fmt::Debug + Send + Sync {
    /// Looks at a term. With [`Verdict::Skip`], `skip` becomes a term greater than it.
    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict;

    /// What every accepted term starts with.
    fn prefix(&self) -> &[u8];

    /// Where it accepts no term but those whose last bytes are a number of at least so much: that number, and how many bytes.
    fn least_tail(&self) -> Option<(u128, usize)> {
        None
    }

    fn accepts(&self, term: &[u8]) -> bool {
        matches!(self.ask(term, &mut Vec::new()), Verdict::Accepts(_))
    }
}

/// Calls `found` on every term that is accepted, with its distance, ascending.
pub(crate) fn walk(
    dictionary: &TermDictionary,
    automaton: &dyn TermAutomaton,
    mut found: impl FnMut(&TermCursor<'_>, u8) -> Result<()>,
) -> Result<()> {
    let prefix = automaton.prefix();
    let mut cursor = dictionary.range(Bound::Included(prefix), Bound::Unbounded)?;
    let mut skip = Vec::new();
    let tails = match automaton.least_tail() {
        Some((least, width)) => dictionary.tails(width)?.map(|tails| (tails, least)),
        None => None,
    };
    let mut is_there = cursor.advance()?;
    while is_there && cursor.term().starts_with(prefix) {
        if let Some(next) = tails.and_then(|(tails, least)| tails.next_group(cursor.ord(), least)) {
            cursor = dictionary.range_of_ordinals(next, dictionary.len());
            is_there = cursor.advance()?;
            continue;
        }
        match automaton.ask(cursor.term(), &mut skip) {
            Verdict::Accepts(distance) => found(&cursor, distance)?,
            Verdict::Refuses => {}
            Verdict::End => return Ok(()),
            Verdict::Skip => {
                is_there = advance_to(&mut cursor, &skip)?;
                continue;
            }
        }
        is_there = cursor.advance()?;
    }
    Ok(())
}

/// Moves to the first term at or after `target`.
fn advance_to(cursor: &mut TermCursor<'_>, target: &[u8]) -> Result<bool> {
    for _ in 0..STEPS_MAX {
        if !cursor.advance()? {
            return Ok(false);
        }
        if cursor.term() >= target {
            return Ok(true);
        }
    }
    cursor.seek(target)?;
    Ok(cursor.advance()?)
}
