//! `dot_expander`: "turn a field with dots in its name into objects". Source: Elasticsearch's
//! `DotExpanderProcessor`.

use limber_mapping::RequestError;

use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::document::{IngestDocument, ROOT};
use super::super::options::Options;
use super::append::append;
use super::text::wrong_type;
use super::{Flow, Processor};

#[derive(Debug)]
struct DotExpander {
    /// The field; `*` means every field with a dot.
    field: String,
    /// The object that holds the fields; `None` means the document.
    path: Option<String>,
    overrides: bool,
}

/// Compiles the processor. Options: `field`; optional `path` and `override` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.string("field")?;
    let refused = if !field.contains('.') && field != "*" {
        Some("field does not contain a dot and is not a wildcard")
    } else if field.starts_with('.') || field.ends_with('.') {
        Some("Field can't start or end with a dot")
    } else if field.contains("..") {
        Some("No space between dots")
    } else {
        None
    };
    if let Some(reason) = refused {
        return Err(options.error("field", reason));
    }
    let path = options.optional_string("path")?;
    let overrides = options.bool_or("override", false)?;
    Ok(Box::new(DotExpander { field, path, overrides }))
}

impl Processor for DotExpander {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let holder = match &self.path {
            None => ROOT,
            Some(path) => {
                if path.starts_with('.') {
                    return Err(RequestError::illegal_argument(format!("path [{path}] is not valid")));
                }
                let path = FieldPath::parse(path)?;
                let holder = path.get(document)?;
                if document.node(holder).kind != Kind::Object {
                    return Err(wrong_type(document, &path, holder, "java.util.Map"));
                }
                path.mark_edited(document)?;
                holder
            }
        };
        if self.field != "*" {
            self.expand(document, holder, &self.field)?;
            return Ok(Flow::Continue);
        }
        let names: Vec<String> =
            document.children(holder).map(|child| document.key(child).into_owned()).collect();
        for name in names.iter().filter(|name| name.contains('.')) {
            self.expand(document, holder, name)?;
        }
        Ok(Flow::Continue)
    }
}

impl DotExpander {
    /// Moves the member with exactly this name to the path that its dots describe.
    fn expand(&self, document: &mut IngestDocument<'_>, holder: u32, name: &str) -> Result<(), RequestError> {
        let Some((member, _)) = document.member(holder, name) else { return Ok(()) };
        let full = match &self.path {
            Some(path) => format!("{path}.{name}"),
            None => name.to_owned(),
        };
        let path = FieldPath::parse(&full)?;
        let value = *document.node(member);
        let is_there = path.find(document)?.is_some();
        if !is_there {
            for (at, _) in full.match_indices('.') {
                let above = FieldPath::parse(&full[..at])?;
                let Some(found) = above.find(document)? else { break };
                if document.node(found.node).kind != Kind::Object {
                    return Err(RequestError::illegal_argument(format!(
                        "cannot expand [{full}], because [{}] is not an object field, but a value field",
                        above.text()
                    )));
                }
            }
        }
        if let Some((member, before)) = document.member(holder, name) {
            document.unlink(holder, member, before);
        }
        match is_there && !self.overrides {
            true => append(document, &path, value, true),
            false => path.set(document, value),
        }
    }
}
