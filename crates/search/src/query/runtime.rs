//! Queries on runtime fields: what they select is asked of the field's values instead of the index.

use std::sync::Arc;

use limber_mapping::Field;

use super::bound::{BoundQuery, Docs, Node};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::matcher::selects_constant;
use crate::runtime::RuntimeField;

/// Makes every set of documents below `query` that is about a runtime field one that asks the field.
pub(super) fn attach(query: &mut BoundQuery, shard: &ShardSnapshot) -> Result<()> {
    let all = |queries: &mut Vec<BoundQuery>| queries.iter_mut().try_for_each(|query| attach(query, shard));
    match &mut query.node {
        Node::Docs { docs, boost, .. } => {
            let field = only_field(docs, shard);
            if let Some(constant) = field.as_ref().and_then(|field| field.constant()) {
                query.node = match selects_constant(docs, constant.map(str::as_bytes)) {
                    true => Node::Everything { boost: *boost },
                    false => Node::Nothing { reason: "the constant of the field is another one".to_owned() },
                };
                return Ok(());
            }
            attach_docs(docs, shard)
        }
        Node::Constant { inner, .. } => attach(inner, shard),
        Node::Cached(node) => attach(&mut node.inner, shard),
        Node::Bool(node) => {
            all(&mut node.must)?;
            all(&mut node.should)?;
            all(&mut node.filter)?;
            all(&mut node.must_not)
        }
        Node::DisMax(node) => all(&mut node.queries),
        Node::TermsSet(node) => all(&mut node.queries),
        Node::FunctionScore(node) => {
            attach(&mut node.query, shard)?;
            let filters = node.functions.iter_mut().filter_map(|function| function.filter.as_mut());
            filters.into_iter().try_for_each(|filter| attach(filter, shard))
        }
        Node::Boosting(node) => {
            attach(&mut node.positive, shard)?;
            attach(&mut node.negative, shard)
        }
        Node::ScriptScore(node) => attach(&mut node.query, shard),
        Node::Nothing { .. }
        | Node::Everything { .. }
        | Node::Term(_)
        | Node::Combined(_)
        | Node::Phrase(_)
        | Node::Intervals(_)
        | Node::Spans(_)
        | Node::Feature(_)
        | Node::Script(_)
        | Node::Percolate(_)
        // Bound as a whole on the documents inside.
        | Node::Nested(_) => Ok(()),
    }
}

fn attach_docs(docs: &mut Docs, shard: &ShardSnapshot) -> Result<()> {
    if let Some(field) = only_field(docs, shard) {
        if let Some(field) = RuntimeField::bind(&field, shard)? {
            let inner = std::mem::replace(docs, Docs::AnyOf(Vec::new()));
            *docs = Docs::Runtime { field, docs: Box::new(inner) };
        }
        return Ok(());
    }
    match docs {
        Docs::AnyOf(parts) | Docs::AllOf(parts) => {
            parts.iter_mut().try_for_each(|part| attach_docs(part, shard))
        }
        _ => Ok(()),
    }
}

/// The one field that a set is about.
fn only_field(docs: &Docs, shard: &ShardSnapshot) -> Option<Arc<Field>> {
    match docs {
        Docs::Terms { field, .. }
        | Docs::TermRange { field, .. }
        | Docs::Pattern { field, .. }
        | Docs::Automaton { field, .. }
        | Docs::Numbers { field, .. }
        | Docs::NumberRange { field, .. }
        | Docs::Places { field, .. }
        | Docs::Shapes { field, .. } => Some(field.clone()),
        Docs::Exists { path } => shard.mapping.field(path),
        Docs::AnyOf(parts) | Docs::AllOf(parts) => {
            let first = only_field(parts.first()?, shard)?;
            let same = |part: &Docs| only_field(part, shard).is_some_and(|field| Arc::ptr_eq(&field, &first));
            parts.iter().all(same).then_some(first)
        }
        Docs::Runtime { .. }
        | Docs::Ids(_)
        | Docs::Ranges(_)
        | Docs::IdSlice { .. }
        | Docs::NumberSlice { .. } => None,
    }
}
