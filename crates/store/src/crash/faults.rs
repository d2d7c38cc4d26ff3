//! Which calls fail, and how.

use std::io;

/// How a call fails, and what it leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// `EIO`: nothing happens, except that a write may be done in part. A file that is written in place is
    /// torn only between sectors.
    Io,
    /// `ENOSPC`; a write leaves a part of its bytes behind.
    NoSpace,
    /// The fsync fails, and the bytes it should have made durable never will be, even if a later fsync
    /// succeeds (as on Linux).
    SyncLost,
    /// `EMFILE`: no file can be opened.
    NoDescriptors,
    /// `ENOMEM`: the kernel has no memory, or no more maps.
    NoMemory,
    /// The call panics, as any bug in the code around it could.
    Panic,
    /// The call takes this long on the simulation's clock, then succeeds.
    Delay {
        /// Milliseconds.
        ms: u32,
    },
}

/// The operation that a call requests of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// Opens or creates the folder.
    Folder,
    /// Removes a folder with everything in it.
    RemoveFolder,
    /// Lists names of files or folders.
    List,
    /// Length or existence of a file.
    Stat,
    /// Creates a file.
    Create,
    /// Opens an existing file for writing.
    Open,
    /// Maps a whole file.
    Map,
    /// Opens and reads a part of a file.
    Read,
    /// Appends to an open file, or replaces bytes in it.
    Write,
    /// fsync of an open file.
    Sync,
    /// fsync of a file by its name, which opens it.
    SyncFile,
    /// fsync of a folder.
    SyncNames,
    /// Renames a file.
    Rename,
    /// Deletes a file.
    Delete,
    /// Queries the free space.
    Space,
}

impl CallKind {
    /// Whether the call changes the disk or makes a change durable.
    pub fn changes(self) -> bool {
        use CallKind::*;
        matches!(self, Create | Open | Write | Sync | SyncFile | SyncNames | Rename | Delete)
    }

    fn opens(self) -> bool {
        use CallKind::*;
        matches!(self, Folder | RemoveFolder | List | Create | Open | Map | Read | SyncFile | SyncNames)
    }

    fn allocates(self) -> bool {
        use CallKind::*;
        matches!(self, Folder | Create | Open | Write | Sync | SyncFile | SyncNames | Rename)
    }

    pub(super) fn is_sync(self) -> bool {
        matches!(self, CallKind::Sync | CallKind::SyncFile)
    }
}

impl Fault {
    /// Whether calls of this kind can fail in this way.
    pub fn can_hit(self, kind: CallKind) -> bool {
        match self {
            Fault::Io | Fault::Panic | Fault::Delay { .. } => true,
            Fault::NoSpace => kind.allocates(),
            Fault::SyncLost => kind.is_sync(),
            Fault::NoDescriptors => kind.opens(),
            Fault::NoMemory => kind != CallKind::Space,
        }
    }

    pub(super) fn to_error(self) -> io::Error {
        let code = match self {
            Fault::NoSpace => libc::ENOSPC,
            Fault::NoDescriptors => libc::EMFILE,
            Fault::NoMemory => libc::ENOMEM,
            Fault::Io | Fault::SyncLost | Fault::Panic | Fault::Delay { .. } => libc::EIO,
        };
        io::Error::from_raw_os_error(code)
    }
}

/// Which calls a rule hits, counted from 0 among the calls that it applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At one call.
    At(u64),
    /// All calls from the first number up to, but not including, the second: an outage. [`u64::MAX`] means
    /// until it is healed.
    Window(u64, u64),
    /// Each call with this probability, in millionths.
    Often {
        /// The probability.
        millionths: u32,
    },
}

/// A fault, the calls that it applies to, and which of them it hits.
#[derive(Debug, Clone)]
pub struct FaultRule {
    /// The fault of the calls that the rule hits.
    pub fault: Fault,
    /// Which of the calls that the rule applies to it hits.
    pub when: When,
    /// The rule applies only to calls of these kinds; empty means all.
    pub kinds: Vec<CallKind>,
    /// The rule applies only to calls whose path contains this string.
    pub path_contains: String,
    /// Number of calls so far that the rule applied to.
    call_count: u64,
}

impl FaultRule {
    /// Creates a rule for every call of the disk; [`FaultRule::only`] and [`FaultRule::at_path`] narrow it.
    pub fn new(fault: Fault, when: When) -> FaultRule {
        FaultRule { fault, when, kinds: Vec::new(), path_contains: String::new(), call_count: 0 }
    }

    /// Restricts the rule to calls of these kinds.
    pub fn only(mut self, kinds: impl IntoIterator<Item = CallKind>) -> FaultRule {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Restricts the rule to calls that change the disk.
    pub fn changing(self) -> FaultRule {
        use CallKind::*;
        self.only([Create, Open, Write, Sync, SyncFile, SyncNames, Rename, Delete])
    }

    /// Restricts the rule to paths that contain `part`.
    pub fn at_path(mut self, part: &str) -> FaultRule {
        self.path_contains = part.to_owned();
        self
    }

    /// Counts the call if the rule applies to it; returns whether the rule hits it.
    fn strikes(&mut self, kind: CallKind, path: &str, random: u64) -> bool {
        let is_about =
            (self.kinds.is_empty() || self.kinds.contains(&kind)) && path.contains(&self.path_contains);
        if !is_about {
            return false;
        }
        let number = self.call_count;
        self.call_count += 1;
        let is_due = match self.when {
            When::At(at) => at == number,
            When::Window(from, to) => (from..to).contains(&number),
            When::Often { millionths } => random % 1_000_000 < u64::from(millionths),
        };
        is_due && self.fault.can_hit(kind)
    }
}

/// Returns the fault that the rules have for a call; each rule counts it.
pub(super) fn strike(
    rules: &mut [FaultRule],
    kind: CallKind,
    path: &str,
    mut random: impl FnMut() -> u64,
) -> Option<Fault> {
    let mut found = None;
    for rule in rules {
        let random = if matches!(rule.when, When::Often { .. }) { random() } else { 0 };
        if rule.strikes(kind, path, random) {
            found = found.or(Some(rule.fault));
        }
    }
    found
}
