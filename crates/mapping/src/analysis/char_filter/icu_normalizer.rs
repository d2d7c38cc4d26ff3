//! `icu_normalizer`: converts a text to a Unicode normalization form before it is tokenized.

use super::{CharFilter, Rewrite, Rewriter, Rewritten};
use crate::RequestError;
use crate::analysis::context::Context;
use crate::analysis::icu::Form;
use crate::analysis::settings::Settings;
use crate::analysis::unicode;

#[derive(Debug)]
struct IcuNormalizer(Form);

/// Reads `name`, `mode` and `unicode_set_filter`. An unknown form is an error.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<CharFilter, RequestError> {
    Ok(CharFilter::new(IcuNormalizer(Form::normalizer(settings)?), true))
}

/// Whether a character may combine with the one before it.
fn joins(c: char) -> bool {
    !c.is_ascii() && (unicode::is_mark(c) || matches!(c, '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}'))
}

impl Rewrite for IcuNormalizer {
    fn apply(&self, text: &str) -> Rewritten {
        let mut rewriter = Rewriter::new(text);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let after = first.len_utf8();
            let length = rest[after..].find(|c| !joins(c)).map_or(rest.len(), |more| after + more);
            let part = &rest[..length];
            let made = self.0.apply(part);
            if made == part {
                rewriter.keep(length);
            } else if !rewriter.replace(length, &made) {
                break;
            }
            rest = &rest[length..];
        }
        rewriter.finish()
    }
}
