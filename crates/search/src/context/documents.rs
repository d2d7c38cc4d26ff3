//! Documents of the node that a query may name: "what does that document contain?"

use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use serde_json::{Map, Value};

/// Names a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentName {
    /// The name of its index.
    pub index: String,
    /// Its `_id`.
    pub id: String,
    /// The routing that it was indexed with, if any.
    pub routing: Option<String>,
    /// The only acceptable version; `None` accepts any.
    pub version: Option<u64>,
}

/// A document as its index stores it.
#[derive(Debug, Clone)]
pub struct NamedDocument {
    /// Its JSON; empty if the index stores none.
    pub source: Vec<u8>,
    /// The mapping of its index.
    pub mapping: Arc<Mapping>,
}

/// Documents that query rules name: objects with `_id` and, where given, `_index`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuledDocuments {
    /// Documents that come first, in this order.
    pub pinned: Vec<Value>,
    /// Documents that are not found.
    pub excluded: Vec<Value>,
}

/// The documents of a node, which queries may name.
pub trait NamedDocuments: Send + Sync {
    /// Returns the newest version of a document; `None` if it does not exist.
    ///
    /// # Errors
    /// Those of a get: the index does not exist, the routing is missing, or the version differs.
    fn read(&self, name: &DocumentName) -> Result<Option<NamedDocument>, RequestError>;

    /// Returns the documents of indices that match a query, at most as many as a search of them may show.
    /// `path` is the only part of their sources that is read.
    ///
    /// # Errors
    /// Those of a search. The index does not exist, the query is wrong, or not all of its shards answered.
    fn find(&self, index: &str, query: &Value, path: &str) -> Result<Vec<NamedDocument>, RequestError>;

    /// Runs a search and returns the `fields` of its hits. `lookup_depth`: how many lookup fields the search
    /// is made for, one within another.
    ///
    /// # Errors
    /// Those of a search. The index does not exist, the body is wrong, or not all of its shards answered.
    fn fields_of(&self, index: &str, body: &Value, lookup_depth: u32) -> Result<Vec<Value>, RequestError>;

    /// Returns the documents that the query rules of these sets pin and exclude for a search with
    /// `match_criteria`.
    ///
    /// # Errors
    /// One of the sets does not exist.
    fn apply_rules(
        &self,
        sets: &[String],
        match_criteria: &Map<String, Value>,
    ) -> Result<RuledDocuments, RequestError>;

    /// Returns the other names that an index can be searched by: those of its aliases and of its data stream.
    fn other_names(&self, index: &str) -> Vec<String>;
}
