//! Files, functions and folders stay small enough to be readable.

use limber_architecture::counts;
use limber_architecture::crates;

/// Crates of which nothing exceeds the limits. Add crates when their last long file and function is split.
const KEPT: [&str; 1] = ["search"];

#[test]
fn nothing_grows_over_the_limits() {
    let crates = crates::read().expect("the sources are readable");
    for name in KEPT {
        let c = crates.iter().find(|c| c.name == name).expect("the crate is there");
        let found = [counts::long_files(c), counts::long_functions(c)].concat();
        assert!(found.is_empty(), "{name}: long files or long functions: {found:#?}");
    }
}

#[test]
fn no_mod_rs_has_functions() {
    let crates = crates::read().expect("the sources are readable");
    let found: Vec<(String, usize)> = crates.iter().flat_map(counts::logic_in_mod_rs).collect();
    assert!(found.is_empty(), "functions in mod.rs: {found:#?}");
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
