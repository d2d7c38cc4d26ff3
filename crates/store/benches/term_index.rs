//! Measures lookups in the term-index cache and compares it with other caches.
//!
//! `cargo bench -p limber-store --bench term_index` prints three tables: a hit for every way to hold a
//! page, a miss served from the system's page cache, and traces compared with `quick_cache` and
//! `foyer-memory`. Times are CPU time of the thread, medians of interleaved rounds, so that other work on
//! the machine has little effect.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use foyer_memory::{Cache, CacheBuilder, LfuConfig};
use fst::raw::{Builder, Fst};
use limber_codec::checksum::crc32;
use limber_store::term_index::{FieldPages, Scheme, TermIndexCache};
use limber_store::{Directory, FsDirectory, Pool};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const ROUNDS: usize = 31;
type Key = (u64, u32, u32);

fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the struct it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn cached(budget_bytes: u64) -> Arc<TermIndexCache> {
    TermIndexCache::new(Pool::new("segment_memory", budget_bytes), Scheme::Cached)
}

fn open(cache: &Arc<TermIndexCache>, lens: &[u32]) -> FieldPages {
    cache.open_field(limber_store::term_index::next_segment_core_id(), 0, lens.iter().copied())
}

fn main() {
    hits();
    misses();
    traces();
}

/// One way to get a page and call `look` with its bytes.
type Way<'w> = (&'static str, Box<dyn FnMut(usize, &mut dyn FnMut(&[u8])) + 'w>);

/// Makes separators like those of a page: an FST of about 256 KiB.
fn fst_page() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut state = 88_172_645_463_325_252u64;
    let mut keys: Vec<Vec<u8>> =
        (0..30_000).map(|_| format!("{:016x}", random(&mut state)).into_bytes()).collect();
    keys.sort();
    keys.dedup();
    let mut builder = Builder::memory();
    for (value, key) in (1..).zip(&keys) {
        builder.insert(&key[..7], value).ok();
    }
    (builder.into_inner().expect("in memory"), keys)
}

fn hits() {
    const PAGES: usize = 16;
    let (page, keys) = fst_page();
    let lens = vec![page.len() as u32; PAGES];
    let fill = |into: &mut [u8]| -> limber_store::Result<()> {
        into.copy_from_slice(&page);
        Ok(())
    };
    let cache = cached(64 << 20);
    let slots = open(&cache, &lens);
    let native = TermIndexCache::native();
    let native_slots = open(&native, &lens);
    for number in 0..PAGES {
        slots.page(number, fill).expect("fits");
        native_slots.page(number, fill).expect("fits");
    }
    let plain: Vec<Box<[u8]>> = (0..PAGES).map(|_| page.clone().into()).collect();
    let shared: Vec<OnceLock<Arc<[u8]>>> =
        plain.iter().map(|page| OnceLock::from(Arc::from(&**page))).collect();
    let quick = quick_cache::sync::Cache::<Key, Arc<[u8]>>::new(PAGES * 4);
    let foyer: Cache<Key, Arc<[u8]>> =
        CacheBuilder::new(PAGES * 16).with_eviction_config(LfuConfig::default()).build();
    for (number, page) in plain.iter().enumerate() {
        quick.insert((1, 0, number as u32), Arc::from(&**page));
        foyer.insert((1, 0, number as u32), Arc::from(&**page));
    }
    let never = |_: &mut [u8]| -> limber_store::Result<()> { unreachable!("every page is in memory") };
    let mut ways: Vec<Way<'_>> = vec![
        ("plain slice", Box::new(|number, look| look(&plain[number]))),
        (
            "resident `Arc` (the scheme before)",
            Box::new(|number, look| look(&shared[number].get().expect("set").clone())),
        ),
        (
            "native",
            Box::new(|number, look| {
                look(&native_slots.page(number, never).expect("no error").expect("in memory"))
            }),
        ),
        (
            "cached",
            Box::new(|number, look| look(&slots.page(number, never).expect("no error").expect("in memory"))),
        ),
        (
            "quick_cache",
            Box::new(|number, look| look(&quick.get(&(1, 0, number as u32)).expect("in memory"))),
        ),
        (
            "foyer-memory",
            Box::new(|number, look| look(foyer.get(&(1, 0, number as u32)).expect("in memory").value())),
        ),
    ];
    println!("## Hits, one thread, {PAGES} pages of {} bytes\n", page.len());
    println!("| page held by | reach the page, ns | with the FST walk, ns |\n|---|---|---|");
    let mut results = vec![(Vec::new(), Vec::new()); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, way), (reach, walk)) in ways.iter_mut().zip(&mut results) {
            reach.push(time(100_000, |i| {
                way(i % PAGES, &mut |page| _ = black_box(page[0]));
            }));
            walk.push(time(20_000, |i| {
                let key = &keys[i * 7919 % keys.len()][..7];
                way(i % PAGES, &mut |page| {
                    _ = black_box(Fst::new(page).expect("an FST").get(key));
                });
            }));
        }
    }
    for ((name, _), (reach, walk)) in ways.iter().zip(results) {
        println!("| {name} | {:.1} | {:.0} |", median(reach), median(walk));
    }
}

/// Returns the nanoseconds per call.
fn time(count: usize, mut call: impl FnMut(usize)) -> f64 {
    let started = cpu_ns();
    (0..count).for_each(&mut call);
    (cpu_ns() - started) as f64 / count as f64
}

fn misses() {
    println!("\n## Misses from the page cache\n");
    println!(
        "| page | a miss that evicts, µs | reading and verifying alone, µs | a miss into new memory, µs |"
    );
    println!("|---|---|---|---|");
    let folder = std::env::temp_dir().join(format!("limber-bench-term-index-{}", std::process::id()));
    let files = FsDirectory::open(&folder).expect("a folder");
    for len in [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20] {
        const PAGES: usize = 32;
        let mut state = 1;
        let bytes: Vec<u8> = (0..len * PAGES / 8).flat_map(|_| random(&mut state).to_le_bytes()).collect();
        let mut file = files.create("pages").expect("a file");
        file.write_all(&bytes).expect("room");
        file.finish().expect("room");
        let sums: Vec<u32> = bytes.chunks(len).map(crc32).collect();
        let weight = len as u64 + TermIndexCache::ENTRY_BYTES;
        let cache = cached(8 * weight);
        let slots = open(&cache, &[len as u32; PAGES]);
        let miss = |number: usize| {
            let page = slots.page(number, |into| {
                files.read_into("pages", (number * len) as u64, into)?;
                assert_eq!(crc32(into), sums[number]);
                Ok(())
            });
            assert!(page.expect("no error").is_some());
        };
        let mut evicting = Vec::new();
        let mut filling = Vec::new();
        let mut alone = Vec::new();
        let mut buffer = vec![0; len];
        for round in 0..ROUNDS {
            cache.set_budget(0);
            cache.set_budget(8 * weight);
            filling.push(time(8, |i| miss((round + i) % PAGES)));
            // Cycles through four times as many pages as fit, so almost every lookup is a miss.
            let loads = cache.stats().load_count;
            let ns = time(4 * PAGES, |i| miss(i * 5 % PAGES));
            evicting.push(ns * (4 * PAGES) as f64 / (cache.stats().load_count - loads) as f64);
            alone.push(time(4 * PAGES, |i| {
                let number = i * 5 % PAGES;
                files.read_into("pages", (number * len) as u64, &mut buffer).expect("readable");
                assert_eq!(crc32(&buffer), sums[number]);
            }));
        }
        let micros = |ns: f64| ns / 1000.0;
        println!(
            "| {} KiB | {:.1} | {:.1} | {:.1} |",
            len >> 10,
            micros(median(evicting)),
            micros(median(alone)),
            micros(median(filling))
        );
        files.delete("pages").expect("a file");
    }
    std::fs::remove_dir_all(&folder).expect("a folder");
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Draws ranks with a probability proportional to `1 / rank^exponent`.
struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    fn new(count: usize, exponent: f64) -> Zipf {
        let mut sum = 0.0;
        let cumulative = (1..=count)
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        Zipf { cumulative }
    }

    fn rank(&self, state: &mut u64) -> usize {
        let last = self.cumulative[self.cumulative.len() - 1];
        let at = random(state) as f64 / u64::MAX as f64 * last;
        self.cumulative.partition_point(|&sum| sum < at).min(self.cumulative.len() - 1)
    }
}

const SEGMENTS: usize = 200;
/// Pages per segment: 6 of `_id`, 4 of a keyword.
const SEGMENT_PAGES: usize = 10;
const ID_PAGES: usize = 6;

/// Returns the lengths of the pages: full ones and the last of each field. They are a sixteenth of the real
/// sizes, to keep the bench quick.
fn page_lens() -> Vec<u32> {
    let mut state = 5;
    (0..SEGMENTS * SEGMENT_PAGES)
        .map(|page| match page % SEGMENT_PAGES {
            5 | 9 => 256 + (random(&mut state) % 15_000) as u32,
            _ => 16_400,
        })
        .collect()
}

/// Adds `_id` lookups of updates, newer documents more often (the filter leaves one segment, sometimes a
/// second one).
fn id_updates(trace: &mut Vec<u32>, zipf: &Zipf, state: &mut u64) {
    let rank = zipf.rank(state);
    let page = |rank: usize| (rank / ID_PAGES * SEGMENT_PAGES + rank % ID_PAGES) as u32;
    trace.push(page(rank));
    if random(state).is_multiple_of(50) {
        trace.push(page(random(state) as usize % (SEGMENTS * ID_PAGES)));
    }
}

/// Adds a term query: the page of one part of the alphabet in each segment of an index (20 of them).
fn term_query(trace: &mut Vec<u32>, zipf: &Zipf, state: &mut u64) {
    let rank = zipf.rank(state);
    let (index, part) = (rank / 4, rank % 4);
    trace.extend((0..20).map(|segment| ((index * 20 + segment) * SEGMENT_PAGES + ID_PAGES + part) as u32));
}

fn trace(name: &str) -> Vec<u32> {
    let mut state = 42;
    let ids = Zipf::new(SEGMENTS * ID_PAGES, 0.9);
    let terms = Zipf::new(SEGMENTS / 20 * 4, 1.0);
    let (mut trace, mut scanned) = (Vec::new(), 0);
    while trace.len() < 600_000 {
        let (updates, queries, scans) = match name {
            "_id updates" => (20, 0, 0),
            "term queries" => (0, 1, 0),
            "updates and a scan" => (20, 0, 10),
            _ => (20, 1, 6),
        };
        (0..updates).for_each(|_| id_updates(&mut trace, &ids, &mut state));
        (0..queries).for_each(|_| term_query(&mut trace, &terms, &mut state));
        for _ in 0..scans {
            trace.push(scanned % (SEGMENTS * SEGMENT_PAGES) as u32);
            scanned += 1;
        }
    }
    trace
}

/// A value as the other caches hold it; counts the live values.
struct Value {
    weight: u64,
    live: Arc<Live>,
}

#[derive(Default)]
struct Live {
    bytes: AtomicU64,
    peak: AtomicU64,
}

impl Value {
    fn new(weight: u64, live: &Arc<Live>) -> Value {
        let bytes = live.bytes.fetch_add(weight, Ordering::Relaxed) + weight;
        live.peak.fetch_max(bytes, Ordering::Relaxed);
        Value { weight, live: live.clone() }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.live.bytes.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

#[derive(Clone)]
struct Weigher;

impl quick_cache::Weighter<Key, Arc<Value>> for Weigher {
    fn weight(&self, _: &Key, value: &Arc<Value>) -> u64 {
        value.weight
    }
}

/// Hits in percent, and the peak of live bytes as a share of the budget.
struct Outcome {
    hit_percent: f64,
    peak: f64,
}

fn run_ours(trace: &[u32], lens: &[u32], budget: u64) -> Outcome {
    let pool = Pool::new("segment_memory", budget);
    let cache = TermIndexCache::new(pool.clone(), Scheme::Cached);
    let pages = open(&cache, lens);
    let mut peak = 0;
    for &page in trace {
        let page = pages.page(page as usize, |_| {
            peak = peak.max(pool.used_bytes());
            Ok(())
        });
        page.expect("no error").expect("fits");
    }
    let stats = cache.stats();
    Outcome {
        hit_percent: stats.hit_count as f64 * 100.0 / trace.len() as f64,
        peak: peak as f64 / budget as f64,
    }
}

fn run_theirs(
    trace: &[u32],
    weights: &[u64],
    budget: u64,
    mut get: impl FnMut(Key) -> bool,
    mut insert: impl FnMut(Key, Arc<Value>),
) -> Outcome {
    let live = Arc::new(Live::default());
    let mut hits = 0u64;
    for &page in trace {
        let key = (1 + page as u64 / SEGMENT_PAGES as u64, 0, page % SEGMENT_PAGES as u32);
        if get(key) {
            hits += 1;
        } else {
            insert(key, Arc::new(Value::new(weights[page as usize], &live)));
        }
    }
    Outcome {
        hit_percent: hits as f64 * 100.0 / trace.len() as f64,
        peak: live.peak.load(Ordering::Relaxed) as f64 / budget as f64,
    }
}

/// LRU as a lower bound. No upper bound is known: the optimal policy is only known for pages of equal size.
fn run_lru(trace: &[u32], weights: &[u64], budget: u64) -> Outcome {
    let (mut last, mut order) = (HashMap::new(), std::collections::BTreeMap::new());
    let (mut used, mut hits) = (0, 0u64);
    for (now, &page) in trace.iter().enumerate() {
        if let Some(then) = last.insert(page, now) {
            order.remove(&then);
            hits += 1;
        } else {
            used += weights[page as usize];
        }
        order.insert(now, page);
        while used > budget {
            let (_, oldest) = order.pop_first().expect("something is used");
            last.remove(&oldest);
            used -= weights[oldest as usize];
        }
    }
    Outcome { hit_percent: hits as f64 * 100.0 / trace.len() as f64, peak: 1.0 }
}

fn traces() {
    let lens = page_lens();
    let weigh_cache = TermIndexCache::native();
    let weights: Vec<u64> = lens
        .iter()
        .map(|&len| {
            let pages = open(&weigh_cache, &[len]);
            pages.page(0, |_| Ok(())).expect("no error");
            weigh_cache.stats().resident_bytes
        })
        .collect();
    let all: u64 = weights.iter().sum();
    println!("\n## Traces: hits in percent (peak of what was alive, in budgets)\n");
    println!("| trace | budget | this cache | quick_cache | foyer-memory | LRU |\n|---|---|---|---|---|---|");
    for name in ["_id updates", "term queries", "updates and a scan", "updates, queries and a scan"] {
        let trace = trace(name);
        for percent in [2, 5, 10, 25, 50] {
            let budget = all * percent / 100;
            let ours = run_ours(&trace, &lens, budget);
            let quick = quick_cache::sync::Cache::with_options(
                quick_cache::OptionsBuilder::new()
                    .weight_capacity(budget)
                    .estimated_items_capacity(lens.len() * percent as usize / 100)
                    .shards(1)
                    .build()
                    .expect("sound options"),
                Weigher,
                quick_cache::DefaultHashBuilder::default(),
                quick_cache::sync::DefaultLifecycle::default(),
            );
            let quick = run_theirs(
                &trace,
                &weights,
                budget,
                |key| quick.get(&key).is_some(),
                |key, value| quick.insert(key, value),
            );
            let foyer: Cache<Key, Arc<Value>> = CacheBuilder::new(budget as usize)
                .with_shards(1)
                .with_weighter(|_: &Key, value: &Arc<Value>| value.weight as usize)
                .with_eviction_config(LfuConfig::default())
                .build();
            let foyer = run_theirs(
                &trace,
                &weights,
                budget,
                |key| foyer.get(&key).is_some(),
                |key, value| _ = foyer.insert(key, value),
            );
            let lru = run_lru(&trace, &weights, budget);
            let cell = |outcome: &Outcome| format!("{:.1} ({:.3})", outcome.hit_percent, outcome.peak);
            println!(
                "| {name} | {percent} % | {} | {} | {} | {:.1} |",
                cell(&ours),
                cell(&quick),
                cell(&foyer),
                lru.hit_percent
            );
        }
    }
}
