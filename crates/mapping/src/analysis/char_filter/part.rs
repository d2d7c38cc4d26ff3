//! A character filter as a component of an analyzer.

use std::fmt::Debug;
use std::sync::Arc;

use super::Rewritten;

/// Rewrites a text and keeps the mapping of offsets.
pub(in crate::analysis) trait Rewrite: Debug + Send + Sync {
    fn apply(&self, text: &str) -> Rewritten;
}

#[derive(Debug, Clone)]
pub(in crate::analysis) struct CharFilter {
    rewrite: Arc<dyn Rewrite>,
    /// Whether a normalizer may contain it, which requires that it only changes single characters.
    pub is_normalizing: bool,
}

impl CharFilter {
    /// Wraps a filter. `is_normalizing` says whether a normalizer may contain it.
    pub fn new(rewrite: impl Rewrite + 'static, is_normalizing: bool) -> CharFilter {
        CharFilter { rewrite: Arc::new(rewrite), is_normalizing }
    }

    /// Returns the text with every match replaced.
    pub fn apply(&self, text: &str) -> Rewritten {
        self.rewrite.apply(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::analysis::char_filter::CHAR_FILTERS;
    use crate::analysis::registry::bare_context as bare;
    use crate::analysis::settings::Settings;

    #[track_caller]
    fn check(kind: &str, body: Value, text: &str, expected: &str) {
        let found = CHAR_FILTERS.iter().find(|known| known.name == kind).unwrap();
        let filter = (found.make)(&Settings { name: "f", body: body.as_object().unwrap() }, &bare()).unwrap();
        assert_eq!(filter.apply(text).text, expected);
    }

    #[test]
    fn texts_are_replaced() {
        check("mapping", json!({"mappings": ["a => 1", "ab => 2", "\\u00e9=>e", "x =>"]}), "abaéxx.", "21e.");
        check(
            "pattern_replace",
            json!({"pattern": "(\\d+)-(\\d+)", "replacement": "$2/$1"}),
            "12-34 5-6",
            "34/12 6/5",
        );
        check("pattern_replace", json!({"pattern": "B", "flags": "CASE_INSENSITIVE"}), "abB", "a");
        check("pattern_replace", json!({"pattern": "a", "replacement": "\\$1"}), "a", "$1");
        check("pattern_replace", json!({"pattern": "x*", "replacement": "-"}), "axb", "-a--b-");
        check("pattern_replace", json!({"pattern": "(?<=a)b", "replacement": "c"}), "abb", "acb");
        check("html_strip", json!({"escaped_tags": ["b"]}), "<i>a</i><b>c</b>", "a<b>c</b>");
    }
}
