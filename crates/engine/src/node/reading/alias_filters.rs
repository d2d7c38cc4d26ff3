//! Alias filters: "which documents of each index do the aliases of an expression show?"

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_search::request::AliasFilter;
use limber_text::wildcard;
use limber_work as work;
use serde_json::Value;

use crate::catalog::{Catalog, IndexMetadata};

/// Returns the filters of a search, each with the indices it applies to. `parts` are the names and patterns
/// that reach the indices.
pub(in crate::node) fn alias_filters(
    catalog: &Catalog,
    parts: &[&str],
    indices: &[Arc<IndexMetadata>],
) -> Result<Arc<[AliasFilter]>, RequestError> {
    let mut found: BTreeMap<String, AliasFilter> = BTreeMap::new();
    for index in indices {
        work::check()?;
        let Some(filter) = alias_filter(catalog, parts, index)? else { continue };
        let text = filter.to_string();
        work::claim((text.len() + index.name.len()) as u64)?;
        let entry = found.entry(text).or_insert_with(|| AliasFilter { filter, indices: BTreeSet::new() });
        entry.indices.insert(index.name.to_string());
    }
    Ok(found.into_values().collect())
}

/// Returns the filter that applies when an expression reaches an index through aliases. `None` means that all
/// of the index's documents are searched.
///
/// # Errors
/// There is not enough memory for a copy of the filters, or the client has disconnected.
///
/// Source: `IndexNameExpressionResolver#filteringAliases`.
pub(in crate::node) fn alias_filter(
    catalog: &Catalog,
    parts: &[&str],
    index: &IndexMetadata,
) -> Result<Option<Value>, RequestError> {
    let filters: Vec<Option<&Value>> = parts
        .iter()
        .filter_map(|part| catalog.alias_of(index, part))
        .map(|alias| alias.filter.as_ref())
        .collect();
    // The index is named itself, or reached through an alias without a filter, so all its documents are
    // searched.
    let is_named = parts.iter().any(|part| {
        catalog.alias_of(index, part).is_none()
            && (part.is_empty()
                || *part == "_all"
                || wildcard::matches(part, &index.name)
                || catalog.is_of_stream(index, part))
    });
    if is_named || filters.is_empty() || filters.iter().any(|filter| filter.is_none()) {
        return Ok(None);
    }
    for filter in filters.iter().flatten() {
        limber_mapping::claim_tree(filter)?;
    }
    Ok(match filters.as_slice() {
        [one] => one.cloned(),
        many => Some(serde_json::json!({"bool": {"should": many}})),
    })
}
