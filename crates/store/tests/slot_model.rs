//! Checks the lock-free handle with loom: every interleaving of readers with loading, eviction, dooming and
//! release.
//!
//! The library's file is compiled here a second time, with loom's primitives. Loom itself reports a page
//! that is read while it is taken out (a race on the cell) and a reference that outlives it.

mod sync {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::atomic::{AtomicU64, Ordering};
}
#[allow(dead_code)]
#[path = "../src/term_index/slot.rs"]
mod slot;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use slot::{Condition, Slot};

/// A page in memory; counts the live pages.
struct Page {
    number: u64,
    live: Arc<AtomicUsize>,
}

impl Page {
    fn new(number: u64, live: &Arc<AtomicUsize>) -> Page {
        live.fetch_add(1, Ordering::Relaxed);
        Page { number, live: live.clone() }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.number = u64::MAX;
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A slot with its shard's lock, used as the cache uses it.
struct Shard {
    lock: Mutex<()>,
    slot: Slot<Page>,
    live: Arc<AtomicUsize>,
}

impl Shard {
    fn new() -> Arc<Shard> {
        let live = Arc::new(AtomicUsize::new(0));
        Arc::new(Shard { lock: Mutex::new(()), slot: Slot::default(), live })
    }

    fn with_page(number: u64) -> Arc<Shard> {
        let shard = Shard::new();
        shard.load(number);
        shard.unpin();
        shard
    }

    /// Loads the page; returns `false` if another thread loads it or it is there already.
    fn load(&self, number: u64) -> bool {
        {
            let _locked = self.lock.lock().unwrap();
            if self.slot.condition() != Condition::Empty {
                return false;
            }
            self.slot.begin_load();
        }
        let page = Page::new(number, &self.live);
        let _locked = self.lock.lock().unwrap();
        self.slot.publish(page, false);
        true
    }

    /// Pins the page and reads it twice, before and after another thread may run.
    fn read(&self) -> Option<u64> {
        let found = self.slot.pin().then(|| {
            // SAFETY: pinned until `unpin` below.
            let first = unsafe { self.slot.page() }.number;
            thread::yield_now();
            // SAFETY: as above.
            assert_eq!(first, unsafe { self.slot.page() }.number);
            first
        });
        self.unpin();
        found
    }

    fn unpin(&self) {
        if self.slot.unpin() {
            let _locked = self.lock.lock().unwrap();
            if self.slot.condition() == Condition::Doomed {
                drop(self.slot.claim());
            }
        }
    }

    fn evict(&self) -> bool {
        let _locked = self.lock.lock().unwrap();
        self.slot.claim().is_some()
    }

    fn doom(&self) {
        let _locked = self.lock.lock().unwrap();
        if self.slot.condition() == Condition::Resident && self.slot.doom() {
            drop(self.slot.claim());
        }
    }

    fn live_count(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }
}

#[test]
fn a_page_is_evicted_or_read_but_not_both() {
    loom::model(|| {
        let shard = Shard::with_page(7);
        let reader = {
            let shard = shard.clone();
            thread::spawn(move || shard.read())
        };
        let other = shard.read();
        let was_evicted = shard.evict();
        let found = reader.join().unwrap();
        assert_eq!(other, Some(7));
        assert!(found == Some(7) || was_evicted);
        // A slot keeps nothing alive: without readers the page can be evicted.
        assert_eq!(shard.evict(), !was_evicted);
        assert_eq!(shard.live_count(), 0);
    });
}

#[test]
fn a_doomed_page_goes_exactly_once_with_its_last_reader() {
    // Three threads: all interleavings with up to three preemptions (checking all takes a minute, and
    // passes).
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shard = Shard::with_page(7);
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let shard = shard.clone();
                thread::spawn(move || _ = shard.read())
            })
            .collect();
        shard.doom();
        for reader in readers {
            reader.join().unwrap();
        }
        assert_eq!(shard.live_count(), 0);
        assert_eq!(shard.slot.condition(), Condition::Empty);
    });
}

#[test]
fn a_page_is_loaded_by_one_thread_and_read_by_all_or_nobody() {
    loom::model(|| {
        let shard = Shard::new();
        let loader = {
            let shard = shard.clone();
            thread::spawn(move || {
                let was_loaded = shard.load(3);
                if was_loaded {
                    shard.unpin();
                }
                was_loaded
            })
        };
        let found = shard.read();
        assert!(found.is_none() || found == Some(3));
        if shard.load(3) {
            shard.unpin();
        }
        loader.join().unwrap();
        assert_eq!(shard.live_count(), 1);
        assert!(shard.evict());
    });
}

#[test]
fn reloading_after_an_eviction_meets_readers_of_both_lives() {
    loom::model(|| {
        let shard = Shard::with_page(1);
        let reader = {
            let shard = shard.clone();
            thread::spawn(move || shard.read())
        };
        if shard.evict() && shard.load(2) {
            shard.unpin();
        }
        assert!(matches!(reader.join().unwrap(), None | Some(1 | 2)));
        assert_eq!(shard.live_count(), 1);
    });
}

#[test]
fn a_revived_page_stays() {
    loom::model(|| {
        let shard = Shard::with_page(5);
        assert!(shard.slot.pin());
        let reader = {
            let shard = shard.clone();
            thread::spawn(move || _ = shard.read())
        };
        {
            let _locked = shard.lock.lock().unwrap();
            assert!(!shard.slot.doom(), "it is pinned");
        }
        {
            let _locked = shard.lock.lock().unwrap();
            if shard.slot.condition() == Condition::Doomed {
                shard.slot.revive();
            }
        }
        shard.unpin();
        reader.join().unwrap();
        assert_eq!((shard.slot.condition(), shard.live_count()), (Condition::Resident, 1));
    });
}
