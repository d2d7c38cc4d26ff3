//! The goals of the structure, and which of them are not met.

use std::collections::BTreeSet;

use limber_architecture::source::workspace;
use limber_architecture::{crates, goals};

/// `docs/architecture-measures.md` names every goal that is not met, with its reason, and no other. A change
/// that meets a goal deletes its line there; a change that misses a goal that was met must be undone.
#[test]
fn goals_that_are_not_met_are_named_with_their_reasons() {
    let crates = crates::read().expect("the sources are readable");
    let goals = goals::measure(&crates);
    let missed: BTreeSet<&str> =
        goals.iter().filter(|goal| !goal.is_met()).map(|goal| goal.what.as_str()).collect();
    let path = workspace().join("docs/architecture-measures.md");
    let text = std::fs::read_to_string(path).expect("there is a page of the measures");
    let (_, reasons) = text.split_once("## What is not met").expect("it has a section about what is not met");
    let named: BTreeSet<&str> = reasons
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once(".**"))
        .map(|(what, _)| what)
        .collect();
    assert_eq!(missed, named, "docs/architecture-measures.md says something else");
}
