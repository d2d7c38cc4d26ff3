//! One request to the other server: its time limits, the memory of its response, retries, and cancellation
//! with its task.

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use limber_engine::{Progress, Result};
use limber_mapping::{ErrorClass, RequestError};
use limber_store::{Charge, Pool};
use ureq::http::{Method, Request};
use ureq::{Agent, Error, Timeout};

use super::host::RemoteHost;
use super::settings::RemoteSettings;
use crate::http::refusal::circuit_breaking;

/// Maximum size of a response, like Elasticsearch's buffer for remote batches. Source:
/// `HeapBufferedAsyncResponseConsumer`, 100 MB.
const ANSWER_BYTES_MAX: usize = 100 << 20;
/// Timeout of a whole response. After that its search context would have expired anyway.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(300);
/// Characters of a refusal's body that are quoted in the error.
const REFUSAL_CHARS_MAX: usize = 2_000;
/// Maximum number of retries, and the first and the longest pause; pauses double in between. Source:
/// `AbstractBulkByScrollRequest`, `DEFAULT_MAX_RETRIES`.
const RETRIES_MAX: u32 = 11;
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// Interval at which cancellation of the task is checked.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// After which failures a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    /// For the first request: if the server cannot be reached, the request fails at once.
    OnlyWhenRefused,
    /// For a request that changes nothing on the other server: retried after every transient failure.
    Always,
    /// For a request that advances a scroll: retried only if it was certainly not carried out, because
    /// otherwise a page would be lost silently.
    OnlyUnlessDone,
}

/// A response with status 200.
pub(super) struct Answer {
    pub body: Vec<u8>,
    /// The memory charge for the body.
    pub charge: Charge,
}

/// Sends requests to one server.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    agent: Agent,
    host: Arc<RemoteHost>,
    pool: Arc<Pool>,
}

/// The reason why there is no response.
#[derive(Debug)]
struct Failure {
    error: RequestError,
    kind: FailureKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureKind {
    /// The request did not reach the server.
    Unsent,
    /// The server responded with this status.
    Status(u16),
    /// The connection broke while waiting for the response.
    Broken,
    /// A retry would fail too.
    Final,
}

impl Repeats {
    fn allow(self, kind: FailureKind) -> bool {
        match (self, kind) {
            (_, FailureKind::Final) => false,
            (_, FailureKind::Status(429)) => true,
            (Repeats::OnlyWhenRefused | Repeats::Always, FailureKind::Status(status)) => {
                (502..=504).contains(&status)
            }
            (Repeats::OnlyUnlessDone, FailureKind::Status(_) | FailureKind::Broken) => false,
            (Repeats::OnlyWhenRefused, FailureKind::Unsent | FailureKind::Broken) => false,
            (Repeats::Always, FailureKind::Broken) => true,
            (Repeats::Always | Repeats::OnlyUnlessDone, FailureKind::Unsent) => true,
        }
    }
}

impl Exchange {
    /// `pool` is the pool to which responses are charged.
    pub(super) fn new(host: Arc<RemoteHost>, settings: &RemoteSettings, pool: Arc<Pool>) -> Exchange {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A scroll is closed by a DELETE request with a body.
            .allow_non_standard_methods(true)
            .tls_config(settings.tls())
            // Only the list of allowed hosts decides which servers this one connects to.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            // With a reused connection, one that the other side has closed would look like a lost request.
            .max_idle_connections(0)
            .timeout_resolve(Some(host.connect_timeout))
            .timeout_connect(Some(host.connect_timeout))
            .timeout_per_read(Some(host.socket_timeout))
            .timeout_per_write(Some(host.socket_timeout))
            .timeout_global(Some(host.connect_timeout + host.socket_timeout.max(ANSWER_TIME_MAX)))
            .user_agent(concat!("limber/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Exchange { agent, host, pool }
    }

    /// Sends a request until it is answered. `None` if the task is cancelled first.
    ///
    /// # Errors
    /// Elasticsearch's errors, without secrets.
    pub(super) fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
        repeats: Repeats,
        progress: &Progress,
    ) -> Result<Option<Answer>> {
        let mut pause = RETRY_FIRST;
        for attempt in 0.. {
            let Some(outcome) = self.attempt(method.clone(), path, body, progress)? else { return Ok(None) };
            let failure = match outcome {
                Ok(answer) => return Ok(Some(answer)),
                Err(failure) => failure,
            };
            if attempt == RETRIES_MAX || !repeats.allow(failure.kind) {
                return Err(failure.error);
            }
            tracing::debug!(
                host = self.host.address(),
                error = failure.error.reason,
                "a remote is asked again"
            );
            progress.note_search_retry();
            progress.pause(pause);
            if progress.is_cancelled() {
                return Ok(None);
            }
            pause = (pause * 2).min(RETRY_PAUSE_MAX);
        }
        unreachable!("the last attempt answers or fails")
    }

    /// Sends a request whose outcome is only logged, and waits for it no longer than usual.
    pub(super) fn tell(&self, method: Method, path: &str, body: &str) {
        if let Err(failure) = self.exchange(method, path, Some(body)) {
            tracing::debug!(
                host = self.host.address(),
                error = failure.error.reason,
                "a remote does not hear"
            );
        }
    }

    /// Makes one attempt on a separate thread. If the task is cancelled, the thread is abandoned; its
    /// timeouts end it.
    fn attempt(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
        progress: &Progress,
    ) -> Result<Option<std::result::Result<Answer, Failure>>> {
        let (give, take) = sync_channel(1);
        let (exchange, path, body) = (self.clone(), path.to_owned(), body.map(str::to_owned));
        let run = move || drop(give.send(exchange.exchange(method, &path, body.as_deref())));
        let spawned = std::thread::Builder::new().name("remote".to_owned()).spawn(run);
        spawned.map_err(|error| {
            RequestError::unavailable("es_rejected_execution_exception", error.to_string())
        })?;
        while !progress.is_cancelled() {
            match take.recv_timeout(LOOK_EVERY) {
                Ok(outcome) => return Ok(Some(outcome)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RequestError::internal(
                        "exception",
                        "the request to the remote failed unexpectedly",
                    ));
                }
            }
        }
        Ok(None)
    }

    fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
    ) -> std::result::Result<Answer, Failure> {
        let mut request =
            Request::builder().method(method).uri(self.host.url(path)).header("accept", "application/json");
        for (name, value) in self.host.headers() {
            request = request.header(name, value);
        }
        let broken = |error: &ureq::http::Error| Failure {
            error: RequestError::illegal_argument(format!("no request can be made for the remote: {error}")),
            kind: FailureKind::Final,
        };
        let answered = match body {
            None => self.agent.run(request.body(()).map_err(|error| broken(&error))?),
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.agent.run(request.body(body.to_owned()).map_err(|error| broken(&error))?)
            }
        };
        let mut response = answered.map_err(|error| self.failure(&error))?;
        let status = response.status().as_u16();
        let mut charge =
            self.pool.charge(0, "<reindex_from_remote>").map_err(|error| refused_memory(&error))?;
        let body = self.read(&mut response.body_mut().as_reader(), &mut charge)?;
        match status {
            200..300 => Ok(Answer { body, charge }),
            _ => Err(self.refusal(status, &body)),
        }
    }

    fn read(&self, from: &mut impl Read, charge: &mut Charge) -> std::result::Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        let mut chunk = vec![0; 64 << 10];
        loop {
            let count = from.read(&mut chunk).map_err(|error| match error.downcast::<Error>() {
                Ok(error) => Failure { kind: FailureKind::Broken, ..self.failure(&error) },
                Err(error) => self.io_failure(&error, FailureKind::Broken),
            })?;
            if count == 0 {
                return Ok(body);
            }
            if body.len() + count > ANSWER_BYTES_MAX {
                let reason = "Remote responded with a chunk that was too large. Use a smaller batch size.";
                return Err(Failure {
                    error: RequestError::illegal_argument(reason),
                    kind: FailureKind::Final,
                });
            }
            // A growing vector has up to twice the capacity that it needs.
            charge.grow(2 * count as u64, "<reindex_from_remote>").map_err(|error| refused_memory(&error))?;
            body.extend_from_slice(&chunk[..count]);
        }
    }

    /// Converts a refusal to an error with the same status. Source:
    /// `RemoteScrollableHitSource#wrapExceptionToPreserveStatus`.
    fn refusal(&self, status: u16, body: &[u8]) -> Failure {
        let text: String =
            String::from_utf8_lossy(&body[..body.len().min(4 * REFUSAL_CHARS_MAX)]).into_owned();
        let text: String = self.host.without_secrets(&text).chars().take(REFUSAL_CHARS_MAX).collect();
        let text = if text.is_empty() { "No error body.".to_owned() } else { format!("body={text}") };
        let error = match status {
            400..600 => RequestError::new(ErrorClass::Remote(status), "status_exception", text),
            other => RequestError::internal(
                "status_exception",
                format!("the remote answered with status [{other}]. {text}"),
            ),
        };
        Failure { error, kind: FailureKind::Status(status) }
    }

    fn failure(&self, error: &Error) -> Failure {
        let address = self.host.address();
        let fail = |kind: FailureKind, name: &'static str, reason: String| Failure {
            error: RequestError::internal(name, reason),
            kind,
        };
        match error {
            Error::HostNotFound => fail(FailureKind::Unsent, "unknown_host_exception", address),
            Error::ConnectionFailed => {
                fail(FailureKind::Unsent, "connect_exception", format!("no connection: [{address}]"))
            }
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                let ms = self.host.connect_timeout.as_millis();
                fail(
                    FailureKind::Unsent,
                    "connect_timeout_exception",
                    format!("no connection within {ms} milliseconds: [{address}]"),
                )
            }
            Error::Timeout(_) => {
                let ms = self.host.socket_timeout.as_millis();
                let reason = format!("{ms} milliseconds timeout on connection to [{address}]");
                fail(FailureKind::Final, "socket_timeout_exception", reason)
            }
            Error::Io(error) => self.io_failure(error, FailureKind::Broken),
            Error::Rustls(_) | Error::Tls(_) | Error::Pem(_) => {
                fail(FailureKind::Final, "s_s_l_handshake_exception", format!("[{address}]: {error}"))
            }
            // A malformed response, or an error that ureq has no name for.
            other => {
                let reason = self.host.without_secrets(&format!("[{address}]: {other}"));
                fail(FailureKind::Broken, "i_o_exception", reason)
            }
        }
    }

    fn io_failure(&self, error: &std::io::Error, kind: FailureKind) -> Failure {
        use std::io::ErrorKind::*;
        let address = self.host.address();
        match error.kind() {
            ConnectionRefused => Failure {
                error: RequestError::internal(
                    "connect_exception",
                    format!("Connection refused: [{address}]"),
                ),
                kind: FailureKind::Unsent,
            },
            HostUnreachable | NetworkUnreachable | AddrNotAvailable => Failure {
                error: RequestError::internal("connect_exception", format!("{error}: [{address}]")),
                kind: FailureKind::Unsent,
            },
            InvalidData if error.get_ref().is_some_and(|inner| inner.to_string().contains("certificate")) => {
                Failure {
                    error: RequestError::internal(
                        "s_s_l_handshake_exception",
                        format!("[{address}]: {error}"),
                    ),
                    kind: FailureKind::Final,
                }
            }
            TimedOut | WouldBlock => self.failure(&Error::Timeout(Timeout::RecvBody)),
            _ => Failure {
                error: RequestError::internal("i_o_exception", format!("[{address}]: {error}")),
                kind,
            },
        }
    }
}

fn refused_memory(error: &limber_store::Error) -> Failure {
    Failure { error: circuit_breaking(error), kind: FailureKind::Final }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scroll_is_moved_on_once() {
        use FailureKind::*;
        let check = |repeats: Repeats, kinds: &[FailureKind], expected: bool| {
            kinds.iter().for_each(|kind| assert_eq!(repeats.allow(*kind), expected, "{repeats:?} {kind:?}"));
        };
        check(Repeats::OnlyUnlessDone, &[Unsent, Status(429)], true);
        check(Repeats::OnlyUnlessDone, &[Broken, Final, Status(503), Status(504), Status(404)], false);
        check(Repeats::Always, &[Unsent, Broken, Status(429), Status(502), Status(503), Status(504)], true);
        check(Repeats::Always, &[Final, Status(400), Status(401), Status(500), Status(302)], false);
        check(Repeats::OnlyWhenRefused, &[Status(429), Status(503)], true);
        check(Repeats::OnlyWhenRefused, &[Unsent, Broken, Final, Status(401)], false);
    }
}
