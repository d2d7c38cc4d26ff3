//! A text with parts of it replaced, and the way back: "where did this stand before?"

/// Source: Lucene's `BaseCharFilter`, whose corrections come out the same.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Rewritten {
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
    /// The byte offset in `source`, the text before, of what stands at byte `at` now. Within a replacement the characters count on
    /// from where the replaced part began, at most to its end; behind one that left nothing it is that end.
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
pub(super) struct Rewriter<'a> {
    source: &'a str,
    read: usize,
    made: Rewritten,
}

impl<'a> Rewriter<'a> {
    pub fn new(source: &'a str) -> Rewriter<'a> {
        let made = Rewritten { text: String::with_capacity(source.len()), edits: Vec::new() };
        Rewriter { source, read: 0, made }
    }

    /// What was not looked at yet.
    pub fn rest(&self) -> &'a str {
        &self.source[self.read..]
    }

    /// The next `length` bytes stay.
    pub fn keep(&mut self, length: usize) {
        self.made.text.push_str(&self.rest()[..length]);
        self.read += length;
    }

    /// The next `length` bytes become `replacement`.
    pub fn replace(&mut self, length: usize, replacement: &str) {
        let (before, after) = (self.read, self.made.text.len());
        self.made.text.push_str(replacement);
        self.read += length;
        self.made.edits.push(Edit { before: (before, self.read), after: (after, self.made.text.len()) });
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
