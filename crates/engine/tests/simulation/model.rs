//! What the outside may expect: for each document every state that it may be in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use limber_store::repository::MemoryBlobs;
use serde_json::Value;

use crate::archive::Expected;
use crate::registry;

/// Sequence number, version and primary term of an acknowledged write.
pub type Written = (u64, u64, u64);

/// One state of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// `None`: it is not there.
    pub source: Option<Value>,
    /// Known once the write was acknowledged.
    pub written: Option<Written>,
}

/// A document: all states that it may be in. One, when the last write was acknowledged and is durable.
#[derive(Debug, Clone)]
pub struct Document {
    pub allowed: Vec<State>,
    /// Counts writes, begun and ended.
    pub changes: u64,
}

impl Default for Document {
    fn default() -> Document {
        Document { allowed: vec![State { source: None, written: None }], changes: 0 }
    }
}

pub type Key = (String, String);

#[derive(Default)]
pub struct Model {
    known: Mutex<Known>,
}

#[derive(Default)]
pub struct Known {
    pub documents: BTreeMap<Key, Document>,
    /// Whether an index is there: all possibilities.
    pub indices: BTreeMap<String, Vec<bool>>,
    /// Sources of writes whose id was never told.
    pub anonymous: BTreeSet<String>,
    /// What the alias may point to.
    pub alias: Vec<String>,
    /// Of indices with one shard: the write that got a sequence number.
    pub sequence_numbers: BTreeMap<(String, u64), String>,
    pub acknowledged: u64,
    /// The repository: whatever happens to the node, it stays.
    pub blobs: MemoryBlobs,
    /// Snapshots that were acknowledged, and what each holds.
    pub snapshots: Vec<(String, Expected)>,
    pub snapshots_taken: u64,
    pub restores_done: u64,
    /// What the index that was restored last holds, if it is there.
    pub restored: Expected,
    /// What the index that was copied last holds, if it is there.
    pub copied: Expected,
    pub copies_done: u64,
    /// Users, pipelines and scripts: the numbers that each may have, `None` where it may be missing.
    pub registry: BTreeMap<registry::Entry, Vec<Option<u64>>>,
    last_number: u64,
}

impl Model {
    pub fn with<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// A number that no write had before.
    pub fn next_number(&self) -> u64 {
        self.with(|known| {
            known.last_number += 1;
            known.last_number
        })
    }

    /// A write begins: from now on its outcome may be seen.
    pub fn begin(&self, key: &Key, source: Option<Value>) {
        self.with(|known| {
            let document = known.documents.entry(key.clone()).or_default();
            document.allowed.push(State { source, written: None });
            document.changes += 1;
        });
    }

    /// It was acknowledged, and is durable when `is_promised`. `Err`: its sequence number belongs to another
    /// write.
    pub fn acknowledge(
        &self,
        key: &Key,
        source: Option<Value>,
        written: Written,
        is_promised: bool,
        has_one_shard: bool,
    ) -> Result<(), String> {
        self.with(|known| {
            known.acknowledged += 1;
            let document = known.documents.entry(key.clone()).or_default();
            let label = format!("{key:?} {source:?}");
            let state = State { source, written: Some(written) };
            if is_promised {
                document.allowed = vec![state];
            } else {
                document.allowed.push(state);
            }
            document.changes += 1;
            if !has_one_shard || !is_promised {
                return Ok(());
            }
            match known.sequence_numbers.insert((key.0.clone(), written.0), label.clone()) {
                Some(other) if other != label => {
                    Err(format!("sequence number {} of {} went to {other} and {label}", written.0, key.0))
                }
                _ => Ok(()),
            }
        })
    }

    /// What was acknowledged without a promise may have been lost: it cannot become one any more.
    pub fn forget_acknowledgements(&self, index: &str) {
        self.with(|known| {
            let unsure =
                |(key, document): &(&Key, &mut Document)| key.0 == index && document.allowed.len() > 1;
            for (_, document) in known.documents.iter_mut().filter(unsure) {
                document.allowed.iter_mut().for_each(|state| state.written = None);
            }
        });
    }

    /// Everything acknowledged in the index so far is durable.
    pub fn settle(&self, index: &str) {
        self.with(|known| {
            for (_, document) in known.documents.iter_mut().filter(|(key, _)| key.0 == index) {
                // The last acknowledged write, and what was begun after it.
                if let Some(last) = document.allowed.iter().rposition(|state| state.written.is_some()) {
                    document.allowed.drain(..last);
                }
            }
        });
    }

    /// An index is deleted or made anew, for certain or perhaps.
    pub fn set_index(&self, index: &str, is_there: bool, is_certain: bool) {
        self.with(|known| {
            let states = known.indices.entry(index.to_owned()).or_insert_with(|| vec![false]);
            if is_certain {
                *states = vec![is_there];
            } else {
                states.push(is_there);
            }
            let none = State { source: None, written: None };
            for (_, document) in known.documents.iter_mut().filter(|(key, _)| key.0 == index) {
                document.changes += 1;
                if is_certain {
                    document.allowed = vec![none.clone()];
                } else {
                    document.allowed.push(none.clone());
                }
            }
            known.sequence_numbers.retain(|(name, _), _| name != index);
        });
    }

    pub fn document(&self, key: &Key) -> Document {
        self.with(|known| known.documents.get(key).cloned().unwrap_or_default())
    }

    /// Why a document may not be as it was found.
    pub fn objection(&self, key: &Key, found: &State) -> Option<String> {
        objection(&self.document(key), key, found)
    }
}

/// Why a document may not be as it was found. What was found without its sequence number is compared without
/// it.
pub fn objection(document: &Document, key: &Key, found: &State) -> Option<String> {
    let is_allowed = document.allowed.iter().any(|state| {
        state.source == found.source
            && (state.written.is_none() || found.written.is_none() || state.written == found.written)
    });
    (!is_allowed).then(|| format!("{key:?} is {found:?}, allowed are {:?}", document.allowed))
}
