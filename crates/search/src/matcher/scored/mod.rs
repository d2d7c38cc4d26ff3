//! Matchers that find documents and their scores in one pass.

pub(super) mod common;
pub(super) mod conjunction;
pub(super) mod contenders;
pub(super) mod disjunction;
pub(super) mod guards;
pub(super) mod keeper;
pub(super) mod ranked;
pub(super) mod scored_term;
