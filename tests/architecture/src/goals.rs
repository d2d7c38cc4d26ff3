//! The goals of the structure: "what was promised, what is measured, and where is it not kept?"
//!
//! The table is that of issue 21, measured anew. Prose is measured by its width only; whether it reads well
//! is for a reader to say.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::counts;
use crate::crates::Crate;
use crate::graph::strongly_connected;
use crate::source::SourceFile;

/// Maximum number of places that are shown for a goal that is not met.
const PLACES_MAX: usize = 12;

/// A goal for the structure, and how far it is met.
pub struct Goal {
    /// What is counted.
    pub what: String,
    /// The most that is wanted.
    pub most: usize,
    /// What was counted, by its place.
    pub found: Vec<String>,
}

impl Goal {
    fn none(what: &str, found: Vec<String>) -> Goal {
        Goal::at_most(0, what, found)
    }

    fn at_most(most: usize, what: &str, found: Vec<String>) -> Goal {
        Goal { what: what.to_owned(), most, found }
    }

    /// Whether no more was found than is wanted.
    pub fn is_met(&self) -> bool {
        self.found.len() <= self.most
    }
}

/// All goals with what is measured.
pub fn measure(crates: &[Crate]) -> Vec<Goal> {
    let mut goals = Vec::new();
    goals.extend(things_that_describe_themselves(crates));
    goals.extend(rooms(crates));
    goals.extend(one_way_each(crates));
    goals.extend(sizes_and_words(crates));
    goals
}

/// The goals as a table in Markdown, and below it the places where a goal is not met.
pub fn as_markdown(goals: &[Goal]) -> String {
    let mut text = String::from("| what | goal | measured |\n|---|---|---|\n");
    for goal in goals {
        let Goal { what, most, found } = goal;
        let most = if *most == 0 { "none".to_owned() } else { format!("at most {most}") };
        let note = if goal.is_met() { "" } else { " (**not met**)" };
        let _ = writeln!(text, "| {what} | {most} | {}{note} |", found.len());
    }
    for goal in goals.iter().filter(|goal| !goal.is_met()) {
        let shown = goal.found.iter().take(PLACES_MAX).map(|place| format!("`{place}`"));
        let rest = goal.found.len().saturating_sub(PLACES_MAX);
        let and_more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
        let list = shown.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "\n- Not met: {}: {list}{and_more}.", goal.what);
    }
    text
}

/// Returns the names of the types that queries are bound to.
pub fn query_nodes<'f>(files: impl Iterator<Item = &'f SourceFile>) -> BTreeSet<String> {
    files
        .flat_map(|file| file.code.split("impl BoundNode for ").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).collect())
        .collect()
}

/// Whether a file of aggregations asks by name which aggregation another one is.
pub fn asks_for_an_aggregation(file: &SourceFile) -> bool {
    ["type_name ==", "matches!(parent.type_name", ".contains(&below.type_name)"]
        .iter()
        .any(|question| file.room() == "aggregation" && file.code.contains(question))
}

/// A query, a field type and an aggregation: one file, one line of a table, one test.
fn things_that_describe_themselves(crates: &[Crate]) -> Vec<Goal> {
    let search = named(crates, "search");
    let nodes = query_nodes(search.iter().copied());
    vec![
        Goal::at_most(
            3,
            "files that know the query `boosting`, which has a node of its own",
            paths("search", search.iter().filter(|file| knows(file, "boosting")).copied()),
        ),
        Goal::none(
            "files outside of `search/query` that name the node of a query",
            paths(
                "search",
                search
                    .iter()
                    .filter(|file| file.room() != "query")
                    .filter(|file| nodes.iter().any(|node| counts::has_word(&file.code, node)))
                    .copied(),
            ),
        ),
        Goal::none(
            "files outside of `mapping` that name a field type",
            places(crates, |c, file| c.name != "mapping" && file.code.contains("FieldType")),
        ),
        Goal::none(
            "files of aggregations that ask by name which aggregation it is",
            paths("search", search.iter().filter(|file| asks_for_an_aggregation(file)).copied()),
        ),
        Goal::none(
            "files of aggregations that downcast",
            paths("search", search.iter().filter(|file| finds_by_downcast(file)).copied()),
        ),
    ]
}

fn rooms(crates: &[Crate]) -> Vec<Goal> {
    let cycles = crates.iter().flat_map(|c| {
        let found = strongly_connected(c.imports.rooms.keys().cloned());
        found.into_iter().map(|component| format!("{}: {component:?}", c.name))
    });
    let crowded =
        crates.iter().flat_map(counts::crowded_rooms).map(|(folder, count)| format!("{folder} {count}"));
    vec![
        Goal::none("rooms that import each other", cycles.collect()),
        Goal::none("folders of more than 25 entries that are no flat list", crowded.collect()),
        Goal::none("files `mod.rs` with functions", of_each(crates, counts::logic_in_mod_rs)),
        Goal::none("HTTP statuses below REST", statuses(crates)),
        Goal::none("results of `race` whose error is a bare text", string_errors(crates)),
    ]
}

/// How Elasticsearch refuses a value of a document (`DocumentParsingException`).
const OF_A_DOCUMENT: &str = "failed to parse field [{path}] of type [";

/// Returns the goals about things that should exist only once.
fn one_way_each(crates: &[Crate]) -> Vec<Goal> {
    let by_hand = |file: &SourceFile| {
        let words = ["unknown field [", "doesn't support values of type", "failed to parse field [{"];
        // A document's error, which the next goal counts, begins with the same words.
        let sources = sources_without_tests(file).replace(OF_A_DOCUMENT, "");
        words.iter().any(|words| sources.contains(words))
    };
    let knows_units = |file: &SourceFile, unit: &str| sources_without_tests(file).contains(unit);
    // The race tool must not use a crate of ours.
    let is_ours = |c: &Crate| c.name != "race";
    vec![
        Goal::at_most(
            2,
            "types that are one write on its way",
            defining(crates, "engine", &["BulkOperation", "ShardOperation", "Write", "Operation"]),
        ),
        Goal::at_most(
            1,
            "files that word errors of a parser of objects",
            places(crates, |c, file| is_ours(c) && by_hand(file)),
        ),
        Goal::at_most(
            1,
            "files that word errors of a field of a document",
            places(crates, |_, file| {
                let sources = sources_without_tests(file);
                sources.contains("failed to parse field [") && sources.contains("] of type [")
            }),
        ),
        Goal::at_most(
            1,
            "files that know the units of time values",
            places(crates, |c, file| {
                is_ours(c) && (knows_units(file, "\"micros\"") || knows_units(file, "000, \"m\")"))
            }),
        ),
        Goal::at_most(
            1,
            "files that know the units of byte sizes",
            places(crates, |c, file| is_ours(c) && knows_units(file, "\"mb\"")),
        ),
        Goal::at_most(
            1,
            "files that word `did you mean`",
            places(crates, |c, file| is_ours(c) && knows_units(file, "did you mean [")),
        ),
        Goal::at_most(
            1,
            "files that word `Validation Failed: 1`",
            places(crates, |_, file| sources_without_tests(file).contains("Validation Failed: 1")),
        ),
    ]
}

fn sizes_and_words(crates: &[Crate]) -> Vec<Goal> {
    let undocumented = places(crates, |_, file| !file.is_tests() && counts::public_items(&[file]).1 > 0);
    let private = crates.iter().flat_map(|c| {
        let words = counts::PRIVATE_WORDS.iter().filter(|word| {
            let files: Vec<&SourceFile> = c.files.iter().collect();
            counts::types_of(&files, word) > 0
        });
        words.map(|word| format!("{}: {word}", c.name)).collect::<Vec<_>>()
    });
    vec![
        Goal::none("functions of more than 70 lines", of_each(crates, counts::long_functions)),
        Goal::none("files of more than 500 lines, without their tests", of_each(crates, counts::long_files)),
        Goal::none("files with public items that no doc comment explains", undocumented),
        Goal::none("private words that begin the name of a type", private.collect()),
        Goal::none("comments of more than 110 columns", of_each(crates, counts::wide_comments)),
    ]
}

fn named<'c>(crates: &'c [Crate], name: &str) -> Vec<&'c SourceFile> {
    crates.iter().filter(|c| c.name == name).flat_map(|c| &c.files).collect()
}

fn paths<'f>(name: &str, files: impl Iterator<Item = &'f SourceFile>) -> Vec<String> {
    files.map(|file| format!("{name}/{}", file.path.display())).collect()
}

fn places(crates: &[Crate], is_found: impl Fn(&Crate, &SourceFile) -> bool) -> Vec<String> {
    let of_crate = |c: &Crate| paths(&c.name, c.files.iter().filter(|file| is_found(c, file)));
    crates.iter().flat_map(of_crate).collect()
}

fn of_each(crates: &[Crate], list: fn(&Crate) -> Vec<(String, usize)>) -> Vec<String> {
    let of_crate = |c: &Crate| -> Vec<String> {
        list(c).into_iter().map(|(what, count)| format!("{}/{what} {count}", c.name)).collect()
    };
    crates.iter().flat_map(of_crate).collect()
}

/// Returns the places below REST that know an HTTP status. The classes of errors may: a table maps them.
pub fn statuses(crates: &[Crate]) -> Vec<String> {
    let is_below = |c: &Crate| !matches!(c.name.as_str(), "limber" | "race");
    let is_classes =
        |c: &Crate, file: &SourceFile| c.name == "mapping" && file.path.to_str() == Some("error_class.rs");
    places(crates, |c, file| {
        is_below(c) && !is_classes(c, file) && !counts::http_statuses_in(file).is_empty()
    })
}

fn string_errors(crates: &[Crate]) -> Vec<String> {
    places(crates, |c, file| c.name == "race" && counts::string_errors_in(&[file]) > 0)
}

/// Places in the crate that define a type of one of these names.
fn defining(crates: &[Crate], name: &str, types: &[&str]) -> Vec<String> {
    let defines = |file: &SourceFile, wanted: &str| {
        ["struct", "enum"].iter().any(|keyword| counts::has_word_pair(&file.code, keyword, wanted))
    };
    let found = types.iter().flat_map(|wanted| {
        let files = named(crates, name).into_iter().filter(|file| !file.is_tests() && defines(file, wanted));
        files.map(|file| format!("{name}/{} {wanted}", file.path.display())).collect::<Vec<_>>()
    });
    found.collect()
}

fn knows(file: &SourceFile, query: &str) -> bool {
    let is_own = file.module.last().is_some_and(|last| last == query);
    is_own
        || counts::has_word(&file.code, &format!("mod {query}"))
        || file.code.contains(&format!("{query}::"))
}

fn finds_by_downcast(file: &SourceFile) -> bool {
    file.room() == "aggregation" && file.code.contains("downcast")
}

/// The file with its strings, without comments at the beginnings of lines and without the tests at its end.
fn sources_without_tests(file: &SourceFile) -> String {
    if file.is_tests() {
        return String::new();
    }
    let lines = file.text.lines().take(file.lines_without_tests());
    lines.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
