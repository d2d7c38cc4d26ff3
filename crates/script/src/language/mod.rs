//! Parses Painless and expressions into one typed tree: "what does this source say?"
//!
//! The lexer splits the source into tokens. The parsers resolve names to slots and check types as far as
//! they are known ([`Compiled`]).

mod compiled;
mod context;
mod conversions;
mod expression;
mod lexer;
mod operators;
mod parse_expr;
mod parse_make;
mod parse_name;
mod parse_runtime;
mod parse_statement;
mod parse_write;
mod parser;
mod tree;

pub use compiled::Compiled;
pub use context::{Emits, ScriptContext};
pub(crate) use expression::compile_expression;
pub(crate) use parser::compile_painless;
pub(crate) use tree::{Expr, Kind, Lambda, LambdaBody, Reference, Stmt, Variable};
