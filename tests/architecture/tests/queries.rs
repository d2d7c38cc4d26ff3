//! Queries are independent: the worked example of `CONTRIBUTING.md` touches only the files that it lists,
//! and no code outside `search/query` matches on the kind of a query.

use std::collections::BTreeSet;

use limber_architecture::counts::has_word;
use limber_architecture::crates::{self, Crate};
use limber_architecture::goals::query_nodes;
use limber_architecture::source::{SourceFile, workspace};

/// The worked examples: a query with its own node, and one without.
const EXAMPLES: [&str; 2] = ["boosting", "wrapper"];

/// Nodes that other modules still name. **This list may only shrink**: what others need to know about a
/// query is a method of `BoundNode`.
const KNOWN_OUTSIDE: [&str; 5] = ["IntervalsNode", "PercolateNode", "PhraseNode", "SpansNode", "TermNode"];

#[test]
fn an_example_is_its_file_a_line_of_the_table_and_a_module() {
    let search = search();
    let guide = std::fs::read_to_string(workspace().join("CONTRIBUTING.md")).expect("there is a guide");
    for example in EXAMPLES {
        let own = format!("query/compound/{example}.rs");
        let module = format!("mod {example};");
        let line = format!("(\"{example}\", {example}::parse),");
        let naming: BTreeSet<String> = search
            .files
            .iter()
            .filter(|file| has_word(&file.code, &format!("{example}::")) || has_word(&file.code, &module))
            .map(path)
            .collect();
        let expected: BTreeSet<String> =
            [own.clone(), "query/compound/mod.rs".to_owned(), "query/table.rs".to_owned()].into();
        assert_eq!(&naming | &BTreeSet::from([own.clone()]), expected, "{example} is named in other files");
        let text = |wanted: &str| {
            let file = search.files.iter().find(|file| path(file) == wanted);
            file.map(|file| file.text.clone()).unwrap_or_else(|| panic!("{wanted} is not there"))
        };
        assert!(text("query/table.rs").contains(&line), "{line} is not in the table");
        assert!(text(&own).contains("#[cfg(test)]"), "{own} has no test");
        for said in [own.as_str(), &module, &line] {
            assert!(guide.contains(said), "CONTRIBUTING.md does not say {said}");
        }
    }
}

#[test]
fn questions_of_a_bound_query_are_in_the_guide() {
    let search = search();
    let node =
        search.files.iter().find(|file| path(file) == "query/bound_node.rs").expect("there is a trait");
    let body = node.code.split_once("trait BoundNode").expect("there is a trait").1;
    let body = &body[..body.find("\n}").expect("it ends")];
    let guide = std::fs::read_to_string(workspace().join("CONTRIBUTING.md")).expect("there is a guide");
    for line in body.lines().filter_map(|line| line.strip_prefix("    fn ")) {
        let name: String = line.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let is_capability = name.starts_with("as_") || name.ends_with("_mut");
        assert!(
            is_capability || guide.contains(&format!("`{name}`")),
            "CONTRIBUTING.md does not tell of `{name}`"
        );
    }
}

#[test]
fn nobody_asks_which_query_it_is() {
    let search = search();
    let nodes = query_nodes(search.files.iter());
    assert!(nodes.len() > 15, "{nodes:?}");
    let outside: BTreeSet<&str> = nodes
        .iter()
        .map(String::as_str)
        .filter(|node| search.files.iter().any(|file| file.room() != "query" && has_word(&file.code, node)))
        .collect();
    assert_eq!(outside, BTreeSet::from(KNOWN_OUTSIDE));
}

/// The files of the room that enumerate the terms of a dictionary.
const ENUMERATING: [&str; 3] = [
    // Expansions: only terms that the user may see.
    "query/term_level/expansion.rs",
    // The terms of the documents that are percolated, which the request contains.
    "query/specialized/percolate/held_keys.rs",
    // Scores the documents of a feature by its terms, without showing these.
    "query/specialized/rank_feature.rs",
];

/// The ways to enumerate terms: those of the room `matcher`, and those of a `TermCursor`.
const ENUMERATIONS: [&str; 6] =
    ["each_term(", "walk(", ".advance()", ".cursor()", ".range_of_ordinals(", "TermCursor"];

/// A query that expands to terms beside the [`ENUMERATING`] files would show words of hidden documents.
#[test]
fn queries_expand_to_terms_in_one_place() {
    let search = search();
    let enumerating: BTreeSet<String> = search
        .files
        .iter()
        .filter(|file| file.room() == "query" && ENUMERATIONS.iter().any(|way| file.code.contains(way)))
        .map(path)
        .collect();
    assert_eq!(enumerating, BTreeSet::from(ENUMERATING.map(str::to_owned)));
}

fn search() -> Crate {
    let crates = crates::read().expect("the sources are readable");
    crates.into_iter().find(|c| c.name == "search").expect("there is a crate search")
}

fn path(file: &SourceFile) -> String {
    file.path.display().to_string()
}
