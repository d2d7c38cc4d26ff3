//! The race tool: runs Rally tracks against a server, and reports figures.
//!
//! It answers two questions: how fast a server is on a track, and whether a difference between races is real.
//!
//! **Invariant**: this crate talks to servers over HTTP only. It does not depend on the engine, so it treats
//! every server alike.

#![deny(missing_docs)]

mod advise;
mod arguments;
mod cli;
mod conduct;
mod create;
mod drive;
mod error;
#[cfg(test)]
mod golden;
mod http;
mod inference;
mod metrics;
mod model;
mod notation;
mod process;
mod protocol;
mod random;
mod record;
mod report;
mod schemes;
mod server;
mod track;
mod tune;

pub use advise::AdviseCommand;
pub use cli::coverage::print_coverage;
pub use cli::{
    AddCommand, CompareCommand, CreateTrackCommand, DeleteCommand, InfoCommand, ListCommand, RaceCommand,
    RenderTrackCommand, ReportCommand, exit_code, local_address,
};
pub use drive::conditions::generator::thread_time;
pub use error::Error;
pub use http::ReadAhead;
pub use http::cluster::{UNKNOWN as UNKNOWN_SERVER, is_known as is_known_server};
pub use record::{RaceFilter, RaceStore, StoreError, limber_folder};
pub use report::html::RaceData;
pub use report::html::page::page as report_page;
pub use report::narrow::terminal_width;
pub use schemes::SchemesCommand;
pub use server::engine::{Engine, EngineSpec, RunningServer, ServerGuard, ServerProvider};
pub use track::builtin::ExportCommand;
pub use track::plugin::PluginError;
pub use track::track_files::LoadError;
pub use tune::TuneCommand;
