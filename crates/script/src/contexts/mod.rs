//! Scripts without documents: "what does this make of `ctx`, of numbers, of a token?"

mod context;
mod detached;
mod similarity;

pub use context::{ContextRun, ContextScript, ContextValue, View};
pub use detached::{DetachedRun, DetachedScript, run_on_context};
pub use similarity::{SimilarityScript, SimilarityTerm};
