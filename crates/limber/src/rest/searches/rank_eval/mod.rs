//! `_rank_eval`: how good the hits of searches are, given documents rated by people.

mod endpoint;
mod metric;
mod request;

pub use endpoint::ROUTES;
