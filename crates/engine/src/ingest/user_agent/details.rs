//! What a header says.

use std::fmt::Write as _;

/// A name with the parts of its version.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Version {
    pub name: String,
    parts: Vec<String>,
}

impl Version {
    /// `parts`: major, minor, patch, build; those after the first that is missing do not count.
    pub fn new<'p>(name: &str, parts: impl IntoIterator<Item = Option<&'p str>>) -> Version {
        let parts = parts.into_iter().map_while(|part| part.filter(|part| !part.is_empty()));
        Version { name: name.to_owned(), parts: parts.map(str::to_owned).collect() }
    }

    /// `12.2.1`; `None`: no part is known.
    pub fn version(&self) -> Option<String> {
        (!self.parts.is_empty()).then(|| self.parts.join("."))
    }

    /// Name and version.
    pub fn full(&self) -> Option<String> {
        self.version().map(|version| {
            let mut full = self.name.clone();
            let _ = write!(full, " {version}");
            full
        })
    }
}

/// What a header tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    pub agent: Option<Version>,
    pub os: Option<Version>,
    pub device: Option<String>,
}
