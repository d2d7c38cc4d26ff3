//! Starts the server that is raced, with its settings and memory, and stops it afterwards.
//!
//! A server is the built-in one (a process of this same program, created by the binary's [`ServerProvider`])
//! or an unpacked distribution of Elasticsearch or OpenSearch ([`folder`]). Either listens on a free local
//! port, keeps its data in a temporary folder, and is stopped by its process id when its [`RunningServer`] is
//! dropped, unless the user wants to keep it.

pub(crate) mod folder;
mod running;
mod spec;

pub use running::{RunningServer, ServerGuard, ServerProvider};
pub(crate) use spec::settings_of;
pub use spec::{Engine, EngineSpec};
