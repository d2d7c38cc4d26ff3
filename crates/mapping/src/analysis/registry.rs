//! The analyzers of an index, by name.

use std::collections::HashMap;
use std::sync::Arc;

use super::Analyzer;

/// Built-in analyzers plus those of `settings.analysis`.
#[derive(Debug)]
pub struct Analyzers {
    by_name: HashMap<String, Arc<Analyzer>>,
}

impl Analyzers {
    /// `standard`, `simple`, `whitespace`, `keyword`, `stop`, `english`.
    pub fn built_in() -> Analyzers {
        let by_name = ["standard", "simple", "whitespace", "keyword", "stop", "english"]
            .into_iter()
            .map(|name| (name.to_owned(), Arc::new(Analyzer { name: name.to_owned() })))
            .collect();
        Analyzers { by_name }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Analyzer>> {
        self.by_name.get(name)
    }

    /// The analyzer of a text field that names none: the index's `default`, else `standard`.
    pub fn default_index(&self) -> Arc<Analyzer> {
        self.get("default").or_else(|| self.get("standard")).expect("standard is built in").clone()
    }

    /// The analyzer of query text for such a field: `default_search`, else the above.
    pub fn default_search(&self) -> Arc<Analyzer> {
        self.get("default_search").cloned().unwrap_or_else(|| self.default_index())
    }
}
