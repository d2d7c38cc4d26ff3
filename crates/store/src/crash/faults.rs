//! Which calls fail, and how.

use std::io;

/// What a call answers, or leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// `EIO`: nothing happens, except that a write may have begun. In a file that is written in place no
    /// sector is half written.
    Io,
    /// `ENOSPC`; a write leaves a part of its bytes behind.
    NoSpace,
    /// The fsync fails and what it should have made durable never will be, even if a later fsync succeeds (as
    /// Linux does).
    SyncLost,
    /// `EMFILE`: no file can be opened.
    NoDescriptors,
    /// `ENOMEM`: the kernel has no memory, or no more maps.
    NoMemory,
    /// The call panics: stands for any broken invariant in the code around it.
    Panic,
    /// The call takes this long on the clock of the simulation, then succeeds.
    Delay {
        /// Milliseconds.
        ms: u32,
    },
}

/// What a call wants of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// Opens or creates the folder.
    Folder,
    /// Removes a folder with everything in it.
    RemoveFolder,
    /// Names of files or folders.
    List,
    /// Length or existence of a file.
    Stat,
    /// Creates a file.
    Create,
    /// Opens a file that is there to write it.
    Open,
    /// Maps a whole file.
    Map,
    /// Opens and reads a part of a file.
    Read,
    /// Appends to a file that is open, or replaces bytes in it.
    Write,
    /// fsync of a file that is open.
    Sync,
    /// fsync of a file by its name, which opens it.
    SyncFile,
    /// fsync of a folder.
    SyncNames,
    /// Renames a file.
    Rename,
    /// Deletes a file.
    Delete,
    /// Room that is left.
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
    /// Whether such a call can meet it.
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

/// When a rule strikes, counted in the calls that it is about, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At one call.
    At(u64),
    /// At all calls from the first to before the second: an outage. [`u64::MAX`]: until it is healed.
    Window(u64, u64),
    /// At each call with this likelihood, in millionths.
    Often {
        /// The likelihood.
        millionths: u32,
    },
}

/// A fault, the calls it is about, and when it strikes.
#[derive(Debug, Clone)]
pub struct FaultRule {
    /// What the calls meet that the rule strikes.
    pub fault: Fault,
    /// Which of the calls that the rule is about it strikes.
    pub when: When,
    /// The rule is about calls of these kinds only; empty means all.
    pub kinds: Vec<CallKind>,
    /// The rule is about calls only whose path contains this text.
    pub path_contains: String,
    /// Number of calls so far that the rule was about.
    met: u64,
}

impl FaultRule {
    /// A rule about every call of the disk; [`FaultRule::only`] and [`FaultRule::at_path`] narrow it.
    pub fn new(fault: Fault, when: When) -> FaultRule {
        FaultRule { fault, when, kinds: Vec::new(), path_contains: String::new(), met: 0 }
    }

    /// The same for calls of some kinds.
    pub fn only(mut self, kinds: impl IntoIterator<Item = CallKind>) -> FaultRule {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// The same for calls that change the disk.
    pub fn changing(self) -> FaultRule {
        use CallKind::*;
        self.only([Create, Open, Write, Sync, SyncFile, SyncNames, Rename, Delete])
    }

    /// The same for paths that contain `part`.
    pub fn at_path(mut self, part: &str) -> FaultRule {
        self.path_contains = part.to_owned();
        self
    }

    /// Counts the call if the rule is about it, and says whether the rule strikes it.
    fn strikes(&mut self, kind: CallKind, path: &str, random: u64) -> bool {
        let is_about =
            (self.kinds.is_empty() || self.kinds.contains(&kind)) && path.contains(&self.path_contains);
        if !is_about {
            return false;
        }
        let number = self.met;
        self.met += 1;
        let is_due = match self.when {
            When::At(at) => at == number,
            When::Window(from, to) => (from..to).contains(&number),
            When::Often { millionths } => random % 1_000_000 < u64::from(millionths),
        };
        is_due && self.fault.can_hit(kind)
    }
}

/// The fault that the rules have for a call; each of them counts it.
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
