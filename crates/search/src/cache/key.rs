//! The name of a filter's set of documents, and which filters go through the cache at all.

use crate::cache::{FilterUse, ShardCaches};
use crate::context::ShardSnapshot;
use crate::query::{BoundQuery, CachedNode, Docs, Node};

/// Source: Lucene's `UsageTrackingQueryCachingPolicy#minFrequencyToCache`.
const FREQUENCY_OF_COSTLY: u32 = 2;
const FREQUENCY_OF_COMBINED: u32 = 4;
const FREQUENCY_OF_OTHERS: u32 = 5;

/// Wraps the filters of a bound query, those without a part in the score, so that they go through the cache. `is_filter`: the query itself
/// is one.
pub(crate) fn cache_filters(query: BoundQuery, shard: &ShardSnapshot, is_filter: bool) -> BoundQuery {
    match &shard.caches {
        Some(caches) if caches.queries.is_some() => wrap(query, shard, caches, is_filter),
        _ => query,
    }
}

fn wrap(query: BoundQuery, shard: &ShardSnapshot, caches: &ShardCaches, is_filter: bool) -> BoundQuery {
    let frequency_min = match &query.node {
        _ if !is_filter => None,
        Node::Docs { docs, .. } => match docs {
            Docs::Exists { .. } | Docs::Ranges(_) => None,
            Docs::Terms { terms, .. } if terms.len() == 1 => None,
            _ => Some(FREQUENCY_OF_COSTLY),
        },
        Node::Bool(_) | Node::DisMax(_) => Some(FREQUENCY_OF_COMBINED),
        Node::Phrase(_) | Node::Intervals(_) | Node::Spans(_) => Some(FREQUENCY_OF_OTHERS),
        _ => None,
    };
    let mut key = Vec::new();
    let is_keyed = frequency_min.is_some() && write(&query, &mut key);
    let query = wrap_parts(query, shard, caches, is_filter);
    let (Some(frequency_min), Some(cache), true) = (frequency_min, &caches.queries, is_keyed) else {
        return query;
    };
    let filter = FilterUse::new(cache, caches, shard.doc_count(), key, frequency_min);
    let name = query.name.clone();
    BoundQuery { node: Node::Cached(CachedNode { inner: Box::new(query), filter }), name, likeness: None }
}

fn wrap_parts(
    mut query: BoundQuery,
    shard: &ShardSnapshot,
    caches: &ShardCaches,
    is_filter: bool,
) -> BoundQuery {
    let wrap_all = |clauses: &mut Vec<BoundQuery>, is_filter: bool| {
        *clauses = std::mem::take(clauses)
            .into_iter()
            .map(|clause| wrap(clause, shard, caches, is_filter))
            .collect();
    };
    match &mut query.node {
        Node::Bool(node) => {
            wrap_all(&mut node.filter, true);
            wrap_all(&mut node.must_not, true);
            wrap_all(&mut node.must, is_filter);
            wrap_all(&mut node.should, is_filter);
        }
        Node::Constant { inner, .. } => {
            let nothing = BoundQuery::nothing("");
            **inner = wrap(std::mem::replace(&mut **inner, nothing), shard, caches, true);
        }
        _ => {}
    }
    query
}

/// Writes what tells the documents of a query from those of any other query on the same shard; `false`: they are not known by the
/// query alone, or cost nothing to find.
fn write(query: &BoundQuery, out: &mut Vec<u8>) -> bool {
    let all = |clauses: &[BoundQuery], out: &mut Vec<u8>| {
        number(clauses.len() as u64, out);
        clauses.iter().all(|clause| write(clause, out))
    };
    match &query.node {
        Node::Nothing { .. } => out.push(b'0'),
        Node::Everything { .. } => out.push(b'*'),
        Node::Cached(node) => return write(&node.inner, out),
        Node::Constant { inner, .. } => return write(inner, out),
        Node::Term(node) => {
            out.push(b't');
            text(node.field.path.as_bytes(), out);
            text(&node.term, out);
        }
        Node::Docs { docs, .. } => return write_docs(docs, out),
        Node::Phrase(node) => {
            out.push(b'p');
            text(node.field.path.as_bytes(), out);
            number(node.slop.into(), out);
            number(node.slots.len() as u64, out);
            for (position, terms) in &node.slots {
                number((*position).into(), out);
                number(terms.len() as u64, out);
                terms.iter().for_each(|term| text(term, out));
            }
        }
        Node::Intervals(node) => {
            out.push(b'v');
            text(node.field.path.as_bytes(), out);
            text(&node.source.key(), out);
            return node.source.is_lasting();
        }
        Node::Spans(node) => {
            out.push(b'S');
            node.span.write(out);
        }
        Node::Bool(node) => {
            out.push(b'b');
            number(node.min_should_match as u64, out);
            let should: &[BoundQuery] = if node.min_should_match > 0 { &node.should } else { &[] };
            return all(&node.must, out)
                && all(&node.filter, out)
                && all(&node.must_not, out)
                && all(should, out);
        }
        Node::DisMax(node) => {
            out.push(b'd');
            return all(&node.queries, out);
        }
        Node::Feature(_)
        | Node::FunctionScore(_)
        | Node::Boosting(_)
        | Node::ScriptScore(_)
        | Node::Script(_)
        | Node::TermsSet(_)
        | Node::Combined(_)
        | Node::Percolate(_)
        | Node::Nested(_) => return false,
    }
    true
}

fn write_docs(docs: &Docs, out: &mut Vec<u8>) -> bool {
    let end = |end: &Option<(Vec<u8>, bool)>, out: &mut Vec<u8>| match end {
        None => out.push(0),
        Some((term, is_included)) => {
            out.push(1 + u8::from(*is_included));
            text(term, out);
        }
    };
    match docs {
        // Scripts may depend on more than the documents, and fields change with the mapping.
        Docs::Runtime { .. } => return false,
        // Known by more than can be written down.
        Docs::Automaton { .. } => return false,
        Docs::Terms { field, terms } => {
            out.push(b'T');
            text(field.path.as_bytes(), out);
            number(terms.len() as u64, out);
            terms.iter().for_each(|term| text(term, out));
        }
        Docs::TermRange { field, lower, upper } => {
            out.push(b'R');
            text(field.path.as_bytes(), out);
            end(lower, out);
            end(upper, out);
        }
        Docs::Pattern { field, lower, upper, pattern } => {
            out.push(b'P');
            text(field.path.as_bytes(), out);
            end(lower, out);
            end(upper, out);
            text(format!("{pattern:?}").as_bytes(), out);
        }
        Docs::Numbers { field, numbers } => {
            out.push(b'N');
            text(field.path.as_bytes(), out);
            number(numbers.len() as u64, out);
            numbers.iter().for_each(|value| number(*value as u64, out));
        }
        Docs::NumberRange { field, min, max } => {
            out.push(b'n');
            text(field.path.as_bytes(), out);
            number(*min as u64, out);
            number(*max as u64, out);
        }
        Docs::Places { field, shape, relation } => {
            out.push(b'G');
            text(field.path.as_bytes(), out);
            text(format!("{relation:?} {shape:?}").as_bytes(), out);
        }
        Docs::Shapes { field, target, relation } => {
            out.push(b'H');
            text(field.path.as_bytes(), out);
            text(format!("{relation:?} {target:?}").as_bytes(), out);
        }
        Docs::AllOf(parts) | Docs::AnyOf(parts) => {
            out.push(if matches!(docs, Docs::AllOf(_)) { b'A' } else { b'O' });
            number(parts.len() as u64, out);
            return parts.iter().all(|part| write_docs(part, out));
        }
        Docs::Exists { path } => {
            out.push(b'E');
            text(path.as_bytes(), out);
        }
        Docs::Ids(ids) => {
            out.push(b'I');
            number(ids.len() as u64, out);
            ids.iter().for_each(|id| text(id.as_bytes(), out));
        }
        Docs::Ranges(ranges) => {
            out.push(b'D');
            text(format!("{ranges:?}").as_bytes(), out);
        }
        Docs::IdSlice { part, parts } => {
            out.push(b'i');
            number((*part).into(), out);
            number((*parts).into(), out);
        }
        Docs::NumberSlice { field, part, parts } => {
            out.push(b's');
            text(field.path.as_bytes(), out);
            number((*part).into(), out);
            number((*parts).into(), out);
        }
    }
    true
}

fn number(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn text(bytes: &[u8], out: &mut Vec<u8>) {
    number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}
