//! The score functions of `function_score`.
//!
//! Each function is one file with its parser, its binding to a shard and its reader on a segment, and one
//! line in [`table::FUNCTIONS`].

mod decay;
mod definition;
mod field_value;
mod node;
mod random;
mod scorer;
mod script;
mod table;

pub(in crate::query) use definition::ScoreFunction;
pub(crate) use definition::{BoundFunction, FunctionReader};
pub(crate) use node::{FunctionScoreNode, ScoredFunction};
pub(crate) use script::script_name;
pub(in crate::query) use table::FUNCTIONS;
