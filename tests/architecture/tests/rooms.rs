//! Arrows between crates and between the rooms of a crate run down only.

use std::collections::BTreeSet;

use limber_architecture::crates::{self, Crate, ORDER};
use limber_architecture::graph::knots;

/// Rooms that are in cycles today, by crate, and how many arrows run inside their knots. **This list may only shrink**: take a room off
/// when it is free, lower the number when arrows are gone, and never add to either. What a new arrow needs belongs further down.
const KNOWN: &[(&str, &[&str], usize)] = &[("search", &["aggregation", "collect", "query", "request"], 9)];

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

/// The race tool talks to a server by HTTP, and to nothing of ours otherwise.
#[test]
fn race_needs_nothing_of_ours() {
    let crates = read();
    let race = crates.iter().find(|c| c.name == "race").expect("there is a crate race");
    assert_eq!(race.needs, Vec::<String>::new());
}

#[test]
fn rooms_have_no_cycles_but_the_known_ones() {
    let mut faults = Vec::new();
    for c in read() {
        let (known, arrows_max) = KNOWN
            .iter()
            .find(|(name, ..)| *name == c.name)
            .map(|(_, rooms, arrows)| (rooms.iter().map(|room| (*room).to_owned()).collect(), *arrows))
            .unwrap_or((BTreeSet::new(), 0));
        let knots = knots(c.imports.rooms.keys().cloned());
        let tied: BTreeSet<String> = knots.iter().flatten().cloned().collect();
        let inside: Vec<String> = c
            .imports
            .rooms
            .iter()
            .filter(|((from, to), _)| knots.iter().any(|knot| knot.contains(from) && knot.contains(to)))
            .map(|((from, to), place)| format!("  {from} -> {to}: {place}"))
            .collect();
        if !tied.is_subset(&known) || inside.len() > arrows_max {
            faults.push(format!(
                "{}: cycles of rooms that are not known: {:?}; {} arrows inside of knots, at most {arrows_max} are known:\n{}",
                c.name,
                tied.difference(&known).collect::<Vec<_>>(),
                inside.len(),
                inside.join("\n")
            ));
        }
        let freed: Vec<&String> = known.difference(&tied).collect();
        if !freed.is_empty() || inside.len() < arrows_max {
            faults.push(format!(
                "{}: better than the list of known cycles says: take off {freed:?}, and set the number of arrows to {}",
                c.name,
                inside.len()
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn read() -> Vec<Crate> {
    crates::read().expect("the sources are readable")
}
