//! Parses `suggest`: which suggesters, over which fields, with which options.

mod collate;
mod completion;
mod parsed;
mod phrase;
mod similarity;
mod smoothing;
mod words;

pub(crate) use collate::{Collate, CollateTemplate};
pub(crate) use completion::{CompletionRequest, Scope, scopes};
pub use parsed::Suggest;
pub(crate) use parsed::{Common, Kind, Suggestion};
pub(crate) use phrase::{Generator, PhraseRequest};
pub(crate) use smoothing::Smoothing;
pub(crate) use words::{SortBy, SuggestMode, WordOptions};
