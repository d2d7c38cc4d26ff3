//! What the node stores besides its indices, and how it changes it durably.

pub(super) mod changes;
pub(super) mod cluster;
pub(super) mod kept;
pub(super) mod main_folder;
pub(super) mod scripts;
pub(super) mod security;
pub(super) mod security_files;
mod security_format;
pub(super) mod state;
pub(super) mod state_file;
pub(super) mod synonyms;
mod voting;
