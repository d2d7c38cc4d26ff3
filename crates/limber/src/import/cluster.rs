//! An HTTP client for the servers of an import: JSON in, JSON out, with retries while a server is busy.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use http::Uri;
use limber_race::{UNKNOWN_SERVER, is_known_server};
use limber_text::url;
use serde_json::Value;
use ureq::Agent;

use crate::remote::{RemoteSettings, TlsSettings};
use crate::told::in_one_line;

/// Maximum size of a response. Pages of documents are sized to stay far below it.
const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// A server that sends nothing for this long has failed.
const SILENCE_MAX: Duration = Duration::from_secs(300);
/// A busy or restarting server is retried for about five minutes.
const RETRIES_MAX: u32 = 12;
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// TLS settings and credentials for a server.
#[derive(Debug, Clone, Default)]
pub struct Access {
    pub ca_file: Option<PathBuf>,
    pub is_insecure: bool,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
}

/// A response, whatever its status.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

/// The target or the source of the documents.
#[derive(Debug, Clone)]
pub struct Cluster {
    agent: Agent,
    /// Without credentials and without a trailing slash.
    pub url: String,
    authorization: Option<String>,
}

impl Answer {
    /// Parses the body as JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).context("the server's answer is not JSON")
    }

    /// Returns the reason of the error that the server reports, in one line.
    pub fn reason(&self) -> String {
        let said: Value = serde_json::from_slice(&self.body).unwrap_or(Value::Null);
        let error = &said["error"];
        let status = self.status;
        match (error["reason"].as_str().or(error.as_str()), error["type"].as_str()) {
            (Some(reason), Some(kind)) => {
                format!("{} ({}, status {status})", in_one_line(reason), in_one_line(kind))
            }
            (Some(reason), None) => format!("{} (status {status})", in_one_line(reason)),
            _ => match self.body.trim_ascii() {
                b"" => format!("status {status}"),
                [b'<', ..] => format!("status {status} with an HTML page, as proxies send it"),
                text => format!("{} (status {status})", in_one_line(&String::from_utf8_lossy(text))),
            },
        }
    }
}

impl Cluster {
    /// `address` is `host:port`, or a URL that may contain a user and a password.
    ///
    /// # Errors
    /// The address is malformed, or a certificate file cannot be read.
    pub fn new(address: &str, access: &Access) -> Result<Cluster> {
        let address = match address.contains("://") {
            true => address.to_owned(),
            false => format!("http://{address}"),
        };
        let shown = address.split('@').next_back().unwrap_or_default().to_owned();
        let uri: Uri =
            address.parse().with_context(|| format!("[{shown}] is not the address of a server"))?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let (Some(scheme), Some(authority)) = (scheme, uri.authority()) else {
            bail!("[{shown}] must be host:port, http:// or https://");
        };
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.as_str()),
        };
        let basic = user.map(|user| {
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(url::decoded(user)))
        });
        let tls = TlsSettings {
            certificate_authorities: access.ca_file.iter().cloned().collect(),
            verification_mode: access.is_insecure.then(|| "none".to_owned()),
            ..TlsSettings::default()
        };
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .tls_config(RemoteSettings::new(Vec::new(), &tls)?.tls())
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_per_read(Some(SILENCE_MAX))
            .timeout_per_write(Some(SILENCE_MAX))
            .user_agent(concat!("limber/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let path = uri.path().trim_end_matches('/');
        Ok(Cluster {
            agent,
            url: format!("{scheme}://{host}{path}"),
            authorization: access.authorization.clone().or(basic),
        })
    }

    fn send_once(&self, method: &str, path: &str, body: &[u8], kind: &str) -> Result<Answer, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("accept", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        let mut answer = match body.is_empty() {
            true => self.agent.run(request.body(())?)?,
            false => self.agent.run(request.header("content-type", kind).body(body)?)?,
        };
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        Ok(Answer { status, body })
    }

    /// Sends the request until the response is not "busy".
    ///
    /// # Errors
    /// There is no response, or only "busy", for minutes.
    pub fn send(&self, method: &str, path: &str, body: &[u8], kind: &str) -> Result<Answer> {
        self.send_while(method, path, body, kind, |outcome| match outcome {
            Ok(answer) => matches!(answer.status, 429 | 502..=504),
            Err(ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed) => true,
            Err(_) => false,
        })
    }

    /// Works like [`Cluster::send`], for a request that must not be carried out twice. It is only sent again
    /// if it was certainly not carried out.
    ///
    /// # Errors
    /// As [`Cluster::send`], and when the response is lost.
    pub fn send_once_only(&self, path: &str, body: &[u8]) -> Result<Answer> {
        self.send_while("POST", path, body, "application/json", |outcome| match outcome {
            Ok(answer) => answer.status == 429,
            Err(error) => matches!(error, ureq::Error::ConnectionFailed),
        })
    }

    fn send_while(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
        kind: &str,
        is_passing: impl Fn(&Result<Answer, ureq::Error>) -> bool,
    ) -> Result<Answer> {
        let mut pause = PAUSE_FIRST;
        for retry in 0.. {
            let outcome = self.send_once(method, path, body, kind);
            let is_passing = is_passing(&outcome);
            // A server that has never responded is not running.
            if !is_passing || retry == RETRIES_MAX || (retry == 0 && path == "/") {
                return outcome.with_context(|| format!("{} does not answer", self.url));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
        unreachable!("the loop returns")
    }

    /// Returns the body of a request that must succeed.
    ///
    /// # Errors
    /// The server reports an error or does not respond.
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.send(method, path, body.as_bytes(), "application/json")?;
        match answer.status {
            200..=299 => answer.json().with_context(|| format!("{method} {}{path}", self.url)),
            _ => Err(anyhow!("{method} {}{path}: {}", self.url, answer.reason())),
        }
    }

    /// Returns the answer to `GET /`.
    ///
    /// # Errors
    /// The server does not respond, wants credentials, or is neither Elasticsearch nor OpenSearch nor Limber.
    pub fn info(&self) -> Result<Value> {
        let answer = self.send("GET", "/", b"", "")?;
        match (answer.status, answer.json()) {
            (200..=299, Ok(info)) if is_known_server(&info) => Ok(info),
            (200..=299, _) => bail!("{}: {UNKNOWN_SERVER}", self.url),
            (401, _) => bail!(
                "{}: {}. Put the user and the password into the URL: http://user:password@host:9200",
                self.url,
                answer.reason()
            ),
            _ => bail!("GET {}/: {}", self.url, answer.reason()),
        }
    }

    /// Whether both are the same cluster, by the id that it reports.
    ///
    /// # Errors
    /// As [`Cluster::ask`].
    pub fn is_same_as(&self, other: &Cluster) -> Result<bool> {
        let id = |cluster: &Cluster| -> Result<Option<String>> {
            let info = cluster.ask("GET", "/", None)?;
            // Elasticsearch reports `_na_` until the cluster has formed.
            Ok(info["cluster_uuid"].as_str().filter(|id| *id != "_na_").map(str::to_owned))
        };
        Ok(id(self)?.is_some_and(|own| matches!(id(other), Ok(Some(id)) if id == own)))
    }

    /// Returns `None` if the resource does not exist, or if the server does not know the request.
    ///
    /// # Errors
    /// As [`Cluster::ask`], for other statuses.
    pub fn ask_if_there(&self, method: &str, path: &str) -> Result<Option<Value>> {
        let answer = self.send(method, path, b"", "application/json")?;
        match answer.status {
            200..=299 => answer.json().map(Some),
            400 | 404 | 405 | 410 | 501 => Ok(None),
            _ => Err(anyhow!("{method} {}{path}: {}", self.url, answer.reason())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_other_programs_are_one_short_line() {
        let reason = |status, body: &str| Answer { status, body: body.as_bytes().to_vec() }.reason();
        let error = r#"{"error": {"type": "no_such", "reason": "a\u001b[31m\nb"}}"#;
        assert_eq!(reason(404, error), "a [31m b (no_such, status 404)");
        assert_eq!(reason(405, r#"{"error": "not allowed"}"#), "not allowed (status 405)");
        assert_eq!(reason(502, " <html>\n<body>"), "status 502 with an HTML page, as proxies send it");
        assert_eq!(reason(503, "\n"), "status 503");
        assert_eq!(reason(500, "gone\r\naway"), "gone  away (status 500)");
    }

    #[test]
    fn addresses() {
        let check = |address: &str, url: &str, authorization: Option<&str>| {
            let cluster = Cluster::new(address, &Access::default()).expect("an address");
            assert_eq!((cluster.url.as_str(), cluster.authorization.as_deref()), (url, authorization));
        };
        check("localhost:9200", "http://localhost:9200", None);
        check("https://es.example/prefix/", "https://es.example/prefix", None);
        check("http://elastic:p%40ss@es:9200", "http://es:9200", Some("Basic ZWxhc3RpYzpwQHNz"));
        let error = Cluster::new("ftp://user:secret@x", &Access::default()).expect_err("refused").to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
