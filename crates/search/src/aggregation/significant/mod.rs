//! Aggregations of values that are more frequent in the matching documents than in a background set.

mod answer;
mod background;
mod heuristic;
mod p_value;
mod repeats;
mod request;
mod terms;
mod text;

pub use terms::SignificantTerms;
pub use text::SignificantText;
