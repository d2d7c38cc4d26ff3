//! Snapshots: "what does this repository contain, what must be copied for this shard, and is every byte still
//! what it was?"
//!
//! A repository is a set of blobs that are written once ([`limber_store::repository`]). The *root*, a list of
//! snapshots with a generation, says which of them form a snapshot. To change a repository, a writer first
//! writes the new blobs and then the root's next generation, which only one of several writers can create.
//! After that, it deletes the blobs that no snapshot needs any more. A crash, a lost response or a second
//! node can therefore leave blobs that are not referenced, but never a listed snapshot with a missing blob.
//!
//! The blobs to be deleted are listed *before* the root is written. A blob that another writer adds later is
//! therefore never among them, and one that was added earlier belongs to a writer whose root is then refused.
//!
//! The calls of the API are in `node/snapshots`; this module has the parts they consist of.

pub(crate) mod definition;
pub(crate) mod errors;
pub(crate) mod format;
pub(crate) mod garbage;
pub(crate) mod names;
pub(crate) mod policy;
pub(crate) mod repository;
pub(crate) mod running;
pub(crate) mod schedules;
pub(crate) mod show;
pub(crate) mod transfer;
