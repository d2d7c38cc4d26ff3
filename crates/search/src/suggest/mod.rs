//! Suggesters: "what did the user mean to type, and how may it go on?"
//!
//! A request goes `request` (parse) -> `run` (each shard in turn, then together). `words` finds words that are like a word in a field's
//! terms (Lucene's `DirectSpellChecker`); `term` shows them word by word, `phrase` weighs them in their sentence by a model of the language
//! (`language`), `completion` reads what a field of type `completion` holds.

mod request;

mod run;

mod completion;
mod completion_contexts;
mod completion_match;
mod completion_request;
mod correction;
mod language;
mod phrase;
mod phrase_request;
mod term;
mod words;

pub use request::Suggest;
pub(crate) use run::suggest;
