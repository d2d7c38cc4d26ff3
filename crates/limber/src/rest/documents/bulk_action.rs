//! An action line of `_bulk`: "which operation is this, on which document?" Source: `BulkRequestParser`.

use std::borrow::Cow;
use std::fmt;

use limber_engine::{OperationKind, Result};
use limber_mapping::document::{Trailing, after_value};
use limber_mapping::{RequestError, SeenMembers, duplicate};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::http::request::json_error;

/// A parsed action line, whose strings borrow from it.
pub(super) struct Action<'a> {
    pub kind: OperationKind,
    pub metadata: Metadata<'a>,
}

impl<'a> Action<'a> {
    /// Parses a line. Errors contain its number.
    pub(super) fn parse(line: &'a [u8], line_number: usize) -> Result<Action<'a>> {
        serde_json::from_slice(line).map_err(|error| {
            let text = error.to_string();
            // Custom errors of the visitors start with a marker; serde_json appends its position to them.
            let reason = match text.strip_prefix(MARK) {
                Some(rest) => rest.rsplit_once(" at line ").map_or(rest, |(message, _)| message).to_owned(),
                None => match wrong_token(&text) {
                    Some(reason) => reason,
                    None => match after_value(line) {
                        Some(Trailing::Token(..)) => {
                            "Malformed action/metadata line [{line}], unexpected data after the closing brace"
                                .to_owned()
                        }
                        Some(Trailing::Fault(fault)) => return fault,
                        None => return json_error(line, &error),
                    },
                },
            };
            RequestError::illegal_argument(reason.replace("{line}", &line_number.to_string()))
        })
    }
}

/// Returns the error about a value that should be an object, made from the one of the JSON parser. `None` if
/// that is about something else.
fn wrong_token(text: &str) -> Option<String> {
    let found = text.strip_prefix("invalid type: ")?;
    let token = match found.split([' ', ',']).next()? {
        "string" => "VALUE_STRING",
        "sequence" => "START_ARRAY",
        "integer" | "floating" => "VALUE_NUMBER",
        "boolean" => "VALUE_BOOLEAN",
        "null" => "VALUE_NULL",
        _ => return None,
    };
    let expected = match found.contains(&format!("expected {METADATA}")) {
        true => "START_OBJECT or END_OBJECT",
        false => "START_OBJECT",
    };
    Some(format!("Malformed action/metadata line [{{line}}], expected {expected} but found [{token}]"))
}

/// What the parser of the metadata expects, as the JSON parser's errors call it.
const METADATA: &str = "an object with the action's metadata";

/// The members of that object.
const MEMBERS: [&str; 15] = [
    "_index",
    "_id",
    "routing",
    "version",
    "version_type",
    "if_seq_no",
    "if_primary_term",
    "pipeline",
    "op_type",
    "require_alias",
    "require_data_stream",
    "list_executed_pipelines",
    "retry_on_conflict",
    "dynamic_templates",
    "_source",
];

/// The object of an action line.
#[derive(Default)]
pub(super) struct Metadata<'a> {
    pub index: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    pub routing: Option<Cow<'a, str>>,
    pub version: Option<u64>,
    pub version_type: Option<Cow<'a, str>>,
    pub if_seq_no: Option<u64>,
    pub if_primary_term: Option<u64>,
    pub pipeline: Option<Cow<'a, str>>,
    pub op_type: Option<Cow<'a, str>>,
    pub require_alias: Option<bool>,
    pub require_data_stream: Option<bool>,
    pub lists_pipelines: Option<bool>,
    pub retry_on_conflict: u32,
    pub dynamic_templates: Option<&'a RawValue>,
    pub source: Option<&'a RawValue>,
}

/// Marks messages that already have Elasticsearch's wording.
const MARK: &str = "\u{1}";

impl<'de: 'a, 'a> Deserialize<'de> for Action<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ActionVisitor;
        impl<'de> Visitor<'de> for ActionVisitor {
            type Value = Action<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an action object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Action<'de>, M::Error> {
                let error = |text: String| <M::Error as serde::de::Error>::custom(format!("{MARK}{text}"));
                let name: Option<Cow<'de, str>> = map.next_key::<BorrowedStr<'de>>()?.map(|s| s.0);
                let Some(name) = name else {
                    return Err(error(
                        "Malformed action/metadata line [{line}], expected FIELD_NAME but found [END_OBJECT]"
                            .into(),
                    ));
                };
                let kind = match &*name {
                    "index" => OperationKind::Index,
                    "create" => OperationKind::Create,
                    "update" => OperationKind::Update,
                    "delete" => OperationKind::Delete,
                    other => {
                        return Err(error(format!(
                            "Malformed action/metadata line [{{line}}], expected field [create], [delete], [index] or [update] but found [{other}]"
                        )));
                    }
                };
                let metadata = map.next_value()?;
                if let Some(BorrowedStr(next)) = map.next_key()? {
                    if next == name {
                        return Err(duplicate(&name));
                    }
                    return Err(error(
                        "Malformed action/metadata line [{line}], expected END_OBJECT but found [FIELD_NAME]"
                            .into(),
                    ));
                }
                Ok(Action { kind, metadata })
            }
        }
        deserializer.deserialize_map(ActionVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Metadata<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MetadataVisitor;
        impl<'de> Visitor<'de> for MetadataVisitor {
            type Value = Metadata<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(METADATA)
            }

            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Metadata<'de>, M::Error> {
                let mut metadata = Metadata::default();
                let mut seen = SeenMembers::of(&MEMBERS);
                while let Some(BorrowedStr(name)) = map.next_key()? {
                    seen.note(&name)?;
                    match &*name {
                        "_index" => metadata.index = text(&mut map, &name)?,
                        "_id" => metadata.id = text(&mut map, &name)?,
                        "routing" => metadata.routing = text(&mut map, &name)?,
                        "version" => metadata.version = Some(number(&mut map, &name)?),
                        "version_type" => metadata.version_type = text(&mut map, &name)?,
                        "if_seq_no" => {
                            let wrong = |seq_no: i64| {
                                format!("sequence numbers must be non negative. got [{seq_no}].")
                            };
                            metadata.if_seq_no = Some(not_negative(&mut map, &name, wrong)?);
                        }
                        "if_primary_term" => {
                            let wrong =
                                |term: i64| format!("primary term must be non negative. got [{term}]");
                            metadata.if_primary_term = Some(not_negative(&mut map, &name, wrong)?);
                        }
                        "pipeline" => metadata.pipeline = text(&mut map, &name)?,
                        "op_type" => metadata.op_type = text(&mut map, &name)?,
                        "require_alias" => metadata.require_alias = map.next_value()?,
                        "require_data_stream" => metadata.require_data_stream = map.next_value()?,
                        "list_executed_pipelines" => metadata.lists_pipelines = map.next_value()?,
                        "retry_on_conflict" => {
                            metadata.retry_on_conflict =
                                number(&mut map, &name)?.min(u64::from(u32::MAX)) as u32;
                        }
                        "dynamic_templates" => metadata.dynamic_templates = Some(map.next_value()?),
                        "_source" => metadata.source = Some(map.next_value()?),
                        other => {
                            text(&mut map, other)?;
                            return Err(serde::de::Error::custom(format!(
                                "{MARK}Action/metadata line [{{line}}] contains an unknown parameter [{other}]"
                            )));
                        }
                    }
                }
                Ok(metadata)
            }
        }
        deserializer.deserialize_map(MetadataVisitor)
    }
}

/// A string that is borrowed from the line unless it contains escapes.
struct BorrowedStr<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedStr<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = BorrowedStr<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string or number")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E>(self, number: f64) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(number.to_string())))
            }

            fn visit_bool<E>(self, value: bool) -> std::result::Result<Self::Value, E> {
                Ok(BorrowedStr(Cow::Owned(value.to_string())))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A value of the metadata: a simple one as text, or the token that begins another one.
enum Given<'a> {
    Simple(Option<Cow<'a, str>>),
    Token(&'static str),
}

impl<'de: 'a, 'a> Deserialize<'de> for Given<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        match raw.as_bytes().first() {
            Some(b'[') => Ok(Given::Token("START_ARRAY")),
            Some(b'{') => Ok(Given::Token("START_OBJECT")),
            _ => {
                let simple: Option<BorrowedStr<'de>> =
                    serde_json::from_str(raw).map_err(serde::de::Error::custom)?;
                Ok(Given::Simple(simple.map(|text| text.0)))
            }
        }
    }
}

fn text<'de, M: MapAccess<'de>>(
    map: &mut M,
    name: &str,
) -> std::result::Result<Option<Cow<'de, str>>, M::Error> {
    match map.next_value::<Given<'de>>()? {
        Given::Simple(text) => Ok(text),
        Given::Token(token) => Err(serde::de::Error::custom(format!(
            "{MARK}Malformed action/metadata line [{{line}}], expected a simple value for field [{name}] but found [{token}]"
        ))),
    }
}

/// Reads a `long` that is not negative; it may also be written as a string.
fn number<'de, M: MapAccess<'de>>(map: &mut M, name: &str) -> std::result::Result<u64, M::Error> {
    not_negative(map, name, |number| format!("For input string: \"{number}\""))
}

/// Reads a `long` like [`number`]; `wrong` makes the error about a negative one.
fn not_negative<'de, M: MapAccess<'de>>(
    map: &mut M,
    name: &str,
    wrong: impl Fn(i64) -> String,
) -> std::result::Result<u64, M::Error> {
    let text = text(map, name)?.unwrap_or_default();
    let refused = |reason: String| <M::Error as serde::de::Error>::custom(format!("{MARK}{reason}"));
    let number: i64 = text.parse().map_err(|_| refused(format!("For input string: \"{text}\"")))?;
    u64::try_from(number).map_err(|_| refused(wrong(number)))
}
