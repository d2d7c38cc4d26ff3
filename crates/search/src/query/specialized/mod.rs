//! Queries with features, scripts or stored queries (Elasticsearch's specialized queries).

pub(super) mod distance_feature;
pub(super) mod guarded;
pub(crate) mod percolate;
pub(super) mod rank_feature;
pub(super) mod script;
pub(super) mod script_score;
