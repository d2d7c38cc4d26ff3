//! The definition of a transform: its JSON and its validation.

use limber_mapping::{ObjectParser, RequestError, claim_tree};
use limber_text::time_value::TimeValue;
use serde_json::{Map, Value, json};

use super::shape::Shape;
use crate::api::Result;

/// Default number of groups per page.
const PAGE_SIZE: u64 = 500;
const PAGE_SIZE_MIN: u64 = 10;
const PAGE_SIZE_MAX: u64 = 65_536;
/// The default interval at which a continuous transform checks for changes.
const FREQUENCY_MS: u64 = 60_000;
const FREQUENCY_MS_MAX: u64 = 3_600_000;
/// The default for how long documents may take until a search finds them.
const DELAY_MS: u64 = 60_000;

/// The settings of a continuous transform.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sync {
    pub field: String,
    pub delay_ms: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct TransformConfig {
    /// Normalized, as `GET` shows it.
    pub body: Map<String, Value>,
    pub indices: Vec<String>,
    pub query: Value,
    pub runtime_mappings: Option<Value>,
    pub dest_index: String,
    pub pipeline: Option<String>,
    /// Aliases of the destination, and whether each is removed from other indices.
    pub dest_aliases: Vec<(String, bool)>,
    pub shape: Shape,
    pub frequency_ms: u64,
    /// Present for a continuous transform; `None` if it ends when it has read everything.
    pub sync: Option<Sync>,
    pub page_size: u64,
    pub deduces_mappings: bool,
    /// Field and maximum age of documents in the destination.
    pub retention: Option<(String, String)>,
}

const CONFIG: ObjectParser<'_> = ObjectParser::new("data_frame_transform_config");
const SOURCE: ObjectParser<'_> = ObjectParser::new("data_frame_config_source");
const DEST: ObjectParser<'_> = ObjectParser::new("data_frame_config_dest");
const SYNC: ObjectParser<'_> = ObjectParser::new("data_frame_transform_config_sync");
const SYNC_TIME: ObjectParser<'_> = ObjectParser::new("data_frame_transform_pivot_sync_time");
const SETTINGS: ObjectParser<'_> = ObjectParser::new("transform_config_settings");
const RETENTION: ObjectParser<'_> = ObjectParser::new("transform_retention_policy");

fn time(value: &Value, parser: ObjectParser<'_>, field: &str) -> Result<u64> {
    Ok(TimeValue::parse(parser.text(field, value)?, field)?.map_or(u64::MAX, TimeValue::millis))
}

impl TransformConfig {
    /// Parses the body of `PUT _transform/{id}`, or of a preview, which need not have a destination.
    pub(crate) fn parse(body: &Value, is_preview: bool) -> Result<TransformConfig> {
        let mut config = TransformConfig {
            body: Map::new(),
            indices: Vec::new(),
            query: json!({"match_all": {}}),
            runtime_mappings: None,
            dest_index: String::new(),
            pipeline: None,
            dest_aliases: Vec::new(),
            shape: Shape::default(),
            frequency_ms: FREQUENCY_MS,
            sync: None,
            page_size: PAGE_SIZE,
            deduces_mappings: true,
            retention: None,
        };
        let (mut pivot, mut latest) = (None, None);
        for (key, value) in CONFIG.members(body)? {
            match key.as_str() {
                "source" => config.read_source(value)?,
                "dest" => config.read_dest(value)?,
                "pivot" => pivot = Some(value),
                "latest" => latest = Some(value),
                "frequency" => {
                    config.frequency_ms = time(value, CONFIG, key)?;
                    if !(1_000..=FREQUENCY_MS_MAX).contains(&config.frequency_ms) {
                        return Err(RequestError::validation([
                            "minimum permitted [frequency] is [1s], highest permitted [frequency] is [1h]",
                        ]));
                    }
                }
                "sync" => config.read_sync(value)?,
                "settings" => config.read_settings(value)?,
                "retention_policy" => config.read_retention(value)?,
                "description" => {
                    CONFIG.text(key, value)?;
                }
                "_meta" => {
                    ObjectParser::new("_meta").members(value)?;
                }
                // A preview accepts what `GET` shows.
                "id" | "version" | "create_time" if is_preview => continue,
                other => return Err(CONFIG.unknown(other)),
            }
            claim_tree(value)?;
            config.body.insert(key.clone(), value.clone());
        }
        if config.indices.is_empty() {
            return Err(ObjectParser::required("source"));
        }
        if config.dest_index.is_empty() && !is_preview {
            return Err(ObjectParser::required("dest"));
        }
        config.shape = match (pivot, latest) {
            (Some(pivot), None) => Shape::pivot(pivot)?,
            (None, Some(latest)) => Shape::latest(latest)?,
            _ => {
                return Err(RequestError::illegal_argument(
                    "Found none or several of [pivot, latest]: exactly one is required",
                ));
            }
        };
        config.show_source();
        Ok(config)
    }

    /// Normalizes the source as `GET` shows it: a list of indices and a query.
    fn show_source(&mut self) {
        let mut source = Map::new();
        source.insert("index".into(), json!(self.indices));
        source.insert("query".into(), self.query.clone());
        source
            .extend(self.runtime_mappings.clone().map(|mappings| ("runtime_mappings".to_owned(), mappings)));
        self.body.insert("source".into(), Value::Object(source));
        self.body.entry("settings").or_insert_with(|| json!({}));
    }

    fn read_source(&mut self, value: &Value) -> Result<()> {
        for (key, value) in SOURCE.members(value)? {
            match key.as_str() {
                "index" => {
                    let list = match value {
                        Value::Array(items) => items.iter().collect(),
                        one => vec![one],
                    };
                    for name in list {
                        self.indices.push(SOURCE.text(key, name)?.to_owned());
                    }
                }
                "query" => self.query = value.clone(),
                "runtime_mappings" => self.runtime_mappings = Some(value.clone()),
                "size" if value.is_null() => {}
                other => return Err(SOURCE.unknown(other)),
            }
        }
        Ok(())
    }

    fn read_dest(&mut self, value: &Value) -> Result<()> {
        for (key, value) in DEST.members(value)? {
            match key.as_str() {
                "index" => self.dest_index = DEST.text(key, value)?.to_owned(),
                "pipeline" => self.pipeline = Some(DEST.text(key, value)?.to_owned()),
                "aliases" => {
                    for alias in value.as_array().into_iter().flatten() {
                        let name = DEST.text("alias", &alias["alias"])?.to_owned();
                        self.dest_aliases.push((name, alias["move_on_creation"].as_bool().unwrap_or(false)));
                    }
                }
                other => return Err(DEST.unknown(other)),
            }
        }
        Ok(())
    }

    fn read_sync(&mut self, value: &Value) -> Result<()> {
        let members = SYNC.members(value)?;
        let Some(time_sync) = members.get("time").filter(|_| members.len() == 1) else {
            let other = members.keys().find(|key| *key != "time").map_or("", String::as_str);
            return Err(ObjectParser::new("sync").unknown(other));
        };
        let mut sync = Sync { field: String::new(), delay_ms: DELAY_MS };
        for (key, value) in SYNC_TIME.members(time_sync)? {
            match key.as_str() {
                "field" => sync.field = SYNC_TIME.text(key, value)?.to_owned(),
                "delay" => sync.delay_ms = time(value, SYNC_TIME, key)?,
                other => return Err(SYNC_TIME.unknown(other)),
            }
        }
        if sync.field.is_empty() {
            return Err(ObjectParser::required("field"));
        }
        self.sync = Some(sync);
        Ok(())
    }

    fn read_settings(&mut self, value: &Value) -> Result<()> {
        for (key, value) in SETTINGS.members(value)? {
            let wrong = || SETTINGS.unsupported(key, value);
            match key.as_str() {
                "max_page_search_size" => {
                    self.page_size = value.as_u64().ok_or_else(wrong)?;
                    if !(PAGE_SIZE_MIN..=PAGE_SIZE_MAX).contains(&self.page_size) {
                        return Err(RequestError::validation([format!(
                            "settings.max_page_search_size [{}] is out of range. The minimum value is 10 and the maximum is 65536",
                            self.page_size
                        )]));
                    }
                }
                "deduce_mappings" => self.deduces_mappings = value.as_bool().ok_or_else(wrong)?,
                "dates_as_epoch_millis" => {
                    if value.as_bool().ok_or_else(wrong)? {
                        return Err(RequestError::unsupported("[dates_as_epoch_millis] of a transform"));
                    }
                }
                "docs_per_second" => {
                    if !value.is_null() && value.as_f64().ok_or_else(wrong)? > 0.0 {
                        return Err(RequestError::unsupported("[docs_per_second] of a transform"));
                    }
                }
                // These have no effect: a checkpoint sees all indices in one snapshot each, and the next
                // round retries after failures.
                "align_checkpoints" | "use_point_in_time" | "unattended" => {
                    value.as_bool().ok_or_else(wrong)?;
                }
                "num_failure_retries" => {
                    value.as_i64().ok_or_else(wrong)?;
                }
                other => return Err(SETTINGS.unknown(other)),
            }
        }
        Ok(())
    }

    fn read_retention(&mut self, value: &Value) -> Result<()> {
        let members = RETENTION.members(value)?;
        let Some(time) = members.get("time").filter(|_| members.len() == 1) else {
            return Err(RETENTION.unknown(members.keys().next().map_or("", String::as_str)));
        };
        let field = RETENTION.text("field", &time["field"])?.to_owned();
        let age = RETENTION.text("max_age", &time["max_age"])?;
        let age_ms = TimeValue::parse(age, "max_age")?.map_or(u64::MAX, TimeValue::millis);
        self.retention = Some((field, format!("now-{}s", age_ms / 1000)));
        Ok(())
    }
}

/// Source: `TransformStrings#isValidId`.
pub(crate) fn check_id(id: &str) -> Result<()> {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_inside = |byte: u8| is_end(byte) || matches!(byte, b'-' | b'_' | b'.');
    let bytes = id.as_bytes();
    let is_valid = matches!((bytes.first(), bytes.last()), (Some(&first), Some(&last)) if is_end(first) && is_end(last))
        && bytes.iter().all(|byte| is_inside(*byte));
    if !is_valid {
        return Err(RequestError::validation([format!(
            "[id] \"{id}\" can contain lowercase alphanumeric (a-z and 0-9), hyphens, and underscores; must start and end with alphanumeric"
        )]));
    }
    if id.len() > 64 {
        return Err(RequestError::validation(["The id cannot contain more than 64 characters"]));
    }
    Ok(())
}
