//! A data folder of which no node runs: "is every byte what was written, what can be saved, and how large is
//! what?" (`limber check`, `limber inspect`).
//!
//! [`data_folder`] finds the shards, [`check`] reads all of their files, [`repair`] saves what is intact,
//! [`inspect`] measures term indices.

pub(crate) mod check;
pub(crate) mod data_folder;
pub(crate) mod inspect;
pub(crate) mod repair;
