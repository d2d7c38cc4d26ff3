//! Aggregations are independent: the worked example of `CONTRIBUTING.md` touches only the files that it
//! lists, and no other code matches on the kind of an aggregation.

use std::collections::BTreeSet;

use limber_architecture::crates::{self, Crate};
use limber_architecture::goals::asks_for_an_aggregation;
use limber_architecture::source::{SourceFile, workspace};

const OWN_FILE: &str = "aggregation/metric/boxplot.rs";

#[test]
fn the_example_is_its_file_a_line_of_the_table_and_a_module() {
    let search = search();
    let naming: BTreeSet<String> = search
        .files
        .iter()
        .filter(|file| file.code.contains("boxplot") || file.code.contains("Boxplot"))
        .map(path)
        .collect();
    let expected = [OWN_FILE, "aggregation/metric/mod.rs", "aggregation/table.rs"].map(str::to_owned);
    assert_eq!(naming, BTreeSet::from(expected), "the example is named in other files");
    let guide = std::fs::read_to_string(workspace().join("CONTRIBUTING.md")).expect("there is a guide");
    for said in [OWN_FILE, "mod boxplot;", "(\"boxplot\", metric::Boxplot::parse),"] {
        assert!(guide.contains(said), "CONTRIBUTING.md does not say {said}");
    }
}

#[test]
fn every_aggregation_has_all_four_parts() {
    let search = search();
    let with = |part: &str| -> BTreeSet<String> {
        let implementation = format!("impl {part} for ");
        let files = search.files.iter().flat_map(|file| file.code.split(&implementation).skip(1));
        files
            .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).collect::<String>())
            .filter(|name| name != "T")
            .collect()
    };
    let collecting = with("Collect");
    assert!(collecting.len() >= 39, "{collecting:?}");
    for part in ["Request", "Reduce", "Render"] {
        assert_eq!(with(part), collecting, "{part}");
    }
}

#[test]
fn nobody_asks_by_name_which_aggregation_it_is() {
    let search = search();
    let asking: BTreeSet<String> =
        search.files.iter().filter(|file| asks_for_an_aggregation(file)).map(path).collect();
    assert_eq!(asking, BTreeSet::new());
}

/// What a request multiplies is claimed before it is copied: the code that renders an aggregation copies texts
/// and JSON by `aggregation/values/claimed.rs` and formats values by `Format`.
#[test]
fn an_answer_repeats_only_what_was_claimed() {
    let copies = [".clone()", ".cloned()", "from_utf8_lossy", ".join(", "format_millis_in"];
    let mut found = Vec::new();
    for file in &search().files {
        if !path(file).contains("aggregation/") {
            continue;
        }
        for block in file.code.split("\nimpl Render for ").skip(1) {
            let block = block.split("\n}\n").next().unwrap_or_default();
            let copying = |line: &&str| copies.iter().any(|copy| line.contains(copy));
            found
                .extend(block.lines().filter(copying).map(|line| format!("{}: {}", path(file), line.trim())));
        }
    }
    assert!(found.is_empty(), "not claimed:\n{}", found.join("\n"));
}

fn search() -> Crate {
    let crates = crates::read().expect("the sources are readable");
    crates.into_iter().find(|c| c.name == "search").expect("there is a crate search")
}

fn path(file: &SourceFile) -> String {
    file.path.display().to_string()
}
