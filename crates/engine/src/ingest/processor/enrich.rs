//! `enrich`: "add what an enrich index knows about this value". Source: Elasticsearch's
//! `EnrichProcessorFactory`, `AbstractEnrichProcessor`.

use std::sync::{Arc, OnceLock, Weak};

use limber_mapping::RequestError;
use serde_json::Value;

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::{Flow, Processor};
use crate::enrich::EnrichSource;

/// The catalog of policies; empty until the node exists.
pub type Source = Arc<OnceLock<Weak<dyn EnrichSource>>>;

/// The most matches that a processor may ask for.
const MATCHES_MAX: i64 = 128;

struct Enrich {
    policy: String,
    field: FieldPath,
    target: FieldPath,
    ignore_missing: bool,
    is_overriding: bool,
    max_matches: u32,
    shape_relation: String,
    source: Source,
}

impl std::fmt::Debug for Enrich {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "enrich by [{}]", self.policy)
    }
}

/// Compiles the processor. Options: `policy_name`, `field` and `target_field`; optional `max_matches` (1),
/// `override` (true), `shape_relation` (`INTERSECTS`) and `ignore_missing` (false). With `is_new` the policy
/// must have been executed.
pub fn parse(
    options: &mut Options,
    source: &Source,
    is_new: bool,
) -> Result<Box<dyn Processor>, RequestError> {
    let policy = options.string("policy_name")?;
    let field = options.path("field")?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    let is_overriding = options.bool_or("override", true)?;
    let target = options.path("target_field")?;
    let max_matches = options.optional_int("max_matches")?.unwrap_or(1);
    if !(1..=MATCHES_MAX).contains(&max_matches) {
        return Err(options.error("max_matches", "should be between 1 and 128"));
    }
    let shape_relation = options.string_or("shape_relation", "INTERSECTS")?;
    if !["INTERSECTS", "DISJOINT", "WITHIN", "CONTAINS"]
        .contains(&shape_relation.to_ascii_uppercase().as_str())
    {
        return Err(options.error("shape_relation", &format!("unknown geo relation [{shape_relation}]")));
    }
    if let Some(node) = source.get().and_then(Weak::upgrade).filter(|_| is_new) {
        node.check_executed(&policy)?;
    }
    Ok(Box::new(Enrich {
        policy,
        field,
        target,
        ignore_missing,
        is_overriding,
        max_matches: max_matches as u32,
        shape_relation,
        source: source.clone(),
    }))
}

impl Processor for Enrich {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let found = self.field.find(document)?.map(|found| found.node);
        let node = match found {
            Some(node) => node,
            None if self.ignore_missing => return Ok(Flow::Continue),
            None => self.field.get(document)?,
        };
        if document.node(node).kind == Kind::Null {
            return Ok(Flow::Continue);
        }
        let json = document.json(node)?;
        limber_mapping::claim_parsed(json.as_bytes())?;
        let value: Value =
            serde_json::from_str(&json).map_err(|error| RequestError::illegal_argument(error.to_string()))?;
        let Some(source) = self.source.get().and_then(Weak::upgrade) else {
            return Err(RequestError::internal("illegal_state_exception", "the node is closing"));
        };
        let matches = source.matches(&self.policy, &value, self.max_matches, &self.shape_relation)?;
        let Some(first) = matches.first() else { return Ok(Flow::Continue) };
        let target = self.target.find(document)?.map(|found| found.node);
        let is_there = target.is_some_and(|node| document.node(node).kind != Kind::Null);
        if is_there && !self.is_overriding {
            return Ok(Flow::Continue);
        }
        let text = match self.max_matches {
            1 => first.clone(),
            _ => format!("[{}]", matches.join(",")),
        };
        let made = document.make_sound_json(&text)?;
        self.target.set(document, made)?;
        Ok(Flow::Continue)
    }
}
