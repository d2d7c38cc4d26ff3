//! The node's resources for analyzers: "which words, synonyms and scripts does this filter mean?"
//!
//! [`node_analysis`] reads files of the configuration folder and compiles scripts over tokens; [`synonyms`]
//! are the sets that `_synonyms` keeps. Indices with equal declarations share their analyzers ([`shared`]).

mod node_analysis;
mod shared;
pub(crate) mod synonyms;

pub(crate) use node_analysis::{AnalysisOf, NodeAnalysis};
