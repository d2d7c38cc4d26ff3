//! `search` with the parameter sources of Rally's track geonames: tens of thousands of names in one `terms` query.
//!
//! The names are the lines of `terms.txt` in the track's folder. A number that changes from request to request ends the list, so that
//! no cache knows the request. As in the track, the search goes to `/_search`, whatever index the operation names. The track has
//! the sources in Python (`track.py`); these are the same requests without it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::contract::{Answer, Operation, Outcome, Plan, Runner, plain};
use super::search::took;
use crate::drive::exchange::Exchange;
use crate::drive::http::{Method, Request};
use crate::drive::throttle::Random;

/// The query around a `terms` query.
type QueryAround = fn(Value) -> Value;

/// Parameter sources and the query around the terms; the inner `terms` stands where [`TERMS`] is.
const SOURCES: [(&str, QueryAround); 3] = [
    ("pure-terms-query-source", |terms| terms),
    (
        "filtered-terms-query-source",
        |terms| json!({ "bool": { "must": [{ "term": { "feature_class.raw": "T" } }], "filter": [terms] } }),
    ),
    (
        "prohibited-terms-query-source",
        |terms| json!({ "bool": { "must": [{ "term": { "feature_class.raw": "A" } }], "must_not": [terms] } }),
    ),
];

/// The last, changing term is one of 1 to this.
const LAST_TERM_MAX: u64 = 100;

const TERMS_FILE: &str = "terms.txt";

/// Stands for the last term in the request's template; no line of a file holds it.
const LAST_TERM: &str = "\n";

pub fn is_source(name: &str) -> bool {
    SOURCES.iter().any(|(source, _)| *source == name)
}

pub fn plan(plan: &Plan<'_>, source: &str) -> Result<Box<dyn Operation>, String> {
    let (_, query_around) = SOURCES
        .iter()
        .find(|(name, _)| *name == source)
        .ok_or_else(|| format!("unknown source [{source}]"))?;
    let root = plan.track.root.as_ref().ok_or("the parameter source needs a track in a folder")?;
    let text = std::fs::read_to_string(root.join(TERMS_FILE)).map_err(|error| {
        format!("the parameter source [{source}] needs the track's file [{TERMS_FILE}]: {error}")
    })?;
    let terms: Vec<&str> = text.lines().map(str::trim).chain([LAST_TERM]).collect();
    let body = json!({ "query": query_around(json!({ "terms": { "name.raw": terms } })) }).to_string();
    let (head, tail) =
        body.split_once(&Value::from(LAST_TERM).to_string()).expect("the list ends with the placeholder");
    let mut builder = plan.with_request_params(plan.request(Method::Get, "/_search")?)?;
    if let Some(cache) = plan.param("cache").filter(|cache| !cache.is_null()) {
        builder = builder.query("request_cache", &plain(cache).to_lowercase());
    }
    let request = builder.header("content-type", &plan.protocol.content_json).enough_when(|_| true).build();
    Ok(Box::new(TermsSearches(Arc::new(TermsSearch {
        head: head.to_owned(),
        tail: tail.to_owned(),
        request,
        timeout: plan.timeout()?,
    }))))
}

struct TermsSearch {
    /// The body before and after the last term.
    head: String,
    tail: String,
    /// Without its body.
    request: Request,
    timeout: Option<Duration>,
}

struct TermsSearches(Arc<TermsSearch>);

impl Operation for TermsSearches {
    fn runners(&self, clients: &[u32], _clients_total: u32) -> Result<Vec<Box<dyn Runner>>, String> {
        let runner = |client: &u32| -> Box<dyn Runner> {
            let search = Arc::clone(&self.0);
            let request = search.request.clone();
            Box::new(TermsRunner { search, request, random: Random::new(u64::from(*client)) })
        };
        Ok(clients.iter().map(runner).collect())
    }
}

struct TermsRunner {
    search: Arc<TermsSearch>,
    /// The next request.
    request: Request,
    random: Random,
}

impl Runner for TermsRunner {
    fn prepare(&mut self) -> Result<bool, String> {
        let TermsSearch { head, tail, .. } = &*self.search;
        let last_term = 1 + self.random.below(LAST_TERM_MAX);
        self.request.body = format!("{head}\"{last_term}\"{tail}").into();
        Ok(true)
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.search.timeout).await?;
            Ok(Outcome { took: took(&response), ..Outcome::ops(1) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_placeholder_splits_the_body_once() {
        for (_, query_around) in SOURCES {
            let body =
                query_around(json!({ "terms": { "name.raw": ["a\\nb", "c\"d", LAST_TERM] } })).to_string();
            let (head, tail) = body.split_once(&Value::from(LAST_TERM).to_string()).unwrap();
            let whole: Value = serde_json::from_str(&format!("{head}\"7\"{tail}")).unwrap();
            assert_eq!(whole, query_around(json!({ "terms": { "name.raw": ["a\\nb", "c\"d", "7"] } })));
        }
    }
}
