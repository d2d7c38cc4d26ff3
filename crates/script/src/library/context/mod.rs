//! What scripts can call only in some contexts: "what does this context offer without a class?"

mod metadata;
mod nested_document;
mod score_functions;
mod token_members;
mod write_field;
mod written;

pub(crate) use score_functions::{Decay, call_built_in};
pub(crate) use token_members::{TOKEN_MEMBERS, token_member};
pub(crate) use write_field::field_items;
pub(super) use written::method;
