//! Documents that a query names instead of saying what they hold: "what is in that document?"
//!
//! A query that names one keeps a [`Lookup`] and asks [`Binder::look_up`] when it is bound. Every way of
//! running a query binds it, so that none can forget to look up, and what was found is kept with the parsed
//! query, so that all shards of a request see the same.
//!
//! Source: Elasticsearch's `QueryBuilder#doRewrite`, which reads such documents before the shards are asked.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::sync::Mutex;
use limber_work as work;
use serde_json::Value;

use super::bind::Binder;
use crate::context::documents::{DocumentName, NamedDocument};
use crate::error::{Error, check_request};

/// What a query keeps of the documents that it names, by index.
#[derive(Debug)]
pub(crate) struct Lookup<F>(Mutex<Vec<(String, Arc<F>)>>);

impl<F> Default for Lookup<F> {
    fn default() -> Lookup<F> {
        Lookup(Mutex::new(Vec::new()))
    }
}

/// What a byte of JSON takes as a tree, about: a number of two digits and its comma become 72 bytes.
const TREE_BYTES_A_BYTE: u64 = 24;

impl Binder<'_> {
    /// What `read` finds in the document of this name, which is read once a request. `what`: the part of the
    /// query that names it.
    ///
    /// # Errors
    /// Those of `read`, which are the request's and not the shard's; queries that are kept name no documents.
    pub(crate) fn look_up<F>(
        &self,
        lookup: &Lookup<F>,
        what: &str,
        name: &DocumentName,
        read: impl FnOnce(Result<Option<NamedDocument>, RequestError>) -> Result<F, RequestError>,
    ) -> Result<Arc<F>, Error> {
        // Held while the document is read: the other shards wait for it.
        let mut known = lookup.0.lock();
        if let Some((_, found)) = known.iter().find(|(index, _)| *index == name.index) {
            return Ok(found.clone());
        }
        let Some(documents) = &self.shard().documents else {
            return Err(Error::Lookup(RequestError::unsupported(format_args!("{what} here"))));
        };
        check_request()?;
        let document = documents.read(name);
        if let Ok(Some(document)) = &document {
            work::claim(document.source.len() as u64 * TREE_BYTES_A_BYTE)?;
        }
        let found = Arc::new(read(document).map_err(Error::Lookup)?);
        known.push((name.index.clone(), found.clone()));
        check_request()?;
        Ok(found)
    }
}

/// A document as JSON.
pub(super) fn tree(document: &NamedDocument) -> Result<Value, RequestError> {
    serde_json::from_slice(&document.source)
        .map_err(|error| RequestError::internal("exception", error.to_string()))
}
