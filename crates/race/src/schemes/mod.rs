//! Measures what the cached term index costs in speed and saves in memory. One server is switched in turn to
//! the native scheme (all term indexes resident) and to a cache, under the same load.
//!
//! There is only one server because two processes of the same program differ by more than the effect that is
//! measured. Every pass writes the same documents again, so that all passes find the index in the same state.
//! Passes alternate in which scheme goes first, and queries start when merges have finished.

mod command;
mod conduct;
mod config;
mod figures;
mod raced_server;
mod round;
mod table;

pub use command::SchemesCommand;

/// The built-in track that is raced.
const TRACK: &str = "segment_memory";
