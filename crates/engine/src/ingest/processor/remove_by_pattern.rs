//! `remove_by_pattern`: "remove the fields whose names match", or all others.
//!
//! Source: OpenSearch's documentation of its `remove_by_pattern` processor. The names are those of the
//! members at the root of the document.

use limber_mapping::RequestError;
use limber_text::wildcard;
use limber_work as work;

use super::super::document::node::NONE;
use super::super::document::{IngestDocument, ROOT};
use super::super::options::Options;
use super::{Flow, Processor};

#[derive(Debug)]
struct RemoveByPattern {
    patterns: Vec<String>,
    /// Whether matching fields are kept and the others removed.
    keeps: bool,
}

/// Compiles the processor. Options: one of `field_pattern` and `exclude_field_pattern`, each a pattern or an
/// array of patterns.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let removed = options.string_or_list("field_pattern")?;
    let kept = options.string_or_list("exclude_field_pattern")?;
    match (removed, kept) {
        (Some(_), Some(_)) | (None, None) => {
            Err(options.error("field_pattern", "either field_pattern or exclude_field_pattern must be set"))
        }
        (Some(patterns), None) => Ok(Box::new(RemoveByPattern { patterns, keeps: false })),
        (None, Some(patterns)) => Ok(Box::new(RemoveByPattern { patterns, keeps: true })),
    }
}

impl Processor for RemoveByPattern {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        document.mark_edited(ROOT);
        let (mut before, mut child) = (NONE, document.node(ROOT).first);
        while child != NONE {
            work::check()?;
            let next = document.node(child).next;
            let key = document.key(child);
            let fits = self.patterns.iter().any(|pattern| wildcard::matches(pattern, &key));
            match fits == self.keeps {
                true => before = child,
                false => document.unlink(ROOT, child, before),
            }
            child = next;
        }
        Ok(Flow::Continue)
    }
}
