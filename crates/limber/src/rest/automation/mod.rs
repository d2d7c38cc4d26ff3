//! Endpoints for what is configured once and then runs by itself: pipelines, policies, transforms, scripts,
//! snapshots.

pub(super) mod enrich;
pub(super) mod ilm;
pub(super) mod ingest;
pub(super) mod painless_execute;
pub(super) mod script;
pub(super) mod script_context;
pub(super) mod snapshot;
pub(super) mod snapshot_lifecycle;
pub(super) mod snapshot_repository;
pub(super) mod transform;
