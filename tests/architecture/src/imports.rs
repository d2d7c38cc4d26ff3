//! Finds the imports between the files of a crate from the paths in their code.
//!
//! Follows a path through the re-exports (`pub use`) to the file that defines its last name, as the compiler
//! does, but only by text. It misses names made by macros and names that two glob imports could provide.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{ROOT, SourceFile};

/// An import from one file by another; both are indexes into the crate's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file that imports.
    pub from: usize,
    /// The file that defines what is imported.
    pub to: usize,
}

/// The imports of a crate.
pub struct Imports {
    /// Imports between files.
    pub files: BTreeSet<Import>,
    /// Imports between top-level modules, each with the first occurrence. Re-exports are included, except
    /// for those of `lib.rs`.
    pub rooms: BTreeMap<(String, String), String>,
}

/// A path of a `use` declaration: its parts, and the name that it defines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UsedPath {
    parts: Vec<String>,
    name: String,
    is_public: bool,
}

struct Resolver<'a> {
    files: &'a [SourceFile],
    modules: BTreeMap<Vec<String>, usize>,
    /// The re-exports of each file by name; `*` has the globs.
    exports: Vec<BTreeMap<String, Vec<Vec<String>>>>,
}

/// Finds all imports between the files of one crate.
pub fn of_crate(files: &[SourceFile]) -> Imports {
    let uses: Vec<Vec<UsedPath>> = files.iter().map(|file| used_paths(&file.code)).collect();
    let resolver = Resolver::new(files, &uses);
    let mut imports = Imports { files: BTreeSet::new(), rooms: BTreeMap::new() };
    for (from, file) in files.iter().enumerate() {
        if file.is_tests() {
            continue;
        }
        let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for used in &uses[from] {
            if let Some(path) = resolver.absolute(from, &used.parts) {
                if resolver.modules.contains_key(&path) {
                    aliases.insert(&used.name, path.clone());
                }
                resolver.add(&mut imports, from, &path, used.is_public);
            }
        }
        for parts in inline_paths(&file.code) {
            let path = match aliases.get(parts[0].as_str()) {
                Some(module) => Some([module.as_slice(), &parts[1..]].concat()),
                None => resolver.absolute(from, &parts),
            };
            if let Some(path) = path {
                resolver.add(&mut imports, from, &path, false);
            }
        }
    }
    imports
}

impl<'a> Resolver<'a> {
    fn new(files: &'a [SourceFile], uses: &[Vec<UsedPath>]) -> Resolver<'a> {
        let modules = files.iter().enumerate().map(|(at, file)| (file.module.clone(), at)).collect();
        let mut resolver = Resolver { files, modules, exports: vec![BTreeMap::new(); files.len()] };
        for (at, used) in uses.iter().enumerate() {
            for path in used.iter().filter(|used| used.is_public) {
                if let Some(absolute) = resolver.absolute(at, &path.parts) {
                    resolver.exports[at].entry(path.name.clone()).or_default().push(absolute);
                }
            }
        }
        resolver
    }

    /// Returns the path from the crate's root; `None` for a path of another crate.
    fn absolute(&self, from: usize, parts: &[String]) -> Option<Vec<String>> {
        let mut module = self.files[from].module.clone();
        let mut rest = parts;
        match parts.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &parts[1..];
            }
            "self" => rest = &parts[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                module.push(first.to_owned());
                let is_child = self.modules.contains_key(&module);
                module.pop();
                if !is_child {
                    return None;
                }
            }
        }
        module.extend_from_slice(rest);
        Some(module)
    }

    /// Adds the import by `path` in file `from`.
    fn add(&self, imports: &mut Imports, from: usize, path: &[String], is_export: bool) {
        let file = &self.files[from];
        let mut rooms = BTreeSet::new();
        if let Some(to) = self.definition(path, 0) {
            if to != from && !is_export {
                imports.files.insert(Import { from, to });
            }
            rooms.insert(self.files[to].room());
        }
        let named = path.first().filter(|first| self.modules.contains_key(std::slice::from_ref(*first)));
        rooms.extend(named.map(String::as_str));
        if is_export && file.room() == ROOT {
            return;
        }
        for room in rooms.into_iter().filter(|room| *room != file.room()) {
            imports
                .rooms
                .entry((file.room().to_owned(), room.to_owned()))
                .or_insert_with(|| format!("{} names {}", file.path.display(), path.join("::")));
        }
    }

    /// Returns the file that defines the last name of `path`.
    fn definition(&self, path: &[String], depth: usize) -> Option<usize> {
        let length = (0..=path.len()).rev().find(|length| self.modules.contains_key(&path[..*length]))?;
        let module = self.modules[&path[..length]];
        let Some(name) = path.get(length) else {
            return Some(module);
        };
        if depth > 8 {
            return Some(module);
        }
        let rest = &path[length + 1..];
        if let Some(target) = self.exports[module].get(name).and_then(|targets| targets.first()) {
            return self.definition(&[target.as_slice(), rest].concat(), depth + 1);
        }
        for target in self.exports[module].get("*").into_iter().flatten() {
            let through = self.modules.get(target).copied();
            if let Some(glob) = through.filter(|glob| self.defines(*glob, name)) {
                return Some(glob);
            }
        }
        Some(module)
    }

    fn defines(&self, file: usize, name: &str) -> bool {
        let code = &self.files[file].code;
        ["struct", "enum", "fn", "trait", "type", "const", "static"]
            .iter()
            .any(|keyword| crate::counts::has_word_pair(code, keyword, name))
    }
}

/// Returns the paths of all `use` declarations.
fn used_paths(code: &str) -> Vec<UsedPath> {
    let mut found = Vec::new();
    for (at, end, is_public) in use_declarations(code) {
        read_tree(&tokens_of(&code[at..end]), &mut 0, &[], is_public, &mut found);
    }
    found
}

/// Returns start and end of the tree of each `use` declaration, and whether it is a re-export.
fn use_declarations(code: &str) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].trim_end();
        let starts = code[..at].chars().next_back().is_none_or(|c| c.is_whitespace());
        let is_public = before.ends_with("pub") || (before.ends_with(')') && ends_with_visibility(before));
        if !starts || !(is_public || before.is_empty() || before.ends_with([';', '{', '}', ']'])) {
            continue;
        }
        let end = code[at..].find(';').map_or(code.len(), |end| at + end);
        found.push((at + 4, end, is_public));
    }
    found
}

fn ends_with_visibility(before: &str) -> bool {
    before.rfind('(').is_some_and(|open| before[..open].trim_end().ends_with("pub"))
}

fn tokens_of(tree: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in tree.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if matches!(c, '{' | '}' | ',' | '*') {
            tokens.push(c.to_string());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

/// Reads one tree of a `use` (`a::{b, c as d}`) from `at`, up to the following comma or brace.
fn read_tree(
    tokens: &[String],
    at: &mut usize,
    prefix: &[String],
    is_public: bool,
    found: &mut Vec<UsedPath>,
) {
    let mut parts = prefix.to_vec();
    let mut name = None;
    let mut is_group = false;
    while let Some(token) = tokens.get(*at) {
        match token.as_str() {
            "," | "}" => break,
            "{" => {
                is_group = true;
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    read_tree(tokens, at, &parts, is_public, found);
                    if tokens.get(*at).is_some_and(|token| token == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
            }
            "as" => {
                name = tokens.get(*at + 1).cloned();
                *at += 2;
            }
            "*" => {
                name = Some("*".to_owned());
                *at += 1;
            }
            "self" if !parts.is_empty() => *at += 1,
            part => {
                parts.push(part.to_owned());
                *at += 1;
            }
        }
    }
    if !is_group && let Some(last) = parts.last().cloned() {
        found.push(UsedPath { parts, name: name.unwrap_or(last), is_public });
    }
}

/// Returns every path `a::b` in the code outside `use` declarations.
fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, end, _) in use_declarations(code) {
        read_paths(&code[start..at.max(start)], &mut found);
        start = end.max(start);
    }
    read_paths(&code[start..], &mut found);
    found
}

fn read_paths(code: &str, found: &mut Vec<Vec<String>>) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = code;
    while let Some(start) = rest.find(is_part) {
        rest = &rest[start..];
        let mut parts = Vec::new();
        loop {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            parts.push(rest[..end].to_owned());
            rest = &rest[end..];
            match rest.strip_prefix("::") {
                Some(after) if after.starts_with(is_part) => rest = after,
                _ => break,
            }
        }
        if parts.len() > 1 {
            found.push(parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(files: &[(&str, &str)]) -> Vec<SourceFile> {
        files.iter().map(|(path, text)| SourceFile::new((*path).into(), (*text).to_owned())).collect()
    }

    fn file_imports(files: &[(&str, &str)]) -> Vec<String> {
        let files = crate_of(files);
        let shown = |at: usize| files[at].path.display().to_string();
        of_crate(&files)
            .files
            .iter()
            .map(|import| format!("{} -> {}", shown(import.from), shown(import.to)))
            .collect()
    }

    #[test]
    fn trees_of_use_declarations_are_read_whole() {
        let paths: Vec<String> = used_paths("pub(crate) use a::{b, c::{self, d as e}, f::*};")
            .into_iter()
            .map(|used| format!("{} as {}", used.parts.join("::"), used.name))
            .collect();
        assert_eq!(paths, ["a::b as b", "a::c as c", "a::c::d as e", "a::f as *"]);
    }

    #[test]
    fn re_exports_lead_to_the_file_that_defines() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::Thing;"),
            ("a.rs", "use crate::Thing;"),
            ("b/mod.rs", "mod thing; pub use thing::Thing;"),
            ("b/thing.rs", "use super::other::x; pub struct Thing;"),
            ("b/other.rs", "fn f() { crate::a::g() }"),
        ];
        assert_eq!(
            file_imports(&files),
            ["a.rs -> b/thing.rs", "b/thing.rs -> b/other.rs", "b/other.rs -> a.rs"]
        );
    }

    #[test]
    fn a_path_through_an_imported_module_is_followed() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b; fn f() { b::thing() }"),
            ("b/mod.rs", "mod inner; pub use inner::thing;"),
            ("b/inner.rs", "pub fn thing() {}"),
        ];
        assert_eq!(file_imports(&files), ["a.rs -> b/mod.rs", "a.rs -> b/inner.rs"]);
    }
}
