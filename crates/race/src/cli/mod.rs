//! "What did the user type, and what do they see?": the subcommands of `limber`.
//!
//! The binary parses these commands with clap and calls `run`; what it adds is the built-in server, through
//! [`ServerProvider`](crate::server::engine::ServerProvider). Reports go to standard output, progress and
//! warnings to standard error. [`commands`] holds `list`, `info` and `compare`; each other file holds one
//! command, or the arguments about one subject.

pub(crate) mod commands;
mod comparison;
pub(crate) mod console;
pub(crate) mod coverage;
mod create_track;
mod engine;
mod hosts;
mod interrupt;
mod live;
mod python;
mod race;
mod rally;
mod records;
mod render_track;
mod report;
mod series;
mod track;
mod watch;

pub use commands::{CompareCommand, InfoCommand, ListCommand, exit_code};
pub(crate) use commands::{EXIT_INTERRUPTED, EXIT_SUCCESS, folder, printed};
pub use create_track::CreateTrackCommand;
pub(crate) use engine::EngineArguments;
pub(crate) use hosts::HostArguments;
pub(crate) use interrupt::cancel_on_interrupt;
pub use live::local_address;
pub use race::RaceCommand;
pub use records::{AddCommand, DeleteCommand};
pub use render_track::RenderTrackCommand;
pub use report::ReportCommand;
pub(crate) use report::check_writable;
pub(crate) use track::TrackArguments;
