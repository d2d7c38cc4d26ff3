//! `hierarchical_routing` and `acl_routing`: "documents with the same beginning of a path, or of the same
//! group, are in the same shard".
//!
//! Source: OpenSearch's `HierarchicalRoutingProcessor` and `AclRoutingProcessor`, with their hashes.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::{Flow, Processor};

/// The anchor of a path without parts.
const ROOT: &str = "_root";

/// What the routing is made of.
#[derive(Debug)]
enum Rule {
    /// The first parts of a path.
    Hierarchy { anchor_depth: usize, separator: String },
    /// The group that may read the document.
    Acl,
}

#[derive(Debug)]
struct RoutingHash {
    field: FieldPath,
    target: FieldPath,
    rule: Rule,
    ignore_missing: bool,
    overwrite: bool,
}

/// Compiles `hierarchical_routing`. Options: `path_field`; optional `anchor_depth` (2), `path_separator`
/// (`/`), `ignore_missing` (false) and `override_existing` (true).
pub fn parse_hierarchical(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("path_field")?;
    let (anchor_depth, separator) = hierarchy_options(options)?;
    let target = FieldPath::parse("_routing")?;
    finish(options, field, target, Rule::Hierarchy { anchor_depth, separator })
}

/// Compiles `acl_routing`. Options: `acl_field`; optional `target_field` (`_routing`), `ignore_missing`
/// (false) and `override_existing` (true).
pub fn parse_acl(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("acl_field")?;
    let target = FieldPath::parse(&options.string_or("target_field", "_routing")?)?;
    finish(options, field, target, Rule::Acl)
}

/// Reads `anchor_depth` and `path_separator`.
fn hierarchy_options(options: &mut Options) -> Result<(usize, String), RequestError> {
    let depth = options.optional_int("anchor_depth")?.unwrap_or(2);
    let depth = usize::try_from(depth).ok().filter(|&depth| depth > 0);
    let depth = depth.ok_or_else(|| options.error("anchor_depth", "must be greater than 0"))?;
    let separator = options.string_or("path_separator", "/")?;
    match separator.is_empty() {
        true => Err(options.error("path_separator", "cannot be null or empty")),
        false => Ok((depth, separator)),
    }
}

fn finish(
    options: &mut Options,
    field: FieldPath,
    target: FieldPath,
    rule: Rule,
) -> Result<Box<dyn Processor>, RequestError> {
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let overwrite = options.bool_or("override_existing", true)?;
    Ok(Box::new(RoutingHash { field, target, rule, ignore_missing, overwrite }))
}

impl Processor for RoutingHash {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        if !self.overwrite && has_value(document, &self.target)?.is_some() {
            return Ok(Flow::Continue);
        }
        let Some(node) = has_value(document, &self.field)? else {
            return match self.ignore_missing {
                true => Ok(Flow::Continue),
                false => Err(self.field_error("not present as part of path [", "]")),
            };
        };
        let text = java_text(document, node);
        let routing = match &self.rule {
            Rule::Acl => acl_routing(&text)?,
            Rule::Hierarchy { .. } if text.trim().is_empty() => {
                return match self.ignore_missing {
                    true => Ok(Flow::Continue),
                    false => Err(RequestError::illegal_argument(format!(
                        "field [{}] is null or empty",
                        self.field.text()
                    ))),
                };
            }
            Rule::Hierarchy { anchor_depth, separator } => {
                hierarchical_routing(text.trim(), separator, *anchor_depth)?
            }
        };
        let routing = document.make_string(&routing)?;
        self.target.set(document, routing)?;
        Ok(Flow::Continue)
    }
}

impl RoutingHash {
    fn field_error(&self, before: &str, after: &str) -> RequestError {
        let name = self.field.text();
        RequestError::illegal_argument(format!("field [{name}] {before}{name}{after}"))
    }
}

/// Returns the value of a field unless it is missing or null.
fn has_value(document: &mut IngestDocument<'_>, field: &FieldPath) -> Result<Option<NodeId>, RequestError> {
    let found = field.find(document)?.map(|found| found.node);
    Ok(found.filter(|&node| document.node(node).kind != Kind::Null))
}

/// Returns the routing of the first `anchor_depth` parts of a path.
fn hierarchical_routing(path: &str, separator: &str, anchor_depth: usize) -> Result<String, RequestError> {
    let parts = path.split(separator).map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.take(anchor_depth).collect();
    let anchor = if parts.is_empty() { ROOT.to_owned() } else { parts.join(separator) };
    let [first, _] = hash(&anchor)?;
    Ok(match i64::from_ne_bytes(first.to_ne_bytes()) {
        i64::MIN => "0".to_owned(),
        first => first.abs().to_string(),
    })
}

/// Returns the routing of a group that may read a document.
fn acl_routing(group: &str) -> Result<String, RequestError> {
    let halves = hash(group)?.map(u64::to_be_bytes);
    Ok(URL_SAFE_NO_PAD.encode(halves.concat()))
}

/// Returns the two halves of Murmur3's 128 bits.
fn hash(text: &str) -> Result<[u64; 2], RequestError> {
    let hash = murmur3::murmur3_x64_128(&mut Cursor::new(text.as_bytes()), 0)
        .map_err(|error| RequestError::internal("exception", error.to_string()))?;
    Ok([hash as u64, (hash >> 64) as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routings_are_those_of_opensearch() {
        // Recorded from OpenSearch 3.8.0.
        for (path, expected) in [
            ("/a/b/c", "3798723486112599867"),
            ("a//b", "3798723486112599867"),
            ("/", "8073684288746627228"),
            ("5", "958005880272148645"),
            ("a", "8839064797231613815"),
        ] {
            assert_eq!(hierarchical_routing(path, "/", 2).expect("a routing"), expected, "{path}");
        }
        assert_eq!(acl_routing("team-a").expect("a routing"), "LOvt6OpwHegf8MrKX7yrYQ");
    }
}
