//! Which lines of the program call the disk, when, and which of their calls fail.

use std::backtrace::Backtrace;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use super::CallKind;

/// Number of frames of a call stack by which two ways to a call are told apart.
const FRAMES: usize = 40;

/// Paths of code that only passes calls on to the disk.
const PASSED: [&str; 2] = ["crates/store/src", "crates/engine/src/environment.rs"];

/// A line of the program outside of this crate that calls the disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// `crates/engine/src/...rs:12`; empty when there are no symbols.
    pub place: String,
    /// What the line asks of the disk.
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

/// Every call of a disk by its site. Clones share it.
#[derive(Clone, Default)]
pub struct Sites {
    /// By return addresses: symbols are looked up once for each way to a call.
    places: Arc<Mutex<HashMap<Vec<usize>, String>>>,
    calls: Arc<Mutex<BTreeMap<Site, Vec<SiteCall>>>>,
}

impl Sites {
    /// Empty notes for another run of the same program.
    pub fn emptied(&self) -> Sites {
        Sites { places: self.places.clone(), calls: Arc::default() }
    }

    /// Notes a call of the current thread.
    pub(super) fn note(&self, kind: CallKind, call: SiteCall) {
        let stack = return_addresses();
        let place =
            self.places.lock().entry(stack).or_insert_with(|| caller_of(&Backtrace::force_capture())).clone();
        self.calls.lock().entry(Site { place, kind }).or_default().push(call);
    }

    /// Every site that was reached, and its calls in their order.
    pub fn all(&self) -> BTreeMap<Site, Vec<SiteCall>> {
        self.calls.lock().clone()
    }
}

/// Return addresses of the innermost frames.
fn return_addresses() -> Vec<usize> {
    let mut frames = [std::ptr::null_mut(); FRAMES];
    // SAFETY: `backtrace` of glibc writes at most as many pointers as the array has room for.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as libc::c_int) };
    frames[..count as usize].iter().map(|frame| *frame as usize).collect()
}

/// The first line of the program's crates that does more than pass the call on.
fn caller_of(backtrace: &Backtrace) -> String {
    let text = backtrace.to_string();
    let mut places = text.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    // Places below the current folder, which is that of the tested crate, are shown relative to it.
    let folder = std::env::current_dir().unwrap_or_default();
    let outside = places.find_map(|place| {
        let path = folder.join(place.trim_start_matches("./"));
        let path = path.to_str()?;
        let place = &path[path.find("crates/")?..];
        // Without its column.
        (!PASSED.iter().any(|passed| place.starts_with(passed)))
            .then(|| Some(place.rsplit_once(':')?.0.to_owned()))?
    });
    outside.unwrap_or_default()
}
