//! `user_agent`: "which browser, system and device sent this?" Source: Elasticsearch's `UserAgentProcessor`,
//! with its fields of the Elastic Common Schema.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_text::pattern::watched;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node, NodeId};
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::super::user_agent::{DEFAULT, Parsers, UserAgentParser};
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Property {
    Name,
    Os,
    Device,
    Original,
    Version,
}

const PROPERTIES: [(&str, Property); 5] = [
    ("NAME", Property::Name),
    ("OS", Property::Os),
    ("DEVICE", Property::Device),
    ("ORIGINAL", Property::Original),
    ("VERSION", Property::Version),
];

#[derive(Debug)]
struct UserAgent {
    field: FieldPath,
    target: FieldPath,
    parser: Arc<UserAgentParser>,
    properties: Vec<Property>,
    extract_device_type: bool,
    ignore_missing: bool,
}

/// Compiles the processor. Options: `field`; optional `target_field` (`user_agent`), `regex_file`,
/// `properties`, `extract_device_type` (false), `ignore_missing` (false) and `ecs` (true).
pub fn parse(options: &mut Options, parsers: &Parsers) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let target = FieldPath::parse(&options.string_or("target_field", "user_agent")?)?;
    let file = options.string_or("regex_file", DEFAULT)?;
    let properties = match options.has("properties") {
        true => Some(options.strings("properties")?),
        false => None,
    };
    let extract_device_type = options.bool_or("extract_device_type", false)?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    // Deprecated: `false` has no effect, as these fields are the only ones.
    options.bool_or("ecs", true)?;
    let parser = match parsers.get(&file) {
        Some(Ok(parser)) => parser,
        Some(Err(reason)) => {
            return Err(options.error("regex_file", &format!("regex file [{file}] cannot be read: {reason}")));
        }
        None => {
            let reason = format!("regex file [{file}] doesn't exist (has to exist at node startup)");
            return Err(options.error("regex_file", &reason));
        }
    };
    let properties = match properties {
        None => PROPERTIES.map(|(_, property)| property).to_vec(),
        Some(names) => names.iter().map(|name| property(name, options)).collect::<Result<_, _>>()?,
    };
    Ok(Box::new(UserAgent { field, target, parser, properties, extract_device_type, ignore_missing }))
}

fn property(name: &str, options: &Options) -> Result<Property, RequestError> {
    let known = PROPERTIES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    known.map(|(_, property)| *property).ok_or_else(|| {
        let valid = PROPERTIES.map(|(known, _)| known).join(", ");
        options.error("properties", &format!("illegal property value [{name}]. valid values are [{valid}]"))
    })
}

impl Processor for UserAgent {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let header = string_field(document, &self.field, self.ignore_missing, "cannot parse user-agent.")?;
        let Some(header) = header else { return Ok(Flow::Continue) };
        let details = watched(&header, || self.parser.details(&header))?;
        let object = document.add(Node::container(Kind::Object));
        let shows = |property: Property| self.properties.contains(&property);
        let agent = details.agent.as_ref();
        if shows(Property::Name) {
            put(document, object, "name", Some(agent.map_or("Other", |agent| &agent.name)))?;
        }
        if shows(Property::Version) {
            let version = agent.and_then(|agent| agent.version());
            put(document, object, "version", version.as_deref())?;
        }
        if let (true, Some(os)) = (shows(Property::Os), &details.os) {
            let inner = document.append_child(object, "os", Node::container(Kind::Object))?;
            put(document, inner, "name", Some(&os.name))?;
            put(document, inner, "version", os.version().as_deref())?;
            put(document, inner, "full", os.full().as_deref())?;
        }
        if shows(Property::Device) {
            let inner = document.append_child(object, "device", Node::container(Kind::Object))?;
            put(document, inner, "name", Some(details.device.as_deref().unwrap_or("Other")))?;
            if self.extract_device_type {
                put(document, inner, "type", Some(details.device_type(&header)))?;
            }
        }
        if shows(Property::Original) {
            put(document, object, "original", Some(&header))?;
        }
        let object = *document.node(object);
        self.target.set(document, object)?;
        Ok(Flow::Continue)
    }
}

fn put(
    document: &mut IngestDocument<'_>,
    object: NodeId,
    name: &str,
    value: Option<&str>,
) -> Result<(), RequestError> {
    if let Some(value) = value {
        let value = document.make_string(value)?;
        document.append_child(object, name, value)?;
    }
    Ok(())
}
