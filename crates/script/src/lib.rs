//! Scripts: "what does this piece of code make of a document?"
//!
//! Two languages, `painless` and `expression`, become one typed form ([`Compiled`]), compiled once and kept
//! by [`Scripts`]. Opened on the documents of a segment ([`OpenScript`] over [`Documents`]), numeric
//! expressions run over whole blocks of documents; all other scripts run document by document (`run`).
//!
//! **Invariant**: a script can neither reach anything outside of its document and parameters, except for the
//! time and random numbers ([`Outside`]), nor run forever: its source, nesting, loops, recursion, memory and
//! time are limited. This crate knows no segments: the crate that stores documents implements [`Documents`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod outside;
mod types;
mod values;

pub mod decay;
mod documents;
pub mod mustache;

mod library;

mod language;

mod run;

mod compile;
mod contexts;

#[cfg(test)]
mod tests;

pub use compile::{AllowedScripts, Code, Script, ScriptLimits, Scripts, StoredScript};
pub use contexts::{
    ContextRun, ContextScript, ContextValue, DetachedRun, DetachedScript, SimilarityScript, SimilarityTerm,
    View, run_on_context,
};
pub use documents::{BoundField, DocId, Documents, FieldValues, number};
pub use error::refused;
pub use language::{Compiled, Emits, ScriptContext};
pub use library::moving_functions;
pub use outside::Outside;
pub use run::{
    DistinctTexts, DistinctValues, Emitted, EmittedBlock, GivenValue, OpenScript, RowStates, ScriptCeiling,
    Span,
};
pub use values::{DateValue, Kept, Origin, Settled, Value, check_references};
