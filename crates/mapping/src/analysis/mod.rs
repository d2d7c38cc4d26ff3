//! Text to tokens: "which terms, at which positions, does this text hold under this analyzer?"
//!
//! A text passes [`char_filter`]s, is cut by a [`tokenizer`], and its tokens pass [`filter`]s ([`chain`]).
//! Each of these folders has a table of types, a file for each: its settings are read strictly there, as
//! Elasticsearch reads them. [`registry`] puts the analyzers of an index together from them, [`language`]
//! those that come with the server.
//!
//! **Invariant**: whatever a part makes more of than the text has is told to the request as it grows
//! ([`produced`]).

mod analyzer;
mod ascii;
mod chain;
mod char_filter;
mod context;
mod derived;
mod filter;
mod hunspell;
mod icu;
mod java_pattern;
mod language;
mod letters;
mod normalizer;
mod produced;
mod registry;
mod resources;
mod settings;
mod stem;
mod token;
mod tokenizer;
mod uax29;
mod unicode;

pub use analyzer::{Analyzer, POSITION_INCREMENT_GAP};
pub use char_filter::strip_html;
pub use context::AnalysisLimits;
pub use normalizer::Normalizer;
pub use registry::{AnalyzerParts, Analyzers, text_of_request, type_names};
pub use resources::{AnalysisResources, FileFault, SeenToken, TokenPredicate, take_failure};
pub use token::{Analyzed, AnalyzedToken, Token};

pub(crate) use letters::lowercase_into;
