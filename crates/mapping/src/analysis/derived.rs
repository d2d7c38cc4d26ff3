//! Analyzers made of others: the terms that a field has beside those of its own analyzer.

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

    /// So many neighbouring tokens of this one as one. `filler`: what stands in the place of a token that was
    /// removed.
    pub(crate) fn shingled(&self, size: usize, filler: &'static str) -> Analyzer {
        self.followed_by([shingles_of(size, filler, false)])
    }

    /// The beginnings, of so many characters, of `size` neighbouring tokens, and of fewer at the end; they
    /// themselves, too, where they are longer.
    pub(crate) fn shingle_prefixes(&self, size: usize, least: usize, most: usize) -> Analyzer {
        self.followed_by([shingles_of(size, "", true), edges_of(least, most, true)])
    }

    /// The beginnings of this one's tokens that have so many characters.
    pub(crate) fn prefixes(&self, least: usize, most: usize) -> Analyzer {
        self.followed_by([edges_of(least, most, false)])
    }
}
