//! The same index created, deleted, written and searched at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::Victim;
use crate::support::Client;

#[test]
fn an_index_made_and_deleted_under_its_writers() {
    let mut victim = Victim::start();
    let stop = Arc::new(AtomicBool::new(false));
    let calls: [&[(&str, &str, &str)]; 4] = [
        &[("PUT", "/r", ""), ("DELETE", "/r", "")],
        &[
            ("POST", "/r/_doc", "{\"a\":1}"),
            (
                "POST",
                "/r/_bulk?refresh=true",
                "{\"index\":{}}\n{\"b\":\"x\"}\n{\"delete\":{\"_id\":\"1\"}}\n",
            ),
        ],
        &[
            ("GET", "/r/_search", "{\"aggs\":{\"a\":{\"max\":{\"field\":\"a\"}}}}"),
            ("POST", "/r/_refresh", ""),
            ("GET", "/r/_stats", ""),
        ],
        &[
            ("PUT", "/r/_mapping", "{\"properties\":{\"c\":{\"type\":\"long\"}}}"),
            ("POST", "/r/_flush", ""),
            ("DELETE", "/r", ""),
        ],
    ];
    let threads: Vec<_> = calls
        .into_iter()
        .map(|calls| {
            let (stop, address) = (stop.clone(), victim.server.address);
            thread::spawn(move || {
                let mut client = Client::connect(address);
                while !stop.load(Ordering::Relaxed) {
                    for (method, path, body) in calls {
                        let answer = client.send(method, path, body);
                        assert!(
                            answer.status < 500 || answer.status == 503,
                            "{method} {path}: {}",
                            answer.text()
                        );
                        answer.json();
                    }
                }
            })
        })
        .collect();
    thread::sleep(Duration::from_secs(2));
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("no caller met an unexpected answer");
    }
    let _ = victim.send("DELETE", "/r", "");
    victim.ok("PUT", "/r/_doc/1?refresh=true", "{\"a\":\"text now\"}");
    assert_eq!(victim.ok("GET", "/r/_count", "")["count"], 1);
}
