//! `reroute`: "send this document to another index". Source: Elasticsearch's `RerouteProcessor`.

use limber_mapping::{RequestError, java_class};
use serde_json::Value;

use super::super::document::node::{Kind, Node};
use super::super::document::path::FieldPath;
use super::super::document::{IngestDocument, ROOT};
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct Reroute {
    index: FieldPath,
    event_dataset: FieldPath,
    /// The whole index name; `None` when it is built from `parts`.
    destination: Option<String>,
    /// Type, dataset and namespace.
    parts: [Part; 3],
}

/// One part of `type-dataset-namespace`.
#[derive(Debug)]
struct Part {
    /// The field of this part, such as `data_stream.dataset`.
    field: &'static str,
    path: FieldPath,
    /// The first source that has a value is used.
    sources: Vec<Source>,
    allows_dash: bool,
}

#[derive(Debug)]
enum Source {
    Text(String),
    Field(String),
}

/// Longest part, in characters.
const PART_LENGTH_MAX: usize = 100;

/// Compiles the processor. Optional: `destination`, or `dataset` and `namespace`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let mut part = |name: &str, field: &'static str, allows_dash: bool| {
        let given = texts(options, name)?;
        let is_given = given.is_some();
        let mut sources = Vec::new();
        for text in given.unwrap_or_default() {
            match text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")) {
                Some(field) => {
                    sources.push(Source::Field(field.trim_matches(['{', '}']).trim().to_owned()));
                }
                None if sanitized(&text, allows_dash) != text => {
                    let reason = format!("'{text}' contains disallowed characters");
                    return Err(options.error(name, &reason));
                }
                None => sources.push(Source::Text(text)),
            }
        }
        if sources.is_empty() {
            sources.push(Source::Field(field.to_owned()));
        }
        Ok((Part { field, path: FieldPath::parse(field)?, sources, allows_dash }, is_given))
    };
    let (kind, has_kind) = part("type", "data_stream.type", false)?;
    let (dataset, has_dataset) = part("dataset", "data_stream.dataset", false)?;
    let (namespace, has_namespace) = part("namespace", "data_stream.namespace", true)?;
    let destination = options.optional_string("destination")?;
    if destination.is_some() && (has_kind || has_dataset || has_namespace) {
        let reason = "can only be set if type, dataset, and namespace are not set";
        return Err(options.error("destination", reason));
    }
    let (index, event_dataset) = (FieldPath::parse("_index")?, FieldPath::parse("event.dataset")?);
    Ok(Box::new(Reroute { index, event_dataset, destination, parts: [kind, dataset, namespace] }))
}

/// Reads a string or an array of strings.
fn texts(options: &mut Options, name: &str) -> Result<Option<Vec<String>>, RequestError> {
    match options.take(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(vec![text])),
        Some(Value::Array(items)) => {
            let text = |item: Value| match item {
                Value::String(text) => Ok(text),
                other => {
                    let reason = format!("property isn't a string, but of type [{}]", java_class(&other));
                    Err(options.error(name, &reason))
                }
            };
            items.into_iter().map(text).collect::<Result<_, _>>().map(Some)
        }
        Some(other) => {
            let reason = format!("property isn't a list, but of type [{}]", java_class(&other));
            Err(options.error(name, &reason))
        }
    }
}

/// Makes a string valid as a part of an index name: lower case, with underscores for forbidden characters.
fn sanitized(text: &str, allows_dash: bool) -> String {
    let is_refused = |character: char| {
        matches!(character, '\\' | '/' | '*' | '?' | '"' | '<' | '>' | '|' | ' ' | ',' | '#' | ':')
            || (character == '-' && !allows_dash)
    };
    let characters = text.to_lowercase().chars().take(PART_LENGTH_MAX).collect::<String>();
    characters.replace(is_refused, "_")
}

impl Processor for Reroute {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        if let Some(destination) = &self.destination {
            self.set_index(document, destination)?;
            return Ok(Flow::Rerouted);
        }
        let current = string_field(document, &self.index, true, "")?.unwrap_or_default().into_owned();
        let mut old = current.splitn(3, '-');
        let (Some(kind), Some(dataset), Some(namespace)) = (old.next(), old.next(), old.next()) else {
            return Err(RequestError::illegal_argument(format!(
                "invalid data stream name: [{current}]; must follow naming scheme <type>-<dataset>-<namespace>"
            )));
        };
        let mut texts = Vec::with_capacity(3);
        for (part, old) in self.parts.iter().zip([kind, dataset, namespace]) {
            texts.push(part.text(document)?.unwrap_or_else(|| old.to_owned()));
        }
        self.set_index(document, &texts.join("-"))?;
        for (part, text) in self.parts.iter().zip(&texts) {
            let value = document.make_string(text)?;
            part.set(document, value)?;
        }
        if self.event_dataset.find(document)?.is_some() {
            let value = document.make_string(&texts[1])?;
            self.event_dataset.set(document, value)?;
        }
        Ok(Flow::Rerouted)
    }
}

impl Reroute {
    fn set_index(&self, document: &mut IngestDocument<'_>, name: &str) -> Result<(), RequestError> {
        let name = document.make_string(name)?;
        self.index.set(document, name)
    }
}

impl Part {
    /// Returns the value of the first source that the document has.
    fn text(&self, document: &mut IngestDocument<'_>) -> Result<Option<String>, RequestError> {
        for source in &self.sources {
            let field = match source {
                Source::Text(text) => return Ok(Some(text.clone())),
                Source::Field(field) => field,
            };
            // A member whose name contains the dots counts as the field of that path.
            if let Some((member, _)) = document.member(ROOT, field)
                && document.node(member).kind == Kind::String
            {
                return Ok(Some(sanitized(&document.string(member), self.allows_dash)));
            }
            if let Some(text) = string_field(document, &FieldPath::parse(field)?, true, "")? {
                return Ok(Some(sanitized(&text, self.allows_dash)));
            }
        }
        Ok(None)
    }

    fn set(&self, document: &mut IngestDocument<'_>, value: Node) -> Result<(), RequestError> {
        match document.member(ROOT, self.field) {
            Some((member, _)) => {
                document.replace(member, value);
                document.mark_edited(ROOT);
                Ok(())
            }
            None => self.path.set(document, value),
        }
    }
}
