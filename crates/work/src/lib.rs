//! The request that a thread works for: "may it continue, and may it have this much more memory?"
//!
//! A request can make anything grow: names by buckets, tags by matches, texts by analysis. The code that
//! runs a request [enters](Work::enter) it on each of its threads. Code that works for a request calls the
//! functions here and takes no parameter for it, so that a new aggregation, processor or filter is covered
//! as long as its loops call [`check`]. Memory is counted in two ways:
//!
//! - **Measured** ([`Meter`]): what the threads of the request have allocated and not freed, less what they
//!   charged explicitly. Every [`check`] reads it. Memory that another budget counts, such as the buffers
//!   of an index, is allocated [`aside`].
//! - **Stated**: what the values of a document expand to by analysis, multi-fields and copies
//!   ([`state_bytes`]); it is stated before it is allocated.
//!
//! Both are charged to the request's [`Account`] as they grow. The same check ends the work for a client
//! that is gone, for a cancelled task and after a deadline. Outside a request, for example when a shard is
//! recovered, nothing is ever refused.
//!
//! Code that cannot return an error, such as an analyzer, stops when [`state_bytes`] returns `false`. The
//! refusal is kept and becomes the result of the document ([`end_document`]) or of the whole request
//! ([`Entered::refusal`]).

#![deny(missing_docs)]

mod checked_bytes;
mod current;
mod document;
mod measured;
mod memory_limit_exceeded;
mod stated;
mod stop;
mod turn;
mod warn;
mod warnings;

pub use checked_bytes::CheckedBytes;
pub use current::{
    Entered, LONG, Work, aside, cancelled, check, check_beyond_deadline, check_growth, claim, claim_pieces,
    is_over, let_others_run, suspended,
};
pub use measured::{Account, Meter, allocated_bytes, count_allocations_by, note_charged};
pub use memory_limit_exceeded::MemoryLimitExceeded;
pub use stated::{
    PatternLimit, analysis_goes_on, begin_document, begin_patterns, end_document, filters_go_on, goes_on,
    has_room_for, has_room_for_pieces, hold_bytes, limit_patterns, pattern_time, spend_on_patterns,
    state_bytes,
};
pub use stop::Stop;
pub use turn::{GivenUp, ThreadOwner, give_up_turn, set_thread_owner, waiting};
pub use warn::{warn, warn_renamed, warn_unused, warnings};
pub use warnings::Warnings;

#[cfg(test)]
mod tests;
