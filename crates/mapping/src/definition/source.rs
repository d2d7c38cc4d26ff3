//! `_source` of a mapping: "what is stored of a document's JSON?"
//!
//! Source: Elasticsearch's `SourceFieldMapper`.

use serde_json::{Map, Value, json};

use crate::RequestError;
use crate::json::java::{boolean, java_text, mapper_parsing};
use crate::settings::{MappingSettings, SourceMode};

/// The section as given.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SourceSection {
    pub enabled: Option<bool>,
    pub mode: Option<SourceMode>,
    pub includes: Vec<String>,
    pub excludes: Vec<String>,
}

/// What an index stores of its documents' JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRule {
    /// Whether a source is stored, rebuilt, or neither.
    pub mode: SourceMode,
    /// Patterns of the paths that are stored; empty means all.
    pub includes: Vec<String>,
    /// Patterns of paths that are excluded from those.
    pub excludes: Vec<String>,
}

impl SourceRule {
    /// Whether documents are stored unchanged.
    pub fn keeps_everything(&self) -> bool {
        self.mode == SourceMode::Stored && !self.filters()
    }

    /// Whether only a part is stored.
    pub fn filters(&self) -> bool {
        !(self.includes.is_empty() && self.excludes.is_empty())
    }
}

impl SourceSection {
    /// Parses the section `_source`. A member that is unknown or has the wrong type is an error.
    pub fn parse(value: &Value) -> Result<SourceSection, RequestError> {
        let Value::Object(object) = value else {
            return Err(mapper_parsing("[_source] config must be an object"));
        };
        let mut section = SourceSection::default();
        for (name, value) in object {
            match name.as_str() {
                "enabled" => section.enabled = Some(boolean(value)?),
                "mode" => section.mode = Some(SourceMode::parse(&java_text(value))?),
                "includes" => section.includes = patterns(name, value)?,
                "excludes" => section.excludes = patterns(name, value)?,
                other => {
                    return Err(mapper_parsing(format!(
                        "unknown parameter [{other}] on metadata field [_source]"
                    )));
                }
            }
        }
        if section.enabled.is_some() && section.mode.is_some() {
            return Err(mapper_parsing("Cannot set both [mode] and [enabled] parameters"));
        }
        Ok(section)
    }

    /// Returns the effective rule under the index's settings.
    pub fn rule(&self, settings: &MappingSettings) -> Result<SourceRule, RequestError> {
        let mode = match (self.mode, self.enabled) {
            (Some(mode), _) => mode,
            (None, Some(false)) => SourceMode::Disabled,
            _ => settings.source_mode,
        };
        let rule = SourceRule { mode, includes: self.includes.clone(), excludes: self.excludes.clone() };
        if mode == SourceMode::Synthetic && rule.filters() {
            let reason = "filtering the stored _source is incompatible with synthetic source";
            return Err(RequestError::illegal_argument(reason));
        }
        Ok(rule)
    }

    /// Refuses an update that changes the section.
    pub fn check_update(&self, update: &SourceSection) -> Result<(), RequestError> {
        let enabled = |section: &SourceSection| section.enabled.unwrap_or(true).to_string();
        let mode = |section: &SourceSection| section.mode.map_or("null", SourceMode::name).to_owned();
        let list = |patterns: &[String]| format!("[{}]", patterns.join(", "));
        let parameters = [
            ("enabled", enabled(self), enabled(update)),
            ("mode", mode(self), mode(update)),
            ("includes", list(&self.includes), list(&update.includes)),
            ("excludes", list(&self.excludes), list(&update.excludes)),
        ];
        let changed: Vec<String> = parameters
            .iter()
            .filter(|(_, old, new)| old != new)
            .map(|(name, old, new)| format!("Cannot update parameter [{name}] from [{old}] to [{new}]"))
            .collect();
        match changed.is_empty() {
            true => Ok(()),
            false => Err(super::merge::conflicts("_source", &changed)),
        }
    }

    /// Returns the section as `GET _mapping` shows it; `None` if everything is at its default.
    pub fn to_json(&self) -> Option<Value> {
        let mut body = Map::new();
        if self.enabled == Some(false) {
            body.insert("enabled".into(), false.into());
        }
        if let Some(mode) = self.mode.filter(|mode| *mode != SourceMode::Stored) {
            body.insert("mode".into(), mode.name().into());
        }
        for (name, patterns) in [("includes", &self.includes), ("excludes", &self.excludes)] {
            if !patterns.is_empty() {
                body.insert(name.into(), json!(patterns));
            }
        }
        (!body.is_empty()).then_some(Value::Object(body))
    }
}

fn patterns(name: &str, value: &Value) -> Result<Vec<String>, RequestError> {
    match value {
        Value::Array(list) => Ok(list.iter().map(java_text).collect()),
        _ => Err(mapper_parsing(format!("[{name}] of [_source] must be a list of patterns"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mapping;

    #[test]
    fn sections_are_read_shown_and_refused() {
        let check = |section: Value, default: SourceMode, expected: &str| {
            let settings = MappingSettings { source_mode: default, ..MappingSettings::default() };
            let found = match Mapping::parse(&json!({ "_source": section }), &settings) {
                Ok(mapping) => format!("{} {}", mapping.source().mode.name(), mapping.to_json()),
                Err(error) => error.reason,
            };
            assert_eq!(found, expected);
        };
        check(json!({}), SourceMode::Stored, "stored {}");
        check(json!({}), SourceMode::Synthetic, "synthetic {}");
        check(json!({"enabled": true}), SourceMode::Synthetic, "synthetic {}");
        check(json!({"enabled": false}), SourceMode::Stored, r#"disabled {"_source":{"enabled":false}}"#);
        check(
            json!({"mode": "synthetic"}),
            SourceMode::Stored,
            r#"synthetic {"_source":{"mode":"synthetic"}}"#,
        );
        check(json!({"mode": "stored"}), SourceMode::Synthetic, "stored {}");
        check(
            json!({"includes": ["a.*"], "excludes": ["a.b"]}),
            SourceMode::Stored,
            r#"stored {"_source":{"includes":["a.*"],"excludes":["a.b"]}}"#,
        );
        check(
            json!({"excludes": ["a"], "mode": "synthetic"}),
            SourceMode::Stored,
            "Failed to parse mapping: filtering the stored _source is incompatible with synthetic source",
        );
        check(
            json!({"enabled": true, "mode": "stored"}),
            SourceMode::Stored,
            "Failed to parse mapping: Cannot set both [mode] and [enabled] parameters",
        );
    }
}
