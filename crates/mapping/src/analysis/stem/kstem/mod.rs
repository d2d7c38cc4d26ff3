//! Krovetz's stemmer of English: an ending is removed if the result is in its list of words.
//!
//! Source: Lucene's `KStemmer`, after R. Krovetz and S. Guzman-Lara. [`words`] is the list, [`endings`] has
//! the endings that are tried.

mod endings;
mod inflections;
mod stem;
mod words;

pub(super) use stem::stem;
