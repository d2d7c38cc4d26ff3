//! A character filter as a part of an analyzer.

use std::fmt::Debug;
use std::sync::Arc;

use super::Rewritten;

/// Rewrites a text, and knows the way back.
pub(in crate::analysis) trait Rewrite: Debug + Send + Sync {
    fn apply(&self, text: &str) -> Rewritten;
}

#[derive(Debug, Clone)]
pub(in crate::analysis) struct CharFilter {
    rewrite: Arc<dyn Rewrite>,
    /// Whether a normalizer may have it: it must not look at more than characters.
    pub is_normalizing: bool,
}

impl CharFilter {
    pub fn new(rewrite: impl Rewrite + 'static, is_normalizing: bool) -> CharFilter {
        CharFilter { rewrite: Arc::new(rewrite), is_normalizing }
    }

    /// The text with every match replaced.
    pub fn apply(&self, text: &str) -> Rewritten {
        self.rewrite.apply(text)
    }
}
