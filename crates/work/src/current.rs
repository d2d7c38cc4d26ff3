//! The request of a thread: "how much memory does it hold, and may it continue?"

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::document::Document;
use crate::measured::{Meter, allocated_bytes, uncharged_bytes};
use crate::stop::Stop;
use crate::warnings::Warnings;

/// A thread that has worked on a request for this long lets others run ([`Entered::when_long`]).
pub const LONG: Duration = Duration::from_millis(200);
/// Number of checks per reading of the clock.
const CHECKS_PER_LOOK: u32 = 4;
/// Strings and lists up to this size grow without a check, and allocations up to this size need no claim.
pub(crate) const ASKED_FROM_BYTES: u64 = 64 << 10;
/// Bytes of a short string in a list that has grown to twice of what it holds: 24 in each half, and the least
/// allocation.
const PIECE_BYTES: u64 = 64;

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A request, as its threads see it.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// `None` if its allocations are not counted.
    pub meter: Option<Arc<Meter>>,
    /// Set when the client is gone or the task was cancelled.
    pub cancelled: Arc<AtomicBool>,
    /// When the request times out; `None` if it has no time limit.
    pub deadline: Option<Instant>,
    /// Collects warnings for the client; `None` if they are dropped.
    pub warnings: Option<Arc<Warnings>>,
    /// The client's name for the request (`X-Opaque-Id`), shown in task lists.
    pub opaque_id: Option<Arc<str>>,
    /// Tells the clients apart; 0 if no client waits for the work.
    pub client: u64,
}

impl Work {
    /// Returns the request that this thread works for.
    pub fn current() -> Option<Work> {
        CURRENT.with_borrow(|current| current.as_ref().map(|current| current.work.clone()))
    }

    /// Makes this thread work for the request until the guard drops, then for the previous one.
    pub fn enter(self) -> Entered {
        Entered::replacing(Some(Current::of(self)))
    }
}

/// Guard: while it lives, its thread works for a request. See [`Work::enter`].
#[derive(Debug)]
#[must_use = "the request is left when this drops"]
pub struct Entered {
    before: Option<Current>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Entered {
    fn replacing(mut next: Option<Current>) -> Entered {
        let now_bytes = uncharged_bytes();
        let before = CURRENT.with_borrow_mut(|current| {
            if let Some(current) = current {
                current.look(now_bytes);
                if let Some(next) = &mut next {
                    next.take_on_long(current);
                }
            }
            std::mem::replace(current, next)
        });
        Entered { before, _of_this_thread: PhantomData }
    }

    /// Sets a function that is called when the thread has worked for long, so that others need not wait for
    /// it. If it returns a time, it is called again after that, because the thread was rather kept waiting.
    pub fn when_long(self, on_long: impl FnMut() -> Option<Duration> + 'static) -> Entered {
        with_current(|current| current.on_long = Some(OnLong(Box::new(on_long))));
        self
    }

    /// Returns the refusal to code that could not return an error, on this thread or on ended threads of
    /// the request, unless it was reported already.
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
                if let Some(before) = &mut before {
                    before.take_on_long(current);
                }
            }
            let left = std::mem::replace(current, before);
            if let Some(current) = current {
                current.seen_bytes = now_bytes;
                current.seen_allocated_bytes = allocated_bytes();
            }
            left
        });
        // Its charges are released now, which may access the thread's request.
        drop(left);
    }
}

struct OnLong(Box<dyn FnMut() -> Option<Duration>>);

impl std::fmt::Debug for OnLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnLong")
    }
}

/// One thread's data about its request.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) work: Work,
    /// [`uncharged_bytes`] when last read.
    seen_bytes: i64,
    /// [`allocated_bytes`] when last read.
    seen_allocated_bytes: i64,
    /// Whether current allocations are counted elsewhere.
    is_aside: bool,
    pub(crate) document: Document,
    /// Time spent in patterns for the current document; `None` if only single calls are limited.
    pub(crate) pattern_time: Option<Duration>,
    /// Time spent in patterns of analyzers for the current document.
    pub(crate) analysis_time: Duration,
    pub(crate) refusal: Option<Stop>,
    on_long: Option<OnLong>,
    /// When `on_long` is called.
    long_at: Instant,
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
            long_at: Instant::now() + LONG,
            check_count: 0,
        }
    }

    /// Adds what this thread has allocated since the last call to the meter, without checking the limit.
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

    /// Releases the bytes that were stated for the current document.
    pub(crate) fn leave(&mut self) {
        if let Some(meter) = &self.work.meter {
            meter.note(-self.document.take_stated());
        }
    }

    /// Passes a refusal to a part of a request on to the whole request, whose runner reports it.
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

    pub(crate) fn check(&mut self) -> Result<(), Stop> {
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

    /// Takes over what `other` does when this thread has worked for long. The part of a request that is
    /// entered inside of the whole has begun when the whole did.
    fn take_on_long(&mut self, other: &mut Current) {
        if let Some(on_long) = other.on_long.take() {
            self.on_long = Some(on_long);
            self.long_at = other.long_at;
        }
    }

    fn long(&mut self) -> Option<OnLong> {
        self.on_long.as_ref()?;
        self.check_count += 1;
        if !self.check_count.is_multiple_of(CHECKS_PER_LOOK) || Instant::now() < self.long_at {
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
    if let Some(mut on_long) = on_long.transpose()?.flatten()
        && let Some(later) = on_long.0()
    {
        with_current(|current| {
            current.long_at = Instant::now() + later;
            current.on_long = Some(on_long);
        });
    }
    Ok(())
}

/// Fails if the request must end. Code that a request can make long-running or large calls it at bounded
/// intervals; it costs a few nanoseconds. Without a request it always succeeds.
///
/// # Errors
/// Why the request of this thread must end.
#[inline]
pub fn check() -> Result<(), Stop> {
    asked(Current::check)
}

/// Does the same as [`check`] but ignores the deadline. For work after the search for documents, which is
/// the only part that may return a partial result.
///
/// # Errors
/// Why the request of this thread must end.
#[inline]
pub fn check_beyond_deadline() -> Result<(), Stop> {
    asked(Current::check_beyond_deadline)
}

/// Does what [`check`] does for other requests, and asks nothing of this one: if the thread has worked for
/// long, its owner runs another job beside it. For work that must not end halfway, such as a write.
#[inline]
pub fn let_others_run() {
    let _ = asked(|_| Ok(()));
}

/// Whether the request was cancelled or its deadline has passed. Both stay true, so code that cannot return
/// an error may stop: the next [`check`] reports why.
pub fn is_over() -> bool {
    let over = |current: &mut Current| match current.work.deadline {
        _ if current.work.cancelled.load(Ordering::Relaxed) => Err(Stop::Cancelled),
        Some(deadline) if Instant::now() >= deadline => Err(Stop::TimedOut),
        _ => Ok(()),
    };
    asked(over).is_err()
}

/// Does the same as [`check_beyond_deadline`], and reserves `bytes` that are about to be allocated.
///
/// # Errors
/// Why the request of this thread must end, or that the bytes do not fit.
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

/// Claims the memory of a list with the pieces between separators, each of which is a string of its own: of a
/// text of single letters it takes thirty times the size.
///
/// # Errors
/// As for [`claim`].
pub fn claim_pieces(text: &str, separator: &str) -> Result<(), Stop> {
    // A short text is not worth counting.
    if text.len() as u64 * PIECE_BYTES < ASKED_FROM_BYTES {
        return Ok(());
    }
    claim((text.matches(separator).count() as u64 + 1) * PIECE_BYTES)
}

/// Claims memory before a large string or list of `length` bytes grows by `more_bytes` beyond its
/// `capacity`. It is copied into a new allocation, possibly twice as large, and both exist for a moment.
///
/// # Errors
/// As for [`claim`].
pub fn check_growth(length: usize, capacity: usize, more_bytes: usize) -> Result<(), Stop> {
    let needed_bytes = length.saturating_add(more_bytes);
    if needed_bytes <= capacity || (needed_bytes as u64) < ASKED_FROM_BYTES {
        return Ok(());
    }
    claim(needed_bytes.max(capacity.saturating_mul(2)) as u64)
}

/// Runs `outside` as if there were no request, so that work that was acknowledged before cannot be refused
/// to this one.
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

/// Guard that ends [`aside`], also on a panic.
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

/// Returns the flag that cancels the request of this thread.
pub fn cancelled() -> Option<Arc<AtomicBool>> {
    CURRENT.with_borrow(|current| current.as_ref().map(|current| current.work.cancelled.clone()))
}
