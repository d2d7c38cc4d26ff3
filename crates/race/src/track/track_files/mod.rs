//! "What stands in the folder of a track?" Its files, whether they lie on the disk or are built in, and why a
//! track cannot be loaded.

pub(crate) mod error;
pub(crate) mod files;

pub use error::LoadError;
