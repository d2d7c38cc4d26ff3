//! The words that the console proposes: the server's own tables of routes, queries, aggregations and keys.

use serde_json::{Value, json};

/// A route as the console needs it: its methods, its path and its parameters.
pub type RouteWords = (Vec<&'static str>, &'static str, &'static [&'static str]);

/// Returns all words. `common` are the parameters that every request may carry.
pub fn words(routes: impl Iterator<Item = RouteWords>, common: &[&str]) -> Value {
    let is_word = |name: &&&str| **name != "*";
    let routes: Vec<Value> = routes
        .map(|(methods, path, parameters)| {
            let parameters: Vec<&&str> = parameters.iter().filter(is_word).collect();
            json!({"methods": methods, "path": path, "parameters": parameters})
        })
        .collect();
    json!({
        "routes": routes,
        "queries": limber_search::query::names().collect::<Vec<_>>(),
        "aggregations": limber_search::aggregation::names().collect::<Vec<_>>(),
        "search": limber_search::request::KEYS,
        "parameters": common,
    })
}
