//! Matchers that find documents by terms, by the positions of terms, and by how many of several queries match (`terms_set`).

pub(super) mod exact_phrase;
pub(crate) mod intervals;
pub(super) mod phrase;
pub(super) mod position_queue;
pub(super) mod positions;
pub(super) mod postings;
pub(super) mod source_phrase;
pub(crate) mod spans;
pub(super) mod terms_set;
