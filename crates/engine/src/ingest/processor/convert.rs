//! `convert`: "turn this value into another type".
//!
//! Source: Elasticsearch's `ConvertProcessor`. Integers may be hexadecimal (`0x`); decimals are parsed as
//! Java parses them.

use limber_mapping::RequestError;
use limber_mapping::number::{double_from_text, float_from_text, java_double, java_float};

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::{java_text, java_type, parse_integer};
use super::super::options::Options;
use super::{Flow, Processor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer,
    Long,
    Float,
    Double,
    Boolean,
    Ip,
    String,
    Auto,
}

const TYPES: [(&str, Type); 8] = [
    ("integer", Type::Integer),
    ("long", Type::Long),
    ("float", Type::Float),
    ("double", Type::Double),
    ("boolean", Type::Boolean),
    ("ip", Type::Ip),
    ("string", Type::String),
    ("auto", Type::Auto),
];

#[derive(Debug)]
struct Convert {
    field: FieldPath,
    target: Option<FieldPath>,
    kind: Type,
    name: &'static str,
    ignore_missing: bool,
}

/// Compiles the processor. Options: `field` and `type`; optional `target_field` and `ignore_missing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let wanted = options.string("type")?;
    let target = options.optional_path("target_field")?.filter(|target| *target != field);
    let Some(&(name, kind)) = TYPES.iter().find(|(name, _)| wanted.eq_ignore_ascii_case(name)) else {
        return Err(options.error("type", &format!("type [{wanted}] not supported, cannot convert field.")));
    };
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    Ok(Box::new(Convert { field, target, kind, name, ignore_missing }))
}

impl Processor for Convert {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(found) = self.field.find(document)? else {
            if self.ignore_missing {
                return Ok(Flow::Continue);
            }
            self.field.get(document)?;
            return Ok(Flow::Continue);
        };
        let id = found.node;
        let made = match document.node(id).kind {
            Kind::Null if self.ignore_missing => return Ok(Flow::Continue),
            Kind::Null => {
                let reason = format!(
                    "Field [{}] is null, cannot be converted to type [{}]",
                    self.field.text(),
                    self.name
                );
                return Err(RequestError::illegal_argument(reason));
            }
            Kind::Array => self.list(document, id)?,
            _ => self.one(document, id)?,
        };
        match (&self.target, made) {
            (Some(target), Some(value)) => target.set(document, value)?,
            (Some(target), None) => {
                let value = document.copy(id, 0)?;
                target.set(document, value)?;
            }
            (None, Some(value)) => self.field.replace(document, found, value)?,
            (None, None) => {}
        }
        Ok(Flow::Continue)
    }
}

impl Convert {
    fn list(&self, document: &mut IngestDocument<'_>, list: NodeId) -> Result<Option<Node>, RequestError> {
        let made = document.add(Node::container(Kind::Array));
        let values: Vec<NodeId> = document.children(list).collect();
        for value in values {
            let converted = match self.one(document, value)? {
                Some(converted) => converted,
                None => document.copy(value, 0)?,
            };
            document.append_child(made, "", converted)?;
        }
        Ok(Some(*document.node(made)))
    }

    /// Returns the converted value; `None` when the value already has the type.
    fn one(&self, document: &mut IngestDocument<'_>, id: NodeId) -> Result<Option<Node>, RequestError> {
        match self.kind {
            Type::Integer => self.integer(document, id, |value| i32::try_from(value).is_ok()),
            Type::Long => self.integer(document, id, |_| true),
            Type::Float | Type::Double => self.decimal(document, id),
            Type::Boolean => boolean(document, id),
            Type::String => string(document, id),
            Type::Ip => ip(document, id),
            Type::Auto => auto(document, id),
        }
    }

    #[inline]
    fn integer(
        &self,
        document: &mut IngestDocument<'_>,
        id: NodeId,
        fits: impl Fn(i64) -> bool,
    ) -> Result<Option<Node>, RequestError> {
        let node = document.node(id);
        if node.kind == Kind::Number && document.text(node.text).parse::<i64>().is_ok_and(&fits) {
            return Ok(None);
        }
        let text = java_text(document, id);
        match parse_integer(&text).filter(|&value| fits(value)) {
            Some(value) => document.make_scalar(Kind::Number, &value.to_string()).map(Some),
            None => Err(self.unable(&text)),
        }
    }

    fn decimal(&self, document: &mut IngestDocument<'_>, id: NodeId) -> Result<Option<Node>, RequestError> {
        let text = java_text(document, id);
        let shown = match self.kind {
            Type::Float => float_from_text(&text).map(java_float),
            _ => double_from_text(&text).map(java_double),
        };
        number(document, &shown.ok_or_else(|| self.unable(&text))?)
    }

    fn unable(&self, text: &str) -> RequestError {
        RequestError::illegal_argument(format!("unable to convert [{text}] to {}", self.name))
            .caused_by(RequestError::number_format(text))
    }
}

/// Makes a number. Values that JSON numbers cannot express become strings, as Jackson writes them.
fn number(document: &mut IngestDocument<'_>, text: &str) -> Result<Option<Node>, RequestError> {
    if text.ends_with(|char: char| char.is_ascii_digit()) {
        document.make_scalar(Kind::Number, text).map(Some)
    } else {
        document.make_string(text).map(Some)
    }
}

fn boolean(document: &mut IngestDocument<'_>, id: NodeId) -> Result<Option<Node>, RequestError> {
    if matches!(document.node(id).kind, Kind::True | Kind::False) {
        return Ok(None);
    }
    let text = java_text(document, id);
    let value = match text {
        _ if text.eq_ignore_ascii_case("true") => true,
        _ if text.eq_ignore_ascii_case("false") => false,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "[{text}] is not a boolean value, cannot convert to boolean"
            )));
        }
    };
    document.make_bool(value).map(Some)
}

fn string(document: &mut IngestDocument<'_>, id: NodeId) -> Result<Option<Node>, RequestError> {
    if document.node(id).kind == Kind::String {
        return Ok(None);
    }
    let text = java_text(document, id);
    document.make_string(&text).map(Some)
}

fn ip(document: &mut IngestDocument<'_>, id: NodeId) -> Result<Option<Node>, RequestError> {
    if document.node(id).kind != Kind::String {
        let kind = java_type(document, id);
        let modules = "are in module java.base of loader 'bootstrap'";
        return Err(RequestError::bad_request(
            "class_cast_exception",
            format!(
                "class {kind} cannot be cast to class java.lang.String ({kind} and java.lang.String {modules})"
            ),
        ));
    }
    let text = document.string(id);
    if text.parse::<std::net::IpAddr>().is_err() {
        return Err(RequestError::illegal_argument(format!("'{text}' is not an IP string literal.")));
    }
    Ok(None)
}

/// Converts by `auto`: tries boolean, integer, long, float and double, and leaves any other string. Values
/// that are not strings stay as they are.
fn auto(document: &mut IngestDocument<'_>, id: NodeId) -> Result<Option<Node>, RequestError> {
    if document.node(id).kind != Kind::String {
        return Ok(None);
    }
    let text = document.string(id);
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return boolean(document, id);
    }
    if let Some(value) = parse_integer(&text) {
        return document.make_scalar(Kind::Number, &value.to_string()).map(Some);
    }
    match float_from_text(&text) {
        Some(value) => number(document, &java_float(value)),
        None => Ok(None),
    }
}
