//! One data stream: "which indices hold its documents, which of them is written to, and what is the next one
//! called?"
//!
//! Source: Elasticsearch's `DataStream`, `MetadataCreateDataStreamService`.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::names::check_data_stream_name;
use super::{Alias, StreamOverrides};
use crate::api::Result;
use crate::environment::format_utc_millis;
use crate::lifecycle::StreamLifecycle;

/// Prefix of the backing indices of every data stream.
pub(crate) const BACKING_PREFIX: &str = ".ds-";

/// A data stream: one name for documents with a timestamp in several backing indices. Immutable; a change
/// makes a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct DataStream {
    /// Its name.
    pub name: Arc<str>,
    /// Its backing indices, oldest first; the last one is written to. Never empty.
    pub indices: Vec<Arc<str>>,
    /// Counts the changes of `indices`; gives the next backing index its number.
    pub generation: u64,
    /// Whether wildcards skip the data stream.
    pub hidden: bool,
    /// Whether documents may have a routing.
    pub allow_custom_routing: bool,
    /// Whether the next document rolls the data stream over first (`_rollover?lazy`).
    pub rolls_on_write: bool,
    /// `_meta` of its template.
    pub meta: Option<Value>,
    /// Its aliases by name. Only their filter, and whether they write to this data stream, matter here.
    pub aliases: BTreeMap<String, Alias>,
    /// How long its documents are kept, if it has a data stream lifecycle.
    pub lifecycle: Option<StreamLifecycle>,
    /// What it sets itself, over its template.
    pub overrides: StreamOverrides,
}

impl DataStream {
    /// Makes a data stream without indices; [`DataStream::rolled_over`] adds the first one.
    ///
    /// # Errors
    /// Fails for a name that no data stream may have.
    pub(crate) fn new(name: &str, options: &DataStreamOptions, meta: Option<Value>) -> Result<DataStream> {
        check_data_stream_name(name)?;
        Ok(DataStream {
            name: name.into(),
            indices: Vec::new(),
            generation: 0,
            hidden: options.hidden,
            allow_custom_routing: options.allow_custom_routing,
            rolls_on_write: false,
            meta,
            aliases: BTreeMap::new(),
            lifecycle: None,
            overrides: StreamOverrides::default(),
        })
    }

    /// Returns the newest backing index, which new documents go to.
    pub fn write_index(&self) -> &Arc<str> {
        self.indices.last().expect("a data stream has an index as long as it is known")
    }

    /// Returns the name of the next backing index: `.ds-<name>-yyyy.MM.dd-000001`.
    pub(crate) fn next_index(&self, now_millis: u64) -> String {
        let day = format_utc_millis(now_millis)[..10].replace('-', ".");
        format!("{BACKING_PREFIX}{}-{day}-{:06}", self.name, self.generation + 1)
    }

    /// Returns the data stream with a new write index.
    pub(crate) fn rolled_over(&self, index: &str) -> DataStream {
        let mut next = self.clone();
        next.indices.push(index.into());
        next.generation += 1;
        next.rolls_on_write = false;
        next
    }

    /// Returns the data stream with another index added as the oldest one.
    pub(crate) fn with_index(&self, index: &str) -> DataStream {
        let mut next = self.clone();
        next.indices.insert(0, index.into());
        next.generation += 1;
        next
    }

    /// Returns the data stream without an index, which is not the write index.
    pub(crate) fn without_index(&self, index: &str) -> DataStream {
        let mut next = self.clone();
        next.indices.retain(|name| **name != *index);
        next.generation += 1;
        next
    }

    /// Renders the data stream as the node's state stores it; [`DataStream::from_json`] reads it back.
    pub(crate) fn to_json(&self) -> Value {
        let aliases: Map<String, Value> =
            self.aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect();
        json!({
            "indices": self.indices.iter().map(|name| &**name).collect::<Vec<_>>(),
            "generation": self.generation,
            "hidden": self.hidden,
            "allow_custom_routing": self.allow_custom_routing,
            "rolls_on_write": self.rolls_on_write,
            "meta": self.meta,
            "aliases": aliases,
            "lifecycle": self.lifecycle.as_ref().map(StreamLifecycle::to_json),
            "overrides": self.overrides.to_json(),
        })
    }

    pub(crate) fn from_json(name: &str, value: &Value) -> Result<DataStream> {
        let flag = |key: &str| value[key].as_bool().unwrap_or(false);
        let indices = value["indices"].as_array().into_iter().flatten();
        let mut aliases = BTreeMap::new();
        for (alias, body) in value["aliases"].as_object().into_iter().flatten() {
            aliases.insert(alias.clone(), Alias::parse(body)?);
        }
        Ok(DataStream {
            name: name.into(),
            indices: indices.filter_map(Value::as_str).map(Arc::from).collect(),
            generation: value["generation"].as_u64().unwrap_or(1),
            hidden: flag("hidden"),
            allow_custom_routing: flag("allow_custom_routing"),
            rolls_on_write: flag("rolls_on_write"),
            meta: Some(value["meta"].clone()).filter(|meta| !meta.is_null()),
            aliases,
            lifecycle: match &value["lifecycle"] {
                Value::Null => None,
                body => Some(StreamLifecycle::parse(body)?),
            },
            overrides: StreamOverrides::from_json(&value["overrides"])?,
        })
    }
}

/// `data_stream` of a composable template.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct DataStreamOptions {
    pub hidden: bool,
    pub allow_custom_routing: bool,
}

impl DataStreamOptions {
    /// # Errors
    /// Fails for members that Elasticsearch does not know, and for the failure store, which is not supported.
    pub(crate) fn parse(body: &Value) -> Result<DataStreamOptions> {
        let Value::Object(members) = body else {
            return Err(RequestError::parsing("[data_stream] of an index template is an object"));
        };
        let mut options = DataStreamOptions::default();
        for (key, value) in members {
            match key.as_str() {
                "hidden" => options.hidden = member(key, value)?,
                "allow_custom_routing" => options.allow_custom_routing = member(key, value)?,
                // Elasticsearch 7 showed this member, with its only possible value. OpenSearch has others.
                "timestamp_field" => timestamp_field(value)?,
                "failure_store" if !member(key, value)? => {}
                "failure_store" => {
                    return Err(RequestError::unsupported(
                        "[data_stream.failure_store] of an index template",
                    ));
                }
                other => {
                    return Err(ObjectParser::new("data_stream_template").unknown(other));
                }
            }
        }
        Ok(options)
    }

    pub(crate) fn to_json(self) -> Value {
        json!({"hidden": self.hidden, "allow_custom_routing": self.allow_custom_routing})
    }
}

fn timestamp_field(value: &Value) -> Result<()> {
    match value["name"].as_str() {
        Some("@timestamp") => Ok(()),
        Some(other) => {
            let what = format!("another [data_stream.timestamp_field] than [@timestamp], such as [{other}],");
            Err(RequestError::unsupported(what))
        }
        None => Err(ObjectParser::new("data_stream_template").unknown("timestamp_field")),
    }
}

fn member(key: &str, value: &Value) -> Result<bool> {
    Ok(super::alias::flag(key, value)?.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_numbered_and_dated() {
        let options = DataStreamOptions::default();
        let stream = DataStream::new("logs", &options, None).expect("a good name");
        // 2024-03-22T23:30:00Z
        let now = 1_711_150_200_000;
        assert_eq!(stream.next_index(now), ".ds-logs-2024.03.22-000001");
        let stream = stream.rolled_over(".ds-logs-2024.03.22-000001");
        assert_eq!(stream.next_index(now), ".ds-logs-2024.03.22-000002");
        let stream = stream.rolled_over("b").with_index("old");
        assert_eq!((stream.generation, &**stream.write_index(), &*stream.indices[0]), (3, "b", "old"));
        let stream = stream.without_index("old");
        assert_eq!((stream.generation, stream.indices.len()), (4, 2));
        assert_eq!(DataStream::from_json("logs", &stream.to_json()), Ok(stream));
    }

    #[test]
    fn options_are_read_strictly() {
        let check = |body: Value, expected: &str| match DataStreamOptions::parse(&body) {
            Ok(options) => assert_eq!(options.to_json().to_string(), expected),
            Err(error) => assert_eq!(error.reason, expected),
        };
        check(json!({}), r#"{"hidden":false,"allow_custom_routing":false}"#);
        check(json!({"hidden": true}), r#"{"hidden":true,"allow_custom_routing":false}"#);
        check(json!({"foo": 1}), "[data_stream_template] unknown field [foo]");
        check(
            json!({"timestamp_field": {"name": "@timestamp"}}),
            r#"{"hidden":false,"allow_custom_routing":false}"#,
        );
        check(
            json!({"timestamp_field": {"name": "at"}}),
            "another [data_stream.timestamp_field] than [@timestamp], such as [at], is not supported by Limber yet",
        );
        check(
            json!({"failure_store": true}),
            "[data_stream.failure_store] of an index template is not supported by Limber yet",
        );
    }
}
