//! `split`: "split this string at every match of the separator". Source: Elasticsearch's `SplitProcessor`
//! over `String.split`.

use limber_mapping::RequestError;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node};
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::{pieces, string_field};
use super::{Flow, Processor};
use limber_text::pattern::Pattern;

#[derive(Debug)]
struct Split {
    field: FieldPath,
    target: Option<FieldPath>,
    separator: Pattern,
    ignore_missing: bool,
    preserve_trailing: bool,
}

/// Compiles the processor. Options: `field` and `separator`; optional `ignore_missing` (false),
/// `target_field` and `preserve_trailing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let separator = options.string("separator")?;
    let separator = Pattern::parse(&separator)
        .map_err(|reason| options.error("separator", &format!("Invalid regex pattern. {reason}")))?;
    let target = options.optional_path("target_field")?;
    let preserve_trailing = options.bool_or("preserve_trailing", false)?;
    Ok(Box::new(Split { field, target, separator, ignore_missing, preserve_trailing }))
}

impl Processor for Split {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(text) = string_field(document, &self.field, self.ignore_missing, "cannot split.")? else {
            return Ok(Flow::Continue);
        };
        let pieces =
            pieces(&text, self.preserve_trailing, |each| Ok(self.separator.find_each(&text, each)?))?;
        let list = document.add(Node::container(Kind::Array));
        for piece in pieces {
            work::check()?;
            let piece = document.make_string(piece)?;
            document.append_child(list, "", piece)?;
        }
        let list = *document.node(list);
        self.target.as_ref().unwrap_or(&self.field).set(document, list)?;
        Ok(Flow::Continue)
    }
}
