//! One immutable segment, open: "give me the terms, postings, columns, points, sources of its fields".

mod documents;
mod fields;
mod memory;
mod open;
mod presence;
mod view;

pub use open::{ID_PATH, Segment};
pub use view::SegmentView;
