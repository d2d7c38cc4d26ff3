//! Errors show who can act on them.

use limber_architecture::counts::string_errors_in;
use limber_architecture::crates;
use limber_architecture::goals::statuses;
use limber_architecture::source::SourceFile;

/// The race tool's errors are variants of its enum, which a caller can handle without parsing messages.
#[test]
fn race_gives_no_bare_texts_as_errors() {
    let crates = crates::read().expect("the sources are readable");
    let race = crates.iter().find(|c| c.name == "race").expect("there is a crate race");
    let files: Vec<&SourceFile> = race.files.iter().collect();
    assert_eq!(
        string_errors_in(&files),
        0,
        "a function of race gives Result<_, String>; see crates/race/src/error.rs"
    );
}

#[test]
fn http_statuses_are_known_above_the_engine_only() {
    let faults = statuses(&crates::read().expect("the sources are readable"));
    assert!(faults.is_empty(), "an error below REST has an ErrorClass, no status:\n{}", faults.join("\n"));
}
