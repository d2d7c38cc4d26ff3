//! Shared by the examples that index http_logs.

use std::error::Error;
use std::time::Duration;

/// The mapping of Rally's track `http_logs` (challenge `append-no-conflicts`).
pub const MAPPING: &str = r#"{
    "dynamic": "strict",
    "properties": {
        "@timestamp": { "format": "strict_date_optional_time||epoch_second", "type": "date" },
        "message": { "type": "keyword", "index": false, "doc_values": false },
        "clientip": { "type": "ip" },
        "request": { "type": "text", "fields": { "raw": { "ignore_above": 256, "type": "keyword" } } },
        "status": { "type": "integer" },
        "size": { "type": "integer" }
    }
}"#;

/// Returns the CPU time of this thread, so that other work on the machine does not count (Linux).
pub fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = schedstat.split(' ').next().ok_or("an empty schedstat")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}

/// Returns an id as the server generates them: 20 characters that count, after what a process has of its own.
pub fn auto_id(number: u64) -> [u8; 20] {
    let mut id = *b"OHwnx7RcQe1-b4J-----";
    limber_codec::ordered64::fill(number, &mut id[12..]);
    id
}

/// Returns an id in the form of Elasticsearch's auto-generated ones: 20 characters of URL-safe Base64 whose
/// middle is that of the node.
#[allow(dead_code, reason = "not all examples need it")]
pub fn elasticsearch_id(number: u64) -> [u8; 20] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let time = (1_700_000_000_000u64 + number / 500).to_be_bytes();
    let sequence = number.to_le_bytes();
    let bytes = [
        [sequence[0], sequence[2], time[5]],
        [time[4], time[3], time[2]],
        [0x03, 0x42, 0xac],
        [0x11, 0x37, 0xd2],
        [time[6], sequence[1], time[7]],
    ];
    let mut id = [0; 20];
    for (four, three) in id.chunks_exact_mut(4).zip(bytes) {
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for (i, character) in four.iter_mut().enumerate() {
            *character = ALPHABET[(bits >> (18 - 6 * i) & 63) as usize];
        }
    }
    id
}
