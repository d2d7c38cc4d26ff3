//! The request that a thread works for: "may it go on, and may it have this much more memory?"
//!
//! A request can make anything grow: names by buckets, tags by matches, texts by analysis. Whoever runs a
//! request [enters](Work::enter) it on each of its threads; whatever works for it asks here, without being
//! handed anything, so that a new aggregation, processor or filter cannot forget it as long as its loops ask.
//! Memory is counted in two ways:
//!
//! - **Measured** ([`Meter`]): what the threads of the request have allocated and not freed, less what they
//!   charged by hand. It is looked at in every [`check`]. Memory that another budget counts, such as the
//!   buffers of an index, is made [`aside`].
//! - **Stated**: what the values of a document become by analysis, multi-fields and copies ([`makes`]),
//!   before it is made.
//!
//! Both are charged to the request's [`Account`] as they grow. The same question ends the work of a client
//! that is gone, of a cancelled task and after a deadline. Outside of a request, as when a shard is
//! recovered, nothing is ever refused.
//!
//! Code that cannot fail, such as an analyzer, stops where [`makes`] says so; the refusal is kept, and is the
//! answer of the document ([`end_document`]) or of the whole request ([`Entered::refusal`]).

#![deny(missing_docs)]

mod current;
mod document;
mod measured;
mod no_room;
mod stated;
mod stop;
mod warn;
mod warnings;

pub use current::{
    Entered, Work, aside, cancelled, check, check_beyond_deadline, check_growth, claim, suspended,
};
pub use measured::{Account, Meter, allocated_bytes, count_allocations_by, note_charged};
pub use no_room::NoRoom;
pub use stated::{
    begin_document, begin_patterns, end_document, filters_go_on, goes_on, keeps, makes, pattern_time,
    spend_on_patterns,
};
pub use stop::Stop;
pub use warn::{warn, warn_renamed, warn_unused, warnings};
pub use warnings::Warnings;

#[cfg(test)]
mod tests;
