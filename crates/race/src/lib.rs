//! The race tool: tracks to numbers.
//!
//! Question answered: "here is a Rally track and a server's address; how fast is it, and is the difference real?"
//!
//! **Invariant**: this crate talks HTTP only. It does not depend on the engine, so it treats every server alike.

pub mod advise;
pub mod arguments;
pub mod builtin;
pub mod cli;
pub mod create;
pub mod drive;
pub mod dry_run;
pub mod engine;
pub mod hosts;
pub mod http;
pub mod inference;
pub mod live;
pub mod load;
pub mod metrics;
pub mod model;
pub mod notation;
pub mod plugin;
mod process;
pub mod race;
mod random;
pub mod record;
pub mod report;
pub mod sample;
pub mod schemes;
pub mod series;
pub mod timeline;
pub mod track_files;
pub mod tune;
pub mod watch;
