//! Shows the race in a browser: a page on a loopback address while the race runs.
//!
//! One thread serves the page and, once per second, the state as JSON. It does not touch the load generator's
//! threads; it shows the same figures as the terminal's lines.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;

use super::now::{Heading, TaskNow};
use crate::error::Error;
use crate::report::html::{self, policy::hash_source};

/// There is one point per second. When there are this many, every second point is removed and the interval
/// doubles.
const POINTS_MAX: usize = 600;
/// Number of finished tasks and of messages kept; a track has tens of each.
const LINES_MAX: usize = 500;
/// How long the end of a race waits until an open page has seen it.
const FAREWELL: Duration = Duration::from_millis(1500);
/// A page that has not asked for this long is no longer open.
const ABSENT: Duration = Duration::from_secs(4);
const PAGE: &str = include_str!("page.html");
/// The browser runs and loads only what is part of the page, or of the report that the page opens: a document
/// made from a `Blob` has the policy of the page that made it. Reports place marks by `style` attributes.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let (report_script, report_style) = html::page::sources();
    let (script, style) = (hash_source(inside(PAGE, "script")), hash_source(inside(PAGE, "style")));
    let policy = format!(
        "default-src 'none'; script-src {script} {report_script}; style-src-elem {style} {report_style}; \
         style-src-attr 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("the policy is printable ASCII")
});

/// What the page shows.
#[derive(Debug, Default, Serialize)]
struct State {
    /// The race that is running, or ran last.
    race: Option<Heading>,
    messages: Vec<String>,
    tasks: Vec<Watched>,
    finished: Vec<Finished>,
    elapsed_s: f64,
    is_over: bool,
    /// Whether there is a report, at `/report`.
    has_report: bool,
}

/// Seconds since the step's start, throughput, median and 99th percentile of the service time.
type Point = (f64, Option<f64>, Option<f64>, Option<f64>);

/// A running task and its figures over time.
#[derive(Debug, Serialize)]
struct Watched {
    now: TaskNow,
    points: Vec<Point>,
    #[serde(skip)]
    interval_s: f64,
}

#[derive(Debug, Serialize)]
struct Finished {
    race_id: String,
    names: String,
    seconds: f64,
    error_rate: f64,
    /// Its tasks with their figures over the whole task, without the warm-up.
    tasks: Vec<TaskNow>,
}

#[derive(Debug)]
struct Shared {
    state: State,
    started: Instant,
    step_started: Instant,
    asked: Option<Instant>,
    is_end_seen: bool,
    /// The report of the finished race, until the page has fetched it.
    report: Option<String>,
}

/// Serves the page until the process ends.
#[derive(Debug, Clone)]
pub(crate) struct LivePage {
    pub address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

impl LivePage {
    /// Serves the page on `address` (port 0: a free port).
    ///
    /// Errors: the address is not a loopback address, or cannot be listened on.
    pub(crate) fn serve(address: SocketAddr) -> Result<LivePage, Error> {
        if !address.ip().is_loopback() {
            return Err(Error::Argument(format!(
                "--live-http [{address}] is not a loopback address; the page has no password, so it is shown to this machine alone: \
                 use 127.0.0.1:{} and, from elsewhere, a tunnel such as ssh -L",
                address.port()
            )));
        }
        let now = Instant::now();
        let shared = Shared {
            state: State::default(),
            started: now,
            step_started: now,
            asked: None,
            is_end_seen: false,
            report: None,
        };
        let shared = Arc::new(Mutex::new(shared));
        let fails = |error: std::io::Error| Error::Argument(format!("--live-http [{address}]: {error}"));
        let listener = std::net::TcpListener::bind(address).map_err(fails)?;
        listener.set_nonblocking(true).map_err(fails)?;
        let page = LivePage { address: listener.local_addr().map_err(fails)?, shared };
        let served = page.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fails)?;
        let serve = move || runtime.block_on(accept(listener, served));
        std::thread::Builder::new().name("live-page".into()).spawn(serve).map_err(fails)?;
        Ok(page)
    }

    pub(crate) fn race_started(&self, race: &Heading) {
        self.lock().state.race = Some(race.clone());
    }

    /// Sets the HTML report of the finished race, to which the page links. An open page keeps it after this
    /// process has ended.
    pub(crate) fn report(&self, html: String) {
        let mut shared = self.lock();
        shared.state.has_report = true;
        shared.report = Some(html);
    }

    /// Sets the figures of the tasks of the step that ends, over the whole task.
    pub(crate) fn measured(&self, tasks: &[TaskNow]) {
        for (watched, measured) in self.lock().state.tasks.iter_mut().zip(tasks) {
            watched.now = measured.clone();
        }
    }

    pub(crate) fn message(&self, line: &str) {
        let messages = &mut self.lock().state.messages;
        if messages.len() < LINES_MAX {
            messages.push(line.to_owned());
        }
    }

    pub(crate) fn step_started(&self) {
        let mut shared = self.lock();
        shared.step_started = Instant::now();
        shared.state.tasks.clear();
    }

    pub(crate) fn running(&self, tasks: &[TaskNow]) {
        let mut shared = self.lock();
        let at_s = shared.step_started.elapsed().as_secs_f64();
        let watched = &mut shared.state.tasks;
        if watched.len() != tasks.len() {
            *watched = tasks
                .iter()
                .map(|now| Watched { now: now.clone(), points: Vec::new(), interval_s: 1.0 })
                .collect();
        }
        for (watched, now) in watched.iter_mut().zip(tasks) {
            watched.update(now, at_s);
        }
    }

    pub(crate) fn step_finished(&self, names: &str, error_rate: f64) {
        let mut shared = self.lock();
        let seconds = shared.step_started.elapsed().as_secs_f64();
        let tasks = shared.state.tasks.drain(..).map(|watched| watched.now).collect();
        if shared.state.finished.len() < LINES_MAX {
            let race_id = shared.state.race.as_ref().map(|race| race.race_id.clone()).unwrap_or_default();
            shared.state.finished.push(Finished {
                race_id,
                names: names.to_owned(),
                seconds,
                error_rate,
                tasks,
            });
        }
    }

    /// Notes that the race is over, and waits a moment until an open page has seen it.
    pub(crate) fn end(&self) {
        self.lock().state.is_over = true;
        let ended = Instant::now();
        while ended.elapsed() < FAREWELL {
            let shared = self.lock();
            if (shared.is_end_seen && shared.report.is_none())
                || shared.asked.is_none_or(|asked| asked.elapsed() > ABSENT)
            {
                return;
            }
            drop(shared);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn state(&self) -> String {
        let mut shared = self.lock();
        shared.asked = Some(Instant::now());
        shared.is_end_seen = shared.state.is_over;
        if !shared.state.is_over {
            shared.state.elapsed_s = shared.started.elapsed().as_secs_f64();
        }
        serde_json::to_string(&shared.state).expect("the state holds only texts, numbers and lists")
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // The state is consistent after every statement, so a panic elsewhere does no harm.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        // A page of another site whose name resolves to this address (DNS rebinding) must not read the race.
        let is_for_this_machine = request.headers().get(HOST).is_none_or(is_loopback_name);
        let (status, kind, body) = match (is_for_this_machine, request.method(), request.uri().path()) {
            (false, ..) => {
                (StatusCode::FORBIDDEN, "text/plain", "ask by 127.0.0.1 or localhost\n".to_owned())
            }
            (_, &Method::GET, "/") => (StatusCode::OK, "text/html; charset=utf-8", PAGE.to_owned()),
            (_, &Method::GET, "/report") => match self.lock().report.take() {
                Some(report) => (StatusCode::OK, "text/html; charset=utf-8", report),
                None => (
                    StatusCode::NOT_FOUND,
                    "text/plain",
                    "no report, or it was given out already\n".to_owned(),
                ),
            },
            (_, &Method::GET, "/state") => (StatusCode::OK, "application/json", self.state()),
            _ => (
                StatusCode::NOT_FOUND,
                "text/plain",
                "there are /, /state and, when the race is over, /report\n".to_owned(),
            ),
        };
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
        response
    }
}

impl Watched {
    fn update(&mut self, now: &TaskNow, at_s: f64) {
        self.now = now.clone();
        if self.points.last().is_some_and(|point| at_s - point.0 < self.interval_s) {
            return;
        }
        self.points.push((at_s, now.throughput, now.service_time_p50_ms, now.service_time_p99_ms));
        if self.points.len() >= POINTS_MAX {
            let mut is_kept = false;
            self.points.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.interval_s *= 2.0;
        }
    }
}

/// Returns the text of the only element of `page` with this name.
fn inside<'a>(page: &'a str, name: &str) -> &'a str {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let element = page.split_once(&start).and_then(|(_, rest)| rest.split_once(&end));
    element.expect("the page has one script and one style").0
}

fn is_loopback_name(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else { return false };
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

async fn accept(listener: std::net::TcpListener, page: LivePage) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    tokio::task::LocalSet::new()
        .run_until(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    // The process has no file descriptors left; others may be closed soon.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let page = page.clone();
                tokio::task::spawn_local(async move {
                    let serve = service_fn(|request| {
                        let response = page.answer(&request);
                        async move { Ok::<_, std::convert::Infallible>(response) }
                    });
                    // It is not an error that a browser closes the connection early.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), serve)
                        .await;
                });
            }
        })
        .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn get(page: &LivePage, path: &str, host: &str) -> String {
        let mut stream = std::net::TcpStream::connect(page.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn the_page_shows_the_race() {
        let page = LivePage::serve("127.0.0.1:0".parse().unwrap()).unwrap();
        page.message("Racing on track [t]");
        page.step_started();
        page.running(&[TaskNow {
            name: "index </script>".into(),
            throughput: Some(5.0),
            ..TaskNow::default()
        }]);
        let answer = get(&page, "/state", "localhost:1");
        let state: serde_json::Value =
            serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(state["messages"][0], "Racing on track [t]");
        assert_eq!(state["tasks"][0]["now"]["name"], "index </script>");
        assert_eq!(state["tasks"][0]["points"][0][1], 5.0);
        let heading =
            Heading { race_id: "r1".into(), track: "t".into(), steps_count: 2, ..Heading::default() };
        page.race_started(&heading);
        page.measured(&[TaskNow { name: "index".into(), throughput: Some(7.5), ..TaskNow::default() }]);
        page.step_finished("index", 0.25);
        let answer = get(&page, "/state", "127.0.0.1");
        assert!(answer.contains(r#""finished":[{"race_id":"r1","names":"index","#), "{answer}");
        assert!(answer.contains(r#""throughput":7.5"#) && answer.contains(r#""steps_count":2"#), "{answer}");
        page.report("<p>the report</p>".into());
        assert!(get(&page, "/report", "localhost").contains("<p>the report</p>"));
        assert!(get(&page, "/report", "localhost").starts_with("HTTP/1.1 404"), "the page keeps it");

        let answer = get(&page, "/", "[::1]:8080");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<!doctype html>"), "{answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'"), "{answer}");
        let policy = POLICY.to_str().unwrap();
        assert_eq!(policy.matches("'sha256-").count(), 4, "{policy}");
        assert!(!policy.contains("script-src 'unsafe-inline'"), "{policy}");
        assert!(answer.contains(policy) && inside(PAGE, "script").starts_with("\n\"use strict\";"));
        assert!(get(&page, "/", "evil.example").starts_with("HTTP/1.1 403"));
        assert!(get(&page, "/../etc/passwd", "localhost").starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn other_machines_do_not_see_it() {
        let error = LivePage::serve("0.0.0.0:0".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("is not a loopback address"), "{error}");
    }

    #[test]
    fn points_stay_bounded() {
        let mut watched = Watched { now: TaskNow::default(), points: Vec::new(), interval_s: 1.0 };
        for second in 0..100_000 {
            watched.update(&TaskNow::default(), f64::from(second));
        }
        assert!((POINTS_MAX / 4..POINTS_MAX).contains(&watched.points.len()), "{}", watched.points.len());
        assert!(watched.points.is_sorted_by(|a, b| a.0 < b.0));
    }
}
