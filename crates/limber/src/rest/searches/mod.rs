//! Endpoints that search, and related ones: scrolls and points in time, templates, pipelines, explanations,
//! query rules, ranking evaluation.

pub(super) mod async_search;
pub(super) mod count;
pub(super) mod explain;
pub(super) mod field_caps;
pub(super) mod msearch;
pub(super) mod mvt;
pub(super) mod pits;
pub(super) mod point_in_time;
pub(super) mod query_rules;
pub(super) mod rank_eval;
pub(super) mod scroll;
pub(super) mod search;
pub(super) mod search_pipeline;
pub(super) mod search_template;
pub(super) mod search_usage;
pub(super) mod terms_enum;
pub(super) mod validate;
