//! Hunspell dictionaries: "of which words of the dictionary is this a form?"
//!
//! [`affix`] reads the prefixes and suffixes, [`words`] the words, [`stem`] finds the stems of a form.
//! Source: Lucene's package `hunspell`. As there, compound words are not decomposed.

mod affix;
mod dictionary;
mod flags;
mod stem;
mod words;

pub(super) use dictionary::Dictionary;
