//! Scripts: "what does this piece of code make of a document?"
//!
//! Two languages, `painless` and `expression`, become one typed form ([`Compiled`]), compiled once and kept by
//! [`Scripts`]. Opened on the documents of a segment ([`OpenScript`] over [`Documents`]), numeric expressions run over whole blocks of
//! documents (`block`), everything else document by document (`run`).
//!
//! **Invariant**: a script can neither reach anything outside of its document and parameters, nor run on without end: its source,
//! nesting, loops, recursion, memory and time are limited. This crate knows no segments: whoever holds documents shows them
//! through [`Documents`].

#![forbid(unsafe_code)]

mod error;
mod extract;
mod lexer;
mod token_members;
mod tree;
mod types;

mod expression;
mod parse_expr;
mod parse_make;
mod parse_runtime;
mod parser;

pub mod decay;
mod documents;
pub mod mustache;

mod collections;
mod dates;
mod field_part;
mod geometry;
mod map;
mod methods;
mod regex;
mod score_functions;
mod statics;
mod strings;
mod value;
mod value_json;

mod assign;
mod block;
mod ceiling;
mod context;
mod detached;
mod emit;
mod open;
mod run;
mod settled;

mod compiler;
mod spec;

#[cfg(test)]
mod tests;

pub use block::EmittedBlock;
pub use ceiling::{ScriptCeiling, Span};
pub use compiler::{AllowedScripts, ScriptLimits, Scripts};
pub use context::{ContextRun, ContextScript, ContextValue, View};
pub use detached::{DetachedScript, run_on_context};
pub use documents::{BoundField, DocId, Documents, FieldValues, divided, number};
pub use emit::Emitted;
pub use open::OpenScript;
pub use settled::{Asker, Kept, Settled, check_references};
pub use spec::{Code, Script, StoredScript};
pub use tree::{Compiled, Emits, ScriptContext};
pub use value::{DateValue, Value};
