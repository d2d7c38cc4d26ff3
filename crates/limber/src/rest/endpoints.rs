//! Is `docs/endpoints.md` true? Each row of the page is an endpoint of Elasticsearch's REST specification.
//! Its state must agree with the table of routes.

use super::router::Routes;
use super::{ROUTES, Route, absent};
use crate::http::request::Method;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/endpoints.md");

const METHODS: [Method; 5] = [Method::Get, Method::Head, Method::Post, Method::Put, Method::Delete];

/// Returns how Limber handles a request: `yes`, `refused by name` or `no`.
fn state(routes: &Routes, method: Method, path: &str) -> &'static str {
    let segments: Vec<String> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| if segment.starts_with('{') { "x".to_owned() } else { segment.to_owned() })
        .collect();
    match routes.resolve(method, &segments, &[], path) {
        Ok(resolved) if is_index_of_that_name(resolved.route, path) => "no",
        Ok(resolved) if absent::is_refusal(resolved.route) => "refused by name",
        Ok(_) => "yes",
        Err(_) => "no",
    }
}

/// Whether the route would take a word such as `_query` for an index name.
fn is_index_of_that_name(route: &Route, path: &str) -> bool {
    path.starts_with("/_") && route.path.starts_with("/{")
}

/// Returns the row with its true state, and that state. `None` for other lines.
fn true_row(routes: &Routes, line: &str) -> Option<(String, &'static str)> {
    let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
    let (api, request, _) = (cells.next()?, cells.next()?, cells.next()?);
    let words: Vec<&str> = request.strip_prefix('`')?.strip_suffix('`')?.split(' ').collect();
    let (path, methods) = words.split_last()?;
    // The worst state of its methods counts.
    let of_method = |name: &&str| {
        let method = METHODS.into_iter().find(|method| method.name() == *name).expect("a method");
        state(routes, method, path)
    };
    let states: Vec<&str> = methods.iter().map(of_method).collect();
    let least = ["no", "refused by name", "yes"].into_iter().find(|state| states.contains(state))?;
    Some((format!("| {api} | {request} | {least} |"), least))
}

#[test]
fn states_on_the_page_are_those_of_the_routes() {
    let routes = Routes::new(ROUTES);
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let states: Vec<&str> =
        page.lines().filter_map(|line| true_row(&routes, line)).map(|row| row.1).collect();
    assert!(states.len() > 600, "the page lists {} requests", states.len());
    let count = |wanted: &str| states.iter().filter(|state| **state == wanted).count();
    let counts = format!(
        "Of {} requests, {} are answered, {} are refused by name, and {} are unknown.",
        states.len(),
        count("yes"),
        count("refused by name"),
        count("no")
    );
    let line = |line: &str| match true_row(&routes, line) {
        Some((row, _)) => row,
        None if line == "COUNTS" || line.starts_with("Of ") => counts.clone(),
        None => line.to_owned(),
    };
    let truth: String = page.lines().map(|own| line(own) + "\n").collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &truth).expect("the page is writable");
        return;
    }
    let wrong: Vec<(&str, &str)> =
        page.lines().zip(truth.lines()).filter(|(is, should)| is != should).collect();
    assert!(wrong.is_empty(), "docs/endpoints.md is not true (UPDATE_DOCS=1 writes it anew): {wrong:#?}");
}
