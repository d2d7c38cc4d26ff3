//! Krovetz's stemmer of English: an ending goes where that leaves a word of its list.
//!
//! Source: Lucene's `KStemmer`, after R. Krovetz and S. Guzman-Lara. [`words`] is the list, [`endings`] what
//! is tried at the end of a word.

mod endings;
mod inflections;
mod stem;
mod words;

pub(super) use stem::stem;
