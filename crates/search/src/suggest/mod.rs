//! Suggesters: "what did the user mean to type, and how may it continue?"
//!
//! A request (`crate::request::suggest`) is handled by `run` (each shard in turn, then all together).
//! `words` finds terms of a field that are similar to a word (Lucene's `DirectSpellChecker`). `term` shows
//! them word by word. `phrase` rates them within their sentence by a language model (`language`) and can
//! check sentences with a query (`collate`). `completion` reads fields of type `completion`.

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
