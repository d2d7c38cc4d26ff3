//! Documents of the node that a query may name: "what is in that document?"

use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use serde_json::{Map, Value};

/// Which document is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentName {
    /// The name of its index.
    pub index: String,
    /// Its `_id`.
    pub id: String,
    /// The routing that it was indexed with, where it has one.
    pub routing: Option<String>,
    /// The only version that is wanted; `None`: any.
    pub version: Option<u64>,
}

/// A document as its index holds it.
#[derive(Debug, Clone)]
pub struct NamedDocument {
    /// Its JSON; empty where the index keeps none.
    pub source: Vec<u8>,
    /// That of its index.
    pub mapping: Arc<Mapping>,
}

/// Documents that query rules name: objects of `_id`, and `_index` where that is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuledDocuments {
    /// Those that come first, in this order.
    pub pinned: Vec<Value>,
    /// Those that are not found.
    pub excluded: Vec<Value>,
}

/// The documents of a node, which queries may name.
pub trait NamedDocuments: Send + Sync {
    /// The newest version of a document; `None`: it is not there.
    ///
    /// # Errors
    /// Those of a get: an index that is not there, a routing that is missing, another version.
    fn read(&self, name: &DocumentName) -> Result<Option<NamedDocument>, RequestError>;

    /// What the query rules of these sets pin and leave out, where a search says this of itself.
    ///
    /// # Errors
    /// There is no such set.
    fn ruled(&self, sets: &[String], said: &Map<String, Value>) -> Result<RuledDocuments, RequestError>;
}
