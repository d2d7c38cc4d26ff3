//! Where snapshots are kept: "put this blob there unless it is there already; give me that one; which are
//! there?"
//!
//! A repository is a flat set of named blobs, each written once and never changed. Everything above (which
//! blobs make a snapshot, who may write) is the engine's; this room only keeps blobs in a folder or an object
//! store, with blocking calls.
//!
//! **Invariant**: a blob that [`Blobs::put_if_absent`] has made is whole and durable, or it is not there.
//! Names are made by the engine of letters, digits, `-`, `_` and `.`; anything else is refused, so no name
//! leads out of the repository.

mod blobs;
mod folder;
mod memory;
mod s3;

pub use blobs::{Blob, Blobs};
pub use folder::{FolderBlobs, LocationError};
pub use memory::{BlobFault, MemoryBlobs};
pub use s3::{S3Blobs, S3Place, Secret};
