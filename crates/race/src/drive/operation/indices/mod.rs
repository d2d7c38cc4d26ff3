//! Operations that create, change and delete indices, templates and what belongs to them.

pub(super) mod create_index;
pub(super) mod create_template;
pub(super) mod data_stream;
pub(super) mod delete_index;
pub(super) mod delete_template;
pub(super) mod destructive;
pub(super) mod downsample;
pub(super) mod enrich_policy;
pub(super) mod ilm_policy;
pub(super) mod merge;
pub(super) mod put_pipeline;
pub(super) mod put_settings;
pub(super) mod shrink_index;
pub(super) mod transform;
