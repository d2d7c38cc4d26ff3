//! The contents of the disk, and what each call does first: it is counted and may fail.

use super::contents::Contents;
use super::faults::{self, CallKind, Fault, FaultRule};
use super::names::{FileId, Names};
use crate::random::{INCREMENT, SplitMix64};

pub(super) struct State {
    pub names: Names,
    pub files: Vec<Contents>,
    pub random: SplitMix64,
    /// Number of calls so far that change the disk, and of all calls.
    pub changing_calls: u64,
    pub all_calls: u64,
    pub rules: Vec<FaultRule>,
    /// Number of calls that rules made fail.
    pub fault_count: u64,
    /// The call, counting all calls, at which the power goes off.
    pub power_off_at: Option<u64>,
    /// The power is off: nothing changes any more, and every call fails.
    pub is_off: bool,
    /// Bytes that can still be written.
    pub available_bytes: u64,
    /// Increases with every crash; writers of an earlier life fail.
    pub life: u64,
}

/// How a call proceeds.
pub(super) enum Verdict {
    Goes(Option<Fault>),
    /// The power is off.
    Off,
    /// The power goes off during the call, which still takes effect.
    Last,
}

impl State {
    /// Creates a disk without files, whose power is on.
    pub fn new(seed: u64) -> State {
        State {
            names: Names::default(),
            files: Vec::new(),
            random: SplitMix64::new(seed ^ INCREMENT),
            changing_calls: 0,
            all_calls: 0,
            rules: Vec::new(),
            fault_count: 0,
            power_off_at: None,
            is_off: false,
            available_bytes: u64::MAX,
            life: 0,
        }
    }

    /// Counts a call and decides how it proceeds.
    pub fn call(&mut self, kind: CallKind, path: &str) -> Verdict {
        if self.is_off {
            return Verdict::Off;
        }
        let number = self.all_calls;
        self.all_calls += 1;
        self.changing_calls += u64::from(kind.changes());
        if self.power_off_at == Some(number) {
            // The call is either the last one that takes effect or the first one that does not.
            self.is_off = true;
            return if self.random.below(2) == 0 { Verdict::Last } else { Verdict::Off };
        }
        let mut rules = std::mem::take(&mut self.rules);
        let fault = faults::strike(&mut rules, kind, path, || self.random.draw());
        self.rules = rules;
        self.fault_count += u64::from(fault.is_some());
        Verdict::Goes(fault)
    }

    /// Restores the power: what was not synced is lost, torn or kept.
    pub fn crash(&mut self) {
        let mut names = std::mem::take(&mut self.names);
        names.crash(&mut |end| self.random.below(end));
        self.names = names;
        for file in 0..self.files.len() {
            let mut contents = std::mem::take(&mut self.files[file]);
            contents.crash(&mut |end| self.random.below(end));
            self.files[file] = contents;
        }
        self.life += 1;
        self.rules.clear();
        self.power_off_at = None;
        self.is_off = false;
    }

    /// Adds an empty file without a name.
    pub fn new_file(&mut self) -> FileId {
        self.files.push(Contents::default());
        self.files.len() - 1
    }

    /// Returns how many of `len` bytes a write leaves behind, and how it fails.
    pub fn fit(&mut self, len: usize, fault: Option<Fault>) -> (usize, Option<Fault>) {
        let (fits, fault) = match fault {
            None if len as u64 > self.available_bytes => {
                (self.available_bytes as usize, Some(Fault::NoSpace))
            }
            None => (len, None),
            Some(fault) => (self.random.below(len as u64 + 1) as usize, Some(fault)),
        };
        if self.available_bytes != u64::MAX {
            self.available_bytes -= (fits as u64).min(self.available_bytes);
        }
        (fits, fault)
    }
}
