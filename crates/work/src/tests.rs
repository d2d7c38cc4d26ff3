use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::*;
use crate::current::{LONG, with_current};

thread_local! {
    static ALLOCATED: Cell<i64> = const { Cell::new(0) };
}

const MIB: i64 = 1 << 20;
const LIMIT_BYTES: u64 = 10 << 20;

/// A budget of [`LIMIT_BYTES`].
#[derive(Debug, Default)]
struct Counted {
    used: Arc<AtomicU64>,
    bytes: u64,
}

impl Account for Counted {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn grow(&mut self, bytes: u64) -> Result<(), MemoryLimitExceeded> {
        let wanted_bytes = self.used.load(Ordering::Relaxed) + bytes;
        if wanted_bytes > LIMIT_BYTES {
            return Err(MemoryLimitExceeded {
                pool: "test",
                label: "x".into(),
                wanted_bytes,
                limit_bytes: LIMIT_BYTES,
            });
        }
        self.used.store(wanted_bytes, Ordering::Relaxed);
        self.bytes += bytes;
        note_charged(bytes as i64);
        Ok(())
    }

    fn shrink_to(&mut self, bytes: u64) {
        let less = self.bytes - bytes;
        self.used.fetch_sub(less, Ordering::Relaxed);
        note_charged(-(less as i64));
        self.bytes = bytes;
    }

    fn empty(&self) -> Box<dyn Account> {
        Box::new(Counted { used: self.used.clone(), bytes: 0 })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// Moves the thread's own count by hand.
fn allocate(bytes: i64) {
    ALLOCATED.set(ALLOCATED.get() + bytes);
}

fn work() -> (Work, Arc<AtomicU64>) {
    count_allocations_by(|| ALLOCATED.get());
    let account = Counted::default();
    let used = account.used.clone();
    let meter = Some(Arc::new(Meter::new(Box::new(account))));
    (Work { meter, ..Work::default() }, used)
}

fn used_mib(used: &AtomicU64) -> f64 {
    used.load(Ordering::Relaxed) as f64 / MIB as f64
}

#[test]
fn what_nobody_charged_is_charged_and_given_back() {
    assert!(check().is_ok() && claim(1 << 40).is_ok(), "no request");
    let (work, used) = work();
    let mut by_hand = Counted { used: used.clone(), bytes: 0 };
    let entered = work.enter();
    allocate(4 * MIB);
    assert!(check().is_ok());
    assert!((4.0..5.0).contains(&used_mib(&used)));
    by_hand.grow(3 * MIB as u64).expect("fits");
    allocate(3 * MIB);
    check().expect("what was charged by hand is not charged again");
    assert!(used_mib(&used) < 8.0);
    assert!(claim(MIB as u64).is_ok() && claim(4 * MIB as u64).is_err());
    assert!(used_mib(&used) < 8.0, "what is asked about is not kept");
    allocate(4 * MIB);
    assert!(matches!(check(), Err(Stop::Memory(_))), "11 of 10");
    allocate(-10 * MIB);
    drop(by_hand);
    check().expect("freed");
    assert!(used_mib(&used) < 2.0);
    drop(entered);
    allocate(-MIB);
    assert_eq!(used.load(Ordering::Relaxed), 0);
}

#[test]
fn threads_and_parts_of_a_request_share_its_meter() {
    let (whole, used) = work();
    let _entered = whole.clone().enter();
    allocate(4 * MIB);
    check().expect("4 of 10");
    let part = Work { deadline: Some(Instant::now()), ..whole };
    std::thread::spawn({
        let part = Work { deadline: None, ..part.clone() };
        move || {
            let _entered = part.enter();
            allocate(5 * MIB);
            check().expect("9 of 10");
            allocate(3 * MIB);
            assert!(matches!(check(), Err(Stop::Memory(_))));
            allocate(-8 * MIB);
        }
    })
    .join()
    .expect("no panic");
    let inner = part.enter();
    assert_eq!(check(), Err(Stop::TimedOut));
    check_beyond_deadline().expect("4 of 10");
    drop(inner);
    check().expect("the whole has no deadline");
    assert!(used_mib(&used) < 6.0);
}

#[test]
fn what_is_made_aside_or_paid_before_is_not_counted() {
    let (work, used) = work();
    let meter = Meter::new(Box::new(Counted { used: used.clone(), bytes: 0 })).prepaid(2 * MIB as u64);
    let _entered = Work { meter: Some(Arc::new(meter)), ..work }.enter();
    allocate(2 * MIB);
    aside(|| {
        allocate(20 * MIB);
        check().expect("made for another budget");
        aside(|| allocate(20 * MIB));
        check().expect("still aside");
    });
    check().expect("2 of 2 that were paid");
    assert!(
        hold_bytes(4 * MIB as u64).is_ok() && hold_bytes(20 * MIB as u64).is_err(),
        "made aside, but kept"
    );
    with_current(|current| current.work.meter.as_ref().map(|meter| meter.note(-24 * MIB)));
    check().expect("2 of 2 again");
    assert!(used_mib(&used) < 1.0);
    suspended(|| {
        allocate(20 * MIB);
        assert!(claim(1 << 40).is_ok() && state_bytes(1 << 40));
        allocate(-20 * MIB);
    });
    check().expect("nothing is left of it");
    allocate(-42 * MIB);
}

#[test]
fn what_a_document_becomes_is_charged_and_given_back() {
    let (work, used) = work();
    let entered = work.enter();
    begin_document(1000);
    assert!(state_bytes(200 << 10), "no more than nearly all documents need");
    assert_eq!(used.load(Ordering::Relaxed), 0);
    assert!(state_bytes(500 << 10));
    assert!(used_mib(&used) > 2.0);
    assert!(!state_bytes(10 << 20) && !state_bytes(1));
    assert!(matches!(end_document(), Err(Stop::Memory(_))));
    assert!(end_document().is_ok() && check().is_ok(), "the next document has its own chance");
    assert!(used_mib(&used) < 1.0);
    assert!(!state_bytes(100 << 20));
    assert!(entered.refusal().is_some() && entered.refusal().is_none(), "told once");
    drop(entered);
    assert_eq!(used.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_refused_to_a_part_is_refused_to_the_whole() {
    let (whole, _) = work();
    let entered = whole.clone().enter();
    let refused_to = |part: Work| {
        let _entered = part.enter();
        begin_document(0);
        assert!(!state_bytes(100 << 20));
    };
    // The inner request shares the meter, as a phase of a search does, or the flag, as a step of a request
    // does.
    refused_to(Work { cancelled: Arc::default(), ..whole.clone() });
    assert!(matches!(check(), Err(Stop::Memory(_))));
    assert!(entered.refusal().is_some() && entered.refusal().is_none(), "told once");
    let (other, _) = work();
    refused_to(Work { cancelled: whole.cancelled.clone(), ..other });
    assert!(entered.refusal().is_some() && check().is_ok());
    std::thread::scope(|scope| drop(scope.spawn(|| refused_to(whole.clone()))));
    assert!(entered.refusal().is_some() && entered.refusal().is_none(), "on another thread");
    let (another, _) = work();
    refused_to(another);
    assert!(entered.refusal().is_none() && check().is_ok(), "of a request of its own");
}

#[test]
fn a_cancelled_request_stops() {
    let (work, _) = work();
    let cancelled = work.cancelled.clone();
    let _entered = work.enter();
    cancelled.store(true, Ordering::Relaxed);
    assert_eq!(check(), Err(Stop::Cancelled));
    assert_eq!(check_beyond_deadline(), Err(Stop::Cancelled));
}

#[test]
fn a_long_request_gives_its_turn_up_once() {
    let (work, _) = work();
    let called = std::rc::Rc::new(Cell::new(0));
    let counted = called.clone();
    let _entered = work.enter().when_long(move || {
        counted.set(counted.get() + 1);
        None
    });
    (0..10).for_each(|_| check().expect("goes on"));
    assert_eq!(called.get(), 0);
    std::thread::sleep(LONG);
    (0..10).for_each(|_| check().expect("goes on"));
    assert_eq!(called.get(), 1);
}

#[test]
fn a_request_that_was_kept_waiting_is_asked_again() {
    let (work, _) = work();
    let called = std::rc::Rc::new(Cell::new(0));
    let counted = called.clone();
    let _entered = work.enter().when_long(move || {
        counted.set(counted.get() + 1);
        (counted.get() < 3).then_some(std::time::Duration::ZERO)
    });
    std::thread::sleep(LONG);
    (0..40).for_each(|_| check().expect("goes on"));
    assert_eq!(called.get(), 3);
}

/// A search enters its own work inside of the one of its job, and one of its phases another.
#[test]
fn a_long_request_gives_its_turn_up_inside_of_its_parts_too() {
    let (work, _) = work();
    let called = std::rc::Rc::new(Cell::new(0));
    let counted = called.clone();
    let _entered = work.clone().enter().when_long(move || {
        counted.set(counted.get() + 1);
        None
    });
    let inside = work.clone().enter();
    {
        let _deeper = work.clone().enter();
        suspended(|| (0..10).for_each(|_| check().expect("goes on")));
        std::thread::sleep(LONG);
        suspended(|| (0..10).for_each(|_| check().expect("goes on")));
        assert_eq!(called.get(), 0);
    }
    (0..10).for_each(|_| check().expect("goes on"));
    assert_eq!(called.get(), 1);
    drop(inside);
    (0..10).for_each(|_| check().expect("goes on"));
    assert_eq!(called.get(), 1);
}

#[test]
fn filters_have_a_time_that_grows_with_the_document() {
    let long_ago = |ms| std::time::Instant::now() - std::time::Duration::from_millis(ms);
    assert!(filters_go_on(&mut long_ago(60_000)), "outside of a request nothing is refused");
    let work = Work::default();
    let cancelled = work.cancelled.clone();
    let entered = work.enter();
    begin_document(1 << 20);
    assert!(filters_go_on(&mut long_ago(4_000)));
    assert!(!filters_go_on(&mut long_ago(4_000)));
    assert!(matches!(end_document(), Err(Stop::Filters { .. })));
    begin_document(0);
    assert!(filters_go_on(&mut long_ago(10)));
    cancelled.store(true, Ordering::Relaxed);
    assert!(!filters_go_on(&mut long_ago(10)));
    assert_eq!(entered.refusal(), Some(Stop::Cancelled));
}

#[test]
fn a_list_of_pieces_is_claimed_before_it_is_made() {
    let commas = ",".repeat(1 << 20);
    assert!(claim_pieces(&commas, ",").is_ok(), "no request");
    let (work, _used) = work();
    let entered = work.enter();
    assert!(claim_pieces("a,b", ",").is_ok());
    assert!(claim_pieces(&"x".repeat(1 << 20), ",").is_ok(), "one piece");
    assert!(matches!(claim_pieces(&commas, ","), Err(Stop::Memory(_))), "64 MB of 10");
    check().expect("nothing is held");
    assert!(has_room_for(1 << 20) && !has_room_for_pieces(&commas, ","));
    assert!(matches!(check(), Err(Stop::Memory(_))), "the refusal is kept");
    assert!(entered.refusal().is_some() && check().is_ok());
    assert!(!has_room_for(64 << 20));
}
