//! What scripts can call only in some contexts: "what does this context offer without a class?"

mod score_functions;
mod token_members;

pub(crate) use score_functions::{Decay, call_built_in};
pub(crate) use token_members::{TOKEN_MEMBERS, token_member};
