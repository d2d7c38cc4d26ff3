//! The definition of a repository (type and settings), and how it leads to blobs.
//!
//! Source: Elasticsearch's `FsRepository`, `S3Repository`, `BlobStoreRepository`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::repository::{Blobs, FolderBlobs, LocationError, S3Blobs, S3Place, Secret};
use serde_json::{Map, Value, json};

use super::errors::{repository_error, storage_error};
use super::transfer::Throttle;
use crate::api::Result;
use crate::notation::body::members;
use crate::notation::value;
use crate::settings::{FlatSettings, flatten};

const COMMON: &[&str] = &[
    "readonly",
    "compress",
    "chunk_size",
    "max_snapshot_bytes_per_sec",
    "max_restore_bytes_per_sec",
    "max_number_of_snapshots",
];
const FS: &[&str] = &["location"];
const S3: &[&str] = &["bucket", "base_path", "client", "endpoint", "region", "path_style_access", "protocol"];
/// Types that Elasticsearch has besides `fs` and `s3`.
const ABSENT_TYPES: &[&str] = &["url", "source", "azure", "gcs", "hdfs"];
const RATE_DEFAULT: u64 = 40 << 20;
const SNAPSHOTS_DEFAULT: i64 = 500;
const S3_CLIENT: &str = "s3.client.";

/// Type and settings as the user gave them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    pub kind: String,
    pub settings: FlatSettings,
}

/// Allowed locations of repositories, and accounts for object stores; only from the configuration file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Locations {
    /// `path.repo`.
    pub roots: Vec<PathBuf>,
    /// `s3.client.<name>.*`.
    clients: BTreeMap<String, Client>,
}

#[derive(Debug, Clone, Default)]
struct Client {
    access_key: Option<Secret>,
    secret_key: Option<Secret>,
    session_token: Option<Secret>,
    endpoint: Option<String>,
    region: Option<String>,
    protocol: Option<String>,
    path_style_access: bool,
}

impl Locations {
    /// Takes `s3.client.*` out of the node's settings, so that no API that shows settings can reveal a key.
    pub(crate) fn take(settings: &mut Map<String, Value>, roots: Vec<PathBuf>) -> Result<Locations> {
        let keys: Vec<String> = settings.keys().filter(|key| key.starts_with(S3_CLIENT)).cloned().collect();
        let mut clients: BTreeMap<String, Client> = BTreeMap::new();
        for key in keys {
            let given = settings.shift_remove(&key).unwrap_or_default();
            let unknown = || RequestError::illegal_argument(format!("unknown setting [{key}]"));
            let (name, setting) = key[S3_CLIENT.len()..].rsplit_once('.').ok_or_else(unknown)?;
            let text = match given {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let client = clients.entry(name.to_owned()).or_default();
            match setting {
                "access_key" => client.access_key = Some(Secret::new(text)),
                "secret_key" => client.secret_key = Some(Secret::new(text)),
                "session_token" => client.session_token = Some(Secret::new(text)),
                "endpoint" => client.endpoint = Some(text),
                "region" => client.region = Some(text),
                "protocol" => client.protocol = Some(text),
                "path_style_access" => client.path_style_access = value::parse_bool(&key, &text)?,
                _ => return Err(unknown()),
            }
        }
        Ok(Locations { roots, clients })
    }

    /// Returns the same locations with other keys for the accounts that `secure` has.
    ///
    /// # Errors
    /// A setting is not a key of an account.
    pub(crate) fn with_secrets(&self, secure: &Map<String, Value>) -> Result<Locations> {
        let given = Locations::take(&mut secure.clone(), Vec::new())?;
        let mut clients = self.clients.clone();
        for (name, secrets) in given.clients {
            let client = clients.entry(name).or_default();
            client.access_key = secrets.access_key;
            client.secret_key = secrets.secret_key;
            client.session_token = secrets.session_token;
        }
        Ok(Locations { roots: self.roots.clone(), clients })
    }
}

/// A repository's blobs, and how its settings say to use them.
#[derive(Clone)]
pub(crate) struct Opened {
    pub blobs: Arc<dyn Blobs>,
    pub readonly: bool,
    pub compress: bool,
    pub chunk_bytes: Option<u64>,
    pub snapshots_max: u64,
    pub snapshot_rate: Arc<Throttle>,
    pub restore_rate: Arc<Throttle>,
}

impl Definition {
    /// Parses the body of `PUT _snapshot/{repository}`.
    pub(crate) fn parse(name: &str, body: &Value) -> Result<Definition> {
        let members = members(body)?;
        if let Some(other) = members.keys().find(|key| !["type", "settings", "verify"].contains(&&***key)) {
            return Err(RequestError::illegal_argument(format!(
                "unknown parameter [{other}] of a repository"
            )));
        }
        let missing = || RequestError::validation(["type is missing"]);
        let kind = members.get("type").and_then(Value::as_str).ok_or_else(missing)?;
        if ABSENT_TYPES.contains(&kind) {
            return Err(RequestError::unsupported(format_args!("the repository type [{kind}]")));
        }
        let mut settings = flatten(members.get("settings").unwrap_or(&Value::Null))?;
        settings.retain(|_, value| !value.is_null());
        let definition = Definition { kind: kind.to_owned(), settings };
        let own = match kind {
            "fs" => FS,
            "s3" => S3,
            _ => return Err(repository_error(name, format!("repository type [{kind}] does not exist"))),
        };
        let is_known = |key: &str| COMMON.contains(&key) || own.contains(&key);
        if let Some(unknown) = definition.settings.keys().find(|key| !is_known(key)) {
            return Err(repository_error(
                name,
                format!("the setting [{unknown}] of a repository of type [{kind}] is not supported"),
            ));
        }
        Ok(definition)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"type": self.kind, "settings": self.settings})
    }

    pub(crate) fn from_json(value: &Value) -> Option<Definition> {
        let settings = value["settings"].as_object().cloned().unwrap_or_default();
        Some(Definition { kind: value["type"].as_str()?.to_owned(), settings })
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.settings.get(key).and_then(Value::as_str)
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool> {
        self.text(key).map_or(Ok(default), |text| value::parse_bool(key, text))
    }

    fn bytes(&self, key: &str) -> Result<Option<u64>> {
        let bytes = self.text(key).map(|text| value::parse_bytes(key, text)).transpose()?;
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| *bytes > 0))
    }

    /// Opens access to the blobs. Nothing is read or written yet.
    ///
    /// # Errors
    /// Fails for a location outside of `path.repo`, a client without keys, or a setting that cannot be
    /// parsed.
    pub(crate) fn open(&self, name: &str, locations: &Locations) -> Result<Opened> {
        let blobs: Arc<dyn Blobs> = match &*self.kind {
            "fs" => Arc::new(self.open_folder(name, locations)?),
            _ => Arc::new(self.open_s3(name, locations)?),
        };
        self.opened(blobs)
    }

    /// Combines the settings that all types have with these blobs.
    pub(crate) fn opened(&self, blobs: Arc<dyn Blobs>) -> Result<Opened> {
        let rate = |key: &str, default: Option<u64>| match self.text(key) {
            None => Ok(default),
            Some(_) => self.bytes(key),
        };
        let most = self.text("max_number_of_snapshots").map_or(Ok(SNAPSHOTS_DEFAULT), |text| {
            value::parse_integer("max_number_of_snapshots", text, 1, i64::from(i32::MAX))
        })?;
        Ok(Opened {
            blobs,
            readonly: self.flag("readonly", false)?,
            compress: self.flag("compress", true)?,
            chunk_bytes: self.bytes("chunk_size")?,
            snapshots_max: most.max(1) as u64,
            snapshot_rate: Arc::new(Throttle::new(rate("max_snapshot_bytes_per_sec", Some(RATE_DEFAULT))?)),
            restore_rate: Arc::new(Throttle::new(rate("max_restore_bytes_per_sec", None)?)),
        })
    }

    fn open_folder(&self, name: &str, locations: &Locations) -> Result<FolderBlobs> {
        let location = self.text("location").filter(|location| !location.is_empty());
        let location = location.ok_or_else(|| repository_error(name, "missing location"))?;
        FolderBlobs::open(&locations.roots, location).map_err(|error| match error {
            LocationError::NoRoots => repository_error(
                name,
                format!(
                    "location [{location}] doesn't match any of the locations specified by path.repo because this setting is empty"
                ),
            ),
            LocationError::Outside => {
                let roots: Vec<String> = locations.roots.iter().map(|root| root.display().to_string()).collect();
                repository_error(
                    name,
                    format!(
                        "location [{location}] doesn't match any of the locations specified by path.repo [{}]",
                        roots.join(", ")
                    ),
                )
            }
        })
    }

    fn open_s3(&self, name: &str, locations: &Locations) -> Result<S3Blobs> {
        let bucket = self.text("bucket").filter(|bucket| !bucket.is_empty());
        let bucket = bucket.ok_or_else(|| repository_error(name, "No bucket defined for s3 repository"))?;
        let client_name = self.text("client").unwrap_or("default");
        let unknown = || {
            let known: Vec<&str> = locations.clients.keys().map(String::as_str).collect();
            let why = format!(
                "Unknown s3 client name [{client_name}]. Existing client configs: {}",
                known.join(",")
            );
            RequestError::illegal_argument(why)
        };
        let client = locations.clients.get(client_name).ok_or_else(unknown)?;
        let missing = |key: &str| {
            repository_error(name, format!("[{S3_CLIENT}{client_name}.{key}] is not set, but needed for s3"))
        };
        let protocol = self.text("protocol").or(client.protocol.as_deref()).unwrap_or("https");
        if !["http", "https"].contains(&protocol) {
            return Err(repository_error(name, format!("protocol [{protocol}] must be [http] or [https]")));
        }
        let endpoint = self.text("endpoint").or(client.endpoint.as_deref());
        let endpoint = endpoint.map(|endpoint| match endpoint.contains("://") {
            true => endpoint.to_owned(),
            false => format!("{protocol}://{endpoint}"),
        });
        let region = self.text("region").or(client.region.as_deref()).unwrap_or("us-east-1").to_owned();
        let place = S3Place {
            bucket: bucket.to_owned(),
            base_path: self.text("base_path").unwrap_or_default().to_owned(),
            endpoint,
            region,
            path_style_access: self.flag("path_style_access", client.path_style_access)?,
            access_key: client.access_key.clone().ok_or_else(|| missing("access_key"))?,
            secret_key: client.secret_key.clone().ok_or_else(|| missing("secret_key"))?,
            session_token: client.session_token.clone(),
        };
        S3Blobs::open(&place).map_err(|error| storage_error(name, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_say_what_is_wrong_with_them() {
        let locations = Locations { roots: vec!["/backup".into()], ..Locations::default() };
        let check = |body: Value, expected: &str| {
            let outcome = Definition::parse("r", &body).and_then(|made| made.open("r", &locations));
            let error = outcome.err().map(|error| error.reason).unwrap_or_default();
            assert!(error.contains(expected), "{body}: {error}");
        };
        check(json!({"settings": {}}), "type is missing");
        check(json!({"type": "url", "settings": {"url": "http://x"}}), "[url]");
        check(json!({"type": "nfs"}), "[r] repository type [nfs] does not exist");
        check(json!({"type": "fs"}), "[r] missing location");
        check(json!({"type": "fs", "settings": {"location": "/etc"}}), "path.repo [/backup]");
        check(json!({"type": "fs", "settings": {"location": "../etc"}}), "path.repo [/backup]");
        check(json!({"type": "fs", "settings": {"location": "x", "bucket": "b"}}), "[bucket]");
        check(json!({"type": "fs", "settings": {"location": "x", "readonly": "maybe"}}), "readonly");
        check(json!({"type": "s3", "settings": {"bucket": "b"}}), "Unknown s3 client name [default]");
        check(json!({"type": "s3", "settings": {"bucket": "b", "access_key": "k"}}), "[access_key]");
        check(json!({"type": "fs", "settings": {"location": "x"}}), "");
        let nowhere = Definition::parse("r", &json!({"type": "fs", "settings": {"location": "x"}}))
            .and_then(|made| made.open("r", &Locations::default()));
        assert!(nowhere.err().expect("refused").reason.ends_with("because this setting is empty"));
    }

    #[test]
    fn keys_are_taken_out_of_the_settings_and_never_shown() {
        let mut settings = Map::from_iter([
            ("s3.client.default.access_key".to_owned(), Value::from("hidden-access")),
            ("s3.client.default.secret_key".to_owned(), Value::from("hidden-secret")),
            ("search.max_buckets".to_owned(), Value::from("1")),
        ]);
        let locations = Locations::take(&mut settings, Vec::new()).expect("known");
        assert_eq!(settings.len(), 1);
        assert!(!format!("{locations:?}").contains("hidden"));
        let mut renewed = Map::from_iter([("s3.client.default.access_key".to_owned(), Value::from("new"))]);
        let after = locations.with_secrets(&renewed).expect("known");
        let (before, client) = (&locations.clients["default"], &after.clients["default"]);
        assert_eq!(client.access_key, Some(Secret::new("new")));
        assert_eq!((&client.secret_key, &client.endpoint), (&None, &before.endpoint));
        renewed.insert("s3.client.default.password".to_owned(), Value::from("x"));
        assert!(locations.with_secrets(&renewed).is_err());
        let mut unknown = Map::from_iter([("s3.client.default.password".to_owned(), Value::from("hidden"))]);
        let error = Locations::take(&mut unknown, Vec::new()).expect_err("unknown");
        assert!(!error.reason.contains("hidden"), "{}", error.reason);
    }
}
