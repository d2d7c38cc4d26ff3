//! `xpack.security.*` and `http.ssl.*`, as in Elasticsearch.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::{Map, Value};

/// Whether clients must present a certificate when they connect (`client_authentication`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuthentication {
    #[default]
    None,
    Optional,
    Required,
}

/// TLS of the listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTls {
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub certificate_authorities: Vec<PathBuf>,
    pub client_authentication: ClientAuthentication,
    /// Whether `TLSv1.3` is enabled; below, `TLSv1.2`.
    pub with_tls13: bool,
    pub with_tls12: bool,
}

/// The identity of requests without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anonymous {
    pub username: String,
    pub roles: Vec<String>,
    /// Whether anonymous callers get 403 for what they may not do. Otherwise they get 401, which makes
    /// browsers ask for credentials.
    pub authz_exception: bool,
}

/// All security settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecuritySettings {
    /// `xpack.security.enabled`.
    pub enabled: bool,
    pub tls: Option<ServerTls>,
    pub anonymous: Option<Anonymous>,
    /// `xpack.security.audit.enabled`.
    pub audit: bool,
}

/// Both prefixes of the listener's TLS settings; the first is Elasticsearch's.
const TLS_PREFIXES: [&str; 2] = ["xpack.security.http.ssl.", "http.ssl."];

impl SecuritySettings {
    /// Removes its settings from those of the node.
    ///
    /// # Errors
    /// A value does not parse, or TLS has no certificate or key. The message names the setting.
    pub fn take(settings: &mut Map<String, Value>) -> Result<SecuritySettings> {
        let enabled = flag(settings, "xpack.security.enabled")?.unwrap_or(false);
        let audit = flag(settings, "xpack.security.audit.enabled")?.unwrap_or(false);
        let username = text(settings, "xpack.security.authc.anonymous.username");
        let roles = list(settings, "xpack.security.authc.anonymous.roles");
        let authz_exception =
            flag(settings, "xpack.security.authc.anonymous.authz_exception")?.unwrap_or(true);
        let anonymous = (!roles.is_empty()).then(|| Anonymous {
            username: username.unwrap_or_else(|| "_anonymous".into()),
            roles,
            authz_exception,
        });
        let tls = tls(settings)?;
        for (is_set, what) in [(audit, "audit.enabled"), (anonymous.is_some(), "authc.anonymous.roles")] {
            if is_set && !enabled {
                bail!("[xpack.security.{what}] is set, but [xpack.security.enabled] is not [true]");
            }
        }
        Ok(SecuritySettings { enabled, tls, anonymous, audit })
    }
}

fn tls(settings: &mut Map<String, Value>) -> Result<Option<ServerTls>> {
    let prefix = TLS_PREFIXES.into_iter().find(|prefix| settings.keys().any(|key| key.starts_with(prefix)));
    let Some(prefix) = prefix else { return Ok(None) };
    let name = |key: &str| format!("{prefix}{key}");
    let enabled = flag(settings, &name("enabled"))?.unwrap_or(false);
    let certificate = text(settings, &name("certificate")).map(PathBuf::from);
    let key = text(settings, &name("key")).map(PathBuf::from);
    let certificate_authorities: Vec<PathBuf> =
        list(settings, &name("certificate_authorities")).into_iter().map(PathBuf::from).collect();
    let client_authentication = match text(settings, &name("client_authentication")).as_deref() {
        None | Some("none") => ClientAuthentication::None,
        Some("optional") => ClientAuthentication::Optional,
        Some("required") => ClientAuthentication::Required,
        Some(other) => {
            bail!(
                "[{}] must be [none], [optional] or [required], but was [{other}]",
                name("client_authentication")
            )
        }
    };
    let protocols = list(settings, &name("supported_protocols"));
    if let Some(unknown) = protocols.iter().find(|one| !["TLSv1.3", "TLSv1.2"].contains(&one.as_str())) {
        bail!(
            "[{}] may only contain [TLSv1.3] and [TLSv1.2], but has [{unknown}]",
            name("supported_protocols")
        );
    }
    if !enabled {
        return Ok(None);
    }
    let Some(certificate) = certificate else {
        bail!("[{}] is [true], but [{}] is not set", name("enabled"), name("certificate"))
    };
    let Some(key) = key else { bail!("[{}] is [true], but [{}] is not set", name("enabled"), name("key")) };
    if client_authentication != ClientAuthentication::None && certificate_authorities.is_empty() {
        bail!(
            "[{}] asks for certificates of clients, but [{}] is not set",
            name("client_authentication"),
            name("certificate_authorities")
        );
    }
    let with = |version: &str| protocols.is_empty() || protocols.iter().any(|one| one == version);
    Ok(Some(ServerTls {
        certificate,
        key,
        certificate_authorities,
        client_authentication,
        with_tls13: with("TLSv1.3"),
        with_tls12: with("TLSv1.2"),
    }))
}

fn text(settings: &mut Map<String, Value>, key: &str) -> Option<String> {
    settings.shift_remove(key).map(|value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

fn flag(settings: &mut Map<String, Value>, key: &str) -> Result<Option<bool>> {
    match text(settings, key).as_deref() {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(other) => bail!("[{key}] must be [true] or [false], but was [{other}]"),
    }
}

fn list(settings: &mut Map<String, Value>, key: &str) -> Vec<String> {
    let items: Vec<String> = match settings.shift_remove(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(text)) => text.trim_matches(['[', ']']).split(',').map(str::to_owned).collect(),
        Some(other) => vec![other.to_string()],
    };
    items
        .iter()
        .map(|item| item.trim().trim_matches('"').to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn take(settings: Value) -> Result<SecuritySettings> {
        let mut settings = settings.as_object().cloned().unwrap_or_default();
        let taken = SecuritySettings::take(&mut settings)?;
        assert!(settings.is_empty(), "{settings:?}");
        Ok(taken)
    }

    #[test]
    fn settings_of_both_names() {
        assert_eq!(take(json!({})).expect("valid"), SecuritySettings::default());
        let whole = take(json!({
            "xpack.security.enabled": "true", "xpack.security.http.ssl.enabled": true,
            "xpack.security.http.ssl.certificate": "a.crt", "xpack.security.http.ssl.key": "a.key",
            "xpack.security.http.ssl.supported_protocols": ["TLSv1.3"],
            "xpack.security.authc.anonymous.roles": "a, b"}));
        let whole = whole.expect("valid");
        let tls = whole.tls.expect("TLS");
        assert!(tls.with_tls13 && !tls.with_tls12);
        assert_eq!(whole.anonymous.expect("somebody").roles, ["a", "b"]);
        assert!(
            take(json!({"http.ssl.enabled": true, "http.ssl.certificate": "c", "http.ssl.key": "k"})).is_ok()
        );
    }

    #[test]
    fn what_is_refused() {
        let check = |settings: Value, part: &str| {
            let error = take(settings).expect_err("refused").to_string();
            assert!(error.contains(part), "{error} lacks {part}");
        };
        check(json!({"xpack.security.enabled": "yes"}), "[xpack.security.enabled] must be");
        check(json!({"http.ssl.enabled": true}), "[http.ssl.certificate] is not set");
        check(json!({"http.ssl.supported_protocols": "SSLv3"}), "SSLv3");
        check(
            json!({"http.ssl.enabled": true, "http.ssl.certificate": "c", "http.ssl.key": "k", "http.ssl.client_authentication": "required"}),
            "certificate_authorities",
        );
        check(json!({"xpack.security.audit.enabled": true}), "[xpack.security.enabled] is not [true]");
    }
}
