//! A repository in memory whose calls fail on demand, for tests.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::sync::Mutex;

use super::blobs::{Blob, Blobs, check_name};
use crate::{Error, Result};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobFault {
    /// The call has no effect and returns an error.
    Refused,
    /// The call takes effect and returns an error, as if its response were lost.
    AnswerLost,
    /// This call and all later ones have no effect: the writer has died, or lost its network.
    Dead,
    /// The call takes effect, but it and all later calls return an error, and the later ones have no
    /// effect: the network is gone.
    LastBreath,
}

#[derive(Default)]
struct State {
    blobs: BTreeMap<String, Arc<[u8]>>,
    calls: u64,
    fault: Option<(u64, BlobFault)>,
    is_dead: bool,
}

/// Blobs in memory; all clones share them.
#[derive(Clone, Default)]
pub struct MemoryBlobs {
    state: Arc<Mutex<State>>,
}

impl MemoryBlobs {
    /// Returns the number of calls so far.
    pub fn calls(&self) -> u64 {
        self.state.lock().calls
    }

    /// Makes call number `at`, counted from 0 as in [`MemoryBlobs::calls`], fail in this way.
    pub fn fail_at(&self, at: u64, fault: BlobFault) {
        self.state.lock().fault = Some((at, fault));
    }

    /// Ends all faults.
    pub fn revive(&self) {
        let mut state = self.state.lock();
        (state.fault, state.is_dead) = (None, false);
    }

    /// Returns the names of all blobs, sorted.
    pub fn names(&self) -> Vec<String> {
        self.state.lock().blobs.keys().cloned().collect()
    }

    /// Flips one bit of a blob.
    pub fn flip(&self, name: &str, byte: usize) {
        let mut state = self.state.lock();
        if let Some(blob) = state.blobs.get_mut(name) {
            let mut bytes = blob.to_vec();
            let at = byte % bytes.len().max(1);
            bytes[at] ^= 1;
            *blob = bytes.into();
        }
    }

    /// Removes a blob, as another process would.
    pub fn lose(&self, name: &str) {
        self.state.lock().blobs.remove(name);
    }

    fn call<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut BTreeMap<String, Arc<[u8]>>) -> Result<T>,
    ) -> Result<T> {
        let mut state = self.state.lock();
        let number = state.calls;
        state.calls += 1;
        let failed = || Error::io("reach", format!("memory/{name}"), io::ErrorKind::ConnectionReset.into());
        if state.is_dead {
            return Err(failed());
        }
        match state.fault.filter(|(at, _)| *at == number).map(|(_, fault)| fault) {
            None => work(&mut state.blobs),
            Some(fault) => {
                state.is_dead = matches!(fault, BlobFault::Dead | BlobFault::LastBreath);
                if matches!(fault, BlobFault::AnswerLost | BlobFault::LastBreath) {
                    let _ = work(&mut state.blobs);
                }
                Err(failed())
            }
        }
    }
}

impl Blobs for MemoryBlobs {
    fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> Result<bool> {
        check_name(self.place(), name)?;
        self.call(name, |blobs| {
            if blobs.contains_key(name) {
                return Ok(false);
            }
            blobs.insert(name.to_owned(), bytes.into());
            Ok(true)
        })
    }

    fn get_if(&self, name: &str, admits: &mut dyn FnMut(u64) -> Result<()>) -> Result<Vec<u8>> {
        check_name(self.place(), name)?;
        self.call(name, |blobs| {
            let missing = || Error::io("open", format!("memory/{name}"), io::ErrorKind::NotFound.into());
            let blob = blobs.get(name).ok_or_else(missing)?;
            admits(blob.len() as u64)?;
            Ok(blob.to_vec())
        })
    }

    fn list(&self, folder: &str) -> Result<Vec<Blob>> {
        self.call(folder, |blobs| {
            let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let found = blobs.iter().filter(|(name, _)| name.starts_with(&prefix));
            Ok(found.map(|(name, blob)| Blob { name: name.clone(), bytes: blob.len() as u64 }).collect())
        })
    }

    fn delete(&self, name: &str) -> Result<()> {
        check_name(self.place(), name)?;
        self.call(name, |blobs| {
            blobs.remove(name);
            Ok(())
        })
    }

    fn place(&self) -> &str {
        "memory"
    }
}
