//! Queries made of other queries (Elasticsearch's compound queries).

pub(super) mod bool_query;
pub(super) mod boosting;
pub(super) mod constant_score;
pub(super) mod dis_max;
pub(super) mod function;
pub(super) mod function_score;
pub(super) mod match_all;
pub(super) mod minimum_should_match;
pub(super) mod pinned;
pub(super) mod rule;
pub(super) mod template;
pub(super) mod wrapper;
