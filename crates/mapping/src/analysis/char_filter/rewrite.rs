//! A text with parts of it replaced, and the way back: "where did this stand before?"

use limber_work as work;

/// Source: Lucene's `BaseCharFilter`, whose corrections come out the same.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct Rewritten {
    pub text: String,
    /// In ascending order, none touching another's inside.
    edits: Vec<Edit>,
}

/// A part of the text before, and what stands for it. Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edit {
    before: (usize, usize),
    after: (usize, usize),
}

impl Rewritten {
    /// The byte offset in `source`, the text before, of what is at byte `at` now. Within a replacement the
    /// characters count on from where the replaced part began, at most to its end; after a replacement by
    /// nothing it is that end.
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
        inside.map_or(edit.before.1, |(offset, _)| edit.before.0 + offset)
    }
}

/// Makes a [`Rewritten`] from the start of a text to its end.
pub(in crate::analysis) struct Rewriter<'a> {
    source: &'a str,
    read: usize,
    made: Rewritten,
    /// Bytes of the new text and of the way back that the request was told of.
    told: usize,
}

/// Bytes of an [`Edit`].
const EDIT_BYTES: usize = std::mem::size_of::<Edit>();
/// The request is told of what is made in steps of this.
const TOLD_STEP: usize = 16 << 10;

impl<'a> Rewriter<'a> {
    /// Nothing of `source` has been looked at.
    pub fn new(source: &'a str) -> Rewriter<'a> {
        let made = Rewritten { text: String::with_capacity(source.len()), edits: Vec::new() };
        Rewriter { source, read: 0, made, told: source.len() }
    }

    /// The part that has not been looked at yet.
    pub fn rest(&self) -> &'a str {
        &self.source[self.read..]
    }

    /// Keeps the next `length` bytes.
    pub fn keep(&mut self, length: usize) {
        let length = length.min(self.rest().len());
        self.made.text.push_str(&self.rest()[..length]);
        self.read += length;
    }

    /// The next `length` bytes become `replacement`; false: there is no room for more, the request is
    /// refused, and nothing is left to look at.
    pub fn replace(&mut self, length: usize, replacement: &str) -> bool {
        let made = self.made.text.len() + replacement.len() + self.made.edits.len() * EDIT_BYTES;
        if made > self.told + TOLD_STEP {
            if !work::makes(made - self.told) {
                self.read = self.source.len();
                return false;
            }
            self.told = made;
        }
        let (before, after) = (self.read, self.made.text.len());
        self.made.text.push_str(replacement);
        self.read += length;
        self.made.edits.push(Edit { before: (before, self.read), after: (after, self.made.text.len()) });
        true
    }

    /// What was not looked at stays.
    pub fn finish(mut self) -> Rewritten {
        self.keep(self.rest().len());
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(back, [0, 1, 3, 3, 3, 6, 7, 10]);
    }
}
