//! Scripts: "what does this piece of code make of a document?"
//!
//! Two languages, `painless` ([`parser`]) and `expression`, become one typed form ([`tree::Compiled`]), compiled once and kept by
//! [`Scripts`]. Bound to a shard and opened on a segment ([`BoundScript`]), numeric expressions run over whole blocks of documents
//! ([`block`]), everything else document by document ([`run`]).
//!
//! **Invariant**: a script can neither reach anything outside of its document and parameters, nor run on without end: its source,
//! nesting, loops, recursion, memory and time are limited.

mod error;
mod extract;
mod lexer;
mod tree;
mod types;

mod expression;
mod parse_expr;
mod parse_make;
mod parse_runtime;
mod parser;

mod collections;
mod dates;
mod field_part;
mod fields;
mod geometry;
mod map;
mod methods;
mod regex;
mod score_functions;
mod statics;
mod strings;
mod value;
mod value_json;
pub(crate) use value::Value;

mod assign;
mod block;
mod bound;
mod ceiling;
mod context;
mod emit;
mod run;
mod settled;

mod compiler;
mod spec;

#[cfg(test)]
mod tests;

pub(crate) use block::EmittedBlock;
pub use bound::run_on_context;
pub(crate) use bound::{BoundScript, DetachedScript, OpenScript};
pub use compiler::{AllowedScripts, ScriptLimits, Scripts};
pub use context::{ContextRun, ContextScript, ContextValue, View};
pub(crate) use emit::Emitted;
pub(crate) use settled::{Asker, Kept, Settled, check_references};
pub(crate) use spec::Code;
pub use spec::{Script, StoredScript};
pub(crate) use tree::Emits;
pub use tree::ScriptContext;
