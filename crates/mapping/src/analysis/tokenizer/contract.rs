//! The trait of all tokenizers, and the row of the table for a type of tokenizer.

use std::fmt::Debug;
use std::sync::Arc;

use super::super::chain::Emit;
use super::super::context::Context;
use super::super::settings::Settings;
use super::super::token::TokenBuf;
use crate::RequestError;

/// Splits a text into tokens.
pub(in crate::analysis) trait Tokenizer: Debug + Send + Sync {
    /// Fills `token` with each token in order and calls `emit`, until it returns false. `copy` is a scratch
    /// buffer for a copy of the text.
    fn split(&self, text: &str, copy: &mut String, token: &mut TokenBuf, emit: Emit<'_>);

    /// Whether no token spans white space, and no token depends on what follows it.
    fn ends_at_blanks(&self) -> bool {
        false
    }

    /// Returns the maximum length of a token; only for the standard tokenizer.
    fn standard_length_max(&self) -> Option<usize> {
        None
    }
}

/// A function that makes a tokenizer.
pub(in crate::analysis) type Make =
    fn(&Settings<'_>, &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError>;

/// A type of tokenizer. It can also be used by this name without settings.
pub(in crate::analysis) struct TokenizerType {
    /// The name in `type`.
    pub name: &'static str,
    /// Makes the tokenizer.
    pub make: Make,
}

/// Makes a row of the table.
pub(super) const fn of(name: &'static str, make: Make) -> TokenizerType {
    TokenizerType { name, make }
}
