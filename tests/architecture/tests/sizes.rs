//! Files, functions and folders stay small enough to be read.

use limber_architecture::counts;
use limber_architecture::crates::{self, Crate};

/// Lists what of a crate is over a limit, with its size.
type List = fn(&Crate) -> Vec<(String, usize)>;

/// What of a crate is over the limits today.
struct Over {
    name: &'static str,
    /// Files of more than [`counts::FILE_LINES_MAX`] lines, without their tests.
    files: usize,
    /// Functions of more than [`counts::FUNCTION_LINES_MAX`] lines.
    functions: usize,
    /// Files `mod.rs` with functions.
    mod_files: usize,
}

/// Crates whose sizes are kept. **The numbers may only fall**: lower them when something is split, and add
/// crates.
const KEPT: [Over; 1] = [Over { name: "search", files: 0, functions: 0, mod_files: 0 }];

#[test]
fn nothing_grows_over_the_limits() {
    let crates = crates::read().expect("the sources are readable");
    let mut faults = Vec::new();
    for over in &KEPT {
        let c = crates.iter().find(|c| c.name == over.name).expect("the crate is there");
        let lists: [(&str, List, usize); 3] = [
            ("long files", counts::long_files, over.files),
            ("long functions", counts::long_functions, over.functions),
            ("functions in mod.rs", counts::logic_in_mod_rs, over.mod_files),
        ];
        for (what, list, most) in lists {
            let found = list(c);
            if found.len() > most {
                faults.push(format!("{}: {} {what}, at most {most}: {found:#?}", c.name, found.len()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Folders that may hold more than [`counts::SIBLINGS_MAX`] files and folders, each with the reason. Whoever
/// looks for a thing in one of them knows its name, and every file answers the same question.
const FLAT_LISTS: [(&str, &str); 7] = [
    ("engine/ingest/processor", "one processor a file; the names are those of pipelines"),
    ("limber/rest/cat", "one table of `_cat` a file; the names are those of the paths"),
    ("mapping/analysis/filter", "one token filter a file; the names are those of analyzers"),
    ("mapping/field_type", "one field type a file; the names are those of mappings"),
    ("race/advise/rule", "one rule of `limber advise` a file; `docs/advise.md` lists them"),
    ("search/aggregation/bucket", "one bucket aggregation a file; the names are those of requests"),
    ("search/aggregation/metric", "one metric aggregation a file; the names are those of requests"),
];

#[test]
fn folders_are_rooms_or_flat_lists() {
    let crates = crates::read().expect("the sources are readable");
    let crowded: Vec<(String, usize)> = crates
        .iter()
        .flat_map(|c| {
            counts::crowded_folders(c).into_iter().map(|(folder, count)| (below(c, &folder), count))
        })
        .collect();
    let rooms_wanted: Vec<&(String, usize)> =
        crowded.iter().filter(|(folder, _)| FLAT_LISTS.iter().all(|(flat, _)| flat != folder)).collect();
    let max = counts::SIBLINGS_MAX;
    assert!(rooms_wanted.is_empty(), "folders with more than {max} entries want rooms: {rooms_wanted:?}");
    let small: Vec<&str> = FLAT_LISTS
        .iter()
        .map(|(flat, _)| *flat)
        .filter(|flat| crowded.iter().all(|(folder, _)| folder != flat))
        .collect();
    assert!(small.is_empty(), "no more than {max} entries, so FLAT_LISTS need not name them: {small:?}");
}

/// The path of a folder with the name of its crate first.
fn below(c: &Crate, folder: &str) -> String {
    if folder.is_empty() { c.name.clone() } else { format!("{}/{folder}", c.name) }
}

#[test]
fn comments_are_no_wider_than_code() {
    let crates = crates::read().expect("the sources are readable");
    let wide: Vec<(String, usize)> = crates.iter().flat_map(counts::wide_comments).collect();
    assert!(wide.is_empty(), "comments of more than {} columns, by line: {wide:#?}", counts::COLUMNS_MAX);
}
