//! The query phase on one shard: "how many hits are there, and which are the best?"
//!
//! A search is bound ([`plan`], [`bound_search`]), run over the segments window by window ([`run`]), in parts
//! where threads are idle ([`parts`]), and keeps the best hits ([`top`]), which a second query may reorder
//! ([`rescore`]). Aggregations are fed beside it ([`sink`]). [`search`] conducts this, [`hits`] is the
//! answer.

pub(crate) mod bound_search;
pub(crate) mod hits;
mod parts;
mod plan;
mod ranked;
pub(crate) mod rescore;
mod run;
mod search;
mod sink;
mod top;

pub(crate) use parts::{CountOnly, Split};
pub(crate) use search::{After, ShardRequest, search};
pub(crate) use sink::Sink;
pub(crate) use top::hit_bytes;
