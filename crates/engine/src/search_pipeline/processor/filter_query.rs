//! `filter_query`: "show only documents that also match this query". Source: OpenSearch's
//! `FilterQueryRequestProcessor`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::SearchRequest;
use limber_search::query::Query;
use limber_search::request::read_query;
use serde_json::{Map, Value, json};

use super::ChangesRequest;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;

struct FilterQuery {
    query: Query,
    /// The query as the pipeline has it.
    shown: Value,
}

/// Compiles the processor. Option: `query`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    match options.optional_map("query")? {
        Some(query) => {
            let shown = Value::Object(query);
            Ok(Box::new(FilterQuery { query: read_query(&shown)?, shown }))
        }
        None => Err(RequestError::illegal_argument(
            "Did not specify the query property in processor of type filter_query",
        )),
    }
}

impl ChangesRequest for FilterQuery {
    fn change(&self, request: &mut SearchRequest, _: &mut PipelineRun) -> Result<()> {
        request.narrow(self.query.clone())
    }

    fn show(&self, _: &SearchRequest, shown: &mut Map<String, Value>) {
        let mut parts = Map::new();
        if let Some(query) = shown.shift_remove("query") {
            parts.insert("must".to_owned(), json!([query]));
        }
        parts.insert("filter".to_owned(), json!([self.shown]));
        shown.insert("query".to_owned(), json!({ "bool": parts }));
    }
}
