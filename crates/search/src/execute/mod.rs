//! A search over all its shards, from request to response: "what do they answer together?"
//!
//! [`conductor`] goes through the phases. [`query_phase`] asks the shards, or [`cached_answer`] knows what
//! they answered before; [`fusion`] joins several rankings, [`expand`] fetches the hits of each group,
//! [`profile`] shows what a search cost. [`ranking`] ends after the query phase.

mod cached_answer;
mod conductor;
mod expand;
mod fusion;
mod profile;
mod query_phase;
mod ranking;
#[cfg(test)]
mod tests;

pub use conductor::{count, execute, execute_page};
pub use ranking::{RankedDocument, RankedDocuments, rank};
