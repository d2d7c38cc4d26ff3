//! Walks those terms of a dictionary that an automaton accepts.

use std::ops::Bound;

use limber_segment::terms::{TermCursor, TermDictionary};
use limber_text::automaton::{TermAutomaton, Verdict};
use limber_work as work;

use crate::error::Result;

/// Terms stepped over one by one before the walk seeks: reading the rest of a block costs less than a
/// look-up.
const STEPS_MAX: u32 = 16;

/// Terms between two checks whether the request may continue.
const ASKED_BETWEEN_CHECKS: u32 = 256;

/// Calls `found` on every accepted term, with its edit distance, in ascending order.
pub(crate) fn walk(
    dictionary: &TermDictionary,
    automaton: &dyn TermAutomaton,
    mut found: impl FnMut(&TermCursor<'_>, u8) -> Result<()>,
) -> Result<()> {
    let prefix = automaton.prefix();
    let mut cursor = dictionary.range(Bound::Included(prefix), Bound::Unbounded)?;
    let mut skip = Vec::new();
    let suffix_maxima = match automaton.least_tail() {
        Some((least, width)) => dictionary.suffix_maxima(width)?.map(|suffix_maxima| (suffix_maxima, least)),
        None => None,
    };
    let mut is_there = cursor.advance()?;
    let mut asked_count = 0u32;
    while is_there && cursor.term().starts_with(prefix) {
        asked_count = asked_count.wrapping_add(1);
        if asked_count.is_multiple_of(ASKED_BETWEEN_CHECKS) {
            work::check_beyond_deadline()?;
        }
        if let Some(next) =
            suffix_maxima.and_then(|(suffix_maxima, least)| suffix_maxima.next_group(cursor.ord(), least))
        {
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
