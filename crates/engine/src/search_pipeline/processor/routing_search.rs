//! `hierarchical_routing_search`, `acl_routing_search` and `temporal_routing_search`: "search only the shards
//! that can hold documents with these paths, of these groups or of this time". The ingest processors
//! `hierarchical_routing`, `acl_routing` and `temporal_routing` put the documents there.
//!
//! Source: OpenSearch's `HierarchicalRoutingSearchProcessor`, `AclRoutingSearchProcessor` and
//! `TemporalRoutingSearchProcessor`.

use std::collections::BTreeSet;
use std::sync::Arc;

use limber_mapping::{RequestError, java_text};
use limber_script::Scripts;
use limber_search::SearchRequest;
use limber_search::query::{Asked, AskedVisitor, Occur};
use limber_work as work;
use serde_json::Value;

use super::ChangesRequest;
use crate::api::Result;
use crate::ingest::Options;
use crate::ingest::routing::{TimeBuckets, of_group, of_path, path_options};
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::verbose::ShownBody;

/// Hours, days, weeks or months of one range for which shards are selected; later ones are left out, as in
/// OpenSearch.
const BUCKETS_MAX: usize = 100;

/// What the routings are made of.
enum Rule {
    /// The first parts of paths.
    Hierarchy { anchor_depth: usize, separator: String },
    /// Groups that may read documents.
    Acl { is_applied: bool },
    /// Hours, days, weeks or months.
    Time(TimeBuckets),
}

struct RoutingSearch {
    field: String,
    rule: Rule,
}

/// Compiles `hierarchical_routing_search`. Options: `path_field`; optional `anchor_depth` (2),
/// `path_separator` (`/`) and `enable_auto_detection`, which has no effect, as in OpenSearch.
pub(super) fn parse_hierarchical(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    let field = options.string("path_field")?;
    let (anchor_depth, separator) = path_options(options)?;
    options.bool_or("enable_auto_detection", true)?;
    if field.is_empty() {
        return Err(options.error("path_field", "cannot be null or empty"));
    }
    Ok(Box::new(RoutingSearch { field, rule: Rule::Hierarchy { anchor_depth, separator } }))
}

/// Compiles `acl_routing_search`. Options: `acl_field`; optional `extract_from_query` (true).
pub(super) fn parse_acl(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    let field = options.string("acl_field")?;
    let is_applied = options.bool_or("extract_from_query", true)?;
    Ok(Box::new(RoutingSearch { field, rule: Rule::Acl { is_applied } }))
}

/// Compiles `temporal_routing_search`. Options: `timestamp_field` and `granularity`; optional `format`
/// (`strict_date_optional_time`), `hash_bucket` (false) and `enable_auto_detection`, which has no effect, as
/// in OpenSearch.
pub(super) fn parse_temporal(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    let (field, buckets) = TimeBuckets::parse(options)?;
    options.bool_or("enable_auto_detection", true)?;
    Ok(Box::new(RoutingSearch { field, rule: Rule::Time(buckets) }))
}

impl ChangesRequest for RoutingSearch {
    /// Sets the routing of the search. Only the one of groups replaces a routing that the search has.
    fn change(&self, request: &mut SearchRequest, run: &mut PipelineRun) -> Result<()> {
        let is_applied = match &self.rule {
            Rule::Acl { is_applied } => *is_applied,
            _ => !run.has_routing(),
        };
        let Some(query) = request.query.as_ref().filter(|_| is_applied) else { return Ok(()) };
        let mut found = Found { of: self, routings: BTreeSet::new(), refusal: None };
        query.show_asked(&mut found);
        match found.refusal {
            Some(refusal) => return Err(refusal),
            None if found.routings.is_empty() => {}
            None => run.set_routing(found.routings),
        }
        Ok(())
    }

    fn show(&self, _: &SearchRequest, _: &mut ShownBody) {}
}

/// The routings of a query.
struct Found<'p> {
    of: &'p RoutingSearch,
    routings: BTreeSet<String>,
    refusal: Option<RequestError>,
}

impl Found<'_> {
    fn add(&mut self, routings: Result<Vec<String>>) {
        match routings {
            Ok(routings) => self.routings.extend(routings),
            Err(refusal) => self.refusal = Some(refusal),
        }
    }
}

impl AskedVisitor for Found<'_> {
    fn take(&mut self, field: &str, asked: Asked<'_>) {
        if field != self.of.field || self.refusal.is_some() {
            return;
        }
        match (&self.of.rule, asked) {
            (Rule::Hierarchy { anchor_depth, separator }, asked) => {
                self.add(paths(asked).iter().map(|path| of_path(path, separator, *anchor_depth)).collect());
            }
            (Rule::Acl { .. }, Asked::Values(groups)) => {
                let checked = |group: &Value| {
                    work::check()?;
                    of_group(&java_text(group))
                };
                self.add(groups.iter().map(checked).collect());
            }
            // A time in another format selects no shards, so the search asks all of them.
            (Rule::Time(buckets), Asked::Between(from, to)) => {
                if let Ok(routings) = times(buckets, from, to) {
                    self.add(Ok(routings));
                }
            }
            _ => {}
        }
    }

    fn enters(&self, occur: Occur) -> bool {
        occur == Occur::Required || matches!(self.of.rule, Rule::Acl { .. })
    }
}

/// Returns the beginnings of paths that a query asks for, without empty ones.
fn paths(asked: Asked<'_>) -> Vec<String> {
    let mut paths = match asked {
        Asked::Values(values) => values.iter().map(java_text).collect(),
        Asked::Prefix(prefix) => vec![prefix.to_owned()],
        Asked::Pattern(pattern) => vec![pattern.split(['*', '?']).next().unwrap_or_default().to_owned()],
        Asked::Between(..) => Vec::new(),
    };
    paths.retain(|path| !path.is_empty());
    paths
}

fn times(buckets: &TimeBuckets, from: Option<&Value>, to: Option<&Value>) -> Result<Vec<String>> {
    let (from, to) = (from.filter(|end| !end.is_null()), to.filter(|end| !end.is_null()));
    match (from, to) {
        (Some(from), Some(to)) => buckets.within(&java_text(from), &java_text(to), BUCKETS_MAX),
        (Some(end), None) | (None, Some(end)) => Ok(vec![buckets.of_text(&java_text(end))?]),
        (None, None) => Ok(Vec::new()),
    }
}
