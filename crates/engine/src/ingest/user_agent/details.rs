//! What a user agent header contains.

use std::fmt::Write as _;

/// A name and the parts of its version.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Version {
    pub name: String,
    parts: Vec<String>,
}

impl Version {
    /// Joins name and version. `parts` are major, minor, patch and build; those after the first missing one
    /// are ignored.
    pub fn new<'p>(name: &str, parts: impl IntoIterator<Item = Option<&'p str>>) -> Version {
        let parts = parts.into_iter().map_while(|part| part.filter(|part| !part.is_empty()));
        Version { name: name.to_owned(), parts: parts.map(str::to_owned).collect() }
    }

    /// Returns a version such as `12.2.1`; `None` when no part is known.
    pub fn version(&self) -> Option<String> {
        (!self.parts.is_empty()).then(|| self.parts.join("."))
    }

    /// Returns name and version.
    pub fn full(&self) -> Option<String> {
        self.version().map(|version| {
            let mut full = self.name.clone();
            let _ = write!(full, " {version}");
            full
        })
    }
}

/// What was found in a header.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    pub agent: Option<Version>,
    pub os: Option<Version>,
    pub device: Option<String>,
}
