//! The slowest requests of the last hour, in a list of fixed size.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::request::Method;

/// Requests that take less time are not kept.
const THRESHOLD: Duration = Duration::from_millis(200);
/// Maximum number of requests kept; each takes about 2 KiB.
const COUNT_MAX: usize = 64;
/// Requests older than this are dropped, however slow they were.
const KEPT: Duration = Duration::from_secs(3600);
/// Maximum length that is kept of a path and of a body.
const TEXT_BYTES_MAX: usize = 1 << 10;
const OPAQUE_ID_BYTES_MAX: usize = 128;

/// A request that has begun.
pub struct Begun {
    method: Method,
    uri: String,
    body: Vec<u8>,
    opaque_id: Option<String>,
    at: Instant,
    started: SystemTime,
}

impl Begun {
    /// `body` is the part of the body that may be shown: empty if it contains documents.
    pub fn new(method: Method, uri: &str, body: &[u8], opaque_id: Option<String>) -> Begun {
        Begun {
            method,
            uri: cut(uri, TEXT_BYTES_MAX).to_owned(),
            body: body[..body.len().min(TEXT_BYTES_MAX)].to_vec(),
            opaque_id: opaque_id.map(|id| cut(&id, OPAQUE_ID_BYTES_MAX).to_owned()),
            at: Instant::now(),
            started: SystemTime::now(),
        }
    }
}

/// Cuts a string to at most `bytes_max` bytes, at a character boundary.
fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

struct Slow {
    begun: Begun,
    took: Duration,
    status: u16,
}

/// The slowest requests of the last hour.
#[derive(Default)]
pub struct SlowRequests {
    kept: Mutex<Vec<Slow>>,
}

impl SlowRequests {
    /// Records the end of a request.
    pub fn end(&self, begun: Begun, status: u16) {
        let took = begun.at.elapsed();
        if took >= THRESHOLD {
            self.keep(Slow { begun, took, status });
        }
    }

    fn keep(&self, slow: Slow) {
        let mut kept = self.kept.lock();
        kept.retain(|old| old.begun.at.elapsed() < KEPT);
        if kept.len() >= COUNT_MAX {
            let fastest = kept.iter().enumerate().min_by_key(|(_, old)| old.took).map(|(place, _)| place);
            match fastest {
                Some(place) if kept[place].took < slow.took => {
                    kept.swap_remove(place);
                }
                _ => return,
            }
        }
        kept.push(slow);
    }

    /// Returns all kept requests, the slowest first.
    pub fn show(&self) -> Value {
        let mut kept = self.kept.lock();
        kept.retain(|old| old.begun.at.elapsed() < KEPT);
        kept.sort_by_key(|slow| std::cmp::Reverse(slow.took));
        let shown = |slow: &Slow| {
            let begun = &slow.begun;
            let started = begun.started.duration_since(UNIX_EPOCH).unwrap_or_default();
            json!({
                "method": begun.method.name(),
                "uri": begun.uri,
                "body": String::from_utf8_lossy(&begun.body),
                "opaque_id": begun.opaque_id,
                "status": slow.status,
                "start_time_in_millis": started.as_millis() as u64,
                "took_millis": slow.took.as_millis() as u64,
            })
        };
        json!({
            "threshold_millis": THRESHOLD.as_millis() as u64,
            "kept_millis": KEPT.as_millis() as u64,
            "count_max": COUNT_MAX,
            "requests": kept.iter().map(shown).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_stay() {
        let slow = SlowRequests::default();
        slow.end(Begun::new(Method::Get, "/fast", b"", None), 200);
        let long = "ä".repeat(TEXT_BYTES_MAX);
        for millis in 0..1000 {
            let begun = Begun::new(Method::Post, &long, long.as_bytes(), Some(long.clone()));
            slow.keep(Slow { begun, took: Duration::from_millis(millis * 7 % 1000), status: 200 });
        }
        let shown = slow.show();
        let requests = shown["requests"].as_array().expect("a list");
        assert_eq!(requests.len(), COUNT_MAX);
        assert_eq!(requests[0]["took_millis"], 999);
        assert_eq!(requests[COUNT_MAX - 1]["took_millis"], 1000 - COUNT_MAX as u64);
        assert_eq!(requests[0]["uri"].as_str().map(str::len), Some(TEXT_BYTES_MAX));
        assert_eq!(requests[0]["opaque_id"].as_str().map(str::len), Some(OPAQUE_ID_BYTES_MAX));
    }
}
