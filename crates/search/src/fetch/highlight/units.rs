//! Converts between UTF-16 units, in which Elasticsearch counts, and byte offsets.

/// Returns the number of UTF-16 units of a text.
pub(super) fn count(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A cursor over a text. Ascending positions take one pass together; a position before the last one is
/// searched for from the text's start.
pub(super) struct Units<'t> {
    text: &'t str,
    byte: usize,
    unit: usize,
}

impl<'t> Units<'t> {
    /// Creates a cursor at the start of a text.
    pub fn of(text: &'t str) -> Units<'t> {
        Units { text, byte: 0, unit: 0 }
    }

    /// Returns the unit at a byte offset where a character begins.
    pub fn at_byte(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.unit) = (0, 0);
        }
        self.unit += count(&self.text[self.byte..byte]);
        self.byte = byte;
        self.unit
    }

    /// Returns the byte offset at which the character of a unit begins; the text's end for units after it.
    pub fn byte_of(&mut self, unit: usize) -> usize {
        if unit < self.unit {
            (self.byte, self.unit) = (0, 0);
        }
        for character in self.text[self.byte..].chars() {
            if self.unit + character.len_utf16() > unit {
                break;
            }
            self.unit += character.len_utf16();
            self.byte += character.len_utf8();
        }
        self.byte
    }

    /// Returns the text from one unit to another.
    pub fn slice(&mut self, from: usize, to: usize) -> &'t str {
        let start = self.byte_of(from);
        let end = self.byte_of(to.max(from));
        &self.text[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_two_units_stay_whole() {
        let text = "aß𝄞z";
        assert_eq!(count(text), 5);
        let mut units = Units::of(text);
        assert_eq!([0, 1, 3, 7, 8].map(|byte| units.at_byte(byte)), [0, 1, 2, 4, 5]);
        assert_eq!(units.at_byte(1), 1);
        assert_eq!([0, 1, 2, 3, 4, 5, 9].map(|unit| units.byte_of(unit)), [0, 1, 3, 3, 7, 8, 8]);
        assert_eq!(units.slice(2, 4), "𝄞");
        assert_eq!(units.slice(1, 1), "");
    }
}
