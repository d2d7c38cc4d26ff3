//! Analyzers derived from others: for the additional terms of a field.

use super::Analyzer;
use super::chain::Filter;
use super::filter::{edges_of, shingles_of};

impl Analyzer {
    fn followed_by(&self, filters: impl IntoIterator<Item = Filter>) -> Analyzer {
        let all = self.filters.iter().cloned().chain(filters).collect();
        Analyzer::new(&self.name, self.tokenizer.clone(), all)
            .with_char_filters(self.char_filters.clone())
            .with_gap(self.position_increment_gap)
    }

    /// Joins `size` adjacent tokens of this analyzer into one. `filler` replaces a removed token.
    pub(crate) fn shingled(&self, size: usize, filler: &'static str) -> Analyzer {
        self.followed_by([shingles_of(size, filler, false)])
    }

    /// Returns the prefixes of `least` to `most` characters of `size` joined adjacent tokens, or fewer at the
    /// end of the text. Joined tokens that are longer than `most` are also returned whole.
    pub(crate) fn shingle_prefixes(&self, size: usize, least: usize, most: usize) -> Analyzer {
        self.followed_by([shingles_of(size, "", true), edges_of(least, most, true)])
    }

    /// Returns the prefixes of `least` to `most` characters of this analyzer's tokens.
    pub(crate) fn prefixes(&self, least: usize, most: usize) -> Analyzer {
        self.followed_by([edges_of(least, most, false)])
    }
}
