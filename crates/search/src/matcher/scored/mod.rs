//! Matchers that find documents and their scores in one pass, window by window.

pub(super) mod conjunction;
pub(super) mod contenders;
pub(super) mod disjunction;
pub(super) mod ranked;
pub(super) mod scored_term;
