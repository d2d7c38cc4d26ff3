//! `split_to_fields`: "split this string, and put each piece into a field of its own". Source: OpenSearch's
//! `SplitToFieldsProcessor`.

use limber_mapping::RequestError;
use limber_text::pattern::Pattern;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::{pieces, string_field};
use super::{Flow, Processor};

#[derive(Debug)]
struct SplitToFields {
    field: FieldPath,
    /// Or the reason why it is no pattern, which OpenSearch finds when it splits a text.
    separator: Result<Pattern, String>,
    targets: Vec<String>,
    ignore_missing: bool,
    preserve_trailing: bool,
}

/// Compiles the processor. Options: `field`, `separator` and `target_fields`; optional `ignore_missing`
/// (false) and `preserve_trailing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let separator = options.string("separator")?;
    let targets = options.strings("target_fields")?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let preserve_trailing = options.bool_or("preserve_trailing", false)?;
    let separator = Pattern::parse(&separator);
    Ok(Box::new(SplitToFields { field, separator, targets, ignore_missing, preserve_trailing }))
}

impl Processor for SplitToFields {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(text) = string_field(document, &self.field, self.ignore_missing, "cannot split.")? else {
            return Ok(Flow::Continue);
        };
        let refused = |reason: &String| RequestError::bad_request("pattern_syntax_exception", reason.clone());
        let separator = self.separator.as_ref().map_err(refused)?;
        let pieces = pieces(&text, self.preserve_trailing, |each| Ok(separator.find_each(&text, each)?))?;
        for (target, piece) in self.targets.iter().zip(pieces) {
            work::check()?;
            let piece = document.make_string(piece)?;
            FieldPath::parse(target)?.set(document, piece)?;
        }
        Ok(Flow::Continue)
    }
}
