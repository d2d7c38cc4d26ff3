//! The source of a document, in whichever form its index stores it: "what did this document look like, and
//! which part of it is shown?"

mod filter;
mod filtered;
mod levels;
mod patterns;
mod shown;

pub use filter::SourceFilter;
pub(crate) use filtered::filter_below;
pub use filtered::{filter_parsed, filter_source};
pub(crate) use patterns::any_pattern;
pub(crate) use shown::read_source;
pub use shown::{read_document, shown_source, source_of_stored, stored_source};
