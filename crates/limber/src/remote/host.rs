//! `source.remote` of a `_reindex`: the server, the credentials, and the timeouts.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue, Uri};
use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::settings::RemoteSettings;
use crate::http::request::parse_time_ms;

/// The default timeout. Source: `RemoteInfo#DEFAULT_SOCKET_TIMEOUT`, `DEFAULT_CONNECT_TIMEOUT`.
const TIMEOUT_MS: u64 = 30_000;
/// Maximum timeout; longer ones are cut to this.
const TIMEOUT_MAX_MS: u64 = 24 * 3_600_000;
/// Headers that control how a request is framed or addressed; the caller may not set them.
const OWN_HEADERS: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
    "accept",
    "accept-encoding",
    "te",
    "upgrade",
];

/// A remote server.
#[derive(Clone)]
pub struct RemoteHost {
    /// `http` or `https`.
    scheme: String,
    /// As in the URL, with an IPv6 address in brackets.
    host: String,
    port: u16,
    /// Empty, or begins with a slash.
    path_prefix: String,
    username: Option<String>,
    has_password: bool,
    headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) socket_timeout: Duration,
    pub(super) connect_timeout: Duration,
    /// Strings that must not be shown.
    secrets: Vec<String>,
}

impl RemoteHost {
    /// Parses the object `remote`.
    ///
    /// # Errors
    /// Elasticsearch's errors for members that are missing, malformed or unknown. None of them contains a
    /// secret.
    pub fn parse(remote: Value) -> Result<RemoteHost> {
        let Value::Object(mut members) = remote else {
            return Err(RequestError::illegal_argument("Expected [remote] to be an object"));
        };
        let username = take_text(&mut members, "username")?;
        let password = take_text(&mut members, "password")?;
        let given = take_text(&mut members, "host")?
            .ok_or_else(|| RequestError::illegal_argument("[host] is required"))?;
        let mut host = parse_url(&given)?;
        let headers = take_headers(&mut members)?;
        host.socket_timeout = take_time(&mut members, "socket_timeout")?;
        host.connect_timeout = take_time(&mut members, "connect_timeout")?;
        if !members.is_empty() {
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            return Err(RequestError::illegal_argument(format!(
                "Unsupported fields in [remote]: [{}]",
                names.join(",")
            )));
        }
        host.has_password = password.is_some();
        for (name, value) in headers {
            host.secrets.push(value.clone());
            host.headers.push(header(&name, &value)?);
        }
        if let Some(username) = &username {
            let password = password.unwrap_or_default();
            let credentials = STANDARD.encode(format!("{username}:{password}"));
            host.headers.retain(|(name, _)| name != http::header::AUTHORIZATION);
            host.headers.push(header("authorization", &format!("Basic {credentials}"))?);
            host.secrets.extend([credentials, password]);
        } else if let Some(password) = password {
            host.secrets.push(password);
        }
        // The longest first, so that no part of a secret remains.
        host.secrets.retain(|secret| !secret.is_empty());
        host.secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        host.username = username;
        Ok(host)
    }

    /// # Errors
    /// 400 if the settings do not list the server.
    pub fn check_allowed(&self, settings: &RemoteSettings) -> Result<()> {
        settings.check(&self.host, self.port)
    }

    /// Returns the URL of an API path, which begins with a slash.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}://{}:{}{}{path}", self.scheme, self.host, self.port, self.path_prefix)
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Returns `host:port`, for messages.
    pub(super) fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Removes the secrets from a string of the other server.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "<<>>"))
    }
}

/// Like Elasticsearch's `RemoteInfo#toString`, without the query.
impl fmt::Display for RemoteHost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scheme != "http" {
            write!(out, "scheme={} ", self.scheme)?;
        }
        write!(out, "host={} port={}", self.host, self.port)?;
        if !self.path_prefix.is_empty() {
            write!(out, " pathPrefix={}", self.path_prefix)?;
        }
        if let Some(username) = &self.username {
            write!(out, " username={username}")?;
        }
        if self.has_password {
            write!(out, " password=<<>>")?;
        }
        Ok(())
    }
}

/// Omits the secrets.
impl fmt::Debug for RemoteHost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RemoteHost({self})")
    }
}

/// Longest name of a host in the DNS (RFC 1035). A longer one would be looked up in vain.
const HOST_BYTES_MAX: usize = 253;

fn parse_url(given: &str) -> Result<RemoteHost> {
    let wrong = || {
        // Credentials are not allowed in the URL, but users write them anyway.
        let shown = match (given.find("://"), given.rfind('@')) {
            (Some(scheme), Some(at)) if scheme + 3 <= at => {
                format!("{}<<>>{}", &given[..scheme + 3], &given[at..])
            }
            (None, Some(at)) => format!("<<>>{}", &given[at..]),
            _ => given.to_owned(),
        };
        RequestError::illegal_argument(format!(
            "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [{shown}]"
        ))
    };
    let uri: Uri = given.parse().map_err(|_| wrong())?;
    let (Some(scheme), Some(authority), None) = (uri.scheme_str(), uri.authority(), uri.query()) else {
        return Err(wrong());
    };
    if authority.as_str().contains('@') {
        return Err(RequestError::illegal_argument(
            "[host] must not contain credentials, which [username] and [password] are for",
        ));
    }
    if authority.host().len() > HOST_BYTES_MAX {
        let reason = format!("the name of [host] may have at most [{HOST_BYTES_MAX}] characters");
        return Err(RequestError::illegal_argument(reason));
    }
    let (Some(port), "http" | "https", false) = (authority.port_u16(), scheme, authority.host().is_empty())
    else {
        return Err(wrong());
    };
    Ok(RemoteHost {
        scheme: scheme.to_owned(),
        host: authority.host().to_owned(),
        port,
        path_prefix: uri.path().trim_end_matches('/').to_owned(),
        username: None,
        has_password: false,
        headers: Vec::new(),
        socket_timeout: Duration::from_millis(TIMEOUT_MS),
        connect_timeout: Duration::from_millis(TIMEOUT_MS),
        secrets: Vec::new(),
    })
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue)> {
    let wrong =
        |what: &str| RequestError::illegal_argument(format!("[headers] of [remote]: [{name}] {what}"));
    let parsed: HeaderName = name.parse().map_err(|_| wrong("is no name of a header"))?;
    if OWN_HEADERS.contains(&parsed.as_str()) {
        return Err(wrong("cannot be set"));
    }
    let mut value = HeaderValue::from_str(value).map_err(|_| wrong("has a value that no header can have"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

fn take_text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>> {
    match members.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        // The given value is not quoted, because it may be a password.
        Some(_) => Err(RequestError::illegal_argument(format!("Expected [{name}] to be a string"))),
    }
}

fn take_time(members: &mut Map<String, Value>, name: &str) -> Result<Duration> {
    let ms = match take_text(members, name)? {
        None => TIMEOUT_MS,
        Some(text) => parse_time_ms(name, &text)?,
    };
    match ms {
        0 => Err(RequestError::illegal_argument(format!("[{name}] of [remote] must be longer than no time"))),
        ms => Ok(Duration::from_millis(ms.min(TIMEOUT_MAX_MS))),
    }
}

fn take_headers(members: &mut Map<String, Value>) -> Result<Vec<(String, String)>> {
    let wrong = || RequestError::illegal_argument("Expected [headers] to be an object containing strings");
    match members.shift_remove("headers") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(headers)) => headers
            .into_iter()
            .map(|(name, value)| match value {
                Value::String(value) => Ok((name, value)),
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hosts_are_read_as_elasticsearch_reads_them() {
        let check = |url: &str, expected: &str| match RemoteHost::parse(json!({"host": url})) {
            Ok(host) => assert_eq!(format!("{host} {}", host.url("/_search")), expected),
            Err(error) => assert_eq!(error.reason, expected),
        };
        let wrong = |shown: &str| {
            format!("[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [{shown}]")
        };
        check("http://example.com:9200", "host=example.com port=9200 http://example.com:9200/_search");
        check(
            "https://other.example.com:9201/proxy-path/",
            "scheme=https host=other.example.com port=9201 pathPrefix=/proxy-path https://other.example.com:9201/proxy-path/_search",
        );
        check("http://[::1]:9200", "host=[::1] port=9200 http://[::1]:9200/_search");
        for url in [
            "example.com:9200",
            "http://example.com",
            "http://:9200",
            "ftp://a:1",
            "http://a:99999",
            "",
            "http://a:1?b=c",
        ] {
            check(url, &wrong(url));
        }
        check(
            "http://user:secret@example.com",
            "[host] must not contain credentials, which [username] and [password] are for",
        );
        check("ht tp://user:secret@example.com:9200", &wrong("ht tp://<<>>@example.com:9200"));
        let long = format!("http://{}:9200", "a".repeat(254));
        check(&long, "the name of [host] may have at most [253] characters");
    }

    #[test]
    fn members_are_checked_and_secrets_are_shown_nowhere() {
        let check = |mut remote: Value, expected: &str| {
            remote["host"] = "http://a:1".into();
            let error = RemoteHost::parse(remote).expect_err("refused");
            assert_eq!(error.reason, expected);
        };
        check(json!({"junk": 1, "more": 2}), "Unsupported fields in [remote]: [junk,more]");
        check(json!({"password": 12345}), "Expected [password] to be a string");
        check(json!({"headers": ["a"]}), "Expected [headers] to be an object containing strings");
        check(json!({"headers": {"a": 1}}), "Expected [headers] to be an object containing strings");
        check(
            json!({"headers": {"Content-Length": "7"}}),
            "[headers] of [remote]: [Content-Length] cannot be set",
        );
        check(
            json!({"headers": {"a": "sec\nret"}}),
            "[headers] of [remote]: [a] has a value that no header can have",
        );
        check(json!({"socket_timeout": "0s"}), "[socket_timeout] of [remote] must be longer than no time");
        assert_eq!(RemoteHost::parse(json!({})).expect_err("refused").reason, "[host] is required");

        let host = json!({
            "host": "http://a:1", "username": "admin", "password": "sesame", "headers": {"x-token": "abc123"}, "socket_timeout": "1m",
        });
        let host = RemoteHost::parse(host).expect("valid");
        assert_eq!(host.socket_timeout, Duration::from_secs(60));
        let basic = STANDARD.encode("admin:sesame");
        let shown = format!(
            "{host} {host:?} {:?} {}",
            host.headers(),
            host.without_secrets(&format!("{basic} sesame abc123"))
        );
        assert!(shown.contains("username=admin password=<<>>"), "{shown}");
        for secret in ["sesame", "abc123", &basic] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
