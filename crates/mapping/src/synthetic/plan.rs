//! The mapping from the point of view of synthetic source.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::RequestError;
use crate::field::{Field, SpaceId};
use crate::settings::Keep;

/// How each path of a mapping is treated.
#[derive(Debug)]
pub struct SyntheticPlan {
    pub(crate) nodes: HashMap<Arc<str>, PlanNode>,
    pub(crate) rebuilt: Vec<Rebuilt>,
    /// Whether documents have a stored source, of which only what the index has elsewhere is shown.
    pub(crate) is_forced: bool,
}

/// A leaf whose values are rebuilt from a column.
#[derive(Debug)]
pub struct Rebuilt {
    /// Path of the leaf in the document.
    pub path: Arc<str>,
    /// The field whose column has the values: the leaf itself, or a keyword multi-field of a text.
    pub column: Arc<Field>,
    /// Whether the leaf is a text, whose values come from a keyword multi-field.
    pub is_text: bool,
    /// The space of the documents that have the values.
    pub space: SpaceId,
}

#[derive(Debug)]
pub(crate) enum PlanNode {
    Object { enabled: bool, nested: bool, keep: Keep },
    Leaf { how: How, keep: Keep },
}

#[derive(Debug)]
pub(crate) enum How {
    /// From the field's own column, except for values that it refused.
    Column(Arc<Field>),
    /// From the column of the text's keyword multi-field, except for values that are too long for it.
    Keyword(Arc<Field>),
    /// From a stored copy: sorted and deduplicated, but not in a column.
    Binary,
    /// Stored in the form in which Elasticsearch shows it.
    Shown(Arc<Field>),
    /// Stored unchanged.
    Kept,
}

impl SyntheticPlan {
    /// Whether what is stored of a document is its whole source, and not its [residue](super::Residue).
    pub fn is_forced(&self) -> bool {
        self.is_forced
    }

    /// Returns the leaves that are rebuilt from columns.
    pub fn rebuilt(&self) -> &[Rebuilt] {
        &self.rebuilt
    }

    /// Refuses an update after which columns would no longer show what documents contained.
    pub(crate) fn check_update(&self, before: &SyntheticPlan) -> Result<(), RequestError> {
        let rebuilt: HashSet<&str> = self.rebuilt.iter().map(|leaf| &*leaf.path).collect();
        match before.rebuilt.iter().find(|leaf| !rebuilt.contains(&*leaf.path)) {
            None => Ok(()),
            Some(leaf) => Err(RequestError::unsupported(format!(
                "[copy_to] to the present field [{}] of an index with synthetic source",
                leaf.path
            ))),
        }
    }
}
