//! The request of this thread: "what does it hold, and may it go on?"

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::document::Document;
use crate::measured::{Meter, allocated_bytes, uncharged_bytes};
use crate::stop::Stop;
use crate::warnings::Warnings;

/// A request whose thread has worked for this long gives its turn to others ([`Entered::when_long`]).
pub(crate) const LONG: Duration = Duration::from_millis(200);
/// Checks between two looks at the clock.
const CHECKS_PER_LOOK: u32 = 4;
/// Texts and lists up to this size grow without being asked about, and as much is made without being claimed
/// before.
const ASKED_FROM_BYTES: u64 = 64 << 10;

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A request, as its threads know it.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// `None`: what it allocates is not counted.
    pub meter: Option<Arc<Meter>>,
    /// Set when nobody waits for the answer, or somebody cancelled the task.
    pub cancelled: Arc<AtomicBool>,
    /// When the request's time is up; none: it may take as long as it needs.
    pub deadline: Option<Instant>,
    /// Where its threads warn whoever sent it; `None`: nobody is told.
    pub warnings: Option<Arc<Warnings>>,
    /// What whoever sent it calls it (`X-Opaque-Id`): lists of tasks show it.
    pub opaque_id: Option<Arc<str>>,
}

impl Work {
    /// What this thread works for.
    pub fn current() -> Option<Work> {
        CURRENT.with_borrow(|current| current.as_ref().map(|current| current.work.clone()))
    }

    /// From now on this thread works for it, until the guard drops; then for what it worked for before.
    pub fn enter(self) -> Entered {
        Entered::replacing(Some(Current::of(self)))
    }
}

/// While it lives, its thread works for a request. See [`Work::enter`].
#[derive(Debug)]
#[must_use = "the request is left when this drops"]
pub struct Entered {
    before: Option<Current>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Entered {
    fn replacing(next: Option<Current>) -> Entered {
        let now_bytes = uncharged_bytes();
        let before = CURRENT.with_borrow_mut(|current| {
            if let Some(current) = current {
                current.look(now_bytes);
            }
            std::mem::replace(current, next)
        });
        Entered { before, _of_this_thread: PhantomData }
    }

    /// `on_long` is called once when the thread has worked for long, so that others need not wait for it.
    pub fn when_long(self, on_long: impl FnOnce() + 'static) -> Entered {
        with_current(|current| current.on_long = Some(OnLong(Box::new(on_long))));
        self
    }

    /// What was refused to code that could not fail, on this thread or on others of the request that have
    /// ended, if nobody has told it yet.
    pub fn refusal(&self) -> Option<Stop> {
        with_current(|current| {
            let elsewhere = current.work.meter.as_ref().and_then(|meter| meter.take_untold());
            current.refusal.take().or(elsewhere)
        })
        .flatten()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let now_bytes = uncharged_bytes();
        let mut before = self.before.take();
        let left = CURRENT.with_borrow_mut(|current| {
            if let Some(current) = current {
                current.look(now_bytes);
                current.leave();
                current.hand_on_refusal(before.as_mut());
            }
            let left = std::mem::replace(current, before);
            if let Some(current) = current {
                current.seen_bytes = now_bytes;
                current.seen_allocated_bytes = allocated_bytes();
            }
            left
        });
        // Its charges are given back now, which may ask for the thread's request.
        drop(left);
    }
}

struct OnLong(Box<dyn FnOnce()>);

impl std::fmt::Debug for OnLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnLong")
    }
}

/// What one thread knows of its request.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) work: Work,
    /// [`uncharged_bytes`] when it was looked at last.
    seen_bytes: i64,
    /// [`allocated_bytes`] when it was looked at last.
    seen_allocated_bytes: i64,
    /// Whether what is made now is counted elsewhere.
    is_aside: bool,
    pub(crate) document: Document,
    /// Spent in patterns for the document in work; `None`: that is not limited beyond each call.
    pub(crate) pattern_time: Option<Duration>,
    /// Spent in patterns of analyzers for the document in work.
    pub(crate) analysis_time: Duration,
    pub(crate) refusal: Option<Stop>,
    on_long: Option<OnLong>,
    started: Instant,
    check_count: u32,
}

impl Current {
    fn of(work: Work) -> Current {
        Current {
            work,
            seen_bytes: uncharged_bytes(),
            seen_allocated_bytes: allocated_bytes(),
            is_aside: false,
            document: Document::default(),
            pattern_time: None,
            analysis_time: Duration::ZERO,
            refusal: None,
            on_long: None,
            started: Instant::now(),
            check_count: 0,
        }
    }

    /// Notes what this thread allocated since, without asking whether there is room.
    fn look(&mut self, now_bytes: i64) {
        let more_bytes = now_bytes.wrapping_sub(std::mem::replace(&mut self.seen_bytes, now_bytes));
        let allocated_bytes = allocated_bytes();
        let before_bytes = std::mem::replace(&mut self.seen_allocated_bytes, allocated_bytes);
        if let Some(meter) = &self.work.meter
            && !self.is_aside
        {
            meter.note(more_bytes);
            meter.note_allocated(allocated_bytes.wrapping_sub(before_bytes));
        }
    }

    /// What was stated is no longer held.
    pub(crate) fn leave(&mut self) {
        if let Some(meter) = &self.work.meter {
            meter.note(-self.document.take_stated());
        }
    }

    /// What was refused to a part of a request was refused to the request: whoever runs the whole tells it.
    fn hand_on_refusal(&mut self, before: Option<&mut Current>) {
        let Some(refusal) = self.refusal.take() else { return };
        match (before, &self.work.meter) {
            (Some(whole), _)
                if Arc::ptr_eq(&whole.work.cancelled, &self.work.cancelled) || whole.has_meter_of(self) =>
            {
                whole.refusal.get_or_insert(refusal);
            }
            (_, Some(meter)) => meter.keep_untold(refusal),
            (_, None) => {}
        }
    }

    fn has_meter_of(&self, other: &Current) -> bool {
        matches!((&self.work.meter, &other.work.meter), (Some(own), Some(other)) if Arc::ptr_eq(own, other))
    }

    fn check(&mut self) -> Result<(), Stop> {
        if self.work.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Stop::TimedOut);
        }
        self.check_beyond_deadline()
    }

    pub(crate) fn check_beyond_deadline(&mut self) -> Result<(), Stop> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        if self.work.cancelled.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        self.look(uncharged_bytes());
        match &self.work.meter {
            Some(meter) => Ok(meter.settle()?),
            None => Ok(()),
        }
    }

    fn long(&mut self) -> Option<OnLong> {
        self.on_long.as_ref()?;
        self.check_count += 1;
        if !self.check_count.is_multiple_of(CHECKS_PER_LOOK) || self.started.elapsed() < LONG {
            return None;
        }
        self.on_long.take()
    }
}

pub(crate) fn with_current<T>(run: impl FnOnce(&mut Current) -> T) -> Option<T> {
    CURRENT.with_borrow_mut(|current| current.as_mut().map(run))
}

pub(crate) fn asked(ask: impl FnOnce(&mut Current) -> Result<(), Stop>) -> Result<(), Stop> {
    let on_long = with_current(|current| ask(current).map(|()| current.long()));
    if let Some(OnLong(on_long)) = on_long.transpose()?.flatten() {
        on_long();
    }
    Ok(())
}

/// Asked at bounded steps by whatever a request can make long or large: some nanoseconds. Without a request
/// there is nothing to stop.
///
/// # Errors
/// Why the request of this thread must end.
#[inline]
pub fn check() -> Result<(), Stop> {
    asked(Current::check)
}

/// As [`check`], whatever the deadline: for what comes after the search for documents, which alone may answer
/// in part.
///
/// # Errors
/// Why the request of this thread must end.
#[inline]
pub fn check_beyond_deadline() -> Result<(), Stop> {
    asked(Current::check_beyond_deadline)
}

/// As [`check_beyond_deadline`], before `bytes` more are made.
///
/// # Errors
/// Why the request of this thread must end, or that there is no room for them.
pub fn claim(bytes: u64) -> Result<(), Stop> {
    check_beyond_deadline()?;
    if bytes < ASKED_FROM_BYTES {
        return Ok(());
    }
    match Work::current().and_then(|work| work.meter) {
        Some(meter) => Ok(meter.reserve(bytes)?),
        None => Ok(()),
    }
}

/// Asked before a large text or list of `length` bytes grows by `more_bytes` beyond its `capacity`: what it
/// is copied into, which may be twice as large, is there beside it for a moment.
///
/// # Errors
/// As [`claim`].
pub fn check_growth(length: usize, capacity: usize, more_bytes: usize) -> Result<(), Stop> {
    let needed_bytes = length.saturating_add(more_bytes);
    if needed_bytes <= capacity || (needed_bytes as u64) < ASKED_FROM_BYTES {
        return Ok(());
    }
    claim(needed_bytes.max(capacity.saturating_mul(2)) as u64)
}

/// Runs `outside` as if there were no request: what was acknowledged before is not refused to this one.
pub fn suspended<T>(outside: impl FnOnce() -> T) -> T {
    let _entered = Entered::replacing(None);
    outside()
}

/// Runs `making`, whose memory is counted elsewhere.
pub fn aside<T>(making: impl FnOnce() -> T) -> T {
    let is_outermost = with_current(|current| {
        if current.is_aside {
            return false;
        }
        current.look(uncharged_bytes());
        current.is_aside = true;
        true
    });
    let _back = is_outermost.unwrap_or(false).then(|| Back);
    making()
}

/// Ends what is made [`aside`], also by a panic.
struct Back;

impl Drop for Back {
    fn drop(&mut self) {
        with_current(|current| {
            current.seen_bytes = uncharged_bytes();
            current.seen_allocated_bytes = allocated_bytes();
            current.is_aside = false;
        });
    }
}

/// The flag that ends the request of this thread.
pub fn cancelled() -> Option<Arc<AtomicBool>> {
    CURRENT.with_borrow(|current| current.as_ref().map(|current| current.work.cancelled.clone()))
}
