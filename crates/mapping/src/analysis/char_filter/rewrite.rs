//! A text with parts of it replaced, and the mapping of offsets back to the original.

use limber_work as work;

/// The result of a character filter. Offsets are corrected as in Lucene's `BaseCharFilter`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct Rewritten {
    pub text: String,
    /// In ascending order, without overlaps.
    edits: Vec<Edit>,
}

/// A replaced part of the original and its replacement, as byte ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edit {
    before: (usize, usize),
    after: (usize, usize),
}

impl Rewritten {
    /// Returns the byte offset in `source`, the original text, of byte `at` of the new text. Within a
    /// replacement, offsets advance from the start of the replaced part to its last character, or to the one
    /// before it if nothing was replaced. After a deletion, the offset is the end of the deleted part.
    pub fn source_offset(&self, source: &str, at: usize) -> usize {
        let number = self.edits.partition_point(|edit| edit.after.0 <= at);
        let Some(edit) = number.checked_sub(1).map(|last| self.edits[last]) else { return at };
        if at >= edit.after.1 {
            return edit.before.1 + (at - edit.after.1);
        }
        let mut units = self.text[edit.after.0..at].encode_utf16().count();
        let replaced = &source[edit.before.0..edit.before.1];
        let inside = replaced.char_indices().find(|(_, character)| {
            let is_there = units < character.len_utf16();
            units = units.saturating_sub(character.len_utf16());
            is_there
        });
        let last = || source[..edit.before.1].char_indices().next_back().map_or(0, |(offset, _)| offset);
        inside.map_or_else(last, |(offset, _)| edit.before.0 + offset)
    }
}

/// Builds a [`Rewritten`] from the start of a text to its end.
pub(in crate::analysis) struct Rewriter<'a> {
    source: &'a str,
    read: usize,
    made: Rewritten,
    /// Bytes of the new text and of the edits for which the request has been charged.
    accounted: usize,
}

/// Bytes of an [`Edit`].
const EDIT_BYTES: usize = std::mem::size_of::<Edit>();
/// The request is charged for the output in steps of this size.
const STEP: usize = 16 << 10;

impl<'a> Rewriter<'a> {
    /// Starts at the beginning of `source`.
    pub fn new(source: &'a str) -> Rewriter<'a> {
        let made = Rewritten { text: String::with_capacity(source.len()), edits: Vec::new() };
        Rewriter { source, read: 0, made, accounted: source.len() }
    }

    /// Returns the part that has not been processed yet.
    pub fn rest(&self) -> &'a str {
        &self.source[self.read..]
    }

    /// Keeps the next `length` bytes unchanged.
    pub fn keep(&mut self, length: usize) {
        let length = length.min(self.rest().len());
        self.made.text.push_str(&self.rest()[..length]);
        self.read += length;
    }

    /// Replaces the next `length` bytes by `replacement`. Returns false if there is not enough memory: the
    /// request is refused then, and nothing is left to process.
    pub fn replace(&mut self, length: usize, replacement: &str) -> bool {
        let made = self.made.text.len() + replacement.len() + self.made.edits.len() * EDIT_BYTES;
        if made > self.accounted + STEP {
            if !work::state_bytes(made - self.accounted) {
                self.read = self.source.len();
                return false;
            }
            self.accounted = made;
        }
        let (before, after) = (self.read, self.made.text.len());
        self.made.text.push_str(replacement);
        self.read += length;
        self.made.edits.push(Edit { before: (before, self.read), after: (after, self.made.text.len()) });
        true
    }

    /// Keeps the rest unchanged and returns the result.
    pub fn finish(mut self) -> Rewritten {
        self.keep(self.rest().len());
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned by 9.4.3: a space before each upper-case letter of "fooBarBaz".
    #[test]
    fn offsets_of_insertions_lead_back() {
        let source = "fooBarBaz";
        let mut rewriter = Rewriter::new(source);
        rewriter.keep(3);
        rewriter.replace(0, " ");
        rewriter.keep(3);
        rewriter.replace(0, " ");
        let made = rewriter.finish();
        assert_eq!(made.text, "foo Bar Baz");
        let back = |at: usize| made.source_offset(source, at);
        assert_eq!(
            [(0, 3), (4, 7), (8, 11)].map(|(from, to)| (back(from), back(to))),
            [(0, 2), (3, 5), (6, 9)]
        );
        let mut rewriter = Rewriter::new(source);
        rewriter.replace(0, "x ");
        let made = rewriter.finish();
        assert_eq!([0, 1, 2].map(|at| made.source_offset(source, at)), [0, 0, 0]);
    }

    #[test]
    fn offsets_lead_back() {
        // "a" + "é" -> "xyz" + "b" - "cd" + "e" + "fgh" -> "i"
        let source = "aébcdefgh";
        let mut rewriter = Rewriter::new(source);
        rewriter.keep(1);
        rewriter.replace(2, "xyz");
        rewriter.keep(1);
        rewriter.replace(2, "");
        rewriter.keep(1);
        rewriter.replace(3, "i");
        let made = rewriter.finish();
        assert_eq!(made.text, "axyzbei");
        let back: Vec<usize> = (0..=7).map(|at| made.source_offset(source, at)).collect();
        //                a  x  y  z  b  e  i  end
        assert_eq!(back, [0, 1, 1, 1, 3, 6, 7, 10]);
    }
}
