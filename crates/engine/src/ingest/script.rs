//! Scripts on a document: "what is `ctx`, and what did the script change in it?"
//!
//! Only members of the document that the script can reach are converted to script values. Afterwards these
//! are compared with the document, and what did not change keeps its text.
//!
//! Source: Elasticsearch's `IngestCtxMap`, `IngestDocMetadata`; messages as recorded from 9.4.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::{ContextRun, ContextScript, ContextValue, Script, ScriptContext, Scripts, View};

use super::document::node::{Kind, NONE, Node, NodeId};
use super::document::path::VERSION_TYPES;
use super::document::{IngestDocument, NODE_COUNT_MAX, ROOT, check_depth, too_large};

/// The type of a metadata field.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Text,
    Number,
    /// A whole number that cannot be removed.
    Version,
    VersionType,
    Nothing,
    Templates,
}

const METADATA: [(&str, Holds); 9] = [
    ("_index", Holds::Text),
    ("_id", Holds::Text),
    ("_routing", Holds::Text),
    ("_version", Holds::Version),
    ("_version_type", Holds::VersionType),
    ("_if_seq_no", Holds::Number),
    ("_if_primary_term", Holds::Number),
    ("_type", Holds::Nothing),
    ("_dynamic_templates", Holds::Templates),
];

/// The script of a processor or a condition.
#[derive(Debug)]
pub enum PipelineScript {
    /// A script compiled with its pipeline.
    Inline(ContextScript),
    /// A stored script. It is looked up for each document because it may be replaced.
    Stored { scripts: Arc<Scripts>, script: Script, context: ScriptContext },
}

impl PipelineScript {
    /// # Errors
    /// Fails with `script_exception` for a compile error, and with the error for an unknown language.
    pub fn compile(
        scripts: &Arc<Scripts>,
        script: Script,
        context: ScriptContext,
    ) -> Result<PipelineScript, RequestError> {
        if script.is_stored() {
            return Ok(PipelineScript::Stored { scripts: scripts.clone(), script, context });
        }
        ContextScript::compile(scripts, &script, context).map(PipelineScript::Inline)
    }

    /// Returns what the user calls the script: its source, or the id of a stored script.
    pub fn name(&self) -> &str {
        match self {
            PipelineScript::Inline(script) => script.source(),
            PipelineScript::Stored { script, .. } => script.text(),
        }
    }

    /// Checks that the script, even a stored one, compiles now.
    pub fn check(&self) -> Result<(), RequestError> {
        self.with(|_| Ok(()))
    }

    /// Calls `then` with the compiled script.
    pub fn with<T>(
        &self,
        then: impl FnOnce(&ContextScript) -> Result<T, RequestError>,
    ) -> Result<T, RequestError> {
        match self {
            PipelineScript::Inline(script) => then(script),
            PipelineScript::Stored { scripts, script, context } => {
                then(&ContextScript::compile(scripts, script, *context)?)
            }
        }
    }

    /// Whether the condition holds for the document.
    pub fn test(&self, document: &IngestDocument<'_>) -> Result<bool, RequestError> {
        self.with(|script| {
            let mut run = script.start();
            let (ctx, _) = context(document, script, &mut run)?;
            run.test(ctx)
        })
    }

    /// Runs the script on the document. Changes made before a failure stay, as in Elasticsearch.
    pub fn change(&self, document: &mut IngestDocument<'_>) -> Result<(), RequestError> {
        self.with(|script| {
            let mut run = script.start();
            run.begun_at(document.timestamp());
            let (ctx, metadata) = context(document, script, &mut run)?;
            let outcome = run.change(ctx.clone());
            // A few lists that contain each other many times stand for more values than could be written.
            if ctx.written_count() > NODE_COUNT_MAX as u64 {
                return outcome.and(Err(too_large()));
            }
            let written = write_context(document, script, &ctx, &metadata);
            outcome.and(written)
        })
    }
}

/// Updates the document with what the script left in `ctx`.
fn write_context(
    document: &mut IngestDocument<'_>,
    script: &ContextScript,
    ctx: &ContextValue,
    before: &Metadata,
) -> Result<(), RequestError> {
    let View::Map(entries) = ctx.view() else { return Ok(()) };
    let mut members = Vec::with_capacity(entries.len());
    let mut after = Vec::with_capacity(before.len());
    for (key, value) in entries {
        match key.as_text().and_then(kind_of_metadata) {
            Some((name, holds)) => after.push((name, holds, value)),
            None => members.push((key, value)),
        }
    }
    let mut ancestors = Vec::from_iter(ctx.identity());
    write_members(document, ROOT, members, script.names(), &mut ancestors)?;
    change_metadata(document, script, before, after)
}

fn kind_of_metadata(name: &str) -> Option<(&'static str, Holds)> {
    METADATA.iter().find(|(known, _)| *known == name).copied()
}

type Metadata = Vec<(&'static str, ContextValue)>;

/// Makes `ctx` and, separately, its metadata, as far as the script can reach them.
fn context(
    document: &IngestDocument<'_>,
    script: &ContextScript,
    run: &mut ContextRun<'_>,
) -> Result<(ContextValue, Metadata), RequestError> {
    let names = script.names();
    let is_reached = |name: &str| names.is_none_or(|names| names.iter().any(|known| **known == *name));
    let mut metadata = metadata_of(document);
    metadata.retain(|(name, _)| is_reached(name));
    let mut members: Vec<(Arc<str>, ContextValue)> =
        metadata.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect();
    for child in document.children(ROOT) {
        let key = document.key(child);
        if is_reached(&key) && kind_of_metadata(&key).is_none() {
            members.push((Arc::from(&*key), read(document, child, run, 0)?));
        }
    }
    Ok((ContextValue::map(members.into_iter()), metadata))
}

/// Returns the metadata that are present, whether a processor has used any or not.
fn metadata_of(document: &IngestDocument<'_>) -> Metadata {
    let Some(root) = document.metadata_if_made() else {
        let given = document.given();
        let text = |text: Option<&str>| text.map(ContextValue::text);
        let long = |number: Option<i64>| number.map(ContextValue::long);
        let all = [
            ("_index", text(Some(given.index))),
            ("_id", text(given.id)),
            ("_routing", text(given.routing)),
            ("_version", long(given.version)),
            ("_version_type", text(given.version_type)),
            ("_if_seq_no", long(given.if_seq_no)),
            ("_if_primary_term", long(given.if_primary_term)),
        ];
        return all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    };
    let value = |node: NodeId| match document.node(node).kind {
        Kind::String => ContextValue::text(&document.string(node)),
        Kind::Number => number(document, node),
        _ => ContextValue::null(),
    };
    let found = |(name, _): (&'static str, Holds)| Some((name, value(document.member(root, name)?.0)));
    METADATA.into_iter().filter_map(found).collect()
}

fn number(document: &IngestDocument<'_>, node: NodeId) -> ContextValue {
    ContextValue::number(document.text(document.node(node).text))
}

fn read(
    document: &IngestDocument<'_>,
    id: NodeId,
    run: &mut ContextRun<'_>,
    depth: usize,
) -> Result<ContextValue, RequestError> {
    check_depth(depth)?;
    run.charge_values(1)?;
    Ok(match document.node(id).kind {
        Kind::Null => ContextValue::null(),
        Kind::False => ContextValue::bool(false),
        Kind::True => ContextValue::bool(true),
        Kind::Number => number(document, id),
        Kind::String => ContextValue::text(&document.string(id)),
        Kind::Array => {
            let mut items = Vec::new();
            for child in document.children(id) {
                items.push(read(document, child, run, depth + 1)?);
            }
            ContextValue::list(items.into_iter())
        }
        Kind::Object => {
            let mut members: Vec<(Arc<str>, ContextValue)> = Vec::new();
            for child in document.children(id) {
                members.push((Arc::from(&*document.key(child)), read(document, child, run, depth + 1)?));
            }
            ContextValue::map(members.into_iter())
        }
    })
}

/// Checks the metadata after the script and copies the changed ones to the document.
fn change_metadata(
    document: &mut IngestDocument<'_>,
    script: &ContextScript,
    before: &Metadata,
    after: Vec<(&'static str, Holds, ContextValue)>,
) -> Result<(), RequestError> {
    for (name, _) in before {
        if after.iter().all(|(known, ..)| known != name) {
            if *name == "_version" {
                return Err(script.failed(RequestError::illegal_argument("_version cannot be removed")));
            }
            remove_metadata(document, name)?;
        }
    }
    for (name, holds, value) in after {
        let old = before.iter().find(|(known, _)| *known == name);
        if old.is_some_and(|(_, old)| old.equals(&value)) {
            continue;
        }
        check_metadata(name, holds, &value).map_err(|error| script.failed(error))?;
        if value.is_null() {
            remove_metadata(document, name)?;
            continue;
        }
        if holds == Holds::Templates {
            return Err(RequestError::unsupported("[_dynamic_templates] of a script"));
        }
        let root = document.metadata_root()?;
        let node = leaf(document, &value.view())?;
        match document.member(root, name) {
            Some((place, _)) => {
                document.replace(place, node);
                document.mark_edited(root);
            }
            None => {
                document.append_child(root, name, node)?;
            }
        }
    }
    Ok(())
}

fn remove_metadata(document: &mut IngestDocument<'_>, name: &str) -> Result<(), RequestError> {
    let root = document.metadata_root()?;
    if let Some((place, before)) = document.member(root, name) {
        document.unlink(root, place, before);
    }
    Ok(())
}

/// Checks that a script may set the metadata field to this value.
fn check_metadata(name: &str, holds: Holds, value: &ContextValue) -> Result<(), RequestError> {
    let (class, text) = (value.class(), value.java_text());
    let wrong_type = |wanted: &str| {
        let reason =
            format!("{name} [{text}] is wrong type, expected assignable to [java.{wanted}], not [{class}]");
        Err(RequestError::illegal_argument(reason))
    };
    match holds {
        Holds::Nothing => Err(RequestError::illegal_argument(format!("{name} cannot be updated"))),
        Holds::Version if value.is_null() => {
            Err(RequestError::illegal_argument(format!("{name} cannot be null")))
        }
        _ if value.is_null() => Ok(()),
        Holds::Text | Holds::VersionType if value.as_text().is_none() => wrong_type("lang.String"),
        Holds::VersionType if !VERSION_TYPES.contains(&text.as_str()) => {
            let known = VERSION_TYPES.join(", ");
            Err(RequestError::illegal_argument(format!(
                "{name} must be a null or one of [{known}] but was [{text}] with type [{class}]"
            )))
        }
        Holds::Number | Holds::Version if !value.is_number() => wrong_type("lang.Number"),
        Holds::Number | Holds::Version if value.as_whole().is_none() => Err(RequestError::illegal_argument(
            format!("{name} may only be set to an int or a long but was [{text}] with type [{class}]"),
        )),
        Holds::Templates if !matches!(value.view(), View::Map(_)) => wrong_type("util.Map"),
        _ => Ok(()),
    }
}

/// Updates an object of the document to have exactly `members`. `names` are the only members that may change,
/// if given. Returns whether any did.
fn write_members(
    document: &mut IngestDocument<'_>,
    object: NodeId,
    members: Vec<(ContextValue, ContextValue)>,
    names: Option<&[Arc<str>]>,
    ancestors: &mut Vec<usize>,
) -> Result<bool, RequestError> {
    let mut changed = false;
    let (mut before, mut child) = (NONE, document.node(object).first);
    // A script usually leaves the members in their order; the places of the others are looked up.
    let mut next = 0;
    let mut places: Option<HashMap<&str, usize>> = None;
    let mut is_written = vec![false; members.len()];
    while child != NONE {
        let after = document.node(child).next;
        let key = document.key(child);
        let is_here = |place: &usize| members[*place].0.as_text() == Some(&*key);
        let place = Some(next)
            .filter(|place| *place < members.len() && is_here(place))
            .or_else(|| places.get_or_insert_with(|| places_of(&members)).get(&*key).copied());
        let is_out_of_reach = names.is_some_and(|names| names.iter().all(|name| **name != *key))
            || object == ROOT && kind_of_metadata(&key).is_some();
        match place {
            _ if is_out_of_reach => before = child,
            // The source has this member twice. The script saw only one in its map.
            Some(place) if is_written[place] => before = child,
            Some(place) => {
                is_written[place] = true;
                next = place + 1;
                changed |= write(document, child, &members[place].1, ancestors)?;
                before = child;
            }
            None => {
                document.unlink(object, child, before);
                changed = true;
            }
        }
        child = after;
    }
    for ((key, value), _) in members.iter().zip(is_written).filter(|(_, is_written)| !is_written) {
        let Some(name) = key.as_text() else {
            let reason = format!("class {} cannot be cast to class java.lang.String", key.class());
            return Err(RequestError::internal("class_cast_exception", reason));
        };
        let node = make(document, value, ancestors)?;
        document.append_child_after(object, before, name, node).map(|added| before = added)?;
        changed = true;
    }
    if changed {
        document.mark_edited(object);
    }
    Ok(changed)
}

/// Returns the places of members by their keys.
fn places_of(members: &[(ContextValue, ContextValue)]) -> HashMap<&str, usize> {
    // Lists and numbers as keys are refused later.
    members.iter().enumerate().filter_map(|(place, (key, _))| Some((key.as_text()?, place))).collect()
}

/// Sets a value of the document. Returns whether it was different.
fn write(
    document: &mut IngestDocument<'_>,
    id: NodeId,
    value: &ContextValue,
    ancestors: &mut Vec<usize>,
) -> Result<bool, RequestError> {
    let (view, kind) = (value.view(), document.node(id).kind);
    match (kind, view) {
        (Kind::Object, View::Map(members)) => {
            below(value, ancestors, |ancestors| write_members(document, id, members, None, ancestors))
        }
        (Kind::Array, View::List(items)) => {
            below(value, ancestors, |ancestors| write_items(document, id, items, ancestors))
        }
        (Kind::Null, View::Null) | (Kind::True, View::Bool(true)) | (Kind::False, View::Bool(false)) => {
            Ok(false)
        }
        (Kind::Number, View::Number(_)) if number(document, id).equals(value) => Ok(false),
        (Kind::String, View::Text(text)) if document.string(id) == *text => Ok(false),
        _ => {
            let node = make(document, value, ancestors)?;
            document.replace(id, node);
            Ok(true)
        }
    }
}

fn write_items(
    document: &mut IngestDocument<'_>,
    array: NodeId,
    items: Vec<ContextValue>,
    ancestors: &mut Vec<usize>,
) -> Result<bool, RequestError> {
    let mut changed = false;
    let (mut before, mut child) = (NONE, document.node(array).first);
    for item in &items {
        if child == NONE {
            let node = make(document, item, ancestors)?;
            before = document.append_child_after(array, before, "", node)?;
            changed = true;
            continue;
        }
        changed |= write(document, child, item, ancestors)?;
        before = child;
        child = document.node(child).next;
    }
    while child != NONE {
        let after = document.node(child).next;
        document.unlink(array, child, before);
        changed = true;
        child = after;
    }
    if changed {
        document.mark_edited(array);
    }
    Ok(changed)
}

/// Calls `then` for the inside of `value`, which must not contain itself.
fn below<T>(
    value: &ContextValue,
    ancestors: &mut Vec<usize>,
    then: impl FnOnce(&mut Vec<usize>) -> Result<T, RequestError>,
) -> Result<T, RequestError> {
    check_depth(ancestors.len())?;
    let identity = value.identity().unwrap_or_default();
    if ancestors.contains(&identity) {
        return Err(RequestError::illegal_argument("Iterable object is self-referencing itself"));
    }
    ancestors.push(identity);
    let outcome = then(ancestors);
    ancestors.pop();
    outcome
}

/// Makes a new value in the document.
fn make(
    document: &mut IngestDocument<'_>,
    value: &ContextValue,
    ancestors: &mut Vec<usize>,
) -> Result<Node, RequestError> {
    match value.view() {
        View::List(items) => below(value, ancestors, |ancestors| {
            let list = document.add(Node::container(Kind::Array));
            write_items(document, list, items, ancestors)?;
            Ok(*document.node(list))
        }),
        View::Map(members) => below(value, ancestors, |ancestors| {
            let map = document.add(Node::container(Kind::Object));
            write_members(document, map, members, None, ancestors)?;
            Ok(*document.node(map))
        }),
        view => leaf(document, &view),
    }
}

fn leaf(document: &mut IngestDocument<'_>, view: &View) -> Result<Node, RequestError> {
    match view {
        View::Null => document.make_scalar(Kind::Null, "null"),
        View::Bool(flag) => document.make_bool(*flag),
        View::Number(text) => document.make_scalar(Kind::Number, text),
        View::Text(text) => document.make_string(text),
        View::Other(class) => {
            Err(RequestError::illegal_argument(format!("unexpected value type [class {class}]")))
        }
        View::List(_) | View::Map(_) => {
            Err(RequestError::illegal_argument("a list or map where one value is wanted"))
        }
    }
}
