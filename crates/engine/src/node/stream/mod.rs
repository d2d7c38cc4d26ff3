//! Data streams, their aliases and their lifecycles.

pub(super) mod data_stream_changes;
pub(super) mod data_stream_migration;
pub(super) mod data_streams;
pub(super) mod series_bounds;
pub(super) mod stream_aliases;
pub(super) mod stream_lifecycles;
pub(super) mod stream_overrides;
