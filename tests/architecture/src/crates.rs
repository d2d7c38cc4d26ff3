//! The crates of the workspace and their dependencies.

use std::io;
use std::path::{Path, PathBuf};

use crate::imports::{self, Imports};
use crate::source::{self, SourceFile};

/// The crates from the bottom to the top; each may depend only on those before it.
pub const ORDER: [&str; 12] = [
    "work", "codec", "text", "store", "mapping", "script", "access", "segment", "search", "engine", "race",
    "limber",
];

/// A crate of the workspace.
pub struct Crate {
    /// Name of its folder in `crates`.
    pub name: String,
    /// The files in its `src`.
    pub files: Vec<SourceFile>,
    /// The imports between these files.
    pub imports: Imports,
    /// The crates of this workspace that its manifest lists as dependencies, without those for tests.
    pub needs: Vec<String>,
}

/// Reads every crate of the workspace, by name.
pub fn read() -> io::Result<Vec<Crate>> {
    let folder = source::workspace().join("crates");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    paths.iter().filter(|path| path.join("Cargo.toml").is_file()).map(|path| read_crate(path)).collect()
}

fn read_crate(path: &Path) -> io::Result<Crate> {
    let files = source::read_folder(&path.join("src"))?;
    let imports = imports::of_crate(&files);
    let needs = dependencies(&std::fs::read_to_string(path.join("Cargo.toml"))?);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Crate { name, files, imports, needs })
}

/// Returns the crates `limber-…` that a manifest lists under `[dependencies]`.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_inside = line == "[dependencies]";
        } else if is_inside && let Some(name) = line.strip_prefix("limber-") {
            found.push(name.chars().take_while(|c| c.is_alphanumeric()).collect());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_tests_do_not_count() {
        let manifest = "[dependencies]\nlimber-codec.workspace = true\nserde = \"1\"\n\n[dev-dependencies]\nlimber-store.workspace = true\n";
        assert_eq!(dependencies(manifest), ["codec"]);
    }
}
