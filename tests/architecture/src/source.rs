//! The source files of a crate, without comments, strings and tests.

use std::io;
use std::path::{Path, PathBuf};

/// One Rust source file.
pub struct SourceFile {
    /// Path in the crate's `src`, such as `query/bound.rs`.
    pub path: PathBuf,
    /// Path of its module, such as `["query", "bound"]`; empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    /// Contents of the file.
    pub text: String,
    /// The contents with comments, strings and test modules blanked out and line breaks kept.
    pub code: String,
}

impl SourceFile {
    /// Creates a file with `path` in `src`.
    pub fn new(path: PathBuf, text: String) -> SourceFile {
        let mut module: Vec<String> =
            path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let is_root = module.len() == 1 && matches!(module[0].as_str(), "lib" | "main");
        if is_root || module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        let code = without_tests(&without_prose(&text));
        SourceFile { path, module, text, code }
    }

    /// Returns the top-level module of the file, the first part of its module path, or `(root)` for
    /// `lib.rs` and `main.rs`.
    pub fn room(&self) -> &str {
        self.module.first().map_or(ROOT, String::as_str)
    }

    /// Whether the file is a `mod.rs`.
    pub fn is_mod_rs(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == "mod.rs")
    }

    /// Returns the number of lines without the test modules at the end.
    pub fn lines_without_tests(&self) -> usize {
        let end = self.text.find("#[cfg(test)]\nmod ").unwrap_or(self.text.len());
        self.text[..end].lines().count()
    }

    /// Whether the file contains only tests.
    pub fn is_tests(&self) -> bool {
        self.module.iter().any(|part| part == "tests" || part == "testing" || part.ends_with("_tests"))
    }
}

/// Stands for the top-level module of `lib.rs` and `main.rs`.
pub const ROOT: &str = "(root)";

/// Returns the workspace's folder.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Reads every `.rs` file in `folder` and its subfolders, by path.
pub fn read_folder(folder: &Path) -> io::Result<Vec<SourceFile>> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path)?;
            let below = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
            Ok(SourceFile::new(below, text))
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Returns the text with comments, strings and character literals replaced by spaces.
fn without_prose(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = prose_end(bytes, at);
        for byte in code.iter_mut().take(end).skip(at) {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// Returns the end of the comment, string or character literal that begins at `at`, or `at` itself if none
/// begins there.
fn prose_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let follows_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest[0] {
        b'/' if rest.get(1) == Some(&b'/') => at + find(rest, b"\n").unwrap_or(rest.len()),
        b'/' if rest.get(1) == Some(&b'*') => at + find(rest, b"*/").map_or(rest.len(), |end| end + 2),
        b'"' => quoted_end(bytes, at),
        b'r' if !follows_word || bytes[at - 1] == b'b' => raw_end(bytes, at),
        b'\'' => character_end(bytes, at),
        _ => at,
    }
}

fn quoted_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b'"' => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

fn raw_end(bytes: &[u8], at: usize) -> usize {
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(at + 1 + hashes) != Some(&b'"') {
        return at;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = at + 2 + hashes;
    body + find(&bytes[body..], &close).map_or(bytes.len() - body, |end| end + close.len())
}

/// Returns the end of a character literal such as `'x'` or `'\n'`; does not match a lifetime.
fn character_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => at + 3 + find(&bytes[(at + 3).min(bytes.len())..], b"'").map_or(0, |end| end + 1),
        Some(first) => {
            let length = match first {
                0xF0.. => 4,
                0xE0.. => 3,
                0xC0.. => 2,
                _ => 1,
            };
            if bytes.get(at + 1 + length) == Some(&b'\'') { at + length + 2 } else { at }
        }
        None => at,
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Returns the code with every `#[cfg(test)] mod name { … }` and `mod name;` blanked out.
fn without_tests(code: &str) -> String {
    let mut kept = code.to_owned();
    while let Some(start) = kept.find("#[cfg(test)]") {
        let rest = &kept[start..];
        let open = rest.find('{').unwrap_or(rest.len());
        let semicolon = rest.find(';').unwrap_or(rest.len());
        let end = if semicolon < open { semicolon + 1 } else { block_end(rest, open) };
        let blank: String =
            rest[..end.min(rest.len())].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        kept.replace_range(start..start + end.min(rest.len()), &blank);
    }
    kept
}

/// Returns the end of the block that opens at `open`.
fn block_end(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        SourceFile::new("a/b.rs".into(), text.to_owned())
            .code
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn prose_and_tests_are_left_out() {
        assert_eq!(code("use a::b; // use c::d;\n/* e */ f"), "use a::b; f");
        assert_eq!(code("x(\"use y \\\" z\", r#\"a \" b\"#, 'c', '\\'', '\"')"), "x( , , , , )");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code("a;\n#[cfg(test)]\nmod tests { fn f() { g() } }\nb;"), "a; b;");
    }

    #[test]
    fn modules_follow_from_paths() {
        let module = |path: &str| SourceFile::new(path.into(), String::new()).module.join("::");
        assert_eq!(module("lib.rs"), "");
        assert_eq!(module("a/mod.rs"), "a");
        assert_eq!(module("a/b.rs"), "a::b");
    }
}
