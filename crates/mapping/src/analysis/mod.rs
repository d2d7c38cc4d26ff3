//! Text to tokens: "which terms, at which positions, does this text hold under this analyzer?"

mod analyzer;

pub use analyzer::{Analyzer, Token};
