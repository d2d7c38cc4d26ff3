//! Text to tokens: "which terms, at which positions, does this text hold under this analyzer?"

mod analyzer;
mod ascii;
mod english;
mod entities;
mod filter;
mod html;
mod porter;
mod registry;
mod tokenizer;
mod uax29;

pub use analyzer::{AnalyzedToken, Analyzer, Token};
pub use html::strip_html;
pub use registry::Analyzers;
