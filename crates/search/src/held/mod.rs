//! Documents of a request as a shard of their own, in memory: "what would this document match if it were
//! indexed?"

mod hold;
mod index;
mod trial;

pub(crate) use hold::{LABEL, hold, take};
pub use index::index_scripts;
pub use trial::{emitted_by_name, hold_document};
