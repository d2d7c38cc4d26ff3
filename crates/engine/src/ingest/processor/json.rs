//! `json`: "parse the JSON in this string". Source: Elasticsearch's `JsonProcessor`.

use std::collections::HashSet;

use limber_mapping::RequestError;

use super::super::document::json::{SyntaxError, skip_space};
use super::super::document::node::{Kind, NONE, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::document::{IngestDocument, ROOT, syntax_error_in};
use super::super::options::Options;
use super::{Flow, Processor};

#[derive(Debug)]
struct Json {
    field: FieldPath,
    target: Option<FieldPath>,
    /// Present with `add_to_root`: whether objects on both sides are merged instead of replaced.
    add_to_root: Option<bool>,
    allow_duplicate_keys: bool,
    strict: bool,
}

/// Compiles the processor. Options: `field`; optional `target_field`, `add_to_root` (false),
/// `allow_duplicate_keys` (false), `add_to_root_conflict_strategy` and `strict_json_parsing` (true).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let target = options.optional_path("target_field")?;
    let add_to_root = options.bool_or("add_to_root", false)?;
    let allow_duplicate_keys = options.bool_or("allow_duplicate_keys", false)?;
    let strategy = options.optional_string("add_to_root_conflict_strategy")?;
    let strict = options.bool_or("strict_json_parsing", true)?;
    let merge = match strategy.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("replace") => false,
        Some("merge") => true,
        Some(other) => {
            let reason = format!("conflict strategy [{other}] not supported, cannot convert field.");
            return Err(options.error("add_to_root_conflict_strategy", &reason));
        }
    };
    if strategy.is_some() && !add_to_root {
        let reason = "Cannot set `add_to_root_conflict_strategy` if `add_to_root` is false";
        return Err(options.error("add_to_root_conflict_strategy", reason));
    }
    if add_to_root && target.is_some() {
        return Err(options
            .error("target_field", "Cannot set a target field while also setting `add_to_root` to true"));
    }
    Ok(Box::new(Json {
        field,
        target,
        add_to_root: add_to_root.then_some(merge),
        allow_duplicate_keys,
        strict,
    }))
}

impl Processor for Json {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let id = self.field.get(document)?;
        let parsed = self.parsed(document, id)?;
        match self.add_to_root {
            None => {
                let value = *document.node(parsed);
                self.target.as_ref().unwrap_or(&self.field).set(document, value)?;
            }
            Some(merge) => {
                if document.node(parsed).kind != Kind::Object {
                    return Err(RequestError::illegal_argument(
                        "cannot add non-map fields to root of document",
                    ));
                }
                add_members(document, ROOT, parsed, merge)?;
            }
        }
        Ok(Flow::Continue)
    }
}

impl Json {
    fn parsed(&self, document: &mut IngestDocument<'_>, id: NodeId) -> Result<NodeId, RequestError> {
        let text = match document.node(id).kind {
            Kind::String => document.string(id).into_owned(),
            _ => java_text(document, id),
        };
        if text.trim().is_empty() {
            let null = document.make_scalar(Kind::Null, "null")?;
            return Ok(document.add(null));
        }
        let (parsed, end) = document.make_json(&text)?.map_err(|error| syntax_error_in(&text, &error))?;
        if self.strict && skip_space(text.as_bytes(), end) != text.len() {
            let reason =
                format!("The input {text} is not valid JSON and the strict_json_parsing parameter is true");
            return Err(RequestError::illegal_argument(reason));
        }
        resolve_duplicates(document, parsed, self.allow_duplicate_keys)
            .map_err(|error| syntax_error_in(&text, &error))?;
        Ok(parsed)
    }
}

/// Refuses objects with duplicate keys, or keeps the last member of each.
fn resolve_duplicates(
    document: &mut IngestDocument<'_>,
    root: NodeId,
    allow: bool,
) -> Result<(), SyntaxError> {
    let mut open = vec![root];
    while let Some(container) = open.pop() {
        let is_object = document.node(container).kind == Kind::Object;
        let mut keys = HashSet::new();
        let mut duplicate = false;
        for child in document.children(container) {
            if matches!(document.node(child).kind, Kind::Object | Kind::Array) {
                open.push(child);
            }
            duplicate |= is_object && !keys.insert(document.key(child).into_owned());
        }
        if duplicate && !allow {
            return Err(SyntaxError { offset: 0, message: "Duplicate field" });
        }
        if duplicate {
            keep_last(document, container);
            // The text of containers above includes the duplicates too, so it must be written again.
            mark_all(document, root);
        }
    }
    Ok(())
}

fn keep_last(document: &mut IngestDocument<'_>, object: NodeId) {
    let children: Vec<NodeId> = document.children(object).collect();
    let mut later = HashSet::new();
    let mut is_last: Vec<bool> =
        children.iter().rev().map(|&child| later.insert(document.key(child).into_owned())).collect();
    is_last.reverse();
    let mut before = NONE;
    for (&child, is_last) in children.iter().zip(is_last) {
        match is_last {
            true => before = child,
            false => document.unlink(object, child, before),
        }
    }
}

fn mark_all(document: &mut IngestDocument<'_>, root: NodeId) {
    let mut open = vec![root];
    while let Some(container) = open.pop() {
        if matches!(document.node(container).kind, Kind::Object | Kind::Array) {
            document.mark_edited(container);
            open.extend(document.children(container).collect::<Vec<_>>());
        }
    }
}

/// Puts every member of `from` into `into`. With `merge`, objects on both sides are merged member by member.
fn add_members(
    document: &mut IngestDocument<'_>,
    into: NodeId,
    from: NodeId,
    merge: bool,
) -> Result<(), RequestError> {
    document.mark_edited(into);
    let members: Vec<NodeId> = document.children(from).collect();
    for member in members {
        let key = document.key(member).into_owned();
        let value = *document.node(member);
        match document.member(into, &key) {
            Some((place, _))
                if merge && value.kind == Kind::Object && document.node(place).kind == Kind::Object =>
            {
                add_members(document, place, member, merge)?;
            }
            Some((place, _)) => document.replace(place, value),
            None => {
                document.append_child(into, &key, value)?;
            }
        }
    }
    Ok(())
}
