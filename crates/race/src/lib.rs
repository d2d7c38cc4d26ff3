//! The race tool: runs Rally tracks against a server, and reports figures.
//!
//! It answers two questions: how fast a server is on a track, and whether a difference between races is real.
//!
//! **Invariant**: this crate talks to servers over HTTP only. It does not depend on the engine, so it treats
//! every server alike.

#![deny(missing_docs)]

mod advise;
mod arguments;
mod builtin;
mod cli;
mod coverage;
mod create;
mod drive;
mod dry_run;
mod engine;
mod error;
#[cfg(test)]
mod golden;
mod hosts;
mod http;
mod inference;
mod live;
mod load;
mod metrics;
mod model;
mod notation;
mod plugin;
mod process;
mod protocol;
mod race;
mod random;
mod record;
mod report;
mod sample;
mod schemes;
mod series;
mod timeline;
mod track_files;
mod tune;
mod watch;

pub use advise::AdviseCommand;
pub use builtin::ExportCommand;
pub use cli::{
    AddCommand, CompareCommand, CreateTrackCommand, DeleteCommand, InfoCommand, ListCommand, RaceCommand,
    RenderTrackCommand, ReportCommand, exit_code,
};
pub use coverage::print_coverage;
pub use engine::{Engine, EngineSpec, RunningServer, ServerGuard, ServerProvider};
pub use error::Error;
pub use http::ReadAhead;
pub use http::cluster::{UNKNOWN as UNKNOWN_SERVER, is_known as is_known_server};
pub use plugin::PluginError;
pub use record::{RaceFilter, RaceStore, StoreError, limber_folder};
pub use report::html::Material;
pub use report::html::page::page as report_page;
pub use schemes::SchemesCommand;
pub use track_files::LoadError;
pub use tune::TuneCommand;
