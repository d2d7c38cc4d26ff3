//! Splits text into tokens: "which terms, at which positions, does this text contain under this analyzer?"
//!
//! A text passes through [`char_filter`]s, is split by a [`tokenizer`], and its tokens pass through
//! [`filter`]s ([`chain`]). Each of these folders has a table of types, with one file for each type, which
//! parses its settings as strictly as Elasticsearch. [`registry`] combines them to the analyzers of an index,
//! [`language`] to the built-in analyzers.
//!
//! **Invariant**: a component that produces more than the length of the text charges it to the request as it
//! grows ([`produced`]), and tokens are counted where they are made ([`pace`]), so that a text whose tokens
//! are all dropped can be cancelled too.

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
mod pace;
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
pub use registry::{AnalyzerParts, Analyzers, Declaration, text_of_request, type_names};
pub use resources::{AnalysisResources, FileFault, SeenToken, TokenPredicate, take_failure};
pub use token::{Analyzed, AnalyzedToken, Token};

pub(crate) use letters::lowercase_into;
