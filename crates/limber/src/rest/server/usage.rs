//! Usage of each endpoint since the start: `_nodes/usage`, and `http.routes` of `_nodes/stats`.
//!
//! Source: Elasticsearch's `RestUsageAction`, `HttpRouteStatsTracker`. The counters of an endpoint are
//! created by its first request.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Map, Value, json};

use super::nodes::{envelope, now_millis, selects};
use super::usage_names::name_of;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::{management as route, unrecognized};
use crate::rest::{App, Route};

/// The endpoints of this file (`_nodes`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_nodes/usage", &["timeout"], usage),
    route(&[Method::Get], "/_nodes/usage/{metric}", &["timeout"], usage),
    route(&[Method::Get], "/_nodes/{node}/usage", &["timeout"], usage),
    route(&[Method::Get], "/_nodes/{node}/usage/{metric}", &["timeout"], usage),
];

const METRICS: &[&str] = &["rest_actions", "aggregations"];
/// Number of histogram buckets for sizes and times. The buckets are below 1, below 2, below 4 and so on; the
/// last is unbounded.
const SIZE_CLASSES: usize = 31;
const TIME_CLASSES: usize = 18;
const METHODS: usize = Method::ALL.len();

/// The number of values in each bucket.
struct Histogram<const N: usize>([AtomicU64; N]);

impl<const N: usize> Histogram<N> {
    fn new() -> Histogram<N> {
        Histogram([const { AtomicU64::new(0) }; N])
    }

    fn add(&self, value: u64) {
        let class = (u64::BITS - value.leading_zeros()) as usize;
        self.0[class.min(N - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the buckets from the first to the last non-empty one, with their bounds in `unit`.
    fn to_json(&self, unit: &str) -> Value {
        let counts: Vec<u64> = self.0.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let first = counts.iter().position(|count| *count > 0).unwrap_or(N);
        let last = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        let class = |class: usize| {
            let mut entry = Map::new();
            if class > 0 {
                entry.insert(format!("ge_{unit}"), (1u64 << (class - 1)).into());
            }
            if class + 1 < N {
                entry.insert(format!("lt_{unit}"), (1u64 << class).into());
            }
            entry.insert("count".into(), counts[class].into());
            Value::Object(entry)
        };
        (first..last).map(class).collect()
    }
}

/// The counters of one endpoint.
struct Counters {
    /// Indexed by method, in the order of the enum's declaration.
    requests: [AtomicU64; METHODS],
    request_bytes: AtomicU64,
    response_bytes: AtomicU64,
    request_sizes: Histogram<SIZE_CLASSES>,
    response_sizes: Histogram<SIZE_CLASSES>,
    times: Histogram<TIME_CLASSES>,
}

impl Counters {
    fn new() -> Counters {
        Counters {
            requests: Default::default(),
            request_bytes: AtomicU64::new(0),
            response_bytes: AtomicU64::new(0),
            request_sizes: Histogram::new(),
            response_sizes: Histogram::new(),
            times: Histogram::new(),
        }
    }

    fn count(&self) -> u64 {
        self.requests.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    fn to_json(&self) -> Value {
        let count = self.count();
        json!({
            "requests": {
                "count": count,
                "total_size_in_bytes": self.request_bytes.load(Ordering::Relaxed),
                "size_histogram": self.request_sizes.to_json("bytes"),
            },
            "responses": {
                "count": count,
                "total_size_in_bytes": self.response_bytes.load(Ordering::Relaxed),
                "size_histogram": self.response_sizes.to_json("bytes"),
                "handling_time_histogram": self.times.to_json("millis"),
            },
        })
    }
}

/// How often each endpoint was called, by its path.
pub struct Usage {
    since_ms: u64,
    by_path: BTreeMap<&'static str, OnceLock<Box<Counters>>>,
}

impl Usage {
    /// Creates the counters, all at zero.
    pub fn new(paths: impl Iterator<Item = &'static str>) -> Usage {
        Usage { since_ms: now_millis(), by_path: paths.map(|path| (path, OnceLock::new())).collect() }
    }

    /// Counts a finished request.
    pub fn note(&self, path: &str, method: Method, request_bytes: u64, response_bytes: u64, took: Duration) {
        let Some(counters) = self.by_path.get(path) else { return };
        let counters = counters.get_or_init(|| Box::new(Counters::new()));
        counters.requests[method as usize].fetch_add(1, Ordering::Relaxed);
        counters.request_bytes.fetch_add(request_bytes, Ordering::Relaxed);
        counters.response_bytes.fetch_add(response_bytes, Ordering::Relaxed);
        counters.request_sizes.add(request_bytes);
        counters.response_sizes.add(response_bytes);
        counters.times.add(took.as_millis() as u64);
    }

    /// Returns `http.routes` of `_nodes/stats`: the endpoints that were called, by path.
    pub fn routes_json(&self) -> Value {
        let asked = self.by_path.iter().filter_map(|(path, counters)| Some((path, counters.get()?)));
        Value::Object(asked.map(|(path, counters)| ((*path).to_owned(), counters.to_json())).collect())
    }

    /// Returns the number of requests by Elasticsearch's name of the endpoint.
    fn rest_actions(&self) -> Value {
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        for (path, counters) in &self.by_path {
            let Some(counters) = counters.get() else { continue };
            for method in Method::ALL {
                let count = counters.requests[method as usize].load(Ordering::Relaxed);
                if let Some(name) = name_of(path, method).filter(|_| count > 0) {
                    *by_name.entry(name).or_default() += count;
                }
            }
        }
        json!(by_name)
    }
}

fn usage(app: &App, request: &Request) -> Result<Response> {
    let metrics = request.list("metric");
    if metrics.iter().any(|metric| metric == "_all") && metrics.len() > 1 {
        let path = request.uri.split('?').next().unwrap_or("");
        return Err(RequestError::illegal_argument(format!(
            "request [{path}] contains _all and individual metrics [{}]",
            metrics.join(",")
        )));
    }
    let named = metrics.iter().map(String::as_str);
    let unknown: Vec<&str> = named.filter(|metric| *metric != "_all" && !METRICS.contains(metric)).collect();
    if !unknown.is_empty() {
        return Err(unrecognized(&request.uri, "metric", &unknown, METRICS));
    }
    if !request.param("node").is_none_or(|filter| selects(app, filter)) {
        return Ok(envelope(app, None));
    }
    let wants = |metric: &str| metrics.is_empty() || metrics.iter().any(|m| m == "_all" || m == metric);
    let mut node = json!({ "timestamp": now_millis(), "since": app.usage.since_ms });
    if wants("rest_actions") {
        node["rest_actions"] = app.usage.rest_actions();
    }
    if wants("aggregations") {
        node["aggregations"] = json!({});
    }
    Ok(envelope(app, Some(node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_size_and_time() {
        let usage = Usage::new(["/_search", "/{index}/_search"].into_iter());
        usage.note("/{index}/_search", Method::Get, 0, 300, Duration::from_micros(100));
        usage.note("/{index}/_search", Method::Post, 5, 300, Duration::from_millis(3));
        assert_eq!(usage.rest_actions(), json!({"search_action": 2}));
        assert_eq!(
            usage.routes_json(),
            json!({"/{index}/_search": {
                "requests": {"count": 2, "total_size_in_bytes": 5, "size_histogram": [
                    {"lt_bytes": 1, "count": 1}, {"ge_bytes": 1, "lt_bytes": 2, "count": 0},
                    {"ge_bytes": 2, "lt_bytes": 4, "count": 0}, {"ge_bytes": 4, "lt_bytes": 8, "count": 1}]},
                "responses": {"count": 2, "total_size_in_bytes": 600,
                    "size_histogram": [{"ge_bytes": 256, "lt_bytes": 512, "count": 2}],
                    "handling_time_histogram": [
                        {"lt_millis": 1, "count": 1}, {"ge_millis": 1, "lt_millis": 2, "count": 0},
                        {"ge_millis": 2, "lt_millis": 4, "count": 1}]},
            }})
        );
    }
}
