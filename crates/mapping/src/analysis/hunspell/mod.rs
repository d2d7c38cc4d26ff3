//! Dictionaries of Hunspell: "which words of the dictionary is this a form of?"
//!
//! [`affix`] reads what may stand before and after words, [`words`] the words, [`stem`] takes a form apart.
//! Source: Lucene's package `hunspell`; words that are made of several are not taken apart, as there.

mod affix;
mod dictionary;
mod flags;
mod stem;
mod words;

pub(super) use dictionary::Dictionary;
