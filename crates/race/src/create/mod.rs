//! Makes a track of indices and data streams of a running server, or of a log file.
//!
//! The layout is that of Rally's `create-track` (`esrally/tracker`): `track.json`, a body for each index, its
//! documents as NDJSON beside a bzip2 archive, the same for the first 1,000 documents (test mode), one
//! challenge and one search. A track is written into a folder that holds none yet.

mod bodies;
mod cluster;
mod documents;
mod files;
mod from_cluster;
mod from_file;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use from_cluster::from_cluster;
pub(crate) use from_file::from_file;
pub(crate) use target::Selection;
