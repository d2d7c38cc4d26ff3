//! Tokenizers: they split a text into tokens. One file each (or per family), one line in [`TOKENIZERS`].

mod char_group;
mod classic;
mod cut;
mod keyword;
mod letter;
mod ngram;
mod path_hierarchy;
mod pattern;
mod simple_pattern;
mod standard;
mod thai;
mod uax_url_email;
mod whitespace;

use std::fmt::Debug;
use std::sync::Arc;

use super::chain::Emit;
use super::context::Context;
use super::settings::Settings;
use super::token::TokenBuf;
use crate::RequestError;

pub(super) use cut::{is_letter, lower_and_pad, pieces};
pub(super) use ngram::bounds as gram_bounds;
pub(super) use pattern::splitting;

/// Splits a text into tokens.
pub(super) trait Tokenizer: Debug + Send + Sync {
    /// Fills `token` with each token in order and calls `emit`, until it returns false. `room` is a scratch
    /// buffer for a copy of the text.
    fn split(&self, text: &str, room: &mut String, token: &mut TokenBuf, emit: Emit<'_>);

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
pub(super) type Make = fn(&Settings<'_>, &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError>;

/// A type of tokenizer. It can also be used by this name without settings.
pub(super) struct TokenizerType {
    pub name: &'static str,
    pub make: Make,
}

const fn of(name: &'static str, make: Make) -> TokenizerType {
    TokenizerType { name, make }
}

pub(super) const TOKENIZERS: &[TokenizerType] = &[
    of("char_group", char_group::make),
    of("classic", classic::make),
    of("edge_ngram", ngram::make_edge),
    of("edgeNGram", ngram::make_edge),
    of("keyword", keyword::make),
    of("letter", letter::make),
    of("lowercase", letter::make_lowercase),
    of("ngram", ngram::make),
    of("nGram", ngram::make),
    of("path_hierarchy", path_hierarchy::make),
    of("PathHierarchy", path_hierarchy::make),
    of("pattern", pattern::make),
    of("simple_pattern", simple_pattern::make),
    of("simple_pattern_split", simple_pattern::make_split),
    of("standard", standard::make),
    of("thai", thai::make),
    of("uax_url_email", uax_url_email::make),
    of("whitespace", whitespace::make),
];
