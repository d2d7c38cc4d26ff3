//! Queries on runtime fields, which are evaluated on the field's values instead of an index.

use std::sync::Arc;

use limber_mapping::{Field, RequestError};
use limber_text::wildcard;

use super::bound::BoundQuery;
use super::compound::match_all::{EverythingNode, NothingNode};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::matcher::selects_constant;
use crate::primitives::Docs;
use crate::script::RuntimeField;

/// Replaces every set of documents below `query` that depends on a runtime field by one that evaluates the
/// field. Queries on nested documents are left unchanged, because they are bound separately.
pub(super) fn attach(query: &mut BoundQuery, shard: &ShardSnapshot) -> Result<()> {
    let Some(node) = query.node.as_docs_mut() else {
        return query.node.parts_mut().into_iter().try_for_each(|part| attach(part, shard));
    };
    let field = only_field(&node.docs, shard);
    if let Some(constant) = field.as_ref().and_then(|field| field.constant()) {
        let is_selected = selects_constant(&node.docs, constant.map(str::as_bytes))
            || field.as_ref().is_some_and(|field| &*field.path == "_index")
                && (selects_other_name(&node.docs, shard) || selects_by_pattern(&node.docs, shard)?);
        query.node = match is_selected {
            true => Box::new(EverythingNode { boost: node.boost }),
            false => Box::new(NothingNode { reason: "the constant of the field is another one".to_owned() }),
        };
        return Ok(());
    }
    attach_docs(&mut node.docs, shard)
}

/// Whether one of the aliases of the index, or its data stream, is in the set. Source: Elasticsearch's
/// `SearchIndexNameMatcher`.
fn selects_other_name(docs: &Docs, shard: &ShardSnapshot) -> bool {
    let names = shard.documents.as_ref().map(|documents| documents.other_names(&shard.index.name));
    names.unwrap_or_default().iter().any(|name| selects_constant(docs, Some(name.as_bytes())))
}

/// Whether a term of `_index` is a pattern of a name of the index.
///
/// # Errors
/// A term is empty.
fn selects_by_pattern(docs: &Docs, shard: &ShardSnapshot) -> Result<bool> {
    let Docs::Terms { terms, .. } = docs else { return Ok(false) };
    let others = shard.documents.as_ref().map(|documents| documents.other_names(&shard.index.name));
    let others = others.unwrap_or_default();
    for term in terms.iter() {
        let pattern = String::from_utf8_lossy(term);
        if pattern.is_empty() {
            let reason = "Invalid index name [], expression cannot be empty";
            return Err(RequestError::bad_request("invalid_index_name_exception", reason).into());
        }
        let is_of = |name: &str| pattern == "_all" || wildcard::matches(&pattern, name);
        if is_of(&shard.index.name) || others.iter().any(|name| is_of(name)) {
            return Ok(true);
        }
    }
    Ok(false)
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

/// Returns the only field that a set depends on.
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
