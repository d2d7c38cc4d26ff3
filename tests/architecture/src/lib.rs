//! The structure of the sources, measured from the sources.
//!
//! The question it answers: "which way do the imports go, and how far is the code from what ARCHITECTURE.md
//! promises?"
//!
//! [`source`] reads files and blanks out comments and strings, [`imports`] finds the paths in them and the
//! files that they refer to, [`graph`] finds cycles, [`crates`] reads the dependencies of crates, and
//! [`counts`] is the table of everything that is counted. The program prints all of it; `tests/rooms.rs`
//! fails if a dependency goes the wrong way.

#![forbid(unsafe_code)]

pub mod counts;
pub mod crates;
pub mod graph;
pub mod imports;
pub mod report;
pub mod source;
