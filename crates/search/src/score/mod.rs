//! Scores: "how well does this document match?", equal to Elasticsearch's to the last float digit, and their explanation.

mod bm25;
mod explanation;

pub use bm25::FieldStatistics;
pub(crate) use bm25::{Bm25, NormCache};
pub use explanation::float_to_json;
pub use explanation::{Detail, Explanation};
