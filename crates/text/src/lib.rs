//! Strings without documents: "does this string match this pattern, and what are its parts?"
//!
//! Wildcards in names ([`wildcard`]), automata over terms ([`automaton`]), regular expressions from users
//! ([`pattern`]), parsing of log lines ([`grok`], [`dissect`]), misspelt names ([`likeness`]), amounts with a
//! unit ([`time_value`], [`byte_size`]), and escapes in URLs ([`url`]).
//!
//! **Invariant**: pure functions that know neither documents nor requests.

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
pub mod url;
pub mod wildcard;

pub use error::{Error, Result};
