//! What searches use, by query, section, rescorer and retriever: `indices.search` of `_cluster/stats`.
//!
//! Source: Elasticsearch's `SearchUsage`. A search counts each name once. Only searches that parsed are
//! counted, so only existing names occur.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use serde_json::{Value, json};

/// Members of a search that are counted as sections.
const SECTIONS: &[&str] = &[
    "query",
    "post_filter",
    "aggs",
    "collapse",
    "docvalue_fields",
    "explain",
    "fields",
    "from",
    "highlight",
    "indices_boost",
    "knn",
    "min_score",
    "pit",
    "profile",
    "rescore",
    "retriever",
    "runtime_mappings",
    "script_fields",
    "search_after",
    "slice",
    "sort",
    "stats",
    "stored_fields",
    "suggest",
    "terminate_after",
    "timeout",
    "track_total_hits",
];
/// Maximum nesting depth of the queries that are counted.
const DEPTH_MAX: u32 = 60;

/// Counts what searches have used since the start.
#[derive(Debug, Default)]
pub struct SearchUsage(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    total: u64,
    queries: BTreeMap<String, u64>,
    rescorers: BTreeMap<String, u64>,
    sections: BTreeMap<&'static str, u64>,
    retrievers: BTreeMap<String, u64>,
    sorts: BTreeMap<&'static str, u64>,
}

impl SearchUsage {
    /// Counts a search that was parsed successfully.
    pub fn note(&self, body: &Value) {
        let mut names = BTreeSet::new();
        for member in ["query", "post_filter"] {
            add_queries(&body[member], DEPTH_MAX, &mut names);
        }
        let rescorers: BTreeSet<&str> = list(&body["rescore"])
            .flat_map(|rescore| {
                ["query", "script", "learning_to_rank"]
                    .into_iter()
                    .filter(move |kind| rescore.get(*kind).is_some())
            })
            .collect();
        let retrievers = body["retriever"].as_object().into_iter().flat_map(|retriever| retriever.keys());
        let sorts: BTreeSet<&str> = list(&body["sort"]).filter_map(sort_type).collect();
        let is_there = |section: &&&str| {
            !body[**section].is_null() || **section == "aggs" && !body["aggregations"].is_null()
        };
        let mut counts = self.0.lock();
        counts.total += 1;
        for name in names {
            *counts.queries.entry(name.to_owned()).or_default() += 1;
        }
        for name in rescorers {
            *counts.rescorers.entry(name.to_owned()).or_default() += 1;
        }
        for section in SECTIONS.iter().filter(is_there) {
            *counts.sections.entry(*section).or_default() += 1;
        }
        for name in retrievers {
            *counts.retrievers.entry(name.clone()).or_default() += 1;
        }
        for name in sorts {
            *counts.sorts.entry(name).or_default() += 1;
        }
    }

    /// Returns the counts as `_cluster/stats` shows them.
    pub fn to_json(&self) -> Value {
        let counts = self.0.lock();
        let extended = match counts.sorts.is_empty() {
            true => json!({}),
            false => json!({"section": {"sort": counts.sorts}}),
        };
        json!({
            "total": counts.total,
            "queries": counts.queries,
            "rescorers": counts.rescorers,
            "sections": counts.sections,
            "retrievers": counts.retrievers,
            "extended": extended,
        })
    }
}

/// Returns the type of a sort as Elasticsearch names it; `None` if there is none.
fn sort_type(sort: &Value) -> Option<&'static str> {
    let name = sort.as_str().or_else(|| sort.as_object()?.keys().next().map(String::as_str))?;
    let special = ["_doc", "_score", "_script", "_geo_distance"];
    Some(special.into_iter().find(|special| *special == name).unwrap_or("field_sort"))
}

/// Iterates over a list's values, or over the single value.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(items) => items.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

/// Adds the name of a query and the names of its inner queries.
fn add_queries<'v>(query: &'v Value, depth: u32, names: &mut BTreeSet<&'v str>) {
    let Some((name, body)) = query.as_object().and_then(|query| query.iter().next()) else { return };
    names.insert(name);
    let inside: &[&str] = match name.as_str() {
        "bool" => &["must", "filter", "should", "must_not"],
        "constant_score" => &["filter"],
        "dis_max" => &["queries"],
        "boosting" => &["positive", "negative"],
        "pinned" | "rule" => &["organic"],
        "span_near" | "span_or" => &["clauses"],
        "span_not" => &["include", "exclude"],
        "span_first" | "span_multi" => &["match"],
        "span_containing" | "span_within" => &["big", "little"],
        "span_field_masking" | "field_masking_span" => &["query"],
        "nested" | "has_child" | "has_parent" | "script_score" | "function_score" => &["query"],
        _ => &[],
    };
    if depth == 0 {
        return;
    }
    for query in inside.iter().flat_map(|member| list(&body[*member])) {
        add_queries(query, depth - 1, names);
    }
    if name == "function_score" {
        list(&body["functions"]).for_each(|function| add_queries(&function["filter"], depth - 1, names));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_query_and_section_is_counted_once_a_search() {
        let usage = SearchUsage::default();
        usage.note(&json!({"query": {"bool": {"must": [{"term": {"a": 1}}, {"term": {"b": 2}}], "filter": {"range": {"c": {}}}}}, "aggregations": {}}));
        usage.note(&json!({"query": {"term": {"a": 1}}, "rescore": {"window_size": 1, "query": {}}}));
        assert_eq!(
            usage.to_json(),
            json!({
                "total": 2, "queries": {"bool": 1, "range": 1, "term": 2}, "rescorers": {"query": 1},
                "sections": {"aggs": 1, "query": 2, "rescore": 1}, "retrievers": {}, "extended": {},
            })
        );
    }
}
