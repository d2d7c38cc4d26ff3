//! Documents of `more_like_this` queries that are in an index: read when the search begins, and their terms put beside their names.
//!
//! Source: Elasticsearch's `MoreLikeThisQueryBuilder#handleItems`, which asks for term vectors.

use limber_mapping::RequestError;
use limber_search::{LikeLookup, TermCounts, found_of};
use serde_json::{Map, Value};

use super::Node;
use super::lookups::{DocumentsRead, each_member};
use crate::api::*;

impl Node {
    /// Adds the terms of documents to the members of `like` and `unlike` that name one. Those that are not there are left alone.
    ///
    /// # Errors
    /// As of [`LikeLookup::of`]; `routing_missing_exception`; more documents, or larger ones, than a request may read.
    pub(super) fn resolve_like_lookups(&self, body: &mut Value, indices: Option<&str>) -> Result<()> {
        let mut read = DocumentsRead::of("more_like_this");
        each_member(body, "more_like_this", &mut |query: &mut Value| {
            let fields = query.get("fields").and_then(Value::as_array).map(|names| {
                names.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<String>>()
            });
            for name in ["like", "unlike"] {
                let Some(examples) = query.get_mut(name) else { continue };
                let items: &mut [Value] = match examples {
                    Value::Array(items) => items,
                    one => std::slice::from_mut(one),
                };
                for item in items {
                    if let Some(lookup) = LikeLookup::of(item, fields.as_deref())?
                        && let Value::Object(members) = item
                    {
                        self.put_counts(&lookup, members, indices, &mut read)?;
                    }
                }
            }
            Ok(())
        })
    }

    fn put_counts(
        &self,
        lookup: &LikeLookup,
        members: &mut Map<String, Value>,
        indices: Option<&str>,
        read: &mut DocumentsRead,
    ) -> Result<()> {
        let names: Vec<String> = match (&lookup.index, indices) {
            (Some(index), _) => vec![index.clone()],
            (None, Some(expression)) => {
                let found = self.catalog.load().resolve(expression, IndicesOptions::SEARCH);
                // What is wrong with the names is told by the search itself.
                found.unwrap_or_default().iter().map(|index| index.name.to_string()).collect()
            }
            (None, None) => {
                return Err(RequestError::unsupported(
                    "a document without [_index] in [more_like_this] where the indices are not in the request",
                ));
            }
        };
        for name in names {
            if let Some(terms) = self.terms_of_document(&name, lookup, read)? {
                found_of(members).insert(name, terms);
            }
        }
        Ok(())
    }

    /// `None`: there is no such document, or none that has sources.
    fn terms_of_document(
        &self,
        index: &str,
        lookup: &LikeLookup,
        read: &mut DocumentsRead,
    ) -> Result<Option<Value>> {
        read.count()?;
        let request = GetRequest {
            routing: lookup.routing.as_deref(),
            version: lookup.version,
            ..GetRequest::new(index, &lookup.id)
        };
        let document = match self.get(&request) {
            Ok(response) => response.found,
            Err(error) if error.kind == "routing_missing_exception" => return Err(error),
            Err(_) => None,
        };
        let Some(document) = document.filter(|document| !document.source.is_empty()) else { return Ok(None) };
        read.weigh(document.source.len())?;
        let (metadata, _) = self.catalog.load().single(index)?;
        let mapping = self.live(&metadata)?.core.mapping.load_full();
        let fields = lookup.fields.as_deref();
        let counts = TermCounts::of(&mapping, &document.source, fields, &lookup.analyzers);
        Ok(counts.ok().map(|counts| counts.to_json()))
    }
}
