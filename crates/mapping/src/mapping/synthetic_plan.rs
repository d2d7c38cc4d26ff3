//! Determines how synthetic source treats each path of a mapping, once when the mapping is compiled.

use std::collections::HashMap;
use std::sync::Arc;

use super::Mapping;
use crate::definition::{Node, Object, Root, SourceRule, joined};
use crate::field::{Field, KeptIn, SpaceId, ValueKind};
use crate::settings::{Keep, SourceMode};
use crate::synthetic::{How, PlanNode, Rebuilt, SyntheticPlan};

impl SyntheticPlan {
    pub(super) fn of(root: &Root, mapping: &Mapping) -> SyntheticPlan {
        let mut plan = SyntheticPlan { nodes: HashMap::new(), rebuilt: Vec::new(), is_forced: false };
        let copied: Vec<Arc<str>> =
            mapping.fields().iter().flat_map(|field| field.copy_to.iter().cloned()).collect();
        plan.object(&root.object, "", mapping, &copied);
        plan
    }

    /// Plans for documents whose whole source is stored, but of which only that is shown which an index has
    /// in columns and stored fields. A target of `copy_to` has the copied values too.
    fn forced(root: &Root, mapping: &Mapping) -> SyntheticPlan {
        let mut plan = SyntheticPlan { nodes: HashMap::new(), rebuilt: Vec::new(), is_forced: true };
        plan.object(&root.object, "", mapping, &[]);
        plan
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
                        keep: self.keep(inner.keep, mapping),
                    };
                    self.nodes.insert(full.as_str().into(), node);
                    self.object(inner, &full, mapping, copied);
                }
                Node::Leaf(leaf) => {
                    let Some(field) = mapping.mapped_field(&full) else { continue };
                    let keep = leaf.param("synthetic_source_keep");
                    let keep = keep.as_str().and_then(|keep| Keep::parse(keep).ok());
                    self.leaf(field, self.keep(keep, mapping), copied.contains(&field.path), mapping);
                }
            }
        }
    }

    /// Returns what is kept as it was given: what the node says, or else what the index says. Of a stored
    /// source nothing is kept beside it.
    fn keep(&self, of_node: Option<Keep>, mapping: &Mapping) -> Keep {
        if self.is_forced { Keep::None } else { of_node.unwrap_or(mapping.settings().keep) }
    }

    /// Plans a leaf. `is_target` means that other fields are copied to it, so that its column contains more
    /// than the document's own values.
    fn leaf(&mut self, field: &Arc<Field>, keep: Keep, is_target: bool, mapping: &Mapping) {
        let space = mapping.nested_around(&field.path).map_or(SpaceId::ROOT, |nested| nested.space);
        let how = match how(field, mapping) {
            // What no field of the index has is only in the stored source.
            How::Shown(of) | How::Column(of) if self.is_forced && !of.doc_values && !of.store => How::Kept,
            how => how,
        };
        let column = match &how {
            How::Column(column) => Some((column.clone(), false)),
            How::Keyword(column) => Some((column.clone(), true)),
            // Documents of earlier versions have only the column.
            How::Shown(column) if column.values == ValueKind::Keyword && column.doc_values => {
                Some((column.clone(), false))
            }
            How::Binary | How::Shown(_) | How::Kept => None,
        };
        // Fields that are stored as given are rebuilt too, because documents that are older than the update
        // which set this have only the column.
        let is_rebuilt = !is_target && (!self.is_forced || field.copy_to.is_empty());
        if let Some((column, is_text)) = column.filter(|_| is_rebuilt) {
            self.rebuilt.push(Rebuilt { path: field.path.clone(), column, is_text, space });
        }
        let is_kept = is_target || !field.copy_to.is_empty() || keep == Keep::All;
        let how = if is_kept { How::Kept } else { how };
        self.nodes.insert(field.path.clone(), PlanNode::Leaf { how, keep });
    }
}

impl Mapping {
    /// Returns this mapping with a synthetic source in place of a stored one (`force_synthetic_source`);
    /// `None` unless the source is stored.
    pub fn with_forced_source(&self) -> Option<Mapping> {
        if self.source.mode != SourceMode::Stored {
            return None;
        }
        let plan = SyntheticPlan::forced(&self.root, self);
        let source = SourceRule { mode: SourceMode::Synthetic, includes: Vec::new(), excludes: Vec::new() };
        let stored = Arc::from([]);
        Some(Mapping { source, stored, synthetic: Some(Arc::new(plan)), ..self.clone() })
    }
}

fn how(field: &Arc<Field>, mapping: &Mapping) -> How {
    // Scripts compute their values again.
    if field.runtime.is_some() || field.script.is_some() {
        return How::Kept;
    }
    match field.of.kept_in(field) {
        KeptIn::Column => How::Column(field.clone()),
        KeptIn::Keyword => {
            let fields = field.multi_fields.iter().map(|id| mapping.field_by_id(*id));
            let mut keywords = fields.filter(|field| field.values == ValueKind::Keyword && field.doc_values);
            keywords.next().map_or(How::Shown(field.clone()), |keyword| How::Keyword(keyword.clone()))
        }
        KeptIn::Shown => How::Shown(field.clone()),
        KeptIn::Sorted => How::Binary,
        KeptIn::Nothing => How::Kept,
    }
}
