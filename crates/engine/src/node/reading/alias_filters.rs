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

/// Whether a part of an expression is or matches this name.
fn means(part: &str, name: &str) -> bool {
    matches!(part, "" | "_all") || wildcard::matches(part, name)
}

/// Returns the filter that applies when an expression reaches an index through aliases. `None` means that all
/// of the index's documents are searched.
///
/// A pattern stands for the names that it matches and that the request may use: those who may only use an
/// alias see by `*` what they see by the alias.
///
/// # Errors
/// There is not enough memory for a copy of the filters, or the client has disconnected.
///
/// Source: `IndexNameExpressionResolver#filteringAliases`, `IndicesAndAliasesResolver`.
pub(in crate::node) fn alias_filter(
    catalog: &Catalog,
    parts: &[&str],
    index: &IndexMetadata,
) -> Result<Option<Value>, RequestError> {
    let names_index = |part: &&str| {
        catalog.alias_of(index, part).is_none()
            && (means(part, &index.name) || catalog.is_of_stream(index, part))
    };
    if parts.iter().any(names_index) && catalog.may_be_named(&index.name) {
        return Ok(None);
    }
    let is_reached =
        |alias: &&String| parts.iter().any(|part| means(part, alias)) && catalog.may_be_named(alias.as_str());
    let aliases = catalog.alias_names(index).filter(is_reached);
    let filters: Option<Vec<&Value>> =
        aliases.map(|alias| catalog.alias_of(index, alias)?.filter.as_ref()).collect();
    // An index that is reached through an alias without a filter is searched as a whole.
    let Some(filters) = filters else { return Ok(None) };
    for filter in &filters {
        limber_mapping::claim_tree(filter)?;
    }
    Ok(match filters.as_slice() {
        [] => None,
        [one] => Some((*one).clone()),
        many => Some(serde_json::json!({"bool": {"should": many}})),
    })
}
