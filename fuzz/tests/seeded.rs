//! Runs every target with a few thousand seeded mutations of small seeds, for machines without libFuzzer.

use std::time::{Duration, Instant};

/// Seconds per target; `LIMBER_FUZZ_SECONDS` overrides it.
const SECONDS_A_TARGET: u64 = 4;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns one of the seeds with a few bytes changed, removed, repeated or taken from another seed.
    fn mutated(&mut self, seeds: &[&[u8]]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].to_vec();
        for _ in 0..=self.below(6) {
            let (from, to) = (self.below(bytes.len()), self.below(bytes.len()));
            let (from, to) = (from.min(to), from.max(to));
            match self.below(5) {
                0 if !bytes.is_empty() => bytes[from] = self.next() as u8,
                1 => drop(bytes.drain(from..to)),
                2 if bytes.len() < 4096 => {
                    let part = bytes[from..to].to_vec();
                    bytes.splice(to..to, part);
                }
                3 => {
                    let other = seeds[self.below(seeds.len())];
                    let start = self.below(other.len());
                    let end = start + self.below(other.len() - start);
                    bytes.splice(from..to, other[start..end].iter().copied());
                }
                _ => bytes.insert(from, b"{}[]\":,0-9e.\\u"[self.below(14)]),
            }
        }
        bytes
    }
}

fn run(target: fn(&[u8]), seeds: &[&[u8]]) {
    let given = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = Duration::from_secs(given("LIMBER_FUZZ_SECONDS").unwrap_or(SECONDS_A_TARGET));
    let seed = given("LIMBER_FUZZ_SEED").unwrap_or(0x9e37_79b9_7f4a_7c15);
    let (mut random, start) = (Random(seed), Instant::now());
    let tried = |bytes: &[u8]| {
        // Prints the failing input, so that it can become a test.
        let outcome = std::panic::catch_unwind(|| target(bytes));
        if let Err(panic) = outcome {
            eprintln!("fails with {bytes:?}");
            std::panic::resume_unwind(panic);
        }
    };
    seeds.iter().for_each(|seed| tried(seed));
    while start.elapsed() < seconds {
        tried(&random.mutated(seeds));
    }
}

#[test]
fn json_walker() {
    let seeds: [&[u8]; 4] = [
        // Half of a surrogate pair.
        br#"{"t": "some9\ud83dt", "l": [1, "2", 3.0, null]}"#,
        br#"{"t": "some text", "l": [1, "2", 3.0, null], "d": "2020-01-02T03:04:05.678Z", "f": -1.5e-7, "s": 1.25}"#,
        br#"{"b": "true", "i": "::1", "o": {"x": null, "y": ["a\u00e9\ud83d\ude00", "\\\"\n"], "new": {"deep": [[{}]]}}}"#,
        br#"{"o.x": 3, "unknown": 12345678901234567890, "also.unknown": {"a": true}, "t": {"not": "text"}}"#,
    ];
    run(limber_fuzz::json_walker, &seeds);
}

#[test]
fn query_parser() {
    let seeds: [&[u8]; 4] = [
        br#"{"query": {"bool": {"must": [{"match": {"t": {"query": "a b", "operator": "and", "fuzziness": "AUTO"}}}], "filter": {"range": {"n": {"gte": 1, "lt": "now-1d/d"}}}, "minimum_should_match": "75%"}}, "size": 5}"#,
        br#"{"query": {"query_string": {"query": "(a OR b*) AND c:[1 TO 5} -\"x y\"~2 /r.?/ ^2", "default_field": "t"}}, "sort": [{"n": {"order": "desc", "missing": "_first"}}, "_score"], "search_after": [1, 2.5]}"#,
        br#"{"size": 0, "aggs": {"a": {"terms": {"field": "k", "order": {"_count": "asc"}}, "aggs": {"b": {"percentiles": {"field": "n", "percents": [1, 99]}}}}, "h": {"date_histogram": {"field": "d", "calendar_interval": "month", "time_zone": "+01:00"}}}}"#,
        br#"{"_source": {"includes": ["a*"], "excludes": "b"}, "highlight": {"fields": {"t": {}}}, "query": {"wildcard": {"k": "a*b?"}}, "track_total_hits": 100, "from": 3, "fields": [{"field": "d", "format": "yyyy"}]}"#,
    ];
    run(limber_fuzz::query_parser, &seeds);
}

#[test]
fn segment_reader() {
    let seeds: [&[u8]; 2] = [b"", &[0x5a; 25]];
    run(limber_fuzz::segment_reader, &seeds);
}

#[test]
fn translog() {
    let seeds: [&[u8]; 4] =
        [b"\x01\x40\x00\x07", b"\x03\x50\x00\x07\x60\x00\x01", b"\x00LMBRTLOG\x01\x00\x00\x00", &[5; 31]];
    run(limber_fuzz::translog, &seeds);
}

/// Makes the forms of [`limber_fuzz::folder`], with a few changes each.
fn folder_seeds() -> Vec<Vec<u8>> {
    (0..8u8)
        .flat_map(|form| {
            (0..6u8).map(move |number| {
                let mut seed = vec![form];
                for change in 0..=number {
                    seed.extend([
                        number * 37 + change,
                        change,
                        0,
                        number * 11 + change * 3,
                        1 << (change % 8),
                    ]);
                }
                seed
            })
        })
        .collect()
}

macro_rules! folder_targets {
    ($($target:ident),*) => {$(
        #[test]
        fn $target() {
            let seeds = folder_seeds();
            run(limber_fuzz::$target, &seeds.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
    )*};
}

folder_targets!(commit, live_docs, node_state, index_metadata, checkpoint, folder);
