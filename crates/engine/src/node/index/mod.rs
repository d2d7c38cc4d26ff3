//! Operations on whole indices: creating, showing, changing, copying and deleting them.

pub(super) mod aliases;
pub(super) mod blocks;
pub(super) mod create_from;
pub(super) mod create_index;
pub(super) mod dangling;
pub(super) mod disk_usage;
pub(super) mod index_files;
pub(super) mod index_state;
pub(super) mod indices;
pub(super) mod live;
pub(super) mod name_locks;
pub(super) mod resize;
pub(super) mod rollover;
pub(super) mod templates;
