//! What the processors of one search share, and the memory for what they add to its response.

use std::collections::HashMap;

use limber_search::{SearchHit, SearchResponse};
use limber_store::Charge;
use limber_work as work;
use serde_json::{Map, Value};

use super::verbose::{Verbose, shown};
use crate::api::Result;
use crate::shard::store_error;

/// One search in a pipeline.
pub(crate) struct PipelineRun {
    /// `original_size`, by the prefix of the processor that set it.
    sizes: HashMap<String, u32>,
    /// Routing values of the search, separated by commas.
    routing: Option<String>,
    charge: Charge,
    /// What a verbose pipeline shows; `None` if the pipeline is not verbose.
    verbose: Option<Verbose>,
}

/// Returns the key under which processors with this `context_prefix` share a size.
pub(super) fn size_key(prefix: Option<&str>) -> String {
    match prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}.original_size"),
        _ => "original_size".to_owned(),
    }
}

impl PipelineRun {
    /// Begins a run of a search with this routing. `charge` is an empty charge of the `request` circuit
    /// breaker.
    pub(crate) fn new(charge: Charge, routing: Option<&str>) -> PipelineRun {
        PipelineRun { sizes: HashMap::new(), routing: routing.map(str::to_owned), charge, verbose: None }
    }

    /// Returns the routing that the search has after the processors of requests.
    pub(crate) fn routing(&self) -> Option<&str> {
        self.routing.as_deref()
    }

    pub(super) fn has_routing(&self) -> bool {
        self.routing.as_ref().is_some_and(|routing| !routing.is_empty())
    }

    pub(super) fn set_routing(&mut self, values: impl IntoIterator<Item = String>) {
        self.routing = Some(values.into_iter().collect::<Vec<_>>().join(","));
    }

    /// Begins to note what the processors do. `body` is the search as the user sent it.
    pub(crate) fn be_verbose(&mut self, body: &Value) -> Result<()> {
        self.verbose = Some(Verbose::new(body)?);
        Ok(())
    }

    pub(super) fn verbose(&mut self) -> Option<&mut Verbose> {
        self.verbose.as_mut()
    }

    /// Returns the search that a verbose pipeline shows as the input of the next processor, as JSON.
    pub(super) fn shown_body(&self) -> Result<Option<String>> {
        self.verbose.as_ref().map(|verbose| verbose.body().json()).transpose()
    }

    /// Returns the hits as a verbose pipeline shows them, as JSON.
    pub(super) fn shown_hits(&self, response: &SearchResponse) -> Result<Option<String>> {
        self.verbose.as_ref().map(|_| shown(&response.hits)).transpose()
    }

    pub(super) fn keep_size(&mut self, key: &str, size: u32) {
        self.sizes.insert(key.to_owned(), size);
    }

    pub(super) fn size(&self, key: &str) -> Option<u32> {
        self.sizes.get(key).copied()
    }

    /// Returns the charge for what was added, which must be held as long as the response, and what a verbose
    /// pipeline shows, as JSON.
    pub(super) fn finish(self) -> Result<(Charge, Option<String>)> {
        Ok((self.charge, self.verbose.map(Verbose::into_results).transpose()?))
    }

    fn grow(&mut self, before: usize, after: usize) -> Result<()> {
        let more = after.saturating_sub(before) as u64;
        self.charge.grow(more, "<search pipeline>").map_err(|error| store_error(&error))
    }

    /// Calls `change` for what each hit shows: first its `fields`, then its source.
    pub(super) fn each_hit(
        &mut self,
        response: &mut SearchResponse,
        mut change: impl FnMut(&SearchHit, Shown<'_>) -> Result<()>,
        mut finish: impl FnMut(&SearchHit) -> Result<()>,
    ) -> Result<()> {
        for hit in &mut response.hits {
            work::check()?;
            if let Some(mut fields) = hit.fields.take() {
                if let Value::Object(members) = &mut *fields {
                    let before = size_of(members);
                    change(hit, Shown::Fields(members))?;
                    self.grow(before, size_of(members))?;
                }
                hit.fields = Some(fields);
            }
            if let Some(source) = hit.source.take() {
                hit.source = Some(self.source(hit, source, &mut change)?);
            }
            finish(hit)?;
        }
        Ok(())
    }

    fn source(
        &mut self,
        hit: &SearchHit,
        source: Vec<u8>,
        change: &mut impl FnMut(&SearchHit, Shown<'_>) -> Result<()>,
    ) -> Result<Vec<u8>> {
        limber_mapping::claim_parsed(&source)?;
        let Ok(Value::Object(mut members)) = limber_mapping::parse_source(&source) else { return Ok(source) };
        change(hit, Shown::Source(&mut members))?;
        // The text grows by doubling.
        work::claim(2 * size_of(&members) as u64)?;
        // Serializing a JSON tree cannot fail.
        let changed = serde_json::to_vec(&members).unwrap_or_default();
        self.grow(source.len(), changed.len())?;
        Ok(changed)
    }
}

/// What a hit shows of its document.
pub(super) enum Shown<'m> {
    /// `fields`: arrays of values by field.
    Fields(&'m mut Map<String, Value>),
    /// The members of `_source`.
    Source(&'m mut Map<String, Value>),
}

/// Estimates the length of the members as text.
fn size_of(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| name.len() + text_bytes(value)).sum()
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| text_bytes(item) + 1).sum(),
        Value::Object(members) => size_of(members),
        _ => 8,
    }
}
