//! Requests to the cluster outside of tasks.
//!
//! Calls are blocking and use plain JSON, one at a time: whether the REST layer is up, which server this is,
//! what its statistics are.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::http::{Address, Connection, HttpError, Method, Request, RequestBuilder, Response};
use serde_json::Value;

/// Longest wait for the REST layer; Rally waits 40 times 3 s.
const REST_LAYER_WAIT_MAX: Duration = Duration::from_secs(120);
const REST_LAYER_PAUSE: Duration = Duration::from_millis(500);

/// Error message for an answer to `GET /` that does not come from a server that can be raced.
pub const UNKNOWN: &str = "it answers, but not as Limber, Elasticsearch or OpenSearch do (no version): is another server running there?";

/// Whether `info`, an answer to `GET /`, comes from Limber, Elasticsearch or OpenSearch: each reports its
/// version number or, if serverless, its flavor.
pub fn is_known(info: &Value) -> bool {
    let version = &info["version"];
    version["number"].is_string() || version["build_flavor"].is_string()
}

/// An answer with its body as JSON (null if it has none).
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub status: u16,
    pub body: Value,
}

/// Maximum number of characters of a server's reason that a message repeats.
const REASON_CHARS_MAX: usize = 300;

impl Answer {
    /// Returns why the server refused the request, in one line that is safe for a terminal. Empty if the body
    /// does not say that in Elasticsearch's form.
    pub(crate) fn reason(&self) -> String {
        let error = &self.body["error"];
        let causes = [&error["reason"], &error["root_cause"][0]["reason"], error];
        let reason = causes.iter().find_map(|reason| reason.as_str()).unwrap_or_default();
        let printable = reason.chars().map(|char| if char.is_control() { ' ' } else { char });
        printable.take(REASON_CHARS_MAX).collect()
    }

    /// Returns the answer as an error. `call` is the request, such as `GET /`.
    pub(crate) fn refused(&self, call: impl Display) -> Error {
        Error::Refused { call: call.to_string(), status: self.status, body: self.reason() }
    }
}

fn json_request(method: Method, path: &str) -> RequestBuilder {
    Request::builder(method, path).header("accept", "application/json")
}

pub(crate) struct Cluster {
    runtime: tokio::runtime::Runtime,
    connections: Vec<Connection>,
    next: usize,
    timeout: Duration,
}

impl Cluster {
    /// `headers` are header lines of every request, each ending in CR LF.
    pub(crate) fn new(hosts: &[Address], headers: &str, timeout: Duration) -> Result<Cluster, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::machine("cannot start the HTTP client"))?;
        let connections = hosts.iter().map(|host| Connection::new(host.clone(), headers)).collect();
        Ok(Cluster { runtime, connections, next: 0, timeout })
    }

    pub(crate) fn hosts_count(&self) -> usize {
        self.connections.len()
    }

    pub(crate) fn get(&mut self, path: &str) -> Result<Answer, HttpError> {
        self.send(&json_request(Method::Get, path).build())
    }

    /// Returns the body of an answer, whose status has to be 200.
    ///
    /// Errors: the path, and why there is no such answer.
    pub(crate) fn fetch(&mut self, path: &str) -> Result<Value, Error> {
        match self.get(path) {
            Ok(answer) if answer.status == 200 => Ok(answer.body),
            Ok(answer) => Err(answer.refused(format_args!("GET {path}"))),
            Err(error) => Err(Error::no_answer(format!("GET {path}"))(error)),
        }
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Result<Answer, HttpError> {
        self.send_json(Method::Post, path, body)
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends a request like [`Cluster::post`], with its own time-out, and without a body if `body` is null.
    pub(crate) fn post_within(
        &mut self,
        path: &str,
        body: &Value,
        timeout: Duration,
    ) -> Result<Answer, HttpError> {
        let usual = std::mem::replace(&mut self.timeout, timeout);
        let answer = match body {
            Value::Null => self.send(&json_request(Method::Post, path).build()),
            body => self.post(path, body),
        };
        self.timeout = usual;
        answer
    }

    /// Returns the body of an answer as it is.
    ///
    /// Errors: as for other calls, and for a status outside 2xx.
    pub(crate) fn get_text(&mut self, path: &str) -> Result<String, HttpError> {
        let request = Request::builder(Method::Get, path).header("accept", "*/*").build();
        self.exchange(&request, |response| match response.is_success() {
            true => Ok(String::from_utf8_lossy(&response.text()?).into_owned()),
            false => Err(HttpError::Protocol(format!("status {}", response.status))),
        })
    }

    /// Sends `body` as it is, for bulks and other bodies that are not a single JSON value.
    pub(crate) fn send_text(
        &mut self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<Answer, HttpError> {
        self.send(&json_request(method, path).header("content-type", content_type).body(body).build())
    }

    pub(crate) fn put(&mut self, path: &str, body: &Value) -> Result<Answer, HttpError> {
        self.send_json(Method::Put, path, body)
    }

    pub(crate) fn delete(&mut self, path: &str, body: &Value) -> Result<Answer, HttpError> {
        self.send_json(Method::Delete, path, body)
    }

    fn send_json(&mut self, method: Method, path: &str, body: &Value) -> Result<Answer, HttpError> {
        self.send_text(method, path, "application/json", body.to_string().into_bytes())
    }

    fn send(&mut self, request: &Request) -> Result<Answer, HttpError> {
        self.exchange(request, |response| {
            let body = response.json().unwrap_or(Value::Null);
            Ok(Answer { status: response.status, body })
        })
    }

    /// Sends a request to the next host in turn.
    fn exchange<T>(
        &mut self,
        request: &Request,
        read: impl FnOnce(Response<'_>) -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        let index = self.next;
        self.next = (index + 1) % self.connections.len();
        let connection = &mut self.connections[index];
        self.runtime
            .block_on(async { read(connection.exchange(request, &request.body, self.timeout).await?) })
    }

    /// Waits until the cluster has as many nodes as there are target hosts.
    ///
    /// Errors: it does not answer within two minutes, or answers with a status that waiting does not change;
    /// `Interrupted` as soon as `is_cancelled` is set.
    ///
    /// `waiting` is called once, with the reason, if the cluster does not answer at once.
    pub(crate) fn wait_for_rest_layer(
        &mut self,
        is_cancelled: &AtomicBool,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let path = format!("/_cluster/health?wait_for_nodes=%3E%3D{}", self.hosts_count());
        let started = Instant::now();
        let mut is_told = false;
        loop {
            let reason = match self.get(&path) {
                Ok(answer) if (200..300).contains(&answer.status) => return Ok(()),
                Ok(answer) if answer.status == 401 => {
                    "status 401: it asks for credentials, or for others (--client-options \"basic_auth_user:'…',basic_auth_password:'…'\")".to_owned()
                }
                Ok(answer) if matches!(answer.status, 503 | 408) => format!("status {}", answer.status),
                Ok(answer) => {
                    if self.info().is_ok_and(|info| !is_known(&info)) {
                        return Err(Error::Answer(format!("GET /: {UNKNOWN}")));
                    }
                    return Err(answer.refused(format_args!("GET {path}")));
                }
                // Waiting does not make a certificate trusted; the user has to change the client options.
                Err(HttpError::Tls(reason)) => return Err(Error::Argument(reason)),
                Err(error) => error.to_string(),
            };
            if is_cancelled.load(Ordering::Acquire) {
                return Err(Error::Interrupted);
            }
            if !is_told {
                waiting(&reason);
                is_told = true;
            }
            if started.elapsed() >= REST_LAYER_WAIT_MAX {
                let wait_s = REST_LAYER_WAIT_MAX.as_secs();
                let call = format!("the REST layer did not become available within {wait_s} s");
                return Err(Error::NoAnswer { call, reason });
            }
            std::thread::sleep(REST_LAYER_PAUSE);
        }
    }

    /// Returns the answer to `GET /`.
    pub(crate) fn info(&mut self) -> Result<Value, Error> {
        self.fetch("/")
    }

    /// Returns the answer like [`Cluster::info`], if it comes from a known product.
    ///
    /// Errors: another program listens there.
    pub(crate) fn known_info(&mut self) -> Result<Value, Error> {
        let info = self.info()?;
        match is_known(&info) {
            true => Ok(info),
            false => Err(Error::Answer(format!("GET /: {UNKNOWN}"))),
        }
    }
}
