//! "Which tracks need no download?": the built-in tracks and their documents.

pub mod access_log;
pub mod catalog;
pub mod command;
pub mod events;
pub mod generator;

pub use catalog::{Documents, documents, export, files, names};
pub use command::ExportCommand;
