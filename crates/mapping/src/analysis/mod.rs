//! Text to tokens: "which terms, at which positions, does this text hold under this analyzer?"

mod analyzer;
mod registry;

pub use analyzer::{Analyzer, Token};
pub use registry::Analyzers;
