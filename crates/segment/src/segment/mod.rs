//! One immutable segment, open: "give me the terms, postings, columns, points and sources of its fields".

mod documents;
mod fields;
mod keys;
mod memory;
mod nested;
mod open;
mod presence;
mod view;

pub use keys::KEYS_KEPT_MAX;
pub use nested::NestedSpace;
pub use open::Segment;
pub use view::SegmentView;
