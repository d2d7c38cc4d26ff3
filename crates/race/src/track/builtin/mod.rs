//! The built-in tracks, which need no download, and their documents.

pub(crate) mod access_log;
pub(crate) mod catalog;
pub(crate) mod command;
pub(crate) mod events;
pub(crate) mod generator;

pub(crate) use catalog::{documents, files, names};
pub use command::ExportCommand;
