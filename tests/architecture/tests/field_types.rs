//! A field type is one file, one row of a table and one test, and no other code lists the field types.

use std::path::Path;

use limber_architecture::crates::{self, Crate};

const EXAMPLE: &str = include_str!("../../../CONTRIBUTING.md");

/// The files that the worked example of CONTRIBUTING.md adds or changes; no other source file names its
/// field type.
const FILES: [&str; 3] = ["field_type/mod.rs", "field_type/table.rs", "field_type/token_count.rs"];

#[test]
fn types_are_known_to_mapping_alone() {
    for c in read() {
        for file in c.files.iter().filter(|file| file.code.contains("FieldType")) {
            let is_own = c.name == "mapping" && !file.code.contains("FieldType::");
            assert!(is_own, "{} of {} asks which type a field has", file.path.display(), c.name);
        }
    }
}

#[test]
fn the_worked_example_touches_the_files_that_it_names() {
    let mut naming = Vec::new();
    for c in read() {
        for file in c.files.iter().filter(|file| !file.is_tests()) {
            if ["\"token_count\"", "mod token_count;", "struct TokenCount;", "&TokenCount,"]
                .iter()
                .any(|name| file.text.contains(name))
            {
                naming.push(format!("{}/{}", c.name, file.path.display()));
            }
        }
    }
    naming.sort();
    assert_eq!(naming, FILES.map(|file| format!("mapping/{file}")));
    for file in FILES {
        assert!(
            EXAMPLE.contains(&format!("crates/mapping/src/{file}")),
            "CONTRIBUTING.md does not name {file}"
        );
    }
}

#[test]
fn the_worked_example_shows_the_code_as_it_is() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/mapping/src");
    let code: String = FILES
        .iter()
        .map(|file| std::fs::read_to_string(room.join(file)).expect("the file is there"))
        .collect();
    let (_, example) = EXAMPLE.split_once("## A field type, step by step").expect("there is an example");
    let (example, _) = example.split_once("\n## ").expect("a section follows it");
    let shown: Vec<&str> = example
        .split("```rust")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .flat_map(str::lines)
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("// ..."))
        .collect();
    assert!(shown.len() > 20, "an example of {} lines", shown.len());
    for line in shown {
        assert!(code.contains(line), "CONTRIBUTING.md shows a line that is not there: {line}");
    }
}

fn read() -> Vec<Crate> {
    crates::read().expect("the sources are readable")
}
