//! `pattern_replace`: replaces the matches of a Java pattern.

use limber_text::pattern::{Pattern, Replacement};

use super::{CharFilter, Rewrite, Rewriter, Rewritten};
use crate::RequestError;
use crate::analysis::context::Context;
use crate::analysis::java_pattern;
use crate::analysis::resources::fail;
use crate::analysis::settings::Settings;

#[derive(Debug)]
struct PatternReplace {
    pattern: Pattern,
    replacement: Replacement,
}

/// Reads `pattern` (required), `replacement` (nothing by default) and `flags`.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<CharFilter, RequestError> {
    let Some(pattern) = settings.text("pattern").filter(|pattern| !pattern.is_empty()) else {
        return Err(RequestError::illegal_argument(format!(
            "pattern is missing for [{}] char filter of type 'pattern_replace'",
            settings.name
        )));
    };
    let pattern = java_pattern::parse(&pattern, settings.text("flags").as_deref())?;
    let replacement = Replacement::parse(&settings.text_or("replacement", ""));
    Ok(CharFilter::new(PatternReplace { pattern, replacement }, true))
}

impl Rewrite for PatternReplace {
    fn apply(&self, text: &str) -> Rewritten {
        let mut rewriter = Rewriter::new(text);
        let names = self.pattern.group_names();
        let (mut read, mut expanded) = (0, String::new());
        java_pattern::each(&self.pattern, text, |groups| {
            let (start, end) = groups[0].unwrap_or_default();
            expanded.clear();
            if let Err(error) = self.replacement.push(text, groups, &names, &mut expanded) {
                return fail(error.into());
            }
            rewriter.keep(start - read);
            read = end;
            rewriter.replace(end - start, &expanded)
        });
        rewriter.finish()
    }
}
