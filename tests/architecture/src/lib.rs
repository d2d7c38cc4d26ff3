//! The structure of the sources, measured from the sources.
//!
//! The question it answers: "which way do the imports go, and how far is the code from what ARCHITECTURE.md
//! promises?"
//!
//! [`source`] reads files and blanks out comments and strings, [`imports`] finds the paths in them and the
//! files that they lead to, [`graph`] finds cycles, [`crates`] reads which crate needs which, [`counts`] is
//! the table of what can be counted, [`goals`] compares it with what is wanted. The program prints all of it;
//! `tests/rooms.rs` fails where an arrow runs the wrong way.

#![forbid(unsafe_code)]

pub mod counts;
pub mod crates;
pub mod goals;
pub mod graph;
pub mod imports;
pub mod report;
pub mod source;
