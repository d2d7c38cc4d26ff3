//! Scores: "how well does this document match?", equal to Elasticsearch's to the last digit of a float, and
//! their explanation.

mod bm25;
mod explanation;
mod max_scores;
mod measured;
mod random;
mod scripted;

pub(crate) use bm25::FieldStatistics;
use bm25::explain_length;
pub(crate) use bm25::{Bm25, NormCache};
pub(crate) use explanation::Detail;
pub use explanation::Explanation;
pub use explanation::float_to_json;
pub(crate) use max_scores::{MaxScores, Span};
pub(crate) use measured::TermStatistics;
pub(crate) use random::RandomOf;
pub use scripted::check_similarity_scripts;
pub(crate) use scripted::{ScriptFailure, ScriptedTerm, SimilarityScripts};
