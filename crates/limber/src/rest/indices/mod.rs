//! Endpoints that create, show, change and delete indices, aliases, templates and data streams, and related
//! ones.

pub(super) mod alias;
pub(super) mod analyze;
pub(super) mod dangling;
pub(super) mod data_stream;
pub(super) mod data_stream_lifecycle;
pub(super) mod data_stream_overrides;
pub(super) mod disk_usage;
pub(super) mod field_usage;
pub(super) mod index;
pub(super) mod mapping;
pub(super) mod migration;
pub(super) mod placement;
pub(super) mod resize;
pub(super) mod rollover;
pub(super) mod settings;
pub(super) mod stats;
pub(super) mod synonyms;
pub(super) mod template;
pub(super) mod upkeep;
