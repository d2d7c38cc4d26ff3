//! Texts without documents: "does this text fit this pattern, and what are its parts?"
//!
//! Wildcards of names ([`wildcard`]), automata over terms ([`automaton`]), regular expressions from users
//! ([`pattern`]), log lines taken apart ([`grok`], [`dissect`]), names that were misspelt ([`likeness`]), and
//! amounts with a unit ([`time_value`], [`byte_size`]).
//!
//! **Invariant**: pure functions; this crate needs none of ours and knows neither documents nor requests.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod automaton;
pub mod byte_size;
pub mod dissect;
mod error;
pub mod grok;
pub mod likeness;
pub mod pattern;
pub mod time_value;
pub mod wildcard;

pub use error::{Error, Result};
