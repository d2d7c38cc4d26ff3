//! The expectations from outside: every state that each document may be in.

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
    /// `None` when the document is missing.
    pub source: Option<Value>,
    /// Known once the write was acknowledged.
    pub written: Option<Written>,
}

/// All states that a document may be in. There is only one when the last write was acknowledged and is
/// durable.
#[derive(Debug, Clone)]
pub struct Document {
    pub allowed: Vec<State>,
    /// Counts beginnings and ends of writes.
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
    /// Whether each index exists: all possibilities.
    pub indices: BTreeMap<String, Vec<bool>>,
    /// Sources of writes whose id was never returned.
    pub anonymous: BTreeSet<String>,
    /// The indices that the alias may be on.
    pub alias: Vec<String>,
    /// For indices with one shard: the write that has each sequence number.
    pub sequence_numbers: BTreeMap<(String, u64), String>,
    pub acknowledged: u64,
    /// The repository, which is not affected by what happens to the node.
    pub blobs: MemoryBlobs,
    /// Snapshots that were acknowledged, and what each contains.
    pub snapshots: Vec<(String, Expected)>,
    pub snapshots_taken: u64,
    pub restores_done: u64,
    /// The content of the index that was restored last, if it exists.
    pub restored: Expected,
    /// The content of the index that was copied last, if it exists.
    pub copied: Expected,
    pub copies_done: u64,
    /// Users, pipelines and scripts: the numbers that each may have; `None` where it may be missing.
    pub registry: BTreeMap<registry::Entry, Vec<Option<u64>>>,
    /// Fields that were mapped in the index that is closed and opened again.
    pub latch_fields: BTreeSet<String>,
    last_number: u64,
}

impl Model {
    pub fn with<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Returns a number that no write had before.
    pub fn next_number(&self) -> u64 {
        self.with(|known| {
            known.last_number += 1;
            known.last_number
        })
    }

    /// Records that a write begins. From now on its effect may be visible.
    pub fn begin(&self, key: &Key, source: Option<Value>) {
        self.with(|known| {
            let document = known.documents.entry(key.clone()).or_default();
            document.allowed.push(State { source, written: None });
            document.changes += 1;
        });
    }

    /// Records that a write was acknowledged, and is durable if `is_promised`. Returns `Err` if its sequence
    /// number belongs to another write.
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

    /// Records that acknowledged writes that need not be durable may have been lost.
    pub fn forget_acknowledgements(&self, index: &str) {
        self.with(|known| {
            let unsure =
                |(key, document): &(&Key, &mut Document)| key.0 == index && document.allowed.len() > 1;
            for (_, document) in known.documents.iter_mut().filter(unsure) {
                document.allowed.iter_mut().for_each(|state| state.written = None);
            }
        });
    }

    /// Records that everything acknowledged in the index so far is durable.
    pub fn settle(&self, index: &str) {
        self.with(|known| {
            for (_, document) in known.documents.iter_mut().filter(|(key, _)| key.0 == index) {
                // Keeps the last acknowledged write and what was begun after it.
                if let Some(last) = document.allowed.iter().rposition(|state| state.written.is_some()) {
                    document.allowed.drain(..last);
                }
            }
        });
    }

    /// Records that an index is deleted or recreated, certainly or possibly.
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

    /// Returns why a document must not be as it was found.
    pub fn objection(&self, key: &Key, found: &State) -> Option<String> {
        objection(&self.document(key), key, found)
    }
}

/// Returns why a document must not be as it was found. If its sequence number is unknown, that is not
/// compared.
pub fn objection(document: &Document, key: &Key, found: &State) -> Option<String> {
    let is_allowed = document.allowed.iter().any(|state| {
        state.source == found.source
            && (state.written.is_none() || found.written.is_none() || state.written == found.written)
    });
    (!is_allowed).then(|| format!("{key:?} is {found:?}, allowed are {:?}", document.allowed))
}
