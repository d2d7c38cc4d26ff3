//! `xpack.security.audit.enabled`: which user made which request, and was it allowed? Each event is a line of
//! JSON in `audit.json` in the data folder.
//!
//! Bodies, passwords, keys and query strings are never logged. Source: `LoggingAuditTrail`, whose field names
//! are used.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use limber_access::Identity;
use limber_engine::format_utc_millis;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::authenticator::now_ms;

/// The name of the file in the data folder.
const FILE: &str = "audit.json";

/// The file that events are written to.
#[derive(Debug)]
pub(super) struct Audit(Mutex<File>);

/// The part of a request that is logged.
pub(super) struct Asked<'a> {
    pub peer: SocketAddr,
    pub method: &'a str,
    pub path: &'a str,
    pub opaque_id: Option<&'a str>,
}

impl Audit {
    /// Opens the audit log.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(super) fn open(data: &Path) -> Result<Audit> {
        std::fs::create_dir_all(data).with_context(|| format!("cannot make {}", data.display()))?;
        let path = data.join(FILE);
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        Ok(Audit(Mutex::new(file.with_context(|| format!("cannot write the audit log {}", path.display()))?)))
    }

    pub(super) fn write(&self, event: &str, asked: &Asked<'_>, who: Option<&Identity>, action: Option<&str>) {
        let mut line = json!({
            "type": "audit",
            "timestamp": format_utc_millis(now_ms()),
            "event.type": "rest",
            "event.action": event,
            "origin.type": "rest",
            "origin.address": asked.peer.to_string(),
            "request.method": asked.method,
            "url.path": asked.path,
        });
        let mut put = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                line[key] = Value::from(value);
            }
        };
        put("opaque_id", asked.opaque_id);
        put("action", action);
        put("user.name", who.map(|who| who.username.as_str()));
        put("user.realm", who.map(|who| who.realm.name));
        put("user.run_by.name", who.and_then(|who| who.run_by.as_ref()).map(|by| by.username.as_str()));
        if let Some(limber_access::AuthenticationType::ApiKey { id, .. }) = who.map(|who| &who.authentication)
        {
            put("apikey.id", Some(id));
        }
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        if let Err(error) = self.0.lock().write_all(&bytes) {
            tracing::error!(%error, event, "an event of the audit log could not be written");
        }
    }
}
