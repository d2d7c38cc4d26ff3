//! `limber page`: serves the page for a server that has none of its own, such as Elasticsearch.
//!
//! A small server on this machine gives the page to the browser and passes all other requests on to the
//! target. It has no credentials: the browser asks its user for those of the target.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use limber_race::{UNKNOWN_SERVER, is_known_server, local_address};
use serde_json::Value;

use super::{document, races};
use crate::machine::cannot_listen;
use crate::remote::{RemoteSettings, TlsSettings};

/// Maximum length of a request or response body.
const BODY_BYTES_MAX: usize = 128 << 20;
/// Timeout of a request to the target, including its response.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Request headers that are passed on.
const REQUEST_HEADERS: [&str; 4] = ["accept", "authorization", "content-type", "x-opaque-id"];
/// Response headers that are passed on.
const ANSWER_HEADERS: [&str; 5] =
    ["content-type", "www-authenticate", "warning", "location", "x-elastic-product"];

/// Show the page for a running server, such as Elasticsearch, in a browser on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  limber page --target-host 127.0.0.1:9200
  limber page --target-host https://search.example:9200 --http 5600
  limber page --target-host https://localhost:9200 --ca-file config/certs/http_ca.crt

Limber serves the page itself, at the address of its API.")]
pub struct PageCommand {
    /// The server to show: host:port, or a URL
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9200")]
    target_host: String,
    /// Where the page is, on this machine alone; port 0 takes a free one and prints it
    #[arg(long, value_name = "[HOST:]PORT", default_value = "127.0.0.1:0", value_parser = local_address)]
    http: SocketAddr,
    /// File of certificates (PEM) to trust instead of the usual authorities
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Do not verify certificates
    #[arg(long)]
    insecure: bool,
}

struct Forwarder {
    /// URL of the target, without a slash at its end.
    target: String,
    agent: ureq::Agent,
    words: Vec<u8>,
    port: u16,
}

type Answer = Response<Full<Bytes>>;

impl PageCommand {
    /// Serves until the process is ended. `words` are what the console proposes.
    ///
    /// # Errors
    /// The address is not a loopback address or cannot be listened on, or the target is not a server of this
    /// kind.
    pub fn run(self, words: &Value) -> Result<()> {
        if !self.http.ip().is_loopback() {
            bail!("--http [{}] is not a loopback address; the page is only for this machine", self.http);
        }
        let target = match self.target_host.split_once("://") {
            Some(("http" | "https", _)) => self.target_host.clone(),
            Some(_) => bail!("--target-host [{}] must be host:port, http:// or https://", self.target_host),
            None => format!("http://{}", self.target_host),
        };
        let target = target.trim_end_matches('/').to_owned();
        let listener = std::net::TcpListener::bind(self.http)
            .map_err(|error| cannot_listen(&self.http.to_string(), &error))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let tls = TlsSettings {
            certificate_authorities: self.ca_file.iter().cloned().collect(),
            verification_mode: self.insecure.then(|| "none".to_owned()),
            ..TlsSettings::default()
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(RemoteSettings::new(Vec::new(), &tls)?.tls())
            .timeout_global(Some(TIMEOUT))
            .allow_non_standard_methods(true)
            .max_redirects(0)
            .build()
            .into();
        let words = serde_json::to_vec(words)?;
        let forwarder = Arc::new(Forwarder { target, agent, words, port: address.port() });
        forwarder.check_target()?;
        println!("http://{address}/ shows {}; Ctrl-C ends it", forwarder.target);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.block_on(serve(listener, forwarder))
    }
}

async fn serve(listener: std::net::TcpListener, forwarder: Arc<Forwarder>) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The process is probably out of file descriptors; other connections may close theirs.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let forwarder = forwarder.clone();
        tokio::spawn(async move {
            let serve = service_fn(|request| {
                let forwarder = forwarder.clone();
                async move { Ok::<_, std::convert::Infallible>(answer(forwarder, request).await) }
            });
            // A browser may close a connection at any time, which is no error.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), serve)
                .await;
        });
    }
}

async fn answer(forwarder: Arc<Forwarder>, request: Request<Incoming>) -> Answer {
    if !forwarder.is_own(&request) {
        return plain(StatusCode::FORBIDDEN, "ask by 127.0.0.1 or localhost, from this page\n");
    }
    let accept = request.headers().get("accept").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path = request.uri().path();
    let is_read = request.method() == Method::GET;
    if is_read && path == "/" && document::is_preferred(accept) {
        return page(document::html().to_owned(), document::headers());
    }
    if is_read && path == "/_page/words" {
        return json(forwarder.words.clone());
    }
    let race = path.strip_prefix("/_page/races/").and_then(|rest| rest.strip_suffix("/report"));
    let race = race.map(str::to_owned);
    if is_read && (path == "/_page/races" || race.is_some()) {
        return tokio::task::spawn_blocking(move || answer_races(race))
            .await
            .unwrap_or_else(|error| plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()));
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long, or broke off\n");
    };
    let body = body.to_bytes();
    let forwarded = tokio::task::spawn_blocking(move || forwarder.forward(&parts, &body)).await;
    match forwarded {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => plain(StatusCode::BAD_GATEWAY, &format!("{error:#}")),
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn answer_races(race: Option<String>) -> Answer {
    let outcome = match race {
        None => races::list().map(|races| json(races.to_string().into_bytes())),
        Some(race) => races::report(&race).map(|report| page(report, document::report_headers())),
    };
    outcome.unwrap_or_else(|error| plain(StatusCode::NOT_FOUND, &error.to_string()))
}

impl Forwarder {
    /// Checks that the page can show the target. A server that does not respond yet may do so later, so this
    /// is only a warning.
    ///
    /// # Errors
    /// Something other than a server of this kind responds.
    fn check_target(&self) -> Result<()> {
        let request = ureq::http::Request::get(format!("{}/", self.target))
            .header("accept", "application/json")
            .body(())?;
        let mut answer = match self.agent.run(request) {
            Ok(answer) => answer,
            Err(error) => {
                eprintln!("warning: {} does not answer yet: {error}", self.target);
                return Ok(());
            }
        };
        // A user who needs a password enters it in the browser; a busy server may respond later.
        if matches!(answer.status().as_u16(), 401 | 403 | 429 | 502..=504) {
            return Ok(());
        }
        let bytes = answer.body_mut().with_config().limit(BODY_BYTES_MAX as u64).read_to_vec();
        let info: Value =
            bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        match is_known_server(&info) {
            true => Ok(()),
            false => bail!("{}: {}", self.target, UNKNOWN_SERVER),
        }
    }

    /// Whether a request comes from this server's own page. A page of another site must neither read nor
    /// change anything through this server: neither through a name that resolves to this machine (DNS
    /// rebinding), nor through a request that it makes a browser send.
    fn is_own(&self, request: &Request<Incoming>) -> bool {
        let text = |name: &HeaderName| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
        let is_here = text(&HOST).is_some_and(|host| self.is_this_server(host));
        let is_from_here = text(&ORIGIN).is_none_or(|origin| {
            origin.strip_prefix("http://").is_some_and(|host| self.is_this_server(host))
        });
        let site = text(&HeaderName::from_static("sec-fetch-site"));
        is_here && is_from_here && site.is_none_or(|site| matches!(site, "same-origin" | "none"))
    }

    fn is_this_server(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        port.parse() == Ok(self.port) && (is_loopback || name.eq_ignore_ascii_case("localhost"))
    }

    fn forward(&self, parts: &http::request::Parts, body: &[u8]) -> Result<Answer> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = ureq::http::Request::builder()
            .method(parts.method.as_str())
            .uri(format!("{}{path}", self.target));
        for name in REQUEST_HEADERS {
            if let Some(value) = parts.headers.get(name) {
                request = request.header(name, value);
            }
        }
        let failed = || format!("{} does not answer", self.target);
        let sent = match body.is_empty() {
            true => self.agent.run(request.body(())?),
            false => self.agent.run(request.body(body)?),
        };
        let mut answer = sent.with_context(failed)?;
        let bytes = answer.body_mut().with_config().limit(BODY_BYTES_MAX as u64).read_to_vec();
        let mut response = Response::builder().status(answer.status().as_u16());
        for name in ANSWER_HEADERS {
            for value in answer.headers().get_all(name) {
                response = response.header(name, value);
            }
        }
        // The browser must treat the response as data, whatever content type it claims.
        response =
            response.header("x-content-type-options", "nosniff").header("content-security-policy", "sandbox");
        Ok(response.body(Full::new(Bytes::from(bytes.with_context(failed)?)))?)
    }
}

fn page(html: String, headers: Vec<(&'static str, String)>) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(html)));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.headers_mut().insert(name, value);
        }
    }
    answer
}

fn json(bytes: Vec<u8>) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(bytes)));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn plain(status: StatusCode, text: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}
