//! Several data folders (`path.data` as a list): "on which volume does this shard lie?"
//!
//! The first folder is the main one. It has the state of the node, users, and the metadata of all indices; it
//! must be there. The others are volumes: each has shards, and a file that tells to which node it belongs.
//!
//! A shard that lies on a volume has, instead of its files, a pointer in the main folder: the file
//! [`files::POINTER_NAME`], which names the volume. The pointer is durable before the shard's folder exists,
//! so a shard of a volume that is missing is never looked for elsewhere, and never created anew: it is
//! unavailable until the volume is back. The other shards serve.
//!
//! New shards go where the fewest shards of their index are, and among these where the most space is free for
//! each shard. Shards do not move.
//!
//! | file | question |
//! |---|---|
//! | `disk` | where does a path lie? |
//! | `volume` | is this volume there, and is it ours? |
//! | `place` | where should a new shard go? |
//! | `absent` | what does a shard on a missing volume answer? |
//! | `files` | what do the small files of volumes say? |
//!
//! Source: Elasticsearch's multiple data paths (`NodeEnvironment`, `ShardPath#selectNewPathForShard`).

mod absent;
mod disk;
mod files;
mod place;
#[cfg(test)]
mod tests;
mod volume;

pub use disk::Volumes;
pub(crate) use files::is_volume;
pub use volume::Opener;
