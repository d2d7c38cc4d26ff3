//! The body of an update in `_bulk`: "can this be an update at all?" Elasticsearch refuses the whole request
//! otherwise, before it writes anything. Values are not parsed here. Source: `UpdateRequest#validate`.

use std::borrow::Cow;
use std::fmt;

use limber_engine::{Result, UPDATE_MEMBERS};
use limber_mapping::{ObjectParser, RequestError, SeenMembers, token_of_text};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::http::request::json_error;

const PARSER: ObjectParser<'_> = ObjectParser::new("UpdateRequest");

/// Which members a body has.
#[derive(Debug, Default)]
pub(super) struct Members {
    has_doc: bool,
    has_script: bool,
    has_upsert: bool,
    is_doc_as_upsert: bool,
    refusal: Option<RequestError>,
}

/// Reads the members of a body.
///
/// # Errors
/// It is no object, or has a member that is unknown or of the wrong type.
pub(super) fn check(body: &[u8]) -> Result<Members> {
    let token = token_of_text(body.trim_ascii_start());
    if token != "START_OBJECT" {
        serde_json::from_slice::<IgnoredAny>(body).map_err(|error| json_error(body, &error))?;
        return Err(PARSER.refused(&format!("Expected START_OBJECT but was: {token}")));
    }
    let mut members = Members::deserialize(&mut serde_json::Deserializer::from_slice(body))
        .map_err(|error| json_error(body, &error))?;
    members.refusal.take().map_or(Ok(members), Err)
}

impl Members {
    /// Returns what is wrong with the members together. `is_conditional` says that the update expects a
    /// sequence number.
    pub(super) fn faults(&self, is_conditional: bool) -> impl Iterator<Item = &'static str> + use<> {
        let faults = [
            (!self.has_doc && !self.has_script, "script or doc is missing"),
            (self.has_doc && self.has_script, "can't provide both script and doc"),
            (!self.has_doc && self.is_doc_as_upsert, "doc must be specified if doc_as_upsert is enabled"),
            (
                is_conditional && (self.has_upsert || self.is_doc_as_upsert),
                "compare and write operations can not be used with upsert",
            ),
        ];
        faults.into_iter().filter(|(is_fault, _)| *is_fault).map(|(_, fault)| fault)
    }

    fn note(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, token_of_text(value.as_bytes())) {
            ("doc", "START_OBJECT") => self.has_doc = true,
            ("upsert", "START_OBJECT") => self.has_upsert = true,
            ("doc" | "upsert", token) => return Err(PARSER.unsupported_token(name, token)),
            ("script", _) => self.has_script = true,
            ("doc_as_upsert" | "detect_noop" | "scripted_upsert", "VALUE_BOOLEAN" | "VALUE_STRING") => {
                let value =
                    serde_json::from_str(value).map_err(|error| json_error(value.as_bytes(), &error))?;
                let flag = PARSER.flag(name, &value)?;
                self.is_doc_as_upsert |= flag && name == "doc_as_upsert";
            }
            ("doc_as_upsert" | "detect_noop" | "scripted_upsert", token) => {
                return Err(PARSER.unsupported_token(name, token));
            }
            ("_source" | "if_seq_no" | "if_primary_term", _) => {}
            (other, _) => return Err(PARSER.unknown_among(other, &UPDATE_MEMBERS)),
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the body of an update")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Members, M::Error> {
                let mut members = Members::default();
                let mut seen = SeenMembers::of(&UPDATE_MEMBERS);
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    seen.note(&name)?;
                    let value: &'de RawValue = map.next_value()?;
                    if members.refusal.is_none() {
                        members.refusal = members.note(&name, value.get()).err();
                    }
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_that_cannot_be_updates_are_refused() {
        let check = |body: &str, expected: &str| {
            let error = check(body.as_bytes()).expect_err("refused");
            assert_eq!(error.reason, expected, "{body}");
        };
        check("{\"bogus\":{}}", "[UpdateRequest] unknown field [bogus]");
        check("{\"doc\":\"a\"}", "[UpdateRequest] doc doesn't support values of type: VALUE_STRING");
        check("[]", "[UpdateRequest] Expected START_OBJECT but was: START_ARRAY");
        check("{\"doc\":{},\"detect_noop\":\"x\"}", "[UpdateRequest] failed to parse field [detect_noop]");
        check("{\"doc\":", "[1:8] Unexpected end of file");
    }

    #[test]
    fn members_that_do_not_fit_together_are_faults() {
        let check = |body: &str, is_conditional: bool, expected: &[&str]| {
            let members = check(body.as_bytes()).expect("members");
            assert_eq!(members.faults(is_conditional).collect::<Vec<_>>(), expected, "{body}");
        };
        check("{\"doc\":{},\"detect_noop\":\"false\",\"_source\":true}", true, &[]);
        check("{}", false, &["script or doc is missing"]);
        check("{\"doc\":{},\"script\":\"x\"}", false, &["can't provide both script and doc"]);
        check(
            "{\"doc_as_upsert\":true}",
            false,
            &["script or doc is missing", "doc must be specified if doc_as_upsert is enabled"],
        );
        let upsert = &["compare and write operations can not be used with upsert"];
        check("{\"doc\":{},\"doc_as_upsert\":true}", true, upsert);
        check("{\"script\":\"x\",\"upsert\":{}}", true, upsert);
    }
}
