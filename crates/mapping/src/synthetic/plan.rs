//! The mapping as synthetic source sees it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Mapping;
use crate::definition::{Node, Object, Root, joined};
use crate::field::{Field, FieldType, SpaceId};
use crate::settings::Keep;

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
                    let is_copied = !field.copy_to.is_empty() || copied.contains(&field.path);
                    let how = if is_copied || keep == Keep::All { How::Kept } else { how(field, mapping) };
                    self.leaf(field, how, keep, mapping);
                }
            }
        }
    }

    fn leaf(&mut self, field: &Arc<Field>, how: How, keep: Keep, mapping: &Mapping) {
        let space = mapping.nested_around(&field.path).map_or(SpaceId::ROOT, |nested| nested.space);
        let path = field.path.clone();
        match &how {
            How::Column(column) => {
                let column = column.clone();
                self.rebuilt.push(Rebuilt { path: path.clone(), column, is_text: false, space });
            }
            How::Keyword(column) => {
                let column = column.clone();
                self.rebuilt.push(Rebuilt { path: path.clone(), column, is_text: true, space });
            }
            How::Binary | How::Kept => {}
        }
        self.nodes.insert(path, PlanNode::Leaf { how, keep });
    }
}

fn how(field: &Arc<Field>, mapping: &Mapping) -> How {
    match field.kind {
        _ if field.runtime.is_some() => How::Kept,
        FieldType::Text if field.store => How::Kept,
        FieldType::Text => {
            let fields = field.multi_fields.iter().map(|id| mapping.field_by_id(*id));
            let mut keywords = fields.filter(|field| field.kind == FieldType::Keyword && field.doc_values);
            keywords.next().map_or(How::Kept, |keyword| How::Keyword(keyword.clone()))
        }
        FieldType::Binary => How::Binary,
        _ if field.doc_values => How::Column(field.clone()),
        _ => How::Kept,
    }
}
