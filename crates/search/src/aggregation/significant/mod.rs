//! Aggregations by what sets documents apart: which values are more frequent here than elsewhere?

mod answer;
mod background;
mod heuristic;
mod repeats;
mod request;
mod terms;
mod text;

pub use terms::SignificantTerms;
pub use text::SignificantText;
