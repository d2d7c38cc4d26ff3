//! Where snapshots are stored: "put this blob there unless it exists; give me that one; which ones exist?"
//!
//! A repository is a flat set of named blobs, each written once and never changed. Everything above (which
//! blobs make a snapshot, who may write) belongs to the engine; this module only stores blobs in a folder
//! or an object store, with blocking calls.
//!
//! **Invariant**: a blob that [`Blobs::put_if_absent`] has created is whole and durable, or it does not
//! exist. The engine makes names from letters, digits, `-`, `_` and `.`; anything else is refused, so that
//! no name leads out of the repository.

mod blobs;
mod folder;
mod memory;
mod s3;

pub use blobs::{Blob, Blobs, too_large};
pub use folder::{FolderBlobs, LocationError};
pub use memory::{BlobFault, MemoryBlobs};
pub use s3::{S3Blobs, S3Place, Secret};
