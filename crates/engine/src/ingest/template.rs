//! Mustache snippets such as `{{_ingest.timestamp}}`: "what does this template produce for this document?"
//!
//! Supports only variables (`{{a.b}}`, `{{{a.b}}}`, `{{&a.b}}`) and comments (`{{! }}`); sections and
//! partials are refused by name. As in Elasticsearch, `{{ }}` escapes for the media type (JSON by default),
//! `{{{ }}}` does not, and a missing variable produces nothing.

use limber_mapping::RequestError;
use limber_script::mustache::{self, Escape};
use limber_text::url;
use limber_work as work;

use super::document::node::{Kind, Node, NodeId};
use super::document::path::FieldPath;
use super::document::value::java_text;
use super::document::{GROWTH_BYTES_MAX, IngestDocument, json, too_large};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    /// `_ingest.timestamp`, whose text never needs escaping.
    Timestamp,
    Value(FieldPath, Escape),
}

/// A compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: Box<str>,
    parts: Box<[Part]>,
}

impl Template {
    /// Whether Elasticsearch would treat the string as a template at all.
    pub fn is_template(text: &str) -> bool {
        text.contains("{{")
    }

    /// Compiles a template. Sections and partials are refused by name.
    pub fn parse(source: &str, escape: Escape) -> Result<Template, RequestError> {
        let invalid = |what: &str| mustache::invalid(source, what);
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some(open) = rest.find("{{") {
            // A tag of five bytes becomes a part of a hundred.
            work::check_beyond_deadline()?;
            if open > 0 {
                parts.push(Part::Text(rest[..open].into()));
            }
            rest = &rest[open + 2..];
            let (close, raw) = if rest.starts_with('{') { ("}}}", true) } else { ("}}", false) };
            let end = rest.find(close).ok_or_else(|| invalid("Improperly closed variable"))?;
            let inside = rest[usize::from(raw)..end].trim();
            rest = &rest[end + close.len()..];
            match inside.chars().next() {
                None => return Err(invalid("Empty mustache")),
                Some('!') => continue,
                Some(kind @ ('#' | '^' | '/' | '>' | '=' | '<' | '$')) => {
                    return Err(RequestError::unsupported(format!(
                        "the mustache tag [{kind}] in the template [{source}]"
                    )));
                }
                Some('&') => parts.push(variable(inside[1..].trim(), Escape::None)?),
                Some(_) => parts.push(variable(inside, if raw { Escape::None } else { escape })?),
            }
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.into()));
        }
        Ok(Template { source: source.into(), parts: parts.into() })
    }

    /// Returns the template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Renders the template for this document.
    pub fn render(&self, document: &mut IngestDocument<'_>) -> Result<String, RequestError> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Timestamp if document.ingest_if_made().is_none() => out.push_str(document.timestamp()),
                Part::Timestamp => push_value(document, &timestamp_path(), Escape::None, &mut out)?,
                Part::Value(path, escape) => push_value(document, path, *escape, &mut out)?,
            }
            if out.len() > GROWTH_BYTES_MAX {
                return Err(too_large());
            }
        }
        Ok(out)
    }

    /// Renders the template as a string value of the document.
    pub fn render_node(&self, document: &mut IngestDocument<'_>) -> Result<Node, RequestError> {
        if let [Part::Timestamp] = *self.parts
            && let Some(timestamp) = document.given_timestamp()
        {
            return Ok(timestamp);
        }
        let text = self.render(document)?;
        document.make_string(&text)
    }
}

fn timestamp_path() -> FieldPath {
    FieldPath::parse("_ingest.timestamp").expect("a constant path parses")
}

fn variable(name: &str, escape: Escape) -> Result<Part, RequestError> {
    if name == "_ingest.timestamp" {
        return Ok(Part::Timestamp);
    }
    Ok(Part::Value(FieldPath::parse(name)?, escape))
}

fn push_value(
    document: &mut IngestDocument<'_>,
    path: &FieldPath,
    escape: Escape,
    out: &mut String,
) -> Result<(), RequestError> {
    let Some(found) = path.find(document)? else { return Ok(()) };
    let length = document.node(found.node).text.len as usize;
    // The string that is read, and the output, which may double its capacity.
    work::claim((2 * length + 2 * out.len()) as u64)?;
    let text = text_of(document, found.node);
    match escape {
        Escape::None => out.push_str(&text),
        Escape::Json => {
            json::push_escaped(out, &text);
        }
        Escape::Url => url::push_form_encoded(out, &text),
    }
    Ok(())
}

fn text_of(document: &IngestDocument<'_>, id: NodeId) -> String {
    match document.node(id).kind {
        Kind::Null => String::new(),
        Kind::String => document.string(id).into_owned(),
        _ => java_text(document, id),
    }
}

/// A string that may be a template, such as the field name of `set` or the message of `fail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// The same string for every document.
    Plain(Box<str>),
    /// A template that is rendered for each document.
    Template(Template),
}

impl Text {
    /// Compiles the string if it is a template.
    pub fn parse(text: &str) -> Result<Text, RequestError> {
        if Template::is_template(text) {
            Ok(Text::Template(Template::parse(text, Escape::Json)?))
        } else {
            Ok(Text::Plain(text.into()))
        }
    }

    /// Returns the string for this document.
    pub fn render(&self, document: &mut IngestDocument<'_>) -> Result<String, RequestError> {
        match self {
            Text::Plain(text) => Ok(text.to_string()),
            Text::Template(template) => template.render(document),
        }
    }
}

/// A field name that may be a template. A plain name is parsed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldName {
    /// The same field for every document.
    Path(FieldPath),
    /// A template that is rendered for each document.
    Template(Template),
}

impl FieldName {
    /// Parses the path, or compiles the template.
    pub fn parse(text: &str) -> Result<FieldName, RequestError> {
        if Template::is_template(text) {
            Ok(FieldName::Template(Template::parse(text, Escape::Json)?))
        } else {
            Ok(FieldName::Path(FieldPath::parse(text)?))
        }
    }

    /// Calls `then` with the path for this document.
    #[inline]
    pub fn with<T>(
        &self,
        document: &mut IngestDocument<'_>,
        then: impl FnOnce(&mut IngestDocument<'_>, &FieldPath) -> Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        match self {
            FieldName::Path(path) => then(document, path),
            FieldName::Template(template) => {
                let path = FieldPath::parse(&template.render(document)?)?;
                then(document, &path)
            }
        }
    }
}

/// The value of `set` and `append`: any JSON, in which every string and every key may be a template.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// A value without templates: its JSON type and text.
    Plain(Kind, Box<str>),
    /// A string that is a template.
    Template(Template),
    /// An object that contains templates.
    Object(Vec<(Text, ValueSource)>),
    /// An array that contains templates.
    Array(Vec<ValueSource>),
}

impl ValueSource {
    /// Compiles all templates in a value.
    pub fn parse(value: &serde_json::Value, escape: Escape) -> Result<ValueSource, RequestError> {
        use serde_json::Value;
        if !has_template(value) {
            let kind = match value {
                Value::Null => Kind::Null,
                Value::Bool(false) => Kind::False,
                Value::Bool(true) => Kind::True,
                Value::Number(_) => Kind::Number,
                Value::String(_) => Kind::String,
                Value::Array(_) => Kind::Array,
                Value::Object(_) => Kind::Object,
            };
            return Ok(ValueSource::Plain(kind, value.to_string().into()));
        }
        Ok(match value {
            Value::String(text) => ValueSource::Template(Template::parse(text, escape)?),
            Value::Array(values) => ValueSource::Array(
                values.iter().map(|value| ValueSource::parse(value, escape)).collect::<Result<_, _>>()?,
            ),
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| Ok((Text::parse(key)?, ValueSource::parse(value, escape)?)));
                ValueSource::Object(members.collect::<Result<_, RequestError>>()?)
            }
            _ => unreachable!("only strings, arrays and objects hold templates"),
        })
    }

    /// Whether the value is a string that is a template.
    pub fn is_template(&self) -> bool {
        matches!(self, ValueSource::Template(_))
    }

    /// Makes the value for this document, outside the tree.
    #[inline]
    pub fn make(&self, document: &mut IngestDocument<'_>) -> Result<Node, RequestError> {
        match self {
            ValueSource::Template(template) => template.render_node(document),
            ValueSource::Plain(Kind::Array | Kind::Object, text) => document.make_sound_json(text),
            ValueSource::Plain(Kind::String, text) => {
                let escaped = text.contains('\\');
                document.make_string_with(text.len(), |out| {
                    out.push_str(&text[1..text.len() - 1]);
                    escaped
                })
            }
            ValueSource::Plain(kind, text) => document.make_scalar(*kind, text),
            ValueSource::Array(values) => {
                let array = document.add(Node::container(Kind::Array));
                for value in values {
                    let value = value.make(document)?;
                    document.append_child(array, "", value)?;
                }
                Ok(*document.node(array))
            }
            ValueSource::Object(members) => {
                let object = document.add(Node::container(Kind::Object));
                for (key, value) in members {
                    let key = key.render(document)?;
                    let value = value.make(document)?;
                    document.append_child(object, &key, value)?;
                }
                Ok(*document.node(object))
            }
        }
    }
}

fn has_template(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::String(text) => Template::is_template(text),
        Value::Array(values) => values.iter().any(has_template),
        Value::Object(members) => {
            members.iter().any(|(key, value)| Template::is_template(key) || has_template(value))
        }
        _ => false,
    }
}
