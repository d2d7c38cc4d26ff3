//! Documents that a query refers to by name, such as the terms of a `terms` lookup.
//!
//! Such a query has a [`Lookup`] and calls [`Binder::look_up`] when it is bound. Every way of running a query
//! binds it, so the lookup cannot be forgotten. The result is kept with the parsed query, so that all shards
//! of a request use the same.
//!
//! Source: Elasticsearch's `QueryBuilder#doRewrite`, which reads such documents before shards are searched.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_store::sync::Mutex;
use serde_json::Value;

use super::bind::Binder;
use crate::context::documents::{DocumentName, NamedDocument, NamedDocuments};
use crate::error::{Error, check_request};

/// What a query has read from the documents that it refers to, by index.
#[derive(Debug)]
pub(crate) struct Lookup<F>(Mutex<Vec<(String, Arc<F>)>>);

impl<F> Default for Lookup<F> {
    fn default() -> Lookup<F> {
        Lookup(Mutex::new(Vec::new()))
    }
}

impl Binder<'_> {
    /// Returns what `read` finds in the document of this name, which is read once per request. `what` is the
    /// part of the query that names the document.
    ///
    /// # Errors
    /// Those of `read`, which are errors of the request and not of the shard. Stored queries must not refer
    /// to documents.
    pub(crate) fn look_up<F>(
        &self,
        lookup: &Lookup<F>,
        what: &str,
        name: &DocumentName,
        read: impl FnOnce(Result<Option<NamedDocument>, RequestError>) -> Result<F, RequestError>,
    ) -> Result<Arc<F>, Error> {
        self.once(lookup, what, &name.index, |documents| {
            let document = documents.read(name);
            if let Ok(Some(document)) = &document {
                limber_mapping::claim_parsed(&document.source)?;
            }
            read(document).map_err(Error::Lookup)
        })
    }

    /// Returns what `read` finds in the documents of `index` that match a query, which are searched for once
    /// per request. Only `path` of their sources is read.
    ///
    /// # Errors
    /// As those of [`Self::look_up`].
    pub(crate) fn look_up_matches<F>(
        &self,
        lookup: &Lookup<F>,
        what: &str,
        index: &str,
        query: &Value,
        path: &str,
        read: impl FnOnce(Vec<NamedDocument>) -> Result<F, RequestError>,
    ) -> Result<Arc<F>, Error> {
        self.once(lookup, what, index, |documents| {
            let found = documents.find(index, query, path).map_err(Error::Lookup)?;
            for document in &found {
                limber_mapping::claim_parsed(&document.source)?;
            }
            read(found).map_err(Error::Lookup)
        })
    }

    /// Returns the result for this index that is kept, or else keeps that of `read`.
    fn once<F>(
        &self,
        lookup: &Lookup<F>,
        what: &str,
        index: &str,
        read: impl FnOnce(&dyn NamedDocuments) -> Result<F, Error>,
    ) -> Result<Arc<F>, Error> {
        // The lock is held while documents are read, so that the other shards wait for the result.
        let mut known = lookup.0.lock();
        if let Some((_, found)) = known.iter().find(|(known, _)| known == index) {
            return Ok(found.clone());
        }
        let Some(documents) = &self.shard().documents else {
            return Err(Error::Lookup(RequestError::unsupported(format_args!("{what} here"))));
        };
        check_request()?;
        let found = Arc::new(read(&**documents)?);
        known.push((index.to_owned(), found.clone()));
        check_request()?;
        Ok(found)
    }
}

/// Parses the source of a document.
pub(super) fn tree(document: &NamedDocument) -> Result<Value, RequestError> {
    limber_mapping::claim_parsed(&document.source)?;
    limber_mapping::parse_source(&document.source)
        .map_err(|error| RequestError::internal("exception", error.to_string()))
}
