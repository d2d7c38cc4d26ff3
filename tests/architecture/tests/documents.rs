//! Keeps the documents readable: no long texts in tables, and a map that can be read in ten minutes.

use std::path::{Path, PathBuf};

/// Maximum characters per table cell. Longer text belongs below the table.
const CELL_CHARACTERS_MAX: usize = 300;
/// Maximum number of lines of `ARCHITECTURE.md`.
const MAP_LINES_MAX: usize = 250;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the cells of a line that is a table row; none for other lines. `\|` does not end a cell.
fn cells(line: &str) -> Vec<String> {
    let Some(row) = line.trim().strip_prefix('|') else { return Vec::new() };
    let row = row.strip_suffix('|').unwrap_or(row).replace("\\|", "\u{0}");
    row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

#[test]
fn cells_are_parted_at_bars() {
    assert_eq!(cells("| `a\\|b` | c |"), ["`a|b`", "c"]);
    assert!(cells("no table").is_empty());
}

#[test]
fn tables_have_no_long_cells() {
    let path = root().join("docs/compatibility.md");
    let mut wrong = Vec::new();
    for (number, line) in (1..).zip(text_of(&path).lines()) {
        let longest = cells(line).iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        if longest > CELL_CHARACTERS_MAX {
            wrong.push(format!("docs/compatibility.md:{number}: a cell of {longest} characters"));
        }
    }
    assert!(wrong.is_empty(), "more than {CELL_CHARACTERS_MAX} characters:\n{}", wrong.join("\n"));
}

#[test]
fn the_map_is_short() {
    let lines = text_of(&root().join("ARCHITECTURE.md")).lines().count();
    assert!(lines <= MAP_LINES_MAX, "ARCHITECTURE.md has {lines} lines, more than {MAP_LINES_MAX}");
}
