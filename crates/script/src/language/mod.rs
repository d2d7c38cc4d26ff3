//! Painless and expressions to one typed tree: "what does this source say?"
//!
//! The lexer gives tokens, the parsers resolve names to slots and check types as far as they are known
//! ([`Compiled`]).

mod compiled;
mod context;
mod conversions;
mod expression;
mod lexer;
mod parse_expr;
mod parse_make;
mod parse_runtime;
mod parser;
mod tree;

pub use compiled::Compiled;
pub use context::{Emits, ScriptContext};
pub(crate) use expression::compile_expression;
pub(crate) use parser::compile_painless;
pub(crate) use tree::{Expr, Kind, LambdaBody, Stmt, Variable};
