//! `hierarchical_routing`, `acl_routing` and `temporal_routing`: "documents with the same beginning of a
//! path, of the same group or of the same time are in the same shard".
//!
//! Source: OpenSearch's `HierarchicalRoutingProcessor`, `AclRoutingProcessor` and `TemporalRoutingProcessor`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::super::routing::{TimeBuckets, of_group, of_path, path_options};
use super::{Flow, Processor};

/// What the routing is made of.
#[derive(Debug)]
enum Rule {
    /// The first parts of a path.
    Hierarchy { anchor_depth: usize, separator: String },
    /// The group that may read the document.
    Acl,
    /// The hour, day, week or month of the document.
    Time(TimeBuckets),
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
    let (anchor_depth, separator) = path_options(options)?;
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

/// Compiles `temporal_routing`. Options: `timestamp_field` and `granularity`; optional `format`
/// (`strict_date_optional_time`), `hash_bucket` (false), `ignore_missing` (false) and `override_existing`
/// (true).
pub fn parse_temporal(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let (field, buckets) = TimeBuckets::parse(options)?;
    let target = FieldPath::parse("_routing")?;
    finish(options, FieldPath::parse(&field)?, target, Rule::Time(buckets))
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
            Rule::Acl => of_group(&text)?,
            Rule::Time(buckets) => buckets.of_text(&text)?,
            Rule::Hierarchy { .. } if text.trim().is_empty() => {
                return match self.ignore_missing {
                    true => Ok(Flow::Continue),
                    false => Err(RequestError::illegal_argument(format!(
                        "field [{}] is null or empty",
                        self.field.text()
                    ))),
                };
            }
            Rule::Hierarchy { anchor_depth, separator } => of_path(text.trim(), separator, *anchor_depth)?,
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
