//! The disk itself: folders, faults and crashes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use super::CrashDirectory;
use super::faults::{CallKind, Fault, FaultRule, When};
use super::sites::{SiteCall, Sites};
use super::state::{State, Verdict};
use crate::{Directory, Disk, DiskSpace, Error, Result, sync};

/// A tree of folders in memory; clones share it.
#[derive(Clone)]
pub struct CrashDisk {
    state: Arc<Mutex<State>>,
    root: PathBuf,
    sites: Option<Sites>,
}

/// A call in progress; it holds the lock of the disk.
pub(super) struct Call<'a> {
    pub state: MutexGuard<'a, State>,
    /// How the call fails after it has done part of its work.
    pub fault: Option<Fault>,
    is_last: bool,
}

impl CrashDisk {
    /// Creates a disk. `seed` decides what a crash keeps of unsynced bytes and names, and which calls fail
    /// under rules with a probability.
    pub fn new(seed: u64) -> CrashDisk {
        CrashDisk {
            state: Arc::new(Mutex::new(State::new(seed))),
            root: PathBuf::from("/crash"),
            sites: None,
        }
    }

    /// Makes the disk record where its calls come from.
    pub fn noting(mut self, sites: &Sites) -> CrashDisk {
        self.sites = Some(sites.clone());
        self
    }

    /// Simulates a power failure and restart: unsynced bytes and names are lost, torn or kept, and every
    /// writer that is open now fails from then on. Fault rules are dropped.
    pub fn crash(&self) {
        self.state.lock().crash();
    }

    /// Makes one call fail: number `call` from now (0 = the next one) of those that change the disk.
    pub fn fail_call(&self, call: u64, fault: Fault) {
        self.set_faults(vec![FaultRule::new(fault, When::At(call)).changing()]);
    }

    /// Makes every call that changes the disk fail, from number `call` on (0 = the next one), until
    /// [`CrashDisk::heal`].
    pub fn fail_from(&self, call: u64, fault: Fault) {
        self.set_faults(vec![FaultRule::new(fault, When::Window(call, u64::MAX)).changing()]);
    }

    /// Makes all calls succeed again and keeps the power on.
    pub fn heal(&self) {
        let mut state = self.state.lock();
        state.rules.clear();
        state.power_off_at = None;
    }

    /// Replaces the rules that make calls fail.
    pub fn set_faults(&self, rules: Vec<FaultRule>) {
        self.state.lock().rules = rules;
    }

    /// Switches the power off at the call number `call` from now, counting all calls. From then on nothing
    /// changes the disk and every call fails, until [`CrashDisk::crash`].
    pub fn power_off_at(&self, call: u64) {
        let mut state = self.state.lock();
        state.power_off_at = Some(state.all_calls + call);
    }

    /// Switches the power off now, until [`CrashDisk::crash`].
    pub fn power_off(&self) {
        self.state.lock().is_off = true;
    }

    /// Whether the power is off, so that every call fails.
    pub fn is_off(&self) -> bool {
        self.state.lock().is_off
    }

    /// Returns the number of calls so far that changed the disk or tried to. Run a scenario once to learn
    /// how many there are.
    pub fn call_count(&self) -> u64 {
        self.state.lock().changing_calls
    }

    /// Returns the number of all calls so far.
    pub fn all_call_count(&self) -> u64 {
        self.state.lock().all_calls
    }

    /// Returns the number of calls that a rule made fail so far.
    pub fn fault_count(&self) -> u64 {
        self.state.lock().fault_count
    }

    /// Sets how many bytes can be written before `ENOSPC`; deleting does not free any.
    pub fn set_available_bytes(&self, bytes: u64) {
        self.state.lock().available_bytes = bytes;
    }

    /// Flips one bit of a file durably, as a rotting disk does. Returns `false` if there is no such byte.
    pub fn flip_bit(&self, folder: &str, name: &str, byte: u64, bit: u8) -> bool {
        let mut state = self.state.lock();
        let Some(&file) = state.names.files.get(&format!("{folder}/{name}")) else { return false };
        state.files[file].flip_bit(byte as usize, bit)
    }

    /// Returns a folder as a [`CrashDirectory`].
    pub fn directory(&self, folder: &str) -> CrashDirectory {
        self.state.lock().names.folders.insert(folder.to_owned());
        CrashDirectory::of(self.clone(), folder)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Begins a call: lets other simulated threads run, counts the call, and fails if a rule makes it fail
    /// before it has any effect.
    pub(super) fn call(&self, kind: CallKind, action: &'static str, path: &str) -> Result<Call<'_>> {
        sync::point();
        let error = |fault: Fault| Error::io(action, self.root.join(path), fault.to_error());
        let mut state = self.state.lock();
        let mut verdict = state.call(kind, path);
        if let Some(sites) = &self.sites {
            let fails =
                matches!(verdict, Verdict::Goes(Some(fault)) if !matches!(fault, Fault::Delay { .. }));
            let call = SiteCall { number: state.all_calls.saturating_sub(1), fails };
            drop(state);
            sites.note(kind, call);
            state = self.state.lock();
        }
        sync::note(|| {
            let outcome = match verdict {
                Verdict::Goes(None) => String::new(),
                Verdict::Goes(Some(fault)) => format!(": {fault:?}"),
                Verdict::Off => ": no power".to_owned(),
                Verdict::Last => ": the power goes".to_owned(),
            };
            format!("{action} {path}{outcome}")
        });
        if let Verdict::Goes(Some(Fault::Delay { ms })) = verdict {
            drop(state);
            sync::sleep(if sync::is_simulated() { Duration::from_millis(ms.into()) } else { Duration::ZERO });
            state = self.state.lock();
            verdict = if state.is_off { Verdict::Off } else { Verdict::Goes(None) };
        }
        let goes_on = |fault: Fault| match kind {
            CallKind::Write => matches!(fault, Fault::Io | Fault::NoSpace),
            CallKind::RemoveFolder => fault == Fault::Io,
            kind => kind.is_sync() && fault == Fault::SyncLost,
        };
        match verdict {
            Verdict::Off => Err(error(Fault::Io)),
            Verdict::Last => Ok(Call { state, fault: None, is_last: true }),
            // A panic during a panic would abort the process.
            Verdict::Goes(Some(Fault::Panic)) if std::thread::panicking() => Err(error(Fault::Io)),
            Verdict::Goes(Some(Fault::Panic)) => {
                drop(state);
                panic!("a simulated panic while the disk was to {action} {path}");
            }
            Verdict::Goes(Some(fault)) if !goes_on(fault) => Err(error(fault)),
            Verdict::Goes(fault) => Ok(Call { state, fault, is_last: false }),
        }
    }

    pub(super) fn error(&self, action: &'static str, path: &str, fault: Fault) -> Error {
        Error::io(action, self.root.join(path), fault.to_error())
    }
}

impl Call<'_> {
    /// Ends the call, whose work is done. Returns an error if the power went off meanwhile.
    pub fn end<T>(self, disk: &CrashDisk, action: &'static str, path: &str, outcome: T) -> Result<T> {
        match self.fault {
            Some(fault) => Err(disk.error(action, path, fault)),
            None if self.is_last => Err(disk.error(action, path, Fault::Io)),
            None => Ok(outcome),
        }
    }
}

impl Disk for CrashDisk {
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>> {
        let mut call = self.call(CallKind::Folder, "create folder", path)?;
        call.state.names.folders.insert(path.to_owned());
        call.end(self, "create folder", path, ())?;
        Ok(Arc::new(CrashDirectory::of(self.clone(), path)))
    }

    fn folders(&self, path: &str) -> Result<Vec<String>> {
        let call = self.call(CallKind::List, "list", path)?;
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let children = call.state.names.folders.iter().filter_map(|folder| folder.strip_prefix(&prefix));
        let mut names: Vec<String> = children
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        call.end(self, "list", path, names)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        let mut call = self.call(CallKind::RemoveFolder, "remove folder", path)?;
        let is_partial = call.fault.is_some() || call.is_last;
        let limit = if is_partial { call.state.random.below(6) as usize } else { usize::MAX };
        call.state.names.remove_folder(path, limit);
        call.end(self, "remove folder", path, ())
    }

    fn space(&self) -> Result<DiskSpace> {
        let call = self.call(CallKind::Space, "statvfs", "")?;
        let available_bytes = call.state.available_bytes;
        call.end(self, "statvfs", "", DiskSpace { total_bytes: u64::MAX, available_bytes })
    }

    fn root(&self) -> &Path {
        &self.root
    }
}
