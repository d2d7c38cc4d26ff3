//! The report on the present structure.

use std::fmt::Write;
use std::io;

use crate::counts;
use crate::crates::{self, Crate};
use crate::goals;
use crate::graph::strongly_connected;

/// Returns all measurements as text.
pub fn of_workspace() -> io::Result<String> {
    let crates = crates::read()?;
    let mut text = String::new();
    put_crates(&mut text, &crates);
    for c in &crates {
        put_cycles(&mut text, c);
    }
    put_list(&mut text, &crates, "folders with more than 25 siblings", counts::crowded_folders);
    put_list(&mut text, &crates, "files over 500 lines, without their tests", counts::long_files);
    put_list(&mut text, &crates, "functions over 70 lines", counts::long_functions);
    put_list(&mut text, &crates, "functions in mod.rs", counts::logic_in_mod_rs);
    line(&mut text, "\n# counted");
    for (what, count) in counts::table(&crates) {
        line(&mut text, &format!("{count:>7}  {what}"));
    }
    line(&mut text, "\n# goals");
    text += &goals::as_markdown(&goals::measure(&crates));
    Ok(text)
}

fn line(text: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

fn put_crates(text: &mut String, crates: &[Crate]) {
    line(text, "# crates: files, lines, what they need");
    for c in crates {
        let lines: usize = c.files.iter().map(|file| file.text.lines().count()).sum();
        let needs = if c.needs.is_empty() { "nothing of ours".to_owned() } else { c.needs.join(", ") };
        line(text, &format!("{:>8} {:>4} {lines:>6}  {needs}", c.name, c.files.len()));
    }
    line(text, "\n# cycles");
}

fn put_cycles(text: &mut String, c: &Crate) {
    let rooms = strongly_connected(c.imports.rooms.keys().cloned());
    let files = strongly_connected(c.imports.files.iter().map(|import| (import.from, import.to)));
    let in_files: usize = files.iter().map(|component| component.len()).sum();
    line(text, &format!("{}: {} cycles of rooms, {in_files} files in cycles", c.name, rooms.len()));
    for component in &rooms {
        let names: Vec<&str> = component.iter().map(String::as_str).collect();
        line(text, &format!("  rooms: {}", names.join(", ")));
        for ((from, to), place) in &c.imports.rooms {
            if component.contains(from) && component.contains(to) {
                line(text, &format!("    {from} -> {to}: {place}"));
            }
        }
    }
    for component in &files {
        let names: Vec<String> = component.iter().map(|at| c.files[*at].path.display().to_string()).collect();
        line(text, &format!("  files: {}", names.join(", ")));
    }
}

fn put_list(text: &mut String, crates: &[Crate], title: &str, list: fn(&Crate) -> Vec<(String, usize)>) {
    line(text, &format!("\n# {title}"));
    for c in crates {
        for (what, count) in list(c) {
            line(text, &format!("{count:>7}  {}/{what}", c.name));
        }
    }
}
