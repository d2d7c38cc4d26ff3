//! `_data_stream/{name}/_settings`, `_mappings` and `_options`: what data streams set themselves.
//!
//! Source: Elasticsearch's `TransportUpdateDataStreamSettingsAction`,
//! `TransportUpdateDataStreamMappingsAction`, `TransportPutDataStreamOptionsAction`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use crate::api::*;
use crate::catalog::{Catalog, DataStream, StreamOptions, StreamOverrides, TemplateBody};
use crate::node::Node;
use crate::settings::{FlatSettings, SettingsUpdate, check_new, flatten, nest, normalize_index_keys};

/// Settings that all backing indices get at once.
const OF_BACKING_INDICES: [&str; 2] = ["index.lifecycle.name", "index.lifecycle.prefer_ilm"];
/// Settings that only apply to the next backing index.
const OF_DATA_STREAM_ONLY: [&str; 1] = ["index.number_of_shards"];

/// The error of one backing index.
type IndexError = (Arc<str>, RequestError);

impl Node {
    /// Returns the body of `GET /_data_stream/{name}/_settings`.
    pub fn get_stream_settings(&self, expression: &str) -> Result<Value> {
        let catalog = self.catalog.load();
        let shown = |stream: &Arc<DataStream>| {
            Ok(json!({
                "name": &*stream.name,
                "settings": nest(&stream.overrides.settings),
                "effective_settings": nest(&effective(&catalog, stream)?.0),
            }))
        };
        let streams = catalog.resolve_data_streams(expression, IndicesOptions::METADATA_OPEN_CLOSED)?;
        Ok(json!({"data_streams": streams.iter().map(shown).collect::<Result<Vec<Value>>>()?}))
    }

    /// Carries out `PUT /_data_stream/{name}/_settings`. The response says for each data stream what was
    /// applied, or why nothing was. With `dry_run` nothing changes.
    pub fn put_stream_settings(&self, expression: &str, body: &Value, dry_run: bool) -> Result<Value> {
        let given = normalize_index_keys(flatten(body)?);
        self.each_stream(expression, |stream| {
            let (changed, errors) = match self.override_settings(&stream.name, &given, dry_run) {
                Ok(done) => done,
                Err(error) => return refused_settings(&stream.name, &error.reason),
            };
            let of = |keys: &[&str]| -> Vec<Value> {
                given.keys().filter(|key| keys.contains(&key.as_str())).cloned().map(Value::from).collect()
            };
            let mut results = json!({
                "applied_to_data_stream_only": of(&OF_DATA_STREAM_ONLY),
                "applied_to_data_stream_and_backing_indices": of(&OF_BACKING_INDICES),
            });
            if !errors.is_empty() {
                let shown = |(index, error): &IndexError| json!({"index": &**index, "error": error.reason});
                results["errors"] = errors.iter().map(shown).collect();
            }
            let effective = effective(&self.catalog.load(), &changed).map(|(settings, _)| nest(&settings));
            json!({
                "name": &*stream.name,
                "applied_to_data_stream": true,
                "settings": nest(&changed.overrides.settings),
                "effective_settings": effective.unwrap_or_default(),
                "index_settings_results": results,
            })
        })
    }

    fn override_settings(
        &self,
        name: &str,
        given: &FlatSettings,
        dry_run: bool,
    ) -> Result<(DataStream, Vec<IndexError>)> {
        let is_allowed = |key: &str| OF_BACKING_INDICES.contains(&key) || OF_DATA_STREAM_ONLY.contains(&key);
        let refused: Vec<&str> = given.keys().map(String::as_str).filter(|key| !is_allowed(key)).collect();
        if !refused.is_empty() {
            let refused = refused.join(",");
            return Err(RequestError::illegal_argument(format!(
                "Cannot set the following settings on a data stream: [{refused}]"
            )));
        }
        let for_indices = given.iter().filter(|(key, _)| OF_BACKING_INDICES.contains(&key.as_str()));
        let for_indices: FlatSettings =
            for_indices.map(|(key, value)| (key.clone(), value.clone())).collect();
        let update = SettingsUpdate::check(for_indices.clone())?;
        self.change_stream(name, dry_run, |catalog, stream| {
            stream.overrides.set(given);
            let errors = match for_indices.is_empty() {
                true => Vec::new(),
                false => self.set_on_backing_indices(catalog, stream, &update),
            };
            Ok(errors)
        })
    }

    /// Changes the settings of all backing indices in `catalog`. Returns the errors of those that stay as
    /// they are.
    fn set_on_backing_indices(
        &self,
        catalog: &mut Catalog,
        stream: &DataStream,
        update: &SettingsUpdate,
    ) -> Vec<IndexError> {
        let mut errors = Vec::new();
        for name in &stream.indices {
            let Some(metadata) = catalog.indices.get(name) else { continue };
            let checked = self.check_metadata_block(metadata);
            match checked.and_then(|()| self.with_settings(metadata, update, false)) {
                Ok(changed) => drop(catalog.indices.insert(name.clone(), Arc::new(changed))),
                Err(error) => errors.push((name.clone(), error)),
            }
        }
        errors
    }

    /// Returns the body of `GET /_data_stream/{name}/_mappings`.
    pub fn get_stream_mappings(&self, expression: &str) -> Result<Value> {
        let catalog = self.catalog.load();
        let shown = |stream: &Arc<DataStream>| {
            Ok(json!({
                "name": &*stream.name,
                "mappings": stream.overrides.mappings,
                "effective_mappings": effective(&catalog, stream)?.1,
            }))
        };
        let streams = catalog.resolve_data_streams(expression, IndicesOptions::METADATA_OPEN_CLOSED)?;
        Ok(json!({"data_streams": streams.iter().map(shown).collect::<Result<Vec<Value>>>()?}))
    }

    /// Carries out `PUT /_data_stream/{name}/_mappings`. The mappings replace those that the data stream had,
    /// and apply to its next backing index. With `dry_run` nothing changes.
    pub fn put_stream_mappings(&self, expression: &str, body: &Value, dry_run: bool) -> Result<Value> {
        let mut given = TemplateBody::default();
        given.read("mappings", body)?;
        let mappings = given.mappings.unwrap_or_default();
        self.each_stream(expression, |stream| {
            let replace = |_: &mut Catalog, stream: &mut DataStream| {
                stream.overrides.mappings.clone_from(&mappings);
                Ok(())
            };
            let changed = self.change_stream(&stream.name, dry_run, replace);
            let effective = changed.and_then(|(changed, ())| effective(&self.catalog.load(), &changed));
            let mut entry = json!({"name": &*stream.name, "applied_to_data_stream": effective.is_ok()});
            match effective {
                Err(error) => entry["error"] = error.reason.into(),
                Ok((_, effective)) => {
                    for (key, shown) in [("mappings", &mappings), ("effective_mappings", &effective)] {
                        if !shown.is_empty() {
                            entry[key] = Value::Object(shown.clone());
                        }
                    }
                }
            }
            entry
        })
    }

    /// Returns the body of `GET /_data_stream/{name}/_options`.
    pub fn get_stream_options(&self, expression: &str, options: IndicesOptions) -> Result<Value> {
        let streams = self.catalog.load().resolve_data_streams(expression, options)?;
        let shown = |stream: &Arc<DataStream>| {
            let mut entry = json!({"name": &*stream.name});
            if let Some(options) = stream.overrides.options.filter(|options| !options.is_empty()) {
                entry["options"] = options.to_json();
            }
            entry
        };
        Ok(json!({"data_streams": streams.iter().map(shown).collect::<Vec<Value>>()}))
    }

    /// Carries out `PUT /_data_stream/{name}/_options`; without a body, `DELETE`.
    pub fn change_stream_options(
        &self,
        expression: &str,
        options: IndicesOptions,
        body: Option<&Value>,
    ) -> Result<()> {
        let given = body.map(StreamOptions::parse).transpose()?;
        self.change_catalog(|catalog| {
            self.check_metadata_write_block()?;
            let mut next = catalog.clone();
            for stream in catalog.resolve_data_streams(expression, options)? {
                let overrides = StreamOverrides { options: given, ..stream.overrides.clone() };
                let changed = DataStream { overrides, ..(*stream).clone() };
                next.data_streams.insert(stream.name.clone(), Arc::new(changed));
            }
            Ok((next, ()))
        })
    }

    /// Shows what `change` returns for each data stream of the expression.
    fn each_stream(&self, expression: &str, change: impl Fn(&DataStream) -> Value) -> Result<Value> {
        self.check_metadata_write_block()?;
        let options = IndicesOptions::METADATA_OPEN_CLOSED;
        let streams = self.catalog.load().resolve_data_streams(expression, options)?;
        Ok(json!({"data_streams": streams.iter().map(|stream| change(stream)).collect::<Vec<Value>>()}))
    }

    /// Changes a data stream, and with it what else `change` changes in the catalog, unless `dry_run` is set.
    /// Its next backing index must still be valid. Returns the changed data stream.
    fn change_stream<T>(
        &self,
        name: &str,
        dry_run: bool,
        change: impl Fn(&mut Catalog, &mut DataStream) -> Result<T>,
    ) -> Result<(DataStream, T)> {
        let plan = |catalog: &Catalog| {
            self.check_metadata_write_block()?;
            let Some(stream) = catalog.data_streams.get(name) else {
                return Err(RequestError::illegal_argument(format!("data stream [{name}] not found")));
            };
            let (mut next, mut changed) = (catalog.clone(), (**stream).clone());
            let outcome = change(&mut next, &mut changed)?;
            check_next_index(catalog, &changed)?;
            next.data_streams.insert(changed.name.clone(), Arc::new(changed.clone()));
            Ok((next, (changed, outcome)))
        };
        match dry_run {
            true => plan(&self.catalog.load()).map(|(_, outcome)| outcome),
            false => self.change_catalog(plan),
        }
    }
}

/// Checks that the next backing index of a data stream can be created.
fn check_next_index(catalog: &Catalog, stream: &DataStream) -> Result<()> {
    let resolved = catalog.templates.of_stream(stream)?.resolved;
    check_new(&resolved.settings)?;
    resolved.check_mappings(&catalog.templates.analysis)
}

/// Returns the settings and mappings of the next backing index of a data stream, as its template and its
/// overrides give them.
fn effective(catalog: &Catalog, stream: &DataStream) -> Result<(FlatSettings, Map<String, Value>)> {
    let mut resolved = catalog.templates.of_stream(stream)?.resolved;
    // Every backing index is hidden; the template does not say so.
    resolved.settings.shift_remove("index.hidden");
    Ok((resolved.settings, resolved.mappings))
}

fn refused_settings(stream: &str, error: &str) -> Value {
    json!({
        "name": stream,
        "applied_to_data_stream": false,
        "error": error,
        "settings": {},
        "effective_settings": {},
        "index_settings_results": {
            "applied_to_data_stream_only": [],
            "applied_to_data_stream_and_backing_indices": [],
        },
    })
}
