//! Suggesters: "what did the user mean to type, and how may it go on?"
//!
//! A request (`crate::request::suggest`) goes to `run` (each shard in turn, then together). `words` finds
//! words that are like a word in a field's terms (Lucene's `DirectSpellChecker`); `term` shows them word by
//! word, `phrase` weighs them in their sentence by a model of the language (`language`) and holds sentences
//! against a query (`collate`), `completion` reads what a field of type `completion` holds.

mod run;

mod collate;
mod completion;
mod completion_contexts;
mod completion_match;
mod language;
mod phrase;
mod term;
mod words;

pub(crate) use run::suggest;
