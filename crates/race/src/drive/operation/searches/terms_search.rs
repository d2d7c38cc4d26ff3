//! `search` with the parameter sources of Rally's track geonames: a `terms` query with tens of thousands of
//! names.
//!
//! The names are the lines of `terms.txt` in the track's folder. The last term is a number that changes with
//! each request, so that no cache has the request. As in the track, the search goes to `/_search`, whatever
//! index the operation names. The track has these sources in Python (`track.py`). For the contents of
//! `track.py` that [`crate::plugin::known_sources`] knows, the same requests are made here without Python;
//! any other `track.py` runs in Python.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::search::{took, with_cache};
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Runner};
use crate::error::Error;
use crate::http::{Method, Request};
use crate::random::Random;
use crate::track::plugin::PLUGIN_FILE;
use crate::track::plugin::known_sources::{FILTERED, PROHIBITED, Variant};

/// The last term of [`PURE`] is a number from 1 to this.
const PURE_LAST_TERM_MAX: u64 = 100;

/// Returns the query that a source wraps around its `terms` query, and the largest last term.
fn query_of(source: &str, variant: Variant, terms: Value) -> (Value, u64) {
    let feature = |class: &str| json!([{ variant.clause: { "feature_class.raw": class } }]);
    match source {
        FILTERED => (json!({ "bool": { "must": feature("T"), "filter": [terms] } }), variant.last_term_max),
        PROHIBITED => {
            (json!({ "bool": { "must": feature("A"), "must_not": [terms] } }), variant.last_term_max)
        }
        _ => (terms, PURE_LAST_TERM_MAX),
    }
}

const TERMS_FILE: &str = "terms.txt";
const TERMS_URL: &str = "https://github.com/elastic/rally-tracks/raw/master/geonames/terms.txt";

/// Placeholder for the last term in the request's template; no line of a file can contain it.
const LAST_TERM: &str = "\n";

pub(crate) fn plan(plan: &Plan<'_>, source: &str) -> Result<Box<dyn Operation>, Error> {
    let root = plan
        .track
        .root
        .as_ref()
        .ok_or_else(|| Error::Track("the parameter source needs a track in a folder".into()))?;
    let file = |name: &str| {
        std::fs::read_to_string(root.join(name)).map_err(|error| {
            Error::Track(format!("the parameter source [{source}] needs the track's file [{name}]: {error}"))
        })
    };
    let variant = Variant::of_plugin(&file(PLUGIN_FILE)?).ok_or_else(|| {
        Error::Parameter(format!("the parameter source [{source}] of this {PLUGIN_FILE} is not known"))
    })?;
    let text = match file(TERMS_FILE) {
        Err(_) if !root.join(TERMS_FILE).exists() => return Err(no_terms(&root.join(TERMS_FILE))),
        read => read?,
    };
    let terms: Vec<&str> = text.lines().map(str::trim).chain([LAST_TERM]).collect();
    let (query, last_term_max) = query_of(source, variant, json!({ "terms": { "name.raw": terms } }));
    let body = json!({ "query": query }).to_string();
    let (head, tail) =
        body.split_once(&Value::from(LAST_TERM).to_string()).expect("the list ends with the placeholder");
    let builder = plan.with_request_params(plan.request(Method::Get, "/_search")?)?;
    let request = with_cache(plan, builder)
        .header("content-type", &plan.protocol.content_json)
        .enough_when(|_| true)
        .build();
    Ok(Box::new(TermsSearches(Arc::new(TermsSearch {
        head: head.to_owned(),
        tail: tail.to_owned(),
        last_term_max,
        request,
        timeout: plan.timeout()?,
    }))))
}

/// Returns an error that says how to get the file, which is part of Rally's track and not of any download.
fn no_terms(path: &Path) -> Error {
    Error::Track(format!(
        "it needs [{}], which is not there. The file comes with Rally's track: get it from {TERMS_URL} and put it beside track.json, or leave the \
         tasks that need it out (--exclude-tasks)",
        path.display()
    ))
}

struct TermsSearch {
    /// The body before and after the last term.
    head: String,
    tail: String,
    last_term_max: u64,
    /// The request without its body.
    request: Request,
    timeout: Option<Duration>,
}

struct TermsSearches(Arc<TermsSearch>);

impl Operation for TermsSearches {
    fn runners(&self, clients: &[u32], _clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
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
    fn prepare(&mut self) -> Result<bool, Error> {
        let TermsSearch { head, tail, last_term_max, .. } = &*self.search;
        let last_term = 1 + self.random.below(*last_term_max);
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
    use crate::track::plugin::known_sources::{KNOWN, PURE};

    #[test]
    fn the_placeholder_splits_the_body_once() {
        for source in [PURE, FILTERED, PROHIBITED] {
            let query =
                |terms: Value| query_of(source, KNOWN[0].2, json!({ "terms": { "name.raw": terms } })).0;
            let body = query(json!(["a\\nb", "c\"d", LAST_TERM])).to_string();
            let (head, tail) = body.split_once(&Value::from(LAST_TERM).to_string()).unwrap();
            let whole: Value = serde_json::from_str(&format!("{head}\"7\"{tail}")).unwrap();
            assert_eq!(whole, query(json!(["a\\nb", "c\"d", "7"])));
        }
    }
}
