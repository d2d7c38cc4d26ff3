//! `geoip` and `ip_location`: "where is this address, and whose is it?" Source: Elasticsearch's
//! `GeoIpProcessor`.

use std::net::IpAddr;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node, NodeId};
use super::super::document::path::FieldPath;
use super::super::geoip::{Database, DatabaseKind, Databases, Property};
use super::super::options::Options;
use super::append::append;
use super::{Flow, Processor};

#[derive(Debug)]
struct GeoIp {
    field: FieldPath,
    target: FieldPath,
    tags: FieldPath,
    file: String,
    databases: Arc<Databases>,
    /// The requested properties, which are checked once the database is available.
    properties: Option<Vec<String>>,
    ignore_missing: bool,
    first_only: bool,
}

/// Compiles `ip_location`, which has the same options; only the default of `target_field` is `ip_location`.
pub fn parse_ip_location(
    options: &mut Options,
    databases: &Arc<Databases>,
) -> Result<Box<dyn Processor>, RequestError> {
    parse_for(options, databases, "ip_location")
}

/// Compiles `geoip`. Options: `field`; optional `target_field` (`geoip`), `database_file`
/// (`GeoLite2-City.mmdb`), `properties`, `ignore_missing` (false), `first_only` (true),
/// `download_database_on_pipeline_creation` (true) and `fallback_to_default_databases` (true).
pub fn parse(options: &mut Options, databases: &Arc<Databases>) -> Result<Box<dyn Processor>, RequestError> {
    parse_for(options, databases, "geoip")
}

fn parse_for(
    options: &mut Options,
    databases: &Arc<Databases>,
    default_target: &str,
) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let target = FieldPath::parse(&options.string_or("target_field", default_target)?)?;
    let file = options.string_or("database_file", "GeoLite2-City.mmdb")?;
    let properties = match options.has("properties") {
        true => Some(options.strings("properties")?),
        false => None,
    };
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let first_only = options.bool_or("first_only", true)?;
    // Limber downloads no databases, so these two options are only checked.
    options.bool_or("download_database_on_pipeline_creation", true)?;
    options.bool_or("fallback_to_default_databases", true)?;
    if let Some(database) = databases.get(&file) {
        let Some(database_kind) = database.kind else {
            let reason =
                format!("Unsupported database type [{}] for file [{file}]", database.database_type());
            return Err(options.error("database_file", &reason));
        };
        wanted(&properties, database_kind).map_err(|reason| options.error("properties", &reason))?;
    }
    let tags = FieldPath::parse("tags")?;
    let databases = databases.clone();
    Ok(Box::new(GeoIp { field, target, tags, file, databases, properties, ignore_missing, first_only }))
}

/// Returns the properties with these names. The error is Elasticsearch's reason.
fn wanted(names: &Option<Vec<String>>, kind: DatabaseKind) -> Result<Vec<Property>, String> {
    let Some(names) = names else { return Ok(kind.shown().to_vec()) };
    let property = |name: &String| {
        Property::parse(name, kind).ok_or_else(|| {
            let valid: Vec<String> =
                kind.properties().iter().map(|property| property.name().to_ascii_uppercase()).collect();
            format!("illegal property value [{name}]. valid values are [{}]", valid.join(", "))
        })
    };
    names.iter().map(property).collect()
}

impl Processor for GeoIp {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let found = self.field.find(document)?.map(|found| found.node);
        if self.ignore_missing && found.is_none_or(|node| document.node(node).kind == Kind::Null) {
            return Ok(Flow::Continue);
        }
        let node = match found {
            Some(node) => node,
            None => self.field.get(document)?,
        };
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        let field = self.field.text();
        if document.node(node).kind == Kind::Null {
            return refused(format!("field [{field}] is null, cannot extract geoip information."));
        }
        let database = self.databases.get(&self.file);
        let known = database.as_ref().and_then(|database| Some((database, database.kind?)));
        let Some((database, kind)) = known else {
            // The file may be added later. Until then documents are tagged.
            let tag = document.make_string(&format!("_geoip_database_unavailable_{}", self.file))?;
            append(document, &self.tags, tag, true)?;
            return Ok(Flow::Continue);
        };
        let properties = wanted(&self.properties, kind).map_err(RequestError::illegal_argument)?;
        match document.node(node).kind {
            Kind::String => {
                let address = document.string(node).into_owned();
                if let Some(value) = self.value(document, database, &address, &properties)? {
                    self.target.set(document, value)?;
                }
            }
            Kind::Array => self.set_from_list(document, node, database, &properties)?,
            _ => return refused(format!("field [{field}] should contain only string or array of strings")),
        }
        Ok(Flow::Continue)
    }
}

impl GeoIp {
    /// Returns what the database knows of an address, as an object; `None` if it knows nothing.
    fn value(
        &self,
        document: &mut IngestDocument<'_>,
        database: &Database,
        address: &str,
        properties: &[Property],
    ) -> Result<Option<Node>, RequestError> {
        let address: IpAddr = address.parse().map_err(|_| {
            RequestError::illegal_argument(format!("'{address}' is not an IP string literal."))
        })?;
        let found = database.look_up(address.to_canonical(), properties).map_err(|reason| {
            RequestError::internal(
                "exception",
                format!("the database [{}] cannot be read: {reason}", self.file),
            )
        })?;
        if found.is_empty() {
            return Ok(None);
        }
        let json = Value::Object(found).to_string();
        document.make_sound_json(&json).map(Some)
    }

    /// Sets the target from a list of addresses: to the result for the first known one (`first_only`), or to
    /// the results for all, with null for unknown ones.
    fn set_from_list(
        &self,
        document: &mut IngestDocument<'_>,
        list: NodeId,
        database: &Database,
        properties: &[Property],
    ) -> Result<(), RequestError> {
        let items: Vec<NodeId> = document.children(list).collect();
        let made = document.add(Node::container(Kind::Array));
        let mut is_any_known = false;
        for item in items {
            if document.node(item).kind != Kind::String {
                return Err(RequestError::illegal_argument(format!(
                    "array in field [{}] should only contain strings",
                    self.field.text()
                )));
            }
            let address = document.string(item).into_owned();
            let value = self.value(document, database, &address, properties)?;
            match value {
                Some(value) if self.first_only => return self.target.set(document, value),
                Some(value) => {
                    is_any_known = true;
                    document.append_child(made, "", value)?;
                }
                None => {
                    let null = document.make_scalar(Kind::Null, "null")?;
                    document.append_child(made, "", null)?;
                }
            }
        }
        match is_any_known {
            true => self.target.set(document, *document.node(made)),
            false => Ok(()),
        }
    }
}
