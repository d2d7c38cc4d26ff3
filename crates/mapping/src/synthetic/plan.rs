//! The mapping as synthetic source sees it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::RequestError;
use crate::field::{Field, SpaceId};
use crate::settings::Keep;

/// What to do about every path of a mapping.
#[derive(Debug)]
pub struct SyntheticPlan {
    pub(crate) nodes: HashMap<Arc<str>, PlanNode>,
    pub(crate) rebuilt: Vec<Rebuilt>,
}

/// A leaf whose values columns give back.
#[derive(Debug)]
pub struct Rebuilt {
    /// Path of the leaf in the document.
    pub path: Arc<str>,
    /// The field whose column has the values: the leaf's own, or that of a keyword beside a text.
    pub column: Arc<Field>,
    /// Whether the leaf is a text, whose values come from a keyword beside it.
    pub is_text: bool,
    /// The documents that have the values.
    pub space: SpaceId,
}

#[derive(Debug)]
pub(crate) enum PlanNode {
    Object { enabled: bool, nested: bool, keep: Keep },
    Leaf { how: How, keep: Keep },
}

#[derive(Debug)]
pub(crate) enum How {
    /// The field's own column, but for values that it refused.
    Column(Arc<Field>),
    /// The column of a keyword beside the text, but for values too long for it.
    Keyword(Arc<Field>),
    /// Sorted and without repeats, though not in a column.
    Binary,
    /// As it came.
    Kept,
}

impl SyntheticPlan {
    /// The leaves that columns give back.
    pub fn rebuilt(&self) -> &[Rebuilt] {
        &self.rebuilt
    }

    /// Refuses an update after which columns no longer tell what documents had.
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
