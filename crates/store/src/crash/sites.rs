//! Records which lines of the program call the disk, when, and which of their calls fail.

use std::backtrace::Backtrace;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use super::CallKind;

/// Number of stack frames that distinguish call paths.
const FRAMES: usize = 40;

/// Paths of code that only forwards calls to the disk.
const PASSED: [&str; 2] = ["crates/store/src", "crates/engine/src/environment.rs"];

/// A line of the program, outside this crate, that calls the disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// `crates/engine/src/...rs:12`; empty when there are no symbols.
    pub place: String,
    /// The operation that the line requests.
    pub kind: CallKind,
}

/// A call at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteCall {
    /// Its number among all calls of the disk ([`super::CrashDisk::all_call_count`]).
    pub number: u64,
    /// Whether a rule makes the call fail.
    pub fails: bool,
}

/// All calls of a disk by site. Clones share it.
#[derive(Clone, Default)]
pub struct Sites {
    /// Source lines by return addresses, so that symbols are resolved only once per call path.
    places: Arc<Mutex<HashMap<Vec<usize>, String>>>,
    calls: Arc<Mutex<BTreeMap<Site, Vec<SiteCall>>>>,
}

impl Sites {
    /// Returns an empty record for another run of the same program, with the resolved symbols.
    pub fn emptied(&self) -> Sites {
        Sites { places: self.places.clone(), calls: Arc::default() }
    }

    /// Records a call of the current thread.
    pub(super) fn note(&self, kind: CallKind, call: SiteCall) {
        let stack = return_addresses();
        let place =
            self.places.lock().entry(stack).or_insert_with(|| caller_of(&Backtrace::force_capture())).clone();
        self.calls.lock().entry(Site { place, kind }).or_default().push(call);
    }

    /// Returns every site that was reached, and its calls in order.
    pub fn all(&self) -> BTreeMap<Site, Vec<SiteCall>> {
        self.calls.lock().clone()
    }
}

/// Returns the return addresses of the innermost frames.
fn return_addresses() -> Vec<usize> {
    let mut frames = [std::ptr::null_mut(); FRAMES];
    // SAFETY: glibc's `backtrace` writes at most as many pointers as the array can hold.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as libc::c_int) };
    frames[..count as usize].iter().map(|frame| *frame as usize).collect()
}

/// Returns the first line of the program's crates that does more than forward the call.
fn caller_of(backtrace: &Backtrace) -> String {
    let text = backtrace.to_string();
    let mut places = text.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    // Paths below the current folder, which is that of the tested crate, are shown relative to it.
    let folder = std::env::current_dir().unwrap_or_default();
    let outside = places.find_map(|place| {
        let path = folder.join(place.trim_start_matches("./"));
        let path = path.to_str()?;
        let place = &path[path.find("crates/")?..];
        // The column is left out.
        (!PASSED.iter().any(|passed| place.starts_with(passed)))
            .then(|| Some(place.rsplit_once(':')?.0.to_owned()))?
    });
    outside.unwrap_or_default()
}
