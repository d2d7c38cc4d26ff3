//! `grok`: "put the named parts of this line into fields". Source: Elasticsearch's `GrokProcessor`.

use std::collections::HashMap;

use limber_mapping::RequestError;
use limber_mapping::number::{double_from_text, float_from_text, java_double, java_float};
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node};
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};
use limber_text::grok::{CaptureType, Ecs, Found, Grok, library};

#[derive(Debug)]
struct GrokProcessor {
    field: FieldPath,
    expressions: Vec<Grok>,
    trace_match: bool,
    ignore_missing: bool,
    /// `capture_all_matches` of OpenSearch, which is what Elasticsearch always does: a name that is captured
    /// several times becomes a list.
    captures_all: bool,
    /// Only checks that an expression matches, and changes no field.
    validate_only: bool,
}

/// Compiles the processor. Options: `field` and `patterns`; optional `trace_match` (false), `ignore_missing`
/// (false), `ecs_compatibility` (`disabled`), `capture_all_matches` (true), `validate_only`
/// (false) and `pattern_definitions`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let patterns = options.strings("patterns")?;
    let trace_match = options.bool_or("trace_match", false)?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let captures_all = options.bool_or("capture_all_matches", true)?;
    let validate_only = options.bool_or("validate_only", false)?;
    let ecs = options.string_or("ecs_compatibility", "disabled")?;
    if patterns.is_empty() {
        return Err(options.error("patterns", "List of patterns must not be empty"));
    }
    let ecs = match ecs.as_str() {
        "disabled" => Ecs::Disabled,
        "v1" => Ecs::V1,
        other => return Err(options.error("ecs_compatibility", &format!("unsupported mode '{other}'"))),
    };
    let definitions = definitions(options)?;
    let mut expressions = Vec::with_capacity(patterns.len());
    for pattern in &patterns {
        // An expression of a few letters takes kilobytes.
        work::check()?;
        let grok = Grok::parse(pattern, library(ecs), &definitions);
        expressions.push(grok.map_err(|reason| {
            options.error("patterns", &format!("Invalid regex pattern found in: [{pattern}]. {reason}"))
        })?);
    }
    Ok(Box::new(GrokProcessor {
        field,
        expressions,
        trace_match,
        ignore_missing,
        captures_all,
        validate_only,
    }))
}

/// Reads `pattern_definitions`.
pub(super) fn definitions(options: &mut Options) -> Result<HashMap<String, String>, RequestError> {
    let mut definitions = HashMap::new();
    for (name, value) in options.optional_map("pattern_definitions")?.unwrap_or_default() {
        let Some(expression) = value.as_str() else {
            let reason = format!("the definition of [{name}] isn't a string");
            return Err(options.error("pattern_definitions", &reason));
        };
        definitions.insert(name, expression.to_owned());
    }
    Ok(definitions)
}

impl Processor for GrokProcessor {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(text) = string_field(document, &self.field, self.ignore_missing, "cannot process it.")?
        else {
            return Ok(Flow::Continue);
        };
        for (position, expression) in self.expressions.iter().enumerate() {
            let Some(found) = expression.captures(&text)? else { continue };
            let mut rest = if self.validate_only { &[][..] } else { found.as_slice() };
            while let Some(first) = rest.first() {
                let count = rest.iter().take_while(|other| other.name == first.name).count();
                let kept = if self.captures_all { count } else { 1 };
                let value = make(document, &rest[..kept])?;
                FieldPath::parse(first.name)?.set(document, value)?;
                rest = &rest[count..];
            }
            if self.trace_match {
                let index = document.make_string(&position.to_string())?;
                FieldPath::parse("_ingest._grok_match_index")?.set(document, index)?;
            }
            return Ok(Flow::Continue);
        }
        Err(RequestError::illegal_argument(format!(
            "Provided Grok expressions do not match field value: [{text}]"
        )))
    }
}

/// Makes one value, or an array when a name was captured several times.
fn make(document: &mut IngestDocument<'_>, found: &[Found<'_, '_>]) -> Result<Node, RequestError> {
    if let [one] = found {
        return make_one(document, one);
    }
    let list = document.add(Node::container(Kind::Array));
    for one in found {
        let value = make_one(document, one)?;
        document.append_child(list, "", value)?;
    }
    Ok(*document.node(list))
}

fn make_one(document: &mut IngestDocument<'_>, found: &Found<'_, '_>) -> Result<Node, RequestError> {
    let text = found.text;
    let wrong = || RequestError::number_format(text);
    let number = match found.kind {
        CaptureType::Text => return document.make_string(text),
        CaptureType::Boolean => return document.make_bool(text.eq_ignore_ascii_case("true")),
        CaptureType::Integer => text.parse::<i32>().map_err(|_| wrong())?.to_string(),
        CaptureType::Long => text.parse::<i64>().map_err(|_| wrong())?.to_string(),
        CaptureType::Float => java_float(float_from_text(text).ok_or_else(wrong)?),
        CaptureType::Double => java_double(double_from_text(text).ok_or_else(wrong)?),
    };
    if number.ends_with(|char: char| char.is_ascii_digit()) {
        document.make_scalar(Kind::Number, &number)
    } else {
        document.make_string(&number)
    }
}
