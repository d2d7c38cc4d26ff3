//! A compiled script at work: "what does it give for these documents?"
//!
//! [`OpenScript`] runs over the documents of a segment: whole blocks at a time where nothing can fail
//! (`block`), else one by one (`interpreter`). [`ScriptCeiling`] says how much a script can give over a span
//! of values.

mod assign;
mod block;
mod ceiling;
mod emit;
mod frozen;
mod interpreter;
mod machine;
mod open;

pub use block::EmittedBlock;
pub use ceiling::{ScriptCeiling, Span};
pub use emit::Emitted;
pub(crate) use frozen::Frozen;
pub(crate) use interpreter::Run;
pub use open::OpenScript;
