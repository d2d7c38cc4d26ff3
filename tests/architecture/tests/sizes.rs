//! Files, functions and folders stay small enough to be readable.

use limber_architecture::counts;
use limber_architecture::crates::{self, Crate};

/// Lists the parts of a crate that exceed a limit, with their sizes.
type List = fn(&Crate) -> Vec<(String, usize)>;

/// How much of a crate exceeds the limits at present.
struct Over {
    name: &'static str,
    /// Files of more than [`counts::FILE_LINES_MAX`] lines, without their tests.
    files: usize,
    /// Functions of more than [`counts::FUNCTION_LINES_MAX`] lines.
    functions: usize,
    /// Files `mod.rs` with functions.
    mod_files: usize,
}

/// Crates whose sizes are limited. **The numbers may only fall**: lower them when something is split, and
/// add crates.
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

#[test]
fn folders_are_rooms_or_flat_lists() {
    let crates = crates::read().expect("the sources are readable");
    let rooms_wanted: Vec<(String, usize)> = crates.iter().flat_map(counts::crowded_rooms).collect();
    let max = counts::SIBLINGS_MAX;
    assert!(rooms_wanted.is_empty(), "folders with more than {max} entries want rooms: {rooms_wanted:?}");
    let crowded: Vec<String> = crates
        .iter()
        .flat_map(|c| {
            counts::crowded_folders(c).into_iter().map(|(folder, _)| format!("{}/{folder}", c.name))
        })
        .collect();
    let small: Vec<&str> = counts::FLAT_LISTS
        .iter()
        .map(|(flat, _)| *flat)
        .filter(|flat| crowded.iter().all(|folder| folder != flat))
        .collect();
    assert!(small.is_empty(), "no more than {max} entries, so FLAT_LISTS need not name them: {small:?}");
}

#[test]
fn comments_are_no_wider_than_code() {
    let crates = crates::read().expect("the sources are readable");
    let wide: Vec<(String, usize)> = crates.iter().flat_map(counts::wide_comments).collect();
    assert!(wide.is_empty(), "comments of more than {} columns, by line: {wide:#?}", counts::COLUMNS_MAX);
}
