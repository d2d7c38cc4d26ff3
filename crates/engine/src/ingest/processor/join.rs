//! `join`: "join this array into one string". Source: Elasticsearch's `JoinProcessor`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::text::wrong_type;
use super::{Flow, Processor};

#[derive(Debug)]
struct Join {
    field: FieldPath,
    target: Option<FieldPath>,
    separator: String,
}

/// Compiles the processor. Options: `field` and `separator`; optional `target_field`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    Ok(Box::new(Join {
        field: options.path("field")?,
        separator: options.string("separator")?,
        target: options.optional_path("target_field")?,
    }))
}

impl Processor for Join {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let id = self.field.get(document)?;
        match document.node(id).kind {
            Kind::Array => {}
            Kind::Null => {
                let field = self.field.text();
                return Err(RequestError::illegal_argument(format!("field [{field}] is null, cannot join.")));
            }
            _ => return Err(wrong_type(document, &self.field, id, "java.util.List")),
        }
        let texts: Vec<String> = document.children(id).map(|child| java_text(document, child)).collect();
        let length = texts.iter().map(|text| text.len() + self.separator.len()).sum();
        document.ask_for_text(length)?;
        let joined = document.make_string(&texts.join(&self.separator))?;
        self.target.as_ref().unwrap_or(&self.field).set(document, joined)?;
        Ok(Flow::Continue)
    }
}
