//! `_rank_eval`: how good the hits of searches are, by documents that somebody rated.

mod endpoint;
mod metric;
mod request;

pub use endpoint::ROUTES;
