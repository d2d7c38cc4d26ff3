//! `icu_normalizer` and `icu_folding`: convert tokens to a Unicode form.
//!
//! Source: Elasticsearch's plugin `analysis-icu`.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::icu::Form;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Icu(Form);

/// Makes `icu_normalizer`. Reads `name` and `unicode_set_filter`; an unknown form is an error.
pub fn make_normalizer(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Icu(Form::normalizer(settings)?)).normalizing())
}

/// Makes `icu_folding`. Reads `unicode_set_filter`, the characters that it may change.
pub fn make_folding(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Icu(Form::folding(settings)?)).normalizing())
}

impl Each for Icu {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        if let std::borrow::Cow::Owned(made) = self.0.apply(&token.text) {
            token.text = made;
        }
        true
    }
}
