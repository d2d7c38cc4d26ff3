//! Snapshots: "what is in this repository, what must be copied for this shard, and is every byte of it still
//! what it was?"
//!
//! A repository is a set of blobs that are written once ([`limber_store::repository`]). Which of them make a
//! snapshot is said by the *root*, a list of snapshots with a generation. Whoever changes a repository writes
//! the blobs that are new, then the root's next generation, which only one of several writers can create;
//! only then it deletes what no snapshot needs any more. So a crash, a lost answer or a second node leaves
//! blobs that nobody names, and never a listed snapshot that lacks one.
//!
//! What may be deleted is listed *before* the root is written: a blob that another writer adds later is never
//! among it, and one that was added before belongs to a writer whose root is then refused.
//!
//! The calls of the API are in `node/snapshots`; here is what they are made of.

pub(crate) mod definition;
pub(crate) mod errors;
pub(crate) mod format;
pub(crate) mod garbage;
pub(crate) mod names;
pub(crate) mod policy;
pub(crate) mod repository;
pub(crate) mod running;
pub(crate) mod show;
pub(crate) mod transfer;
