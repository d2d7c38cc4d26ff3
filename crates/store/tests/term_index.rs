//! Checks the promises of the term-index cache under concurrency: the allocator never sees more than the
//! budget, pages in use stay, and statistics add up.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use limber_store::Pool;
use limber_store::term_index::{FieldPages, Scheme, TermIndexCache, TermIndexStats, next_segment_core_id};
use parking_lot::{Mutex, MutexGuard};
use proptest::prelude::*;

/// Counts the allocations of the cache for pages, which it recognises by their alignment.
struct Counting;

static LIVE_BYTES: AtomicU64 = AtomicU64::new(0);
static PEAK_BYTES: AtomicU64 = AtomicU64::new(0);
const PAGE_ALIGN: usize = 128;

fn is_page(layout: Layout) -> bool {
    layout.align() == PAGE_ALIGN && IS_COUNTING.load(Ordering::Relaxed)
}

static IS_COUNTING: AtomicBool = AtomicBool::new(false);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_page(layout) {
            let live = LIVE_BYTES.fetch_add(layout.size() as u64, Ordering::SeqCst) + layout.size() as u64;
            PEAK_BYTES.fetch_max(live, Ordering::SeqCst);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if is_page(layout) {
            LIVE_BYTES.fetch_sub(layout.size() as u64, Ordering::SeqCst);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocator counts for one test at a time, so every test that has pages holds this.
struct Watch {
    _alone: MutexGuard<'static, ()>,
}

impl Watch {
    fn start() -> Watch {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock();
        LIVE_BYTES.store(0, Ordering::SeqCst);
        PEAK_BYTES.store(0, Ordering::SeqCst);
        IS_COUNTING.store(true, Ordering::SeqCst);
        Watch { _alone: alone }
    }

    fn live(&self) -> u64 {
        LIVE_BYTES.load(Ordering::SeqCst)
    }

    fn peak(&self) -> u64 {
        PEAK_BYTES.load(Ordering::SeqCst)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        IS_COUNTING.store(false, Ordering::SeqCst);
    }
}

const PAGE: u32 = 16 << 10;
/// Bytes charged for one page of [`PAGE`] bytes.
const WEIGHT: u64 = PAGE as u64 + TermIndexCache::ENTRY_BYTES;

fn cached(budget_bytes: u64) -> Arc<TermIndexCache> {
    TermIndexCache::new(Pool::new("segment_memory", budget_bytes), Scheme::Cached)
}

/// Opens a field of a new segment with pages of these lengths.
fn open(cache: &Arc<TermIndexCache>, lens: &[u32]) -> FieldPages {
    cache.open_field(next_segment_core_id(), 0, lens.iter().copied())
}

/// Returns the byte of which page `number` consists on disk.
fn byte_of(number: usize) -> u8 {
    (number % 251) as u8
}

/// Looks page `number` up and verifies it; returns `false` if it was bypassed.
fn look(pages: &FieldPages, number: usize) -> bool {
    look_slowly(pages, number, || ())
}

fn look_slowly(pages: &FieldPages, number: usize, while_in_use: impl FnOnce()) -> bool {
    let page = pages.page(number, |bytes| {
        bytes.fill(byte_of(number));
        Ok(())
    });
    let Some(page) = page.expect("loads do not fail") else { return false };
    let is_sound = |page: &[u8]| page.iter().all(|&byte| byte == byte_of(number));
    assert!(is_sound(&page), "page {number} when it came");
    while_in_use();
    assert!(is_sound(&page), "page {number} after a while");
    true
}

/// Checks what must hold while nothing changes.
#[track_caller]
fn check_sums(cache: &TermIndexCache, look_count: u64) -> TermIndexStats {
    let stats = cache.stats();
    assert_eq!(stats.hit_count + stats.first_level_hit_count + stats.miss_count, look_count, "{stats:?}");
    assert_eq!(
        stats.miss_count,
        stats.load_count + stats.load_failure_count + stats.bypass_count,
        "{stats:?}"
    );
    assert!(stats.refused_count <= stats.eviction_count, "{stats:?}");
    let (mut resident_count, mut resident_bytes, mut loads, mut evictions) = (0, 0, 0, 0);
    cache.enumerate(|field| {
        resident_count += field.resident_count;
        resident_bytes += field.resident_bytes;
        loads += field.load_count;
        evictions += field.eviction_count;
        assert_eq!(field.load_count - field.eviction_count, field.resident_count);
    });
    assert_eq!(resident_count, stats.page_count, "{stats:?}");
    assert_eq!(
        resident_bytes + resident_count * TermIndexCache::ENTRY_BYTES,
        stats.resident_bytes,
        "{stats:?}"
    );
    assert!(loads <= stats.load_count && evictions <= stats.eviction_count);
    stats
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Would fail if the budget were ignored: looks up ten times as many pages as fit.
#[test]
fn the_allocator_never_sees_more_than_the_budget() {
    let watch = Watch::start();
    let cache = cached(10 * WEIGHT);
    let pages = open(&cache, &[PAGE; 100]);
    for round in 0..5 {
        for number in 0..100 {
            assert!(look(&pages, (number * 7 + round) % 100));
            assert!(watch.live() <= 10 * PAGE as u64);
        }
    }
    assert_eq!(watch.peak(), 10 * PAGE as u64, "the budget is used, and no more");
    let stats = check_sums(&cache, 500);
    assert!(stats.eviction_count >= 90 && stats.resident_bytes <= stats.budget_bytes);
    drop(pages);
    assert_eq!((watch.live(), cache.stats().resident_bytes), (0, 0));
}

/// Would fail if slots kept pages alive: the slots outlive the evicted pages.
#[test]
fn evicted_pages_are_freed_while_their_slots_live() {
    let watch = Watch::start();
    let cache = cached(20 * WEIGHT);
    let pages = open(&cache, &[PAGE; 20]);
    (0..20).for_each(|number| assert!(look(&pages, number)));
    assert_eq!(watch.live(), 20 * PAGE as u64);
    cache.set_budget(5 * WEIGHT);
    assert_eq!(watch.live(), 5 * PAGE as u64);
    cache.set_budget(0);
    assert_eq!((watch.live(), cache.stats().page_count), (0, 0));
    (0..20).for_each(|number| assert!(!look(&pages, number), "there is no room for it"));
    cache.set_budget(20 * WEIGHT);
    (0..20).for_each(|number| assert!(look(&pages, number)));
    let stats = check_sums(&cache, 60);
    assert_eq!((stats.load_count, stats.eviction_count, stats.bypass_count), (40, 20, 20));
}

#[test]
fn pages_in_use_survive_a_shrink_and_go_when_they_are_let_go() {
    let watch = Watch::start();
    let cache = cached(10 * WEIGHT);
    let pages = open(&cache, &[PAGE; 10]);
    (0..10).for_each(|number| assert!(look(&pages, number)));
    let load = |_: &mut [u8]| panic!("it is in memory");
    let in_use = pages.page(3, load).expect("no error").expect("in memory");
    let twice = pages.page(3, load).expect("no error").expect("in memory");
    cache.set_budget(0);
    assert_eq!(watch.live(), PAGE as u64, "pages in use count until they are let go");
    assert!(in_use.iter().all(|&byte| byte == byte_of(3)));
    let stats = cache.stats();
    assert_eq!((stats.transient_bytes, stats.resident_bytes, stats.page_count), (WEIGHT, WEIGHT, 1));
    assert!(!look(&pages, 3), "it takes no new users");
    drop(in_use);
    assert!(twice.iter().all(|&byte| byte == byte_of(3)));
    drop(twice);
    assert_eq!(watch.live(), 0);
    let stats = check_sums(&cache, 13);
    assert_eq!((stats.transient_count, stats.transient_bytes), (1, 0));
}

#[test]
fn a_page_in_use_is_taken_back_when_the_budget_grows_again() {
    let _watch = Watch::start();
    let cache = cached(10 * WEIGHT);
    let pages = open(&cache, &[PAGE; 10]);
    look_slowly(&pages, 4, || {
        cache.set_budget(0);
        cache.set_budget(10 * WEIGHT);
        assert!(look(&pages, 4));
    });
    assert!(look(&pages, 4));
    let stats = check_sums(&cache, 3);
    assert_eq!((stats.load_count, stats.page_count, stats.transient_bytes), (1, 1, 0));
}

/// Nobody waits for memory: a thread may hold all of it and request more.
#[test]
fn what_does_not_fit_beside_pages_in_use_is_a_bypass() {
    let _watch = Watch::start();
    let cache = cached(2 * WEIGHT + 100);
    let pages = open(&cache, &[PAGE, PAGE, PAGE, 10 * PAGE]);
    look_slowly(&pages, 0, || {
        assert!(look_slowly(&pages, 1, || assert!(!look(&pages, 2))));
        assert!(look(&pages, 2), "page 1 was let go");
    });
    assert!(!look(&pages, 3), "larger than the budget");
    check_sums(&cache, 5);
}

#[test]
fn a_failed_load_leaves_nothing_and_the_next_one_may_succeed() {
    let watch = Watch::start();
    let cache = cached(WEIGHT);
    let pages = open(&cache, &[PAGE]);
    let failure = || limber_store::Error::io("read", "page", std::io::ErrorKind::Other.into());
    assert!(pages.page(0, |_| Err(failure())).is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        _ = pages.page(0, |_| panic!("in a load"));
    }));
    assert!(panicked.is_err());
    assert_eq!((watch.live(), cache.stats().resident_bytes), (0, 0));
    assert!(look(&pages, 0));
}

#[test]
fn concurrent_misses_load_once() {
    let _watch = Watch::start();
    let cache = cached(10 * WEIGHT);
    let pages = open(&cache, &[PAGE]);
    let load_count = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let page = pages.page(0, |bytes| {
                    load_count.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(30));
                    bytes.fill(9);
                    Ok(())
                });
                assert!(page.expect("no error").expect("fits").iter().all(|&byte| byte == 9));
            });
        }
    });
    assert_eq!(load_count.into_inner(), 1);
    assert_eq!(check_sums(&cache, 8).load_count, 1);
}

#[test]
fn a_shrink_during_a_load_makes_its_page_a_transient() {
    let watch = Watch::start();
    let cache = cached(4 * WEIGHT);
    let pages = open(&cache, &[PAGE; 4]);
    let page = pages.page(0, |bytes| {
        cache.set_budget(0);
        bytes.fill(1);
        Ok(())
    });
    let page = page.expect("no error").expect("its memory was reserved");
    assert_eq!((cache.stats().transient_count, page[7]), (1, 1));
    drop(page);
    assert_eq!((watch.live(), cache.stats().resident_bytes), (0, 0));
    check_sums(&cache, 1);
}

#[test]
fn schemes_switch_in_both_directions() {
    let watch = Watch::start();
    let cache = cached(3 * WEIGHT);
    let pages = open(&cache, &[PAGE; 30]);
    (0..30).for_each(|number| assert!(look(&pages, number)));
    assert!(!cache.loads_at_open() && watch.peak() <= 3 * PAGE as u64);
    cache.set_scheme(Scheme::Native);
    (0..30).for_each(|number| assert!(look(&pages, number)));
    assert!(cache.loads_at_open());
    assert_eq!(watch.live(), 30 * PAGE as u64, "everything is resident");
    (0..30).for_each(|number| assert!(look(&pages, number)));
    let native = check_sums(&cache, 90);
    assert_eq!((native.page_count, native.scheme), (30, Scheme::Native));
    cache.set_scheme(Scheme::Cached);
    assert_eq!(watch.live(), 3 * PAGE as u64);
    assert!(look(&pages, 17));
}

#[test]
fn a_scan_leaves_what_is_hot() {
    let _watch = Watch::start();
    let cache = cached(50 * WEIGHT);
    let pages = open(&cache, &[PAGE; 1000]);
    for _ in 0..10 {
        (0..40).for_each(|hot| assert!(look(&pages, hot)));
    }
    let before = cache.stats().load_count;
    for cold in 40..1000 {
        look(&pages, cold);
        look(&pages, cold % 40);
    }
    let reloaded = cache.stats().load_count - before - 960;
    assert!(reloaded < 100, "hot pages were loaded {reloaded} times again in 960 looks");
    assert!(cache.stats().refused_count > 500);
}

/// Returns the resident set size in bytes.
#[cfg(target_os = "linux")]
fn rss() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("a Linux system");
    text.split(' ').nth(1).expect("resident pages").parse::<u64>().expect("a number") * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn memory_returns_to_the_system_when_the_budget_shrinks() {
    let _watch = Watch::start();
    let cache = cached(64 << 20);
    let pages = open(&cache, &[256 << 10; 240]);
    (0..240).for_each(|number| assert!(look(&pages, number)));
    let full = rss();
    cache.set_budget(1 << 20);
    let freed = full.saturating_sub(rss());
    assert!(freed > 50 << 20, "{freed} bytes of 59 MB came back");
}

#[test]
fn a_page_out_of_memory_costs_at_most_a_hundred_bytes() {
    assert!(FieldPages::SLOT_BYTES + TermIndexCache::ENTRY_BYTES as usize <= 100);
    assert_eq!(FieldPages::SLOT_BYTES, 32);
}

/// Runs readers, a thread that changes the budget, one that switches schemes, and segments that open and
/// close.
fn stress(page_lens: &[u32], switches_schemes: bool, seconds: f64) {
    let watch = Watch::start();
    let budget = 12 * WEIGHT;
    let cache = cached(budget);
    let fields: Vec<Arc<FieldPages>> = (0..3).map(|_| Arc::new(open(&cache, page_lens))).collect();
    let (is_done, look_count) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (cache, fields, is_done, look_count) = (&cache, fields.clone(), &is_done, &look_count);
            scope.spawn(move || {
                let mut state = thread * 77 + 1;
                let (mut count, mut own) = (0, open(cache, page_lens));
                while !is_done.load(Ordering::Relaxed) {
                    let number = (random(&mut state) % page_lens.len() as u64) as usize;
                    let other = (number * number / page_lens.len() + 3) % page_lens.len();
                    let field = &fields[random(&mut state) as usize % fields.len()];
                    look_slowly(field, other, || {
                        look(&own, number);
                        count += 1;
                        if random(&mut state).is_multiple_of(64) {
                            std::thread::yield_now();
                        }
                    });
                    count += 1;
                    if random(&mut state).is_multiple_of(200) {
                        own = open(cache, page_lens);
                    }
                }
                look_count.fetch_add(count, Ordering::Relaxed);
                drop(own);
            });
        }
        let started = Instant::now();
        let mut state = 99;
        while started.elapsed().as_secs_f64() < seconds {
            std::thread::sleep(Duration::from_millis(1));
            if switches_schemes {
                let native = random(&mut state).is_multiple_of(2);
                cache.set_scheme(if native { Scheme::Native } else { Scheme::Cached });
            }
            // Never more than the initial budget, so that it bounds the allocator's peak.
            cache.set_budget(random(&mut state) % (budget + 1));
            let stats = cache.stats();
            assert!(stats.transient_bytes <= stats.resident_bytes + budget);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    if !switches_schemes {
        assert!(watch.peak() <= budget, "{} of {budget} bytes", watch.peak());
        assert!(watch.peak() > budget / 2);
    }
    cache.set_scheme(Scheme::Cached);
    // The figures of closed fields are gone; those of the open ones must agree.
    let stats = cache.stats();
    assert_eq!(
        stats.hit_count + stats.first_level_hit_count + stats.miss_count,
        look_count.into_inner(),
        "{stats:?}"
    );
    assert_eq!(stats.transient_bytes, 0);
    assert!(stats.resident_bytes <= stats.budget_bytes && stats.eviction_count > 0);
    drop(fields);
    assert_eq!((cache.stats().resident_bytes, cache.stats().page_count, watch.live()), (0, 0, 0));
}

#[test]
fn the_budget_holds_while_it_changes_under_load() {
    stress(&[PAGE; 24], false, 1.0);
}

#[test]
fn pages_of_many_sizes_share_a_budget_that_changes() {
    stress(&[300, 5_000, PAGE, 31_000, 1, 9_999, 700, 20_000], false, 1.0);
}

/// A thread that is about to evict when the scheme changes must not evict a page that is loaded afterwards.
#[test]
fn what_the_native_scheme_loads_stays_under_load() {
    const PAGES: usize = 24;
    let watch = Watch::start();
    let cache = cached(3 * WEIGHT);
    let pages = open(&cache, &[PAGE; PAGES]);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (pages, is_done) = (&pages, &is_done);
            scope.spawn(move || {
                let mut state = thread + 1;
                while !is_done.load(Ordering::Relaxed) {
                    look(pages, random(&mut state) as usize % PAGES);
                }
            });
        }
        let mut missing = 0;
        for _ in 0..300 {
            cache.set_scheme(Scheme::Native);
            (0..PAGES).for_each(|number| assert!(look(&pages, number)));
            missing += PAGES as u64 - watch.live() / PAGE as u64;
            cache.set_scheme(Scheme::Cached);
            std::thread::yield_now();
        }
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(missing, 0);
    });
}

#[test]
fn schemes_switch_under_load() {
    stress(&[PAGE, 40_000, 300, 70_000], true, 1.0);
}

#[derive(Debug, Clone)]
enum Step {
    Look(usize),
    Hold(usize),
    LetGo,
    Budget(u64),
    Switch(bool),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0usize..12).prop_map(Step::Look),
        2 => (0usize..12).prop_map(Step::Hold),
        2 => Just(Step::LetGo),
        1 => (0u64..200_000).prop_map(Step::Budget),
        1 => any::<bool>().prop_map(Step::Switch),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares one thread with a model that knows which pages must be in memory (those held, and those
    /// that native loaded) and which may be.
    #[test]
    fn every_look_is_right_and_every_byte_is_counted(
        lens in prop::collection::vec(1u32..60_000, 12),
        budget in 0u64..200_000,
        steps in steps(),
    ) {
        let _watch = Watch::start();
        let cache = cached(budget);
        let (mut budget, mut is_native) = (budget, false);
        let mut look_count = 0;
        let mut rest = &steps[..];
        while !rest.is_empty() {
            let pages = open(&cache, &lens);
            let mut held = Vec::new();
            while let Some((step, after)) = rest.split_first() {
                rest = after;
                match *step {
                    Step::Look(number) => {
                        let is_held = held.iter().any(|&(other, _)| other == number);
                        let got = look(&pages, number);
                        look_count += 1;
                        prop_assert!(got || !is_native, "native has room for all");
                        prop_assert!(got || !is_held || cache.stats().resident_bytes > budget);
                        let is_alone = held.is_empty();
                        let weight = cache.stats().resident_bytes;
                        prop_assert!(got || !is_alone || weight <= budget, "what fits is loaded");
                    }
                    Step::Hold(number) => {
                        let page = pages.page(number, |bytes| {
                            bytes.fill(byte_of(number));
                            Ok(())
                        });
                        look_count += 1;
                        if let Some(page) = page.expect("loads do not fail") {
                            held.push((number, page));
                        }
                    }
                    Step::LetGo => _ = held.pop(),
                    Step::Budget(bytes) => {
                        budget = bytes;
                        cache.set_budget(bytes);
                    }
                    Step::Switch(native) => {
                        is_native = native;
                        cache.set_scheme(if native { Scheme::Native } else { Scheme::Cached });
                    }
                    Step::Reopen => break,
                }
                for (number, page) in &held {
                    prop_assert!(page.iter().all(|&byte| byte == byte_of(*number)), "in use and intact");
                }
                let stats = check_sums(&cache, look_count);
                let held_count = held.iter().map(|held| held.0).collect::<std::collections::HashSet<_>>().len();
                prop_assert!(stats.page_count >= held_count as u64);
                prop_assert!(is_native || held_count > 0 || stats.resident_bytes <= budget);
            }
        }
        prop_assert_eq!(cache.stats().resident_bytes, 0);
    }
}
