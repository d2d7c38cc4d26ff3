//! The scheduler finds lost updates, lost notifications and deadlocks, and its runs are reproducible.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use limber_store::sync::{self, Condvar, Mutex, OnceLock, RwLock, Schedule, Simulation, SimulationEnd};

fn run(seed: u64, build: impl Fn(&mut Simulation)) -> Result<SimulationEnd, String> {
    let mut simulation = Simulation::new(Schedule::from_seed(seed));
    simulation.set_steps_max(20_000);
    build(&mut simulation);
    simulation.run().map_err(|failure| failure.report)
}

/// Reads, then writes: correct only if no other thread runs in between.
fn racy(simulation: &mut Simulation, sum: &Arc<AtomicU32>) {
    for name in ["a", "b"] {
        let sum = sum.clone();
        simulation.thread(name, move || {
            for _ in 0..5 {
                let before = sum.load(Ordering::SeqCst);
                sync::point();
                sum.store(before + 1, Ordering::SeqCst);
            }
        });
    }
}

#[test]
fn a_lost_update_is_found_and_a_seed_repeats_it() {
    let mut lost = 0;
    for seed in 0..40 {
        let once = || {
            let sum = Arc::default();
            let end = run(seed, |simulation| racy(simulation, &sum)).expect("ends");
            (end.hash, end.now_nanos, sum.load(Ordering::SeqCst))
        };
        let first = once();
        assert_eq!(first, once(), "seed {seed}");
        lost += u32::from(first.2 < 10);
    }
    assert!(lost > 10, "{lost}");
}

#[test]
fn a_mutex_keeps_others_out_and_all_get_their_turn() {
    for seed in 0..40 {
        let sum = Arc::new(Mutex::new(0));
        let end = run(seed, |simulation| {
            for name in ["a", "b", "c"] {
                let sum = sum.clone();
                simulation.thread(name, move || {
                    for _ in 0..5 {
                        let mut sum = sum.lock();
                        let before = *sum;
                        sync::point();
                        *sum = before + 1;
                    }
                });
            }
        });
        end.expect("ends");
        assert_eq!(*sum.lock(), 15);
    }
}

#[test]
fn a_thread_that_a_thread_spawns_belongs_to_the_run() {
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let once = || {
            let order = Arc::new(Mutex::new(Vec::new()));
            let end = run(seed, |simulation| {
                let (first, second) = (order.clone(), order.clone());
                simulation.thread("first", move || {
                    let spawned = move || {
                        sync::point();
                        second.lock().push("spawned");
                    };
                    sync::spawn("second", spawned).expect("a thread");
                    sync::point();
                    sync::point();
                    first.lock().push("first");
                });
            })
            .expect("ends after all threads");
            (end.hash, std::mem::take(&mut *order.lock()))
        };
        let (hash, order) = once();
        assert_eq!((hash, order.clone()), once(), "seed {seed}");
        assert_eq!(order.len(), 2);
        orders.insert(order);
    }
    assert_eq!(orders.len(), 2, "both came first once");
}

#[test]
fn a_deadlock_is_a_failure_that_says_who_waits() {
    let mut found = 0;
    for seed in 0..40 {
        let (one, two) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let end = run(seed, |simulation| {
            for (name, first, second) in [("a", &one, &two), ("b", &two, &one)] {
                let (first, second) = (first.clone(), second.clone());
                simulation.thread(name, move || {
                    let _first = first.lock();
                    sync::point();
                    let _second = second.lock();
                });
            }
        });
        if let Err(report) = end {
            assert!(report.contains("deadlock") && report.contains("waits for a mutex at"), "{report}");
            assert!(report.contains("tests/simulation.rs"), "{report}");
            found += 1;
        }
    }
    assert!(found > 5, "{found}");
}

#[test]
fn a_reader_that_reads_again_behind_a_writer_is_a_deadlock() {
    let mut found = 0;
    for seed in 0..40 {
        let lock = Arc::new(RwLock::new(0));
        let end = run(seed, |simulation| {
            let (reader, writer) = (lock.clone(), lock.clone());
            simulation.thread("reader", move || {
                let _outer = reader.read();
                sync::point();
                let _inner = reader.read();
            });
            simulation.thread("writer", move || *writer.write() += 1);
        });
        found += u32::from(end.is_err());
    }
    // A waiting writer keeps readers out only in builds with assertions.
    assert!(found > 0 || !cfg!(debug_assertions), "{found}");
}

/// A queue of length one; if `notifies` is false, the consumer is never notified.
fn hand_over(seed: u64, notifies: bool) -> Result<SimulationEnd, String> {
    let shared = Arc::new((Mutex::new(None::<u32>), Condvar::new()));
    let mut schedule = Schedule::from_seed(seed);
    schedule.wakes_without_reason &= notifies;
    let mut simulation = Simulation::new(schedule);
    let (giver, taker) = (shared.clone(), shared);
    simulation.thread("taker", move || {
        let mut item = taker.0.lock();
        while item.is_none() {
            taker.1.wait(&mut item);
        }
    });
    simulation.thread("giver", move || {
        *giver.0.lock() = Some(1);
        if notifies {
            giver.1.notify_all();
        }
    });
    simulation.run().map_err(|failure| failure.report)
}

#[test]
fn a_forgotten_notification_is_found() {
    assert!((0..40).all(|seed| hand_over(seed, true).is_ok()));
    let reports: Vec<String> = (0..40).filter_map(|seed| hand_over(seed, false).err()).collect();
    assert!(reports.len() > 5, "{}", reports.len());
    assert!(reports[0].contains("waits to be notified"), "{}", reports[0]);
}

#[test]
fn time_goes_on_by_itself_when_all_sleep_or_wait_for_a_while() {
    let end = run(3, |simulation| {
        simulation.thread("sleeper", || {
            let before = sync::now_nanos().expect("simulated");
            sync::sleep(Duration::from_secs(3600));
            assert!(sync::now_nanos().expect("simulated") >= before + 3_600_000_000_000);
        });
        simulation.thread("waiter", || {
            let lock = Mutex::new(());
            let outcome = Condvar::new().wait_for(&mut lock.lock(), Duration::from_secs(7200));
            assert!(outcome.timed_out() || Schedule::from_seed(3).wakes_without_reason);
        });
    });
    let end = end.expect("ends");
    assert!(end.panics.is_empty(), "{:?}", end.panics);
    assert!(sync::now_nanos().is_none() && !sync::is_simulated());
}

#[test]
fn a_value_is_waited_for_a_panic_is_told_and_an_endless_loop_ends() {
    let value = Arc::new(OnceLock::new());
    let end = run(1, |simulation| {
        let (setter, getter) = (value.clone(), value.clone());
        simulation.thread("getter", move || assert_eq!(*getter.wait(), 7));
        simulation.thread("setter", move || assert!(setter.set(7).is_ok()));
        simulation.thread("breaks", || panic!("as told"));
    });
    assert_eq!(end.expect("ends").panics, [("breaks".to_owned(), "as told".to_owned())]);
    let spins = run(1, |simulation| {
        simulation.thread("spins", || {
            loop {
                sync::point();
            }
        });
    });
    assert!(spins.expect_err("is ended").contains("does not end"));
}
