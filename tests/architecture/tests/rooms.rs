//! Dependencies between crates, and between the top-level modules of a crate, only go downwards.

use limber_architecture::crates::{self, Crate, ORDER};
use limber_architecture::graph::strongly_connected;

#[test]
fn crates_need_only_what_is_below_them() {
    for c in read() {
        let place = |name: &str| {
            ORDER
                .iter()
                .position(|one| *one == name)
                .unwrap_or_else(|| panic!("{name} is not in crates::ORDER"))
        };
        for needed in &c.needs {
            assert!(place(needed) < place(&c.name), "{} must not need {needed}, which is above it", c.name);
        }
    }
}

/// The race tool talks to a server by HTTP and depends on no other crate of the workspace.
#[test]
fn race_needs_nothing_of_ours() {
    let crates = read();
    let race = crates.iter().find(|c| c.name == "race").expect("there is a crate race");
    assert_eq!(race.needs, Vec::<String>::new());
}

/// Code that an upward import would need belongs further down, or behind a trait of the lower module
/// (`docs/decisions/013`).
#[test]
fn rooms_have_no_cycles() {
    let mut faults = Vec::new();
    for c in read() {
        for component in strongly_connected(c.imports.rooms.keys().cloned()) {
            let arrows = c
                .imports
                .rooms
                .iter()
                .filter(|((from, to), _)| component.contains(from) && component.contains(to));
            faults.push(format!("{}: {component:?} import each other", c.name));
            faults.extend(arrows.map(|((from, to), place)| format!("  {from} -> {to}: {place}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn read() -> Vec<Crate> {
    crates::read().expect("the sources are readable")
}
