//! The value of a field of type `join`: the name of a relation, and for children the parent's id.

use serde_json::Value;

use super::walk::{Stop, Walk};
use super::{error, json};
use crate::RequestError;
use crate::field::{FieldSink, Scalar};
use crate::mapping::tree::Leaf;

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the object at `at`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn join(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        let value = self.value_of(at, end)?;
        let (mut name, mut parent) = (None, None);
        for (key, value) in value.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("name", Value::String(text)) => name = Some(text.clone()),
                ("parent", Value::String(text)) => parent = Some(text.clone()),
                ("parent", Value::Number(number)) => parent = Some(number.to_string()),
                (other, _) => {
                    let reason = format!("unknown field name [{other}] in join field [{}]", node.field.path);
                    return Err(self.unreadable(node, end - 1, RequestError::illegal_argument(reason)));
                }
            }
        }
        self.put_relation(node, name.as_deref(), parent.as_deref(), end - 1)?;
        Ok(end)
    }

    pub(super) fn put_join(&mut self, node: &'a Leaf, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        match scalar {
            Scalar::Text(name) => self.put_relation(node, Some(name), None, at),
            other => {
                let reason = format!("unknown join name [{}] for field [{}]", other.text(), node.field.path);
                Err(self.unreadable(node, at, RequestError::illegal_argument(reason)))
            }
        }
    }

    fn put_relation(
        &mut self,
        node: &'a Leaf,
        name: Option<&str>,
        parent: Option<&str>,
        at: usize,
    ) -> Result<(), Stop> {
        let field = &*node.field;
        let Some(relations) = &field.relations else {
            unreachable!("relations are read by joins alone");
        };
        let refuse = |reason: String| error::wrapped(self.bytes, at, RequestError::illegal_argument(reason));
        let Some(name) = name else {
            return Err(refuse(format!("null join name in field [{}]", field.path)).into());
        };
        if !relations.has(name) {
            return Err(refuse(format!("unknown join name [{name}] for field [{}]", field.path)).into());
        }
        if !node.is_fed {
            return Ok(());
        }
        if let Some(above) = relations.parent_of(name) {
            let Some(parent) = parent else {
                return Err(refuse(format!("[parent] is missing for join field [{}]", field.path)).into());
            };
            if !self.scratch.has_routing && !self.is_acknowledged {
                return Err(refuse(format!("[routing] is missing for join field [{}]", field.path)).into());
            }
            self.put_parent(node, above, parent);
        }
        self.sink.term(field, name.as_bytes());
        if relations.parents().any(|parent| parent == name) {
            let own = std::mem::take(&mut self.scratch.id);
            self.put_parent(node, name, &own);
            self.scratch.id = own;
        }
        Ok(())
    }

    /// Feeds the parent's id to the field of its relation.
    fn put_parent(&mut self, node: &'a Leaf, parent: &str, id: &str) {
        let tree = self.tree;
        let found = node.parents.iter().find(|(name, _)| **name == *parent);
        if let Some((_, number)) = found {
            self.sink.term(&tree.leaves[*number as usize].field, id.as_bytes());
        }
    }
}
