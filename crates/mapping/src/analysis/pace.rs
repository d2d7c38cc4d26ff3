//! Asks now and then whether the analysis of a text may go on.

use std::cell::Cell;

use limber_work as work;

thread_local! {
    /// Steps of this thread since it last asked. Filters may run other filters, so all chains share it.
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Number of tokens that a filter gets between two questions; about 100 microseconds.
const STEPS_PER_CHECK: usize = 1 << 10;
/// Length from which a token is worth a question before each filter: some take a millisecond for 1 MB.
pub(super) const LONG_TOKEN_BYTES: usize = 1 << 10;

/// Bytes of memory per byte of a long token while a filter works on it: a list of its characters, and another
/// one of what becomes of them.
const FILTER_FACTOR: u64 = 8;

/// Counts `steps` and returns whether the analysis may go on. Tokens must be counted where they are made and
/// not where they arrive, because a filter may drop all of them.
#[inline]
pub(super) fn goes_on(steps: usize) -> bool {
    STEPS.with(|made| {
        let count = made.get() + steps;
        if count < STEPS_PER_CHECK {
            made.set(count);
            return true;
        }
        let goes_on = work::analysis_goes_on();
        // After a refusal the next token asks at once, so that every filter ends soon.
        made.set(if goes_on { 0 } else { STEPS_PER_CHECK });
        goes_on
    })
}

/// Whether the next filter may get a token of `bytes`.
#[inline]
pub(super) fn takes(bytes: usize) -> bool {
    bytes <= LONG_TOKEN_BYTES || work::analysis_goes_on() && work::has_room_for(bytes as u64 * FILTER_FACTOR)
}
