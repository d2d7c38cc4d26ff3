//! The source of a document, in whichever form its index stores it: "what did this document look like?"

use std::borrow::Cow;
use std::collections::BTreeMap;

use limber_mapping::{
    Field, Mapping, Rebuilt, Representation, RequestError, Residue, SourceMode, SpaceId, SyntheticPlan,
    claim_parsed, one_or_all, parse_source, tree_bytes,
};
use limber_segment::{DocId, Segment, StoredDocument, StoredReader};
use limber_work::Stop;
use serde_json::{Map, Value, json};

use super::filter::SourceFilter;
use super::filtered::filter_source;
use crate::error::Result;

/// Returns what a segment stores of a document's JSON: all of it, a part, nothing, or what columns cannot
/// restore. `None` if the document must be parsed for that and is no object or is nested more deeply than
/// the parser allows (128 levels).
pub fn stored_source<'s>(
    mapping: &Mapping,
    source: &'s [u8],
) -> std::result::Result<Option<Cow<'s, [u8]>>, Stop> {
    let rule = mapping.source();
    if rule.keeps_everything() {
        return Ok(Some(Cow::Borrowed(source)));
    }
    let stored = mapping.stored_beside_source();
    if rule.mode == SourceMode::Disabled && stored.is_empty() {
        return Ok(Some(Cow::Borrowed(b"")));
    }
    // The tree, and a copy of what is kept of it.
    limber_work::claim(2 * tree_bytes(source))?;
    let Ok(Value::Object(members)) = parse_source(source) else { return Ok(None) };
    let kept = match mapping.synthetic() {
        Some(plan) => Residue::of(plan, &members).to_bytes(),
        None if stored.is_empty() => filtered(mapping, &Value::Object(members))?,
        None => with_stored_fields(mapping, &Value::Object(members))?,
    };
    Ok(Some(Cow::Owned(kept)))
}

/// Returns the part of a source that is stored and the values of stored fields, as one object.
fn with_stored_fields(mapping: &Mapping, source: &Value) -> std::result::Result<Vec<u8>, Stop> {
    let filter =
        SourceFilter { fetch: true, includes: mapping.stored_beside_source().to_vec(), excludes: Vec::new() };
    let mut kept = filter_source(source, &filter)?;
    if mapping.source().mode != SourceMode::Disabled {
        let rule = mapping.source();
        let filter =
            SourceFilter { fetch: true, includes: rule.includes.clone(), excludes: rule.excludes.clone() };
        add(&mut kept, filter_source(source, &filter)?);
    }
    Ok(kept.to_string().into_bytes())
}

/// Adds members that an object lacks, also in the objects within it. The recursion is bounded by the depth
/// limit of JSON.
fn add(kept: &mut Value, more: Value) {
    match (kept, more) {
        (Value::Object(kept), Value::Object(more)) => {
            for (name, value) in more {
                match kept.get_mut(&name) {
                    Some(own) => add(own, value),
                    None => drop(kept.insert(name, value)),
                }
            }
        }
        // Lists have the same objects in the same order, unless filters removed some of them completely.
        (Value::Array(kept), Value::Array(more)) if kept.len() == more.len() => {
            kept.iter_mut().zip(more).for_each(|(own, value)| add(own, value));
        }
        (Value::Array(kept), Value::Array(more)) if more.len() > kept.len() => *kept = more,
        _ => {}
    }
}

/// Returns the source to show, given what is stored; `None` if the index stores none.
pub fn source_of_stored<'s>(
    mapping: &Mapping,
    stored: &'s [u8],
) -> std::result::Result<Option<Cow<'s, [u8]>>, Stop> {
    if mapping.source().mode == SourceMode::Disabled {
        return Ok(None);
    }
    if mapping.stored_beside_source().is_empty() {
        return Ok(Some(Cow::Borrowed(stored)));
    }
    claim_parsed(stored)?;
    let Ok(parsed) = parse_source(stored) else { return Ok(None) };
    Ok(Some(Cow::Owned(filtered(mapping, &parsed)?)))
}

fn filtered(mapping: &Mapping, source: &Value) -> std::result::Result<Vec<u8>, Stop> {
    let rule = mapping.source();
    let filter =
        SourceFilter { fetch: true, includes: rule.includes.clone(), excludes: rule.excludes.clone() };
    Ok(filter_source(source, &filter)?.to_string().into_bytes())
}

/// Returns the visible source of a document, given what its segment stores of it; `None` if the index
/// stores none. The segment is one of whole documents.
pub fn shown_source<'s>(
    mapping: &Mapping,
    segment: &Segment,
    doc: DocId,
    stored: &'s [u8],
) -> Result<Option<Cow<'s, [u8]>>> {
    let whole = match (mapping.source().mode, mapping.synthetic()) {
        (SourceMode::Disabled, _) => return Ok(None),
        (SourceMode::Stored, _) if !mapping.stored_beside_source().is_empty() => {
            source_of_stored(mapping, stored)?.unwrap_or(Cow::Borrowed(stored))
        }
        (SourceMode::Synthetic, Some(plan)) => {
            let rebuilt = rebuild(mapping, plan, segment, doc, stored)?;
            Cow::Owned(rebuilt.to_string().into_bytes())
        }
        _ => Cow::Borrowed(stored),
    };
    if !mapping.hides_fields() {
        return Ok(Some(whole));
    }
    claim_parsed(&whole)?;
    // A source that cannot be parsed may contain hidden fields, so it is not shown.
    let shown = match parse_source(&whole) {
        Ok(source) => mapping.shown_source(&source)?,
        Err(_) => None,
    };
    Ok(Some(Cow::Owned(shown.unwrap_or_else(|| json!({})).to_string().into_bytes())))
}

/// Reads a document from the segment, and claims the memory that its source takes: decompressed by the
/// reader, and copied by the caller.
///
/// # Errors
/// The segment is damaged, or there is not enough memory.
pub fn read_document<'r>(
    segment: &Segment,
    doc: DocId,
    reader: &'r mut StoredReader,
) -> Result<StoredDocument<'r>> {
    segment.document_claimed(doc, reader, |bytes| Ok(limber_work::claim(2 * bytes)?))
}

/// Reads a source from the segment and returns it like [`shown_source`]; an empty object if the index
/// stores no sources.
pub(crate) fn read_source<'r>(
    mapping: &Mapping,
    segment: &Segment,
    doc: DocId,
    reader: &'r mut StoredReader,
) -> Result<Cow<'r, [u8]>> {
    let stored = read_document(segment, doc, reader)?.source;
    Ok(shown_source(mapping, segment, doc, stored)?.unwrap_or(Cow::Borrowed(b"{}")))
}

fn rebuild(
    mapping: &Mapping,
    plan: &SyntheticPlan,
    segment: &Segment,
    doc: DocId,
    stored: &[u8],
) -> Result<Value> {
    // The tree of what is kept, the residue made of it, and the source that both become.
    limber_work::claim(3 * tree_bytes(stored))?;
    let residue = match plan.is_forced() {
        // A document that cannot be parsed has nothing in the index.
        true => parse_source(stored)
            .ok()
            .and_then(|source| Some(Residue::of_fields(plan, source.as_object()?)))
            .unwrap_or_default(),
        false => Residue::from_bytes(stored).ok_or_else(|| {
            let reason = format!("what is kept of document [{doc}] beside its columns does not parse");
            RequestError::internal("corrupt_index_exception", reason)
        })?,
    };
    let rebuilder = Rebuilder { mapping, plan, whole: segment };
    Ok(rebuilder.object(segment, SpaceId::ROOT, doc, &residue, 0)?.into_json())
}

/// JSON under construction, with members by name.
enum Tree {
    Value(Value),
    Object(BTreeMap<String, Tree>),
}

impl Tree {
    fn insert(&mut self, path: &str, value: Value) {
        // A stored object to which members are added.
        if let Tree::Value(Value::Object(members)) = self {
            let members = std::mem::take(members).into_iter();
            *self = Tree::Object(members.map(|(name, value)| (name, Tree::Value(value))).collect());
        }
        let Tree::Object(members) = self else { return };
        let (name, rest) = match path.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        match rest {
            None => drop(members.insert(name.to_owned(), Tree::Value(value))),
            Some(rest) => {
                let inner = members.entry(name.to_owned()).or_insert_with(|| Tree::Object(BTreeMap::new()));
                inner.insert(rest, value);
            }
        }
    }

    fn into_json(self) -> Value {
        match self {
            Tree::Value(value) => value,
            Tree::Object(members) => {
                let members = members.into_iter().map(|(name, tree)| (name, tree.into_json()));
                Value::Object(members.collect::<Map<String, Value>>())
            }
        }
    }
}

struct Rebuilder<'a> {
    mapping: &'a Mapping,
    plan: &'a SyntheticPlan,
    /// The segment of the outermost documents.
    whole: &'a Segment,
}

impl Rebuilder<'_> {
    /// Rebuilds document `doc` of a space. `base`: bytes of the path to it, with the dot.
    fn object(
        &self,
        segment: &Segment,
        space: SpaceId,
        doc: DocId,
        residue: &Residue,
        base: usize,
    ) -> Result<Tree> {
        let mut tree = Tree::Object(BTreeMap::new());
        for leaf in self.plan.rebuilt().iter().filter(|leaf| leaf.space == space) {
            if is_covered(residue, &leaf.path) {
                continue;
            }
            if let Some(value) = leaf_value(segment, doc, leaf, residue)? {
                tree.insert(&leaf.path[base..], value);
            }
        }
        for nested in self.mapping.nested_objects().iter().filter(|nested| nested.parent == space) {
            let Some(inner) = self.whole.nested(&nested.path).filter(|_| !is_covered(residue, &nested.path))
            else {
                continue;
            };
            let residues = residue.nested.get(&*nested.path);
            let nothing = Residue::default();
            let mut objects = Vec::new();
            for (place, child) in inner.bits.children(doc).enumerate() {
                let own = residues.and_then(|list| list.get(place)).unwrap_or(&nothing);
                let object = self.object(&inner.segment, nested.space, child, own, nested.path.len() + 1)?;
                objects.push(object.into_json());
            }
            if let Some(value) = one_or_all(objects) {
                tree.insert(&nested.path[base..], value);
            }
        }
        for (path, value) in &residue.kept {
            tree.insert(&path[base..], value.clone());
        }
        Ok(tree)
    }
}

/// Whether a stored part of the source already contains this path.
fn is_covered(residue: &Residue, path: &str) -> bool {
    !residue.kept.is_empty()
        && path
            .match_indices('.')
            .map(|(end, _)| &path[..end])
            .chain([path])
            .any(|one| residue.kept.contains_key(one))
}

fn leaf_value(segment: &Segment, doc: DocId, leaf: &Rebuilt, residue: &Residue) -> Result<Option<Value>> {
    let mut values = column_values(segment, doc, &leaf.column)?;
    if let Some(added) = residue.added.get(&*leaf.path) {
        let at = if leaf.is_text { 0 } else { values.len() };
        values.splice(at..at, added.iter().cloned());
    }
    Ok(one_or_all(values))
}

fn column_values(segment: &Segment, doc: DocId, field: &Field) -> Result<Vec<Value>> {
    if field.representation() == Representation::Number {
        let Some(column) = segment.numbers(&field.path)? else { return Ok(Vec::new()) };
        let mut stored = Vec::new();
        column.values(doc, &mut stored)?;
        return Ok(stored.into_iter().map(|stored| field.source_number(stored)).collect());
    }
    let (Some(column), Some(terms)) = (segment.ordinals(&field.path)?, segment.terms(&field.path)?) else {
        return Ok(Vec::new());
    };
    let (mut ordinals, mut term, mut values) = (Vec::new(), Vec::new(), Vec::new());
    column.values(doc, &mut ordinals)?;
    for ordinal in ordinals {
        terms.term(u64::from(ordinal), &mut term)?;
        values.push(field.decode_term(&term).into());
    }
    Ok(values)
}
