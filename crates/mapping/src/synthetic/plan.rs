//! The mapping as synthetic source sees it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::definition::{Node, Object, Root, joined};
use crate::field::{Field, KeptIn, SpaceId, ValueKind};
use crate::settings::Keep;
use crate::{Mapping, RequestError};

/// What to do about every path of a mapping.
#[derive(Debug)]
pub struct SyntheticPlan {
    pub(super) nodes: HashMap<Arc<str>, PlanNode>,
    rebuilt: Vec<Rebuilt>,
}

/// A leaf whose values columns give back.
#[derive(Debug)]
pub struct Rebuilt {
    /// Where it stands in the document.
    pub path: Arc<str>,
    /// Whose column has its values: its own, or a keyword's beside a text.
    pub column: Arc<Field>,
    pub is_text: bool,
    pub space: SpaceId,
}

#[derive(Debug)]
pub(super) enum PlanNode {
    Object { enabled: bool, nested: bool, keep: Keep },
    Leaf { how: How, keep: Keep },
}

#[derive(Debug)]
pub(super) enum How {
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
    pub(crate) fn of(root: &Root, mapping: &Mapping) -> SyntheticPlan {
        let mut plan = SyntheticPlan { nodes: HashMap::new(), rebuilt: Vec::new() };
        let copied: Vec<Arc<str>> =
            mapping.fields().iter().flat_map(|field| field.copy_to.iter().cloned()).collect();
        plan.object(&root.object, "", mapping, &copied);
        plan
    }

    /// The leaves that columns give back.
    pub fn rebuilt(&self) -> &[Rebuilt] {
        &self.rebuilt
    }

    fn object(&mut self, object: &Object, path: &str, mapping: &Mapping, copied: &[Arc<str>]) {
        for (name, node) in &object.properties {
            let full = joined(path, name);
            match node {
                // Documents have no values under an alias.
                Node::Alias(_) => {}
                Node::Object(inner) => {
                    let node = PlanNode::Object {
                        enabled: inner.enabled != Some(false),
                        nested: inner.nested.is_some(),
                        keep: inner.keep.unwrap_or(mapping.settings().keep),
                    };
                    self.nodes.insert(full.as_str().into(), node);
                    self.object(inner, &full, mapping, copied);
                }
                Node::Leaf(leaf) => {
                    let Some(field) = mapping.mapped_field(&full) else { continue };
                    let keep = leaf.param("synthetic_source_keep");
                    let keep = keep.as_str().and_then(|keep| Keep::parse(keep).ok());
                    let keep = keep.unwrap_or(mapping.settings().keep);
                    self.leaf(field, keep, copied.contains(&field.path), mapping);
                }
            }
        }
    }

    /// `is_target`: other fields are copied to it, so that its column tells more than the document does.
    fn leaf(&mut self, field: &Arc<Field>, keep: Keep, is_target: bool, mapping: &Mapping) {
        let space = mapping.nested_around(&field.path).map_or(SpaceId::ROOT, |nested| nested.space);
        let how = how(field, mapping);
        let column = match &how {
            How::Column(column) => Some((column.clone(), false)),
            How::Keyword(column) => Some((column.clone(), true)),
            How::Binary | How::Kept => None,
        };
        // Of fields that are kept as well: documents from before an update that asks for it have their column alone.
        if let Some((column, is_text)) = column.filter(|_| !is_target) {
            self.rebuilt.push(Rebuilt { path: field.path.clone(), column, is_text, space });
        }
        let is_kept = is_target || !field.copy_to.is_empty() || keep == Keep::All;
        let how = if is_kept { How::Kept } else { how };
        self.nodes.insert(field.path.clone(), PlanNode::Leaf { how, keep });
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

fn how(field: &Arc<Field>, mapping: &Mapping) -> How {
    // Scripts make their values again.
    if field.runtime.is_some() || field.script.is_some() {
        return How::Kept;
    }
    match field.of.kept_in(field) {
        KeptIn::Column => How::Column(field.clone()),
        KeptIn::Keyword => {
            let fields = field.multi_fields.iter().map(|id| mapping.field_by_id(*id));
            let mut keywords = fields.filter(|field| field.values == ValueKind::Keyword && field.doc_values);
            keywords.next().map_or(How::Kept, |keyword| How::Keyword(keyword.clone()))
        }
        KeptIn::Sorted => How::Binary,
        KeptIn::Nothing => How::Kept,
    }
}
