//! The files of a track, whether they are on disk or built in, and the errors of loading a track.

pub(crate) mod error;
pub(crate) mod files;

pub use error::LoadError;
