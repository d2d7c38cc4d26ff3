//! Runs compiled scripts: "what does this one return for these documents?"
//!
//! [`OpenScript`] runs over the documents of a segment: whole blocks at a time where nothing can fail
//! (`block`), otherwise one by one (`interpreter`). [`ScriptCeiling`] bounds the results of a script over a
//! range of values.

mod array;
mod assign;
mod block;
mod ceiling;
mod emit;
mod flow;
mod frozen;
mod functions;
mod given_value;
mod interpreter;
mod machine;
mod open;
mod statements;

pub use block::{DistinctTexts, DistinctValues, EmittedBlock, RowStates};
pub use ceiling::{ScriptCeiling, Span};
pub use emit::Emitted;
pub(crate) use frozen::Frozen;
pub use given_value::GivenValue;
pub(crate) use interpreter::Run;
pub use open::OpenScript;
