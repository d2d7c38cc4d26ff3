//! Types, operators and constants of both languages: "what is this name, and what kind of value does it
//! stand for?"

mod classes;
mod literal;
mod operator;
mod part;
mod value_type;

pub(crate) use classes::{CLASSES, class_of, is_functional, type_of};
pub(crate) use literal::Literal;
pub(crate) use operator::{Binary, Unary};
pub(crate) use part::{DatePart, FieldPart};
pub(crate) use value_type::Type;
