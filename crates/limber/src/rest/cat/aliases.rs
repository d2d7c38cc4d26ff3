//! `_cat/aliases`.

use limber_engine::{IndicesOptions, Result};
use limber_text::wildcard;
use serde_json::Value;

use super::App;
use super::table::{Cell, Column, Table, text};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::rest::options::{indices_options, warn_of_local};

const COLUMNS: &[Column] = &[
    text("alias", "a", "alias name"),
    text("index", "i,idx", "index alias points to"),
    text("filter", "f,fi", "filter"),
    text("routing.index", "ri,routingIndex", "index routing"),
    text("routing.search", "rs,routingSearch", "search routing"),
    text("is_write_index", "w,isWriteIndex", "write index"),
];

/// Whether a list of names, patterns and exclusions (`-name`) selects an alias. An empty list selects all.
/// The last part that matches decides.
fn selects(names: &[String], alias: &str) -> bool {
    let matches = |pattern: &str| pattern == "_all" || wildcard::matches(pattern, alias);
    let decides = |name: &String| match name.strip_prefix('-') {
        Some(excluded) => matches(excluded).then_some(false),
        None => matches(name).then_some(true),
    };
    names.is_empty() || names.iter().rev().find_map(decides).unwrap_or(false)
}

/// Answers `GET _cat/aliases`.
pub fn aliases(app: &App, request: &Request) -> Result<Response> {
    warn_of_local(request, "cat-aliases")?;
    let mut table = Table::new(COLUMNS);
    let options = indices_options(
        request,
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::METADATA },
    )?;
    let names = request.list("name");
    let of_indices = app.node.get_index("_all", options)?;
    let of_indices = of_indices.into_iter().map(|info| (info.name, info.aliases));
    for (name, aliases) in of_indices.chain(app.node.data_stream_aliases()) {
        for (alias, body) in &aliases {
            if !selects(&names, alias) {
                continue;
            }
            let show = |name: &str| match body.get(name) {
                Some(Value::String(text)) => text.clone(),
                _ => "-".to_owned(),
            };
            table.rows.push(vec![
                Cell::from(alias.as_str()),
                Cell::from(&*name),
                Cell::from(if body.get("filter").is_some() { "*" } else { "-" }),
                Cell::from(show("index_routing")),
                Cell::from(show("search_routing")),
                Cell::from(match body.get("is_write_index").and_then(Value::as_bool) {
                    Some(true) => "true",
                    Some(false) => "false",
                    None => "-",
                }),
            ]);
        }
    }
    table.render(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_that_matches_decides() {
        let check = |names: &str, expected: bool| {
            let names: Vec<String> = names.split(',').map(str::to_owned).collect();
            assert_eq!(selects(&names, "al8"), expected, "{names:?}");
        };
        check("al8*", true);
        check("al8*,-al8", false);
        check("al8*,-al9", true);
        check("-al8,al8", true);
        check("b", false);
        assert!(selects(&[], "al8"));
    }
}
