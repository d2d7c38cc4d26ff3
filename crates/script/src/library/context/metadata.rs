//! `metadata()` in scripts that write a document: its index, id, routing, version and operation.
//!
//! Source: Elasticsearch's `Metadata`, `IngestDocMetadata`, `UpdateMetadata`, `UpdateByQueryMetadata` and
//! `ReindexMetadata`. Wrong types of versions are refused when the script ends, as if they were set in `ctx`.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::write_field::Members;
use crate::error::{Outcome, ScriptError};
use crate::library::Machine;
use crate::library::java::parse_iso;
use crate::library::store::put_entry;
use crate::values::{DateValue, JavaObject, Value};

/// What a script may do with a member.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    Read,
    Write,
    /// Null may be written as well.
    WriteNull,
}

/// The metadata that the scripts of a context have.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Context {
    Ingest,
    Reindex,
    Update,
    UpdateByQuery,
}

const INDEX: &str = "_index";
const VERSION: &str = "_version";
const OP: &str = "op";
const NOW: &str = "_now";

/// Members by the names of their methods, `getX` and `setX`, and their keys in `ctx`.
const MEMBERS: &[(&str, &str)] = &[
    ("Index", INDEX),
    ("Id", "_id"),
    ("Routing", "_routing"),
    ("Version", VERSION),
    ("VersionType", "_version_type"),
    ("Op", OP),
    ("Now", NOW),
];

#[derive(Debug)]
struct Metadata {
    /// `ctx`.
    members: Members,
    context: Context,
}

/// Returns the metadata as a script of this context holds it; `None` if scripts of the context have none.
pub(super) fn shared(members: &Members, context: &str) -> Option<Value> {
    let context = match context {
        "ingest" => Context::Ingest,
        "reindex" => Context::Reindex,
        "update" => Context::Update,
        "update_by_query" => Context::UpdateByQuery,
        _ => return None,
    };
    Some(Value::Object(Rc::new(Metadata { members: members.clone(), context })))
}

/// Returns what the scripts of a context may do with a member; `None` if they do not have it.
fn access(context: Context, key: &str) -> Option<Access> {
    Some(match (context, key) {
        (Context::Ingest, OP) => return None,
        (_, NOW) => Access::Read,
        (Context::Ingest, VERSION) | (Context::Reindex, INDEX | VERSION) => Access::Write,
        (Context::Ingest, _) => Access::WriteNull,
        (_, "_version_type") => return None,
        (_, OP) => Access::Write,
        (Context::Reindex, _) => Access::WriteNull,
        (Context::Update | Context::UpdateByQuery, _) => Access::Read,
    })
}

impl Metadata {
    fn get(&self, key: &str) -> Value {
        self.members.borrow().get_text(key).cloned().unwrap_or(Value::Null)
    }

    /// Returns the operations that the script may choose. An upsert has no version yet.
    fn operations(&self) -> &'static [&'static str] {
        let is_upsert = self.context == Context::Update && self.members.borrow().get_text(VERSION).is_none();
        if is_upsert { &["create", "noop"] } else { &["delete", "index", "noop"] }
    }

    fn read(&self, machine: &mut impl Machine, key: &str, at: u32) -> Outcome<Value> {
        let value = self.get(key);
        let is_no_op = || !self.operations().contains(&value.text().as_str());
        Ok(match (key, &value) {
            (NOW, _) => Value::Date(self.now(machine, &value, at)?),
            (VERSION, Value::Null) if self.context == Context::Reindex => Value::Long(i64::MIN),
            (VERSION, number) if number.is_number() => Value::Long(number.i64()),
            (VERSION, _) => return Err(ScriptError::new(at, "null_pointer_exception", "")),
            (OP, _) if self.context == Context::Update && is_no_op() => Value::str("noop"),
            (_, Value::Null) => Value::Null,
            (_, other) => Value::str(other.text()),
        })
    }

    /// Returns when the request began.
    fn now(&self, machine: &mut impl Machine, value: &Value, at: u32) -> Outcome<DateValue> {
        if value.is_number() {
            return Ok(DateValue::of_millis(value.i64()));
        }
        match machine.timestamp().cloned() {
            Some(timestamp) => parse_iso(&timestamp, at),
            None => Ok(DateValue::of_millis(machine.outside().now_millis())),
        }
    }

    fn write(
        &self,
        machine: &mut impl Machine,
        (key, access): (&'static str, Access),
        value: &Value,
        at: u32,
    ) -> Outcome<()> {
        let value = match (key, value) {
            (OP, value) => Value::str(self.operation(value, at)?),
            (VERSION, Value::Int(_) | Value::Long(_)) => Value::Long(value.i64()),
            (VERSION, other) => {
                let reason = format!("Cannot cast from [{}] to [long].", other.class());
                return Err(ScriptError::cast(at, reason));
            }
            (_, Value::Null) if access != Access::WriteNull => {
                return Err(ScriptError::argument(at, format!("{key} cannot be null")));
            }
            (_, Value::Null | Value::Str(_)) => value.clone(),
            (_, other) => {
                let reason = format!("Cannot cast from [{}] to [java.lang.String].", other.class());
                return Err(ScriptError::cast(at, reason));
            }
        };
        put_entry(machine, &self.members, (Value::str(key), value), at).map(drop)
    }

    /// Checks an operation that a script chooses.
    fn operation(&self, op: &Value, at: u32) -> Outcome<&'static str> {
        let (known, text) = (self.operations(), op.text());
        if let Some(found) = known.iter().find(|known| **known == text) {
            return Ok(*found);
        }
        let listed = known.join(", ");
        let reason = match self.context {
            Context::Update if text == "none" => "'none' is not allowed, use 'noop' instead".to_owned(),
            Context::Update => format!("op must be one of [{listed}], not [{text}]"),
            _ => format!("[op] must be one of {listed}, not [{text}]"),
        };
        Err(ScriptError::argument(at, reason))
    }
}

/// Calls a method; `None` if the target is no metadata, or if there is no such method.
pub(super) fn method(
    machine: &mut impl Machine,
    target: &Value,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let Some(metadata) = target.object::<Metadata>() else { return Ok(None) };
    if metadata.context == Context::Reindex {
        match (name, arguments) {
            ("isVersionInternal", []) => return Ok(Some(Value::Bool(metadata.get(VERSION).is_null()))),
            ("setVersionToInternal", []) => {
                put_entry(machine, &metadata.members, (Value::str(VERSION), Value::Null), at)?;
                return Ok(Some(Value::Null));
            }
            _ => {}
        }
    }
    let Some((verb, member)) = name.split_at_checked(3) else { return Ok(None) };
    let known = MEMBERS.iter().find(|(known, _)| *known == member);
    let Some((key, access)) = known.and_then(|(_, key)| Some((*key, access(metadata.context, key)?))) else {
        return Ok(None);
    };
    Ok(match (verb, arguments) {
        ("get", []) => Some(metadata.read(machine, key, at)?),
        ("set", [value]) if access != Access::Read => {
            metadata.write(machine, (key, access), value, at)?;
            Some(Value::Null)
        }
        _ => None,
    })
}

impl JavaObject for Metadata {
    fn class(&self) -> &'static str {
        "org.elasticsearch.script.Metadata"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        let other = other.as_any().downcast_ref::<Metadata>();
        other.is_some_and(|other| Rc::ptr_eq(&self.members, &other.members))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, _: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
        Ok(None)
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
