//! What the node keeps beside its indices, and how it is changed durably.

pub(super) mod changes;
pub(super) mod cluster;
pub(super) mod kept;
pub(super) mod scripts;
pub(super) mod security;
pub(super) mod state;
pub(super) mod state_file;
pub(super) mod synonyms;
