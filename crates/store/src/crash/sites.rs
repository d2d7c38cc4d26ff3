//! Which lines of the program call the disk, and which of those have seen a call fail.

use std::backtrace::Backtrace;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use super::CallKind;

/// Frames of a call stack that tell one way to a call from another.
const FRAMES: usize = 40;

/// A line of the program outside of this crate that calls the disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// `crates/engine/src/...rs:12`; empty when there are no symbols.
    pub place: String,
    pub kind: CallKind,
}

/// What is known of each site: reached, and failed at least once. Clones share it.
#[derive(Clone, Default)]
pub struct Sites(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// By return addresses: symbols are looked up once for each way to a call.
    by_stack: HashMap<Vec<usize>, String>,
    has_failed: BTreeMap<Site, bool>,
}

impl Sites {
    /// Notes a call of the current thread.
    pub(super) fn note(&self, kind: CallKind, fails: bool) {
        let stack = return_addresses();
        let mut known = self.0.lock();
        let place = known.by_stack.entry(stack).or_insert_with(|| caller_of(&Backtrace::force_capture()));
        let site = Site { place: place.clone(), kind };
        *known.has_failed.entry(site).or_default() |= fails;
    }

    /// Every site that was reached, and whether a call there has failed.
    pub fn all(&self) -> BTreeMap<Site, bool> {
        self.0.lock().has_failed.clone()
    }
}

/// Return addresses of the innermost frames.
fn return_addresses() -> Vec<usize> {
    let mut frames = [std::ptr::null_mut(); FRAMES];
    // SAFETY: `backtrace` of glibc writes at most as many pointers as the array has room for.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as libc::c_int) };
    frames[..count as usize].iter().map(|frame| *frame as usize).collect()
}

/// The first line of the program's crates that is not in this one.
fn caller_of(backtrace: &Backtrace) -> String {
    let text = backtrace.to_string();
    let mut places = text.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    let outside = places.find_map(|place| {
        let place = &place[place.find("crates/")?..];
        (!place.starts_with("crates/store/src")).then_some(place)
    });
    // Without its column.
    let place = outside.and_then(|place| Some(place.rsplit_once(':')?.0));
    place.unwrap_or("").to_owned()
}
