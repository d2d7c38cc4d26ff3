//! Matchers of terms and of the positions of terms.

pub(super) mod exact_phrase;
pub(crate) mod intervals;
pub(super) mod phrase;
pub(super) mod position_queue;
pub(super) mod positions;
pub(super) mod postings;
pub(super) mod source_phrase;
pub(crate) mod spans;
