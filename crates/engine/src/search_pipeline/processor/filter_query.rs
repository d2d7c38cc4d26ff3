//! `filter_query`: "show only documents that also match this query". Source: OpenSearch's
//! `FilterQueryRequestProcessor`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::SearchRequest;
use limber_search::query::Query;
use limber_search::request::read_query;
use serde_json::Value;

use super::ChangesRequest;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::verbose::ShownBody;

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

    fn show(&self, _: &SearchRequest, shown: &mut ShownBody) {
        let filter = &self.shown;
        let query = match shown.take("query") {
            Some(query) => format!("{{\"bool\":{{\"must\":[{query}],\"filter\":[{filter}]}}}}"),
            None => format!("{{\"bool\":{{\"filter\":[{filter}]}}}}"),
        };
        shown.set("query", query);
    }
}
