//! What a profile tells of `terms`: how Elasticsearch collects the buckets.
//!
//! Source: Elasticsearch's `TermsAggregatorFactory`, `GlobalOrdinalsStringTermsAggregator`,
//! `MapStringTermsAggregator`, `NumericTermsAggregator`.

use serde_json::{Map, Value};

use super::super::profiled::ProfileNotes;
use super::super::source::Source;
use super::request::Terms;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Returns the class and the members of `debug`. The number of distinct terms, on which the default of
/// `collect_mode` depends, is the sum over the segments.
pub(super) fn notes(
    request: &Terms,
    source: &Source,
    below: &[&str],
    shard: &ShardSnapshot,
    is_alone: bool,
) -> Result<ProfileNotes> {
    let (mut debug, mut class) = (Map::new(), None);
    let is_mapped_by_name = request.hints_map || source.computes_terms() || source.field.is_none();
    let mut term_count = None;
    if source.is_numeric() {
        let strategy = if source.is_floating() { "double_terms" } else { "long_terms" };
        debug.insert("result_strategy".into(), strategy.into());
    } else {
        debug.insert("result_strategy".into(), "terms".into());
        if is_mapped_by_name {
            class = Some("MapStringTermsAggregator");
        } else {
            let mut sum = 0;
            for view in &shard.segments {
                sum += view.segment.terms(source.path())?.map_or(0, |terms| terms.len());
            }
            term_count = Some(sum);
        }
    }
    let is_breadth_first = !below.is_empty()
        && request.breadth_first.unwrap_or_else(|| {
            let are_all_kept = request.shard_size == i32::MAX as usize;
            !are_all_kept && term_count.is_none_or(|count| count > request.shard_size as u64)
        });
    if is_breadth_first {
        let ordered_by: Vec<&str> =
            request.order.paths().filter_map(|path| path.names.first()).map(String::as_str).collect();
        let deferred: Vec<&str> = below.iter().copied().filter(|name| !ordered_by.contains(name)).collect();
        debug.append(&mut ProfileNotes::deferring(&deferred).debug);
    }
    let strategy = match (class, term_count) {
        (Some(_), _) => Some(Value::from(format!("from {}", description(source)))),
        (None, Some(_)) => {
            let has_filter = request.include.is_some() || request.exclude.is_some();
            debug.insert("has_filter".into(), has_filter.into());
            let is_by_subs = request.order.paths().next().is_some();
            let can_defer = below.is_empty() || (is_breadth_first && !is_by_subs);
            Some(Value::from(match (is_alone, !has_filter && can_defer) {
                (true, true) => "dense",
                (true, false) => "remap using single bucket ords",
                (false, _) => "remap using many bucket ords",
            }))
        }
        (None, None) => None,
    };
    debug.extend(strategy.map(|strategy| ("collection_strategy".to_owned(), strategy)));
    Ok(ProfileNotes { class, debug })
}

/// Describes where the values come from. Source: `ValuesSourceConfig#getDescription`.
fn description(source: &Source) -> String {
    match (&source.script, &source.field) {
        (Some(_), _) => "Script yielding [unknown type]".to_owned(),
        (None, Some(field)) => format!("Field [{}] of type [{}]", field.path, field.type_name()),
        (None, None) => "unmapped field with value source type [keyword]".to_owned(),
    }
}
