//! Errors show who can act on them.

use limber_architecture::counts::{http_statuses_in, string_errors_in};
use limber_architecture::crates;
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

/// The file that defines the classes of errors in the engine; `limber/src/http/status.rs` maps them to HTTP
/// statuses.
const CLASSES: &str = "error_class.rs";

#[test]
fn http_statuses_are_known_above_the_engine_only() {
    let mut faults = Vec::new();
    for c in crates::read().expect("the sources are readable") {
        let is_below = !matches!(c.name.as_str(), "limber" | "race");
        let is_classes = |file: &SourceFile| c.name == "mapping" && file.path.to_str() == Some(CLASSES);
        for file in c.files.iter().filter(|file| is_below && !is_classes(file)) {
            let forms = http_statuses_in(file).into_iter();
            faults.extend(forms.map(|form| format!("{}/{}: {form}", c.name, file.path.display())));
        }
    }
    assert!(faults.is_empty(), "an error below REST has an ErrorClass, no status:\n{}", faults.join("\n"));
}
