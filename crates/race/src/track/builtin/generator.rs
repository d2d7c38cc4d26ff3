//! Generates web access log entries that look like a real site's, the same ones every time.
//!
//! The skew is that of real logs: addresses and paths follow Zipf's law (rank r is requested in proportion to
//! 1/r), some kinds of pages answer with redirects or errors more often than others, and a client keeps its
//! machine and usually comes from the page it saw before. Only integer arithmetic is used, so that every
//! platform generates the same bytes.

use std::fmt::Write;

use jiff::Timestamp;

use crate::random::Random;

/// 2025-10-16T10:00:00Z, the time of the first entry.
const START_S: i64 = 1_760_608_800;
/// Mean time between two entries; 100,000 of them fill about five and a half hours.
const GAP_MEAN_MS: u64 = 200;
const SEED: u64 = 0x6c6f_675f_696e_6765;
const CLIENTS: usize = 5_000;
/// Number of distinct ids in paths such as `/api/users/17`.
const IDS: usize = 20_000;

/// The responses of a kind of page, as pairs of status and number per 1,000 requests.
type Answers = &'static [(u16, u32)];

const PAGE: Answers = &[(200, 946), (304, 25), (301, 8), (404, 15), (500, 4), (503, 2)];
const STATIC: Answers = &[(200, 780), (304, 205), (404, 14), (500, 1)];
const API: Answers = &[(200, 938), (400, 12), (401, 14), (403, 6), (404, 17), (429, 4), (500, 6), (502, 3)];
const CREATE: Answers = &[(201, 905), (400, 38), (401, 25), (409, 14), (422, 10), (500, 8)];
const LOGIN: Answers = &[(302, 830), (401, 150), (429, 12), (500, 8)];
const GONE: Answers = &[(404, 990), (403, 10)];

/// Requests, the most popular first; `#` stands for an id.
const REQUESTS: &[(&str, &str, Answers)] = &[
    ("GET", "/", PAGE),
    ("GET", "/api/users", API),
    ("GET", "/static/css/main.css", STATIC),
    ("GET", "/static/js/app.js", STATIC),
    ("GET", "/products/#", PAGE),
    ("GET", "/api/products/#", API),
    ("GET", "/favicon.ico", STATIC),
    ("GET", "/static/img/product-#.jpg", STATIC),
    ("GET", "/search?q=term#", PAGE),
    ("GET", "/api/cart", API),
    ("POST", "/login", LOGIN),
    ("GET", "/api/users/#", API),
    ("POST", "/api/cart/items", CREATE),
    ("GET", "/static/img/logo.svg", STATIC),
    ("GET", "/category/shoes", PAGE),
    ("GET", "/category/jackets", PAGE),
    ("GET", "/api/orders/#", API),
    ("GET", "/blog/#", PAGE),
    ("GET", "/robots.txt", STATIC),
    ("POST", "/api/orders", CREATE),
    ("GET", "/account", PAGE),
    ("GET", "/checkout", PAGE),
    ("PUT", "/api/users/#", API),
    ("GET", "/api/recommendations?user=#", API),
    ("GET", "/health", API),
    ("GET", "/help/returns", PAGE),
    ("GET", "/sitemap.xml", STATIC),
    ("HEAD", "/", PAGE),
    ("GET", "/static/fonts/inter.woff2", STATIC),
    ("DELETE", "/api/cart/items/#", API),
    ("GET", "/wp-login.php", GONE),
    ("GET", "/.env", GONE),
    ("POST", "/api/events", CREATE),
    ("GET", "/about", PAGE),
    ("GET", "/jobs", PAGE),
    ("OPTIONS", "/api/orders", API),
];

/// Operating systems, with the percentage of clients that have them and the memory sizes of their machines
/// (GiB).
const SYSTEMS: &[(&str, u64, &[u64])] = &[
    ("windows", 38, &[4, 8, 16, 32]),
    ("android", 24, &[4, 6, 8, 12]),
    ("ios", 17, &[4, 6, 8]),
    ("macos", 11, &[8, 16, 32]),
    ("linux", 10, &[8, 16, 64, 128]),
];

/// Referers of visitors who do not come from a page of the site.
const REFERERS: &[&str] = &[
    "https://example.com/login",
    "https://www.google.com/",
    "https://example.com/",
    "-",
    "https://www.bing.com/",
    "https://news.ycombinator.com/",
    "https://t.co/",
    "https://duckduckgo.com/",
];

/// Generates `count` entries as NDJSON, one object per line.
pub(crate) fn entries(count: u64) -> Vec<u8> {
    let mut random = Random::new(SEED);
    let request_ranks = Zipf::new(REQUESTS.len());
    let client_ranks = Zipf::new(CLIENTS);
    let id_ranks = Zipf::new(IDS);
    let referer_ranks = Zipf::new(REFERERS.len());
    let mut clients: Vec<Client> = (0..CLIENTS).map(|rank| Client::of(rank, &mut random)).collect();

    const ENTRY_BYTES_TYPICAL: usize = 230;
    let mut text =
        String::with_capacity(usize::try_from(count).unwrap_or(0).saturating_mul(ENTRY_BYTES_TYPICAL));
    let mut clock = Clock::new();
    for entry in 0..count {
        if entry == 0 {
            // The documentation shows this entry.
            text.push_str(FIRST);
            continue;
        }
        clock.advance(random.below(2 * GAP_MEAN_MS + 1));
        let client = &mut clients[client_ranks.pick(&mut random)];
        let (method, path, answers) = REQUESTS[request_ranks.pick(&mut random)];
        let response = answer(answers, &mut random);
        let referer = if client.last_page.is_empty() || random.below(100) < 35 {
            REFERERS[referer_ranks.pick(&mut random)].to_owned()
        } else {
            format!("https://example.com{}", client.last_page)
        };
        let path = match path.split_once('#') {
            Some((before, after)) => format!("{before}{}{after}", id_ranks.pick(&mut random) + 1),
            None => path.to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{{\"@timestamp\":\"{}\",\"clientip\":\"{}\",\"response\":{response},\"request\":\"{method} {path} HTTP/1.1\",\
             \"machine\":{{\"os\":\"{}\",\"ram\":{}}},\"referer\":\"{referer}\"}}",
            clock.text, client.address, client.os, client.ram_bytes
        );
        if std::ptr::eq(answers, PAGE) {
            client.last_page = path;
        }
    }
    text.into_bytes()
}

const FIRST: &str = concat!(
    r#"{"@timestamp":"2025-10-16T10:00:00Z","clientip":"192.168.1.100","response":200,"request":"GET /api/users HTTP/1.1","#,
    r#""machine":{"os":"linux","ram":8589934592},"referer":"https://example.com/login"}"#,
    "\n"
);

struct Client {
    address: String,
    os: &'static str,
    ram_bytes: u64,
    last_page: String,
}

impl Client {
    fn of(rank: usize, random: &mut Random) -> Client {
        let mut share = random.below(100);
        let (os, _, memories) = SYSTEMS
            .iter()
            .find(|(_, percent, _)| {
                let found = share < *percent;
                share = share.saturating_sub(*percent);
                found
            })
            .unwrap_or(&SYSTEMS[0]);
        let memory_gib = memories[random.below(memories.len() as u64) as usize];
        // One client in ten is in the company's own network; the first octet of the others avoids reserved
        // ranges.
        let (b, c, d) = (random.below(256), random.below(256), 1 + random.below(254));
        let address = match rank % 10 {
            0 => format!("192.168.{}.{d}", c % 16),
            _ => format!("{}.{b}.{c}.{d}", 11 + random.below(89)),
        };
        Client { address, os, ram_bytes: memory_gib << 30, last_page: String::new() }
    }
}

/// The time of the current entry, formatted once per second.
struct Clock {
    elapsed_ms: u64,
    second: i64,
    text: String,
}

impl Clock {
    fn new() -> Clock {
        Clock { elapsed_ms: 0, second: START_S, text: Self::format(START_S) }
    }

    fn advance(&mut self, ms: u64) {
        self.elapsed_ms += ms;
        let second = START_S + (self.elapsed_ms / 1_000) as i64;
        if second != self.second {
            self.second = second;
            self.text = Self::format(second);
        }
    }

    fn format(second: i64) -> String {
        Timestamp::from_second(second).map_or_else(|_| String::new(), |time| time.to_string())
    }
}

fn answer(answers: Answers, random: &mut Random) -> u16 {
    let mut share = random.below(1_000) as u32;
    for (status, per_mille) in answers {
        if share < *per_mille {
            return *status;
        }
        share -= per_mille;
    }
    200
}

/// Draws ranks from 0 with probability in proportion to 1 / (rank + 1).
struct Zipf {
    cumulated: Vec<u64>,
}

impl Zipf {
    fn new(count: usize) -> Zipf {
        const WEIGHT_OF_FIRST: u64 = 1 << 32;
        let mut total = 0;
        let cumulated = (1..=count as u64)
            .map(|rank| {
                total += WEIGHT_OF_FIRST / rank;
                total
            })
            .collect();
        Zipf { cumulated }
    }

    fn pick(&self, random: &mut Random) -> usize {
        let total = self.cumulated.last().copied().unwrap_or(1);
        let point = random.below(total);
        self.cumulated.partition_point(|end| *end <= point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn parsed(count: u64) -> Vec<serde_json::Value> {
        let text = entries(count);
        text.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn entries_have_the_documented_shape() {
        let entries = parsed(500);
        assert_eq!(entries.len(), 500);
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        for entry in &entries {
            assert_eq!(keys(entry), ["@timestamp", "clientip", "response", "request", "machine", "referer"]);
            assert_eq!(keys(&entry["machine"]), ["os", "ram"]);
            entry["@timestamp"].as_str().unwrap().parse::<Timestamp>().unwrap();
            entry["clientip"].as_str().unwrap().parse::<std::net::Ipv4Addr>().unwrap();
            assert!((200..600).contains(&entry["response"].as_u64().unwrap()));
        }
    }

    #[test]
    fn the_same_bytes_every_time_and_a_prefix_for_fewer() {
        let (long, short) = (entries(2_000), entries(1_000));
        assert_eq!(long, entries(2_000));
        assert_eq!(&long[..short.len()], &short[..]);
    }

    #[test]
    fn addresses_and_requests_are_skewed() {
        let entries = parsed(20_000);
        for (field, distinct_min) in [("clientip", 2_500), ("request", 2_000)] {
            let mut counts: HashMap<&str, u64> = HashMap::new();
            for entry in &entries {
                *counts.entry(entry[field].as_str().unwrap()).or_default() += 1;
            }
            let mut sorted: Vec<u64> = counts.into_values().collect();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            assert!(sorted.len() >= distinct_min, "{field}: {} distinct", sorted.len());
            let top: u64 = sorted.iter().take(10).sum();
            assert!((4_000..16_000).contains(&top), "{field}: the ten most frequent make {top} of 20000");
        }
        let errors = entries.iter().filter(|entry| entry["response"].as_u64().unwrap() >= 500).count();
        assert!((50..600).contains(&errors), "{errors} server errors");
    }
}
