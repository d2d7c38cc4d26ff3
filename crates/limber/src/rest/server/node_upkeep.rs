//! `_nodes/hot_threads`, `_nodes/reload_secure_settings` and `_nodes/shutdown`.

use std::time::{Duration, Instant};

use limber_engine::{Result, format_utc_millis};
use limber_mapping::{ObjectParser, RequestError};
use limber_work as work;
use serde_json::json;

use super::nodes::{host, now_millis, selects};
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::machine::{self, ThreadTime};
use crate::rest::router::{generic as slow, management as route};
use crate::rest::{App, Route};

const HOT_THREADS: &[&str] =
    &["threads", "interval", "snapshots", "ignore_idle_threads", "type", "sort", "timeout"];
/// Longest interval over which a request may watch the threads.
const INTERVAL_MS_MAX: u64 = 10_000;
/// Time between two checks whether the client still waits.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The endpoints of this file (`_nodes`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    slow(&[Method::Get], "/_nodes/hot_threads", HOT_THREADS, hot_threads),
    slow(&[Method::Get], "/_nodes/{node}/hot_threads", HOT_THREADS, hot_threads),
    slow(&[Method::Get], "/_nodes/hotthreads", HOT_THREADS, hot_threads),
    slow(&[Method::Get], "/_nodes/{node}/hotthreads", HOT_THREADS, hot_threads),
    slow(&[Method::Get], "/_cluster/nodes/hot_threads", HOT_THREADS, hot_threads),
    slow(&[Method::Get], "/_cluster/nodes/{node}/hot_threads", HOT_THREADS, hot_threads),
    route(&[Method::Post], "/_nodes/reload_secure_settings", &["timeout"], reload),
    route(&[Method::Post], "/_nodes/{node}/reload_secure_settings", &["timeout"], reload),
    route(&[Method::Get], "/_nodes/shutdown", &["master_timeout"], shutdowns),
    route(&[Method::Get], "/_nodes/{node}/shutdown", &["master_timeout"], shutdowns),
];

/// Lists the nodes that are prepared for a shutdown. Shutdowns cannot be registered here, so there is none.
fn shutdowns(_: &App, _: &Request) -> Result<Response> {
    Ok(Response::ok(json!({"nodes": []})))
}

/// Lets the time pass, while other jobs run on the pool.
fn wait(interval: Duration) -> Result<()> {
    let end = Instant::now() + interval;
    work::waiting(|| {
        loop {
            work::check_beyond_deadline()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    })
}

/// Reports which threads used the CPU during the interval, waited (`type=wait`), or were kept from running by
/// others or a disk (`type=block`). It cannot show stacks; the name of a thread tells its purpose.
fn hot_threads(app: &App, request: &Request) -> Result<Response> {
    let kind = request.param("type").unwrap_or("cpu");
    match kind {
        "cpu" | "wait" | "block" => {}
        "mem" => return Err(RequestError::unsupported(format!("[type] [{kind}] of hot threads"))),
        _ => return Err(RequestError::illegal_argument(format!("type not supported [{kind}]"))),
    }
    if let Some(order) = request.param("sort").filter(|order| !matches!(*order, "total" | "cpu")) {
        return Err(RequestError::illegal_argument(format!("sort order not supported [{order}]")));
    }
    let interval_ms = request.time_ms("interval")?.unwrap_or(500);
    if interval_ms > INTERVAL_MS_MAX {
        let reason = format!("[interval] is {interval_ms}ms, but at most {INTERVAL_MS_MAX}ms are watched");
        return Err(RequestError::illegal_argument(reason));
    }
    let count = request.number::<usize>("threads")?.unwrap_or(3);
    let hides_idle = request.flag_or("ignore_idle_threads", true)?;
    request.number::<u32>("snapshots")?;
    if !request.param("node").is_none_or(|filter| selects(app, filter)) {
        return Ok(Response::text(String::new()));
    }
    let before = machine::thread_times();
    wait(Duration::from_millis(interval_ms))?;
    let mut used: Vec<(f64, String)> = machine::thread_times()
        .into_iter()
        .map(|after| {
            let earlier = before.iter().find(|thread| thread.id == after.id);
            let since = |time: fn(&ThreadTime) -> f64| time(&after) - earlier.map_or(0.0, time);
            let cpu_ms = since(|thread| thread.cpu_ms);
            let queued_ms = since(|thread| thread.queued_ms);
            let ms = match kind {
                "wait" => (interval_ms as f64 - cpu_ms - queued_ms).max(0.0),
                "block" => queued_ms + since(|thread| thread.disk_ms),
                _ => cpu_ms,
            };
            (ms, format!("{}[{}]", after.name, after.id))
        })
        .filter(|(ms, _)| *ms > 0.0 || !hides_idle)
        .collect();
    used.sort_by(|a, b| b.0.total_cmp(&a.0));
    let now = format_utc_millis(now_millis());
    let mut text = format!(
        "::: {{{}}}{{{}}}{{{}}}{{{}}}{{{}}}\n   Hot threads at {now}, interval={interval_ms}ms, busiestThreads={count}, ignoreIdleThreads={hides_idle}:\n",
        app.node.config().node_name,
        app.node.node_id(),
        host(app),
        app.config.http_address,
        "dimr",
    );
    for (ms, name) in used.iter().take(count) {
        let percent = ms / interval_ms.max(1) as f64 * 100.0;
        let parts = match kind {
            "cpu" => format!(" [cpu={percent:.1}%, other=0.0%]"),
            _ => String::new(),
        };
        text.push_str(&format!(
            "   \n   {percent:.1}%{parts} ({ms:.1}ms out of {interval_ms}ms) {kind} usage by thread '{name}'\n"
        ));
    }
    Ok(Response::text(text))
}

/// Reads the file with secure settings again (`path.secrets`), and opens the repositories again that use its
/// keys. Settings of the configuration are only read when the server starts.
fn reload(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or_else(|| json!({}));
    let parser = ObjectParser::new("reload_secure_settings");
    if let Some(unknown) = parser.members(&body)?.keys().find(|key| *key != "secure_settings_password") {
        return Err(parser.unknown(unknown));
    }
    let is_selected = request.param("node").is_none_or(|filter| selects(app, filter));
    let mut node = json!({"name": app.node.config().node_name});
    if !body["secure_settings_password"].as_str().unwrap_or_default().is_empty() {
        // As in Elasticsearch on a node whose settings have no password.
        node["reload_exception"] =
            json!({"type": "security_exception", "reason": "Provided keystore password was incorrect"});
    } else if let (true, Some(secrets)) = (is_selected, &app.config.secrets) {
        let reloaded = secrets
            .s3()
            .map_err(|error| RequestError::illegal_argument(format!("{error:#}")))
            .and_then(|keys| app.node.reload_secure_settings(&keys));
        if let Err(error) = reloaded {
            node["reload_exception"] = json!({"type": error.kind, "reason": error.reason});
        }
    }
    Ok(super::nodes::envelope(app, is_selected.then_some(node)))
}
