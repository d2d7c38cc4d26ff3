//! Packs documents into bulk requests of bounded size.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use anyhow::Result;

use super::sink::Sink;

/// A request is sent when it has this many bytes or operations.
const BULK_BYTES: usize = 4 << 20;
const BULK_OPERATIONS: usize = 5_000;

/// The origin of an operation, for messages and for resuming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Origin {
    /// Index of the file or Elasticsearch index, from 0.
    pub unit: u32,
    /// Number of its document or line, from 1.
    pub record: u64,
}

/// One bulk request.
#[derive(Debug, Default)]
pub struct Batch {
    pub body: Vec<u8>,
    /// The end of each operation within the body, and its origin.
    pub operations: Vec<(usize, Origin)>,
    /// The documents that other requests may contain too ([`key_of`]).
    pub keys: HashSet<u64>,
}

impl Batch {
    /// Returns the lines of an operation.
    pub fn lines_of(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.operations[before].0);
        &self.body[start..self.operations[number].0]
    }

    /// Adds the lines of one document, with its origin.
    pub fn push(&mut self, lines: &[u8], origin: Origin) {
        self.body.extend_from_slice(lines);
        self.operations.push((self.body.len(), origin));
    }
}

/// Fills requests and submits them.
pub struct Packer {
    sink: Arc<Sink>,
    batch: Batch,
}

impl Packer {
    /// Creates a packer for this sink.
    pub fn new(sink: Arc<Sink>) -> Packer {
        Packer { sink, batch: Batch::default() }
    }

    /// Adds an action line, and its document if there is one, both without a line break. Operations with the
    /// same `key` are carried out in the order in which they are added.
    ///
    /// # Errors
    /// The import has failed as a whole.
    pub fn add(
        &mut self,
        action: &[u8],
        document: Option<&[u8]>,
        origin: Origin,
        key: Option<u64>,
    ) -> Result<()> {
        self.batch.keys.extend(key);
        let body = &mut self.batch.body;
        body.extend_from_slice(action);
        body.push(b'\n');
        if let Some(document) = document {
            body.extend_from_slice(document);
            body.push(b'\n');
        }
        self.batch.operations.push((body.len(), origin));
        if body.len() >= BULK_BYTES || self.batch.operations.len() >= BULK_OPERATIONS {
            self.flush()?;
        }
        Ok(())
    }

    /// Submits what has been packed.
    ///
    /// # Errors
    /// As [`Packer::add`].
    pub fn flush(&mut self) -> Result<()> {
        if self.batch.operations.is_empty() {
            return Ok(());
        }
        let capacity = self.batch.body.capacity().min(2 * BULK_BYTES);
        let next = Batch { body: Vec::with_capacity(capacity), ..Batch::default() };
        self.sink.submit(std::mem::replace(&mut self.batch, next))
    }
}

/// Returns the key of a document that may come several times.
pub fn key_of(index: &str, id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (index, id).hash(&mut hasher);
    hasher.finish()
}

/// Returns the action line of a document: `{"create": {"_index": …, "_id": …, "routing": …}}`.
pub fn action(operation: &str, index: &str, id: Option<&str>, routing: Option<&str>) -> Vec<u8> {
    let mut line = format!("{{\"{operation}\":{{\"_index\":{}", serde_json::Value::from(index));
    for (key, value) in [("_id", id), ("routing", routing)] {
        if let Some(value) = value {
            line.push_str(&format!(",\"{key}\":{}", serde_json::Value::from(value)));
        }
    }
    line.push_str("}}");
    line.into_bytes()
}
