//! Text to tokens: "which terms, at which positions, does this text hold under this analyzer?"

mod analyzer;
mod ascii;
mod char_filter;
mod english;
mod entities;
mod filter;
mod folding;
mod html;
mod letters;
mod normalizer;
mod porter;
mod registry;
mod rewrite;
mod tokenizer;
mod uax29;

pub use analyzer::{AnalyzedToken, Analyzer, POSITION_INCREMENT_GAP, Token};
pub use html::strip_html;
pub use normalizer::Normalizer;
pub use registry::{AnalyzerParts, Analyzers};
