//! Reads a search page by page (`runner.py`, `Query`).
//!
//! `paginated-search` and `composite-agg` share the target of the search (an index, or a point in time that
//! an earlier request of the same `composite` opened) and the sum over the pages.

use std::time::Duration;

use serde_json::{Value, json};

use super::search::{request_to, search_request};
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Failure, Outcome, Plan, plain};
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Request, RequestBuilder};

/// Keep-alive of the point in time, which each page renews.
const KEEP_ALIVE: &str = "1m";

/// The source of the pages.
pub(in crate::drive::operation) struct PageSource {
    request: Request,
    /// Name of the operation that opened the point in time.
    point_in_time: Option<String>,
    timeout: Option<Duration>,
    pub pages_max: u64,
}

impl PageSource {
    /// `pages_default` is used when `pages` is absent.
    pub(in crate::drive::operation) fn plan(
        plan: &Plan<'_>,
        pages_default: Option<u64>,
    ) -> Result<PageSource, Error> {
        let point_in_time = plan.text("with-point-in-time-from")?.map(str::to_owned);
        if point_in_time.is_some() {
            plan.only_in_composite()?;
            // Rally still requires an index.
            plan.params(&["index", "data-stream"]);
        }
        let builder = match point_in_time {
            Some(_) => request_to(plan, "", None)?,
            None => search_request(plan, None)?,
        };
        let builder: RequestBuilder = builder.header("content-type", &plan.protocol.content_json);
        Ok(PageSource {
            request: builder.build(),
            point_in_time,
            timeout: plan.timeout()?,
            pages_max: pages_max(plan, pages_default)?,
        })
    }

    /// Returns the body of the next page: `body` (a JSON object as a string), with the point in time and the
    /// member `more` (as `"name":value`) appended.
    fn body(&self, exchange: &Exchange, body: &str, more: Option<&str>) -> Result<String, Failure> {
        let mut text = body.trim_end().strip_suffix('}').unwrap_or(body).to_owned();
        let mut push = |member: &str| {
            if !text.trim_end().ends_with('{') {
                text.push(',');
            }
            text.push_str(member);
        };
        if let Some(name) = &self.point_in_time {
            let id = exchange.recall(name)?;
            push(&format!(r#""pit":{}"#, json!({ "id": id, "keep_alive": KEEP_ALIVE })));
        }
        if let Some(member) = more {
            push(member);
        }
        text.push('}');
        Ok(text)
    }

    /// Requests one page and adds it to `pages`. Returns the uncompressed answer.
    pub(in crate::drive::operation) async fn page(
        &self,
        exchange: &mut Exchange,
        body: &str,
        more: Option<&str>,
        pages: &mut Pages,
    ) -> Result<Vec<u8>, Failure> {
        let body = self.body(exchange, body, more)?;
        let response = exchange.send_body(&self.request, body.as_bytes(), self.timeout).await?;
        let text = response.text()?.into_owned();
        let id = pages.add(&text, self.point_in_time.is_some());
        if let Some(name) = &self.point_in_time {
            // Later pages have to use the id of this answer.
            let missing =
                "Paginated query failure: pit_id was expected but not found in the response.".to_owned();
            exchange.remember(name, id.ok_or(Failure::from(Error::Answer(missing)))?);
        }
        Ok(text)
    }
}

/// Reads `pages`: a number, or `all`.
fn pages_max(plan: &Plan<'_>, default: Option<u64>) -> Result<u64, Error> {
    match plan.param("pages") {
        None | Some(Value::Null) => default.ok_or_else(|| Error::missing("pages")),
        Some(Value::String(text)) if text == "all" => Ok(u64::MAX),
        Some(pages) => match plan.number("pages")? {
            Some(count) if count >= 1.0 => Ok(count as u64),
            _ => {
                Err(Error::Parameter(format!("'pages' must be positive or [all] but was [{}]", plain(pages))))
            }
        },
    }
}

/// Sum over the pages of one search.
#[derive(Debug, Default)]
pub(in crate::drive::operation) struct Pages {
    pub count: u64,
    pub hits: Option<u64>,
    hits_relation: String,
    timed_out: bool,
    took: u64,
}

impl Pages {
    /// Adds the answer of one page. Returns the id of its point in time.
    fn add(&mut self, answer: &[u8], has_point_in_time: bool) -> Option<String> {
        let count = |found: Option<Found<'_>>| found.and_then(Found::as_u64);
        let mut total = None;
        // Only the first page has the total, so later ones are not searched for it.
        let [took, timed_out, id] = if self.count == 0 {
            let paths =
                ["took", "timed_out", "pit_id", "hits.total", "hits.total.value", "hits.total.relation"];
            let [took, timed_out, id, whole, value, relation] = probe(answer, paths);
            total = count(value).or(count(whole));
            self.hits_relation = relation.and_then(Found::as_string).unwrap_or_else(|| "eq".into());
            [took, timed_out, id]
        } else if has_point_in_time {
            probe(answer, ["took", "timed_out", "pit_id"])
        } else {
            let [took, timed_out] = probe(answer, ["took", "timed_out"]);
            [took, timed_out, None]
        };
        self.count += 1;
        self.hits = self.hits.or(total);
        self.timed_out |= timed_out.and_then(Found::as_bool).unwrap_or(false);
        self.took += count(took).unwrap_or(0);
        id.and_then(Found::as_string)
    }

    pub(in crate::drive::operation) fn outcome(self) -> Outcome {
        let took = Some(Duration::from_millis(self.took));
        let outcome = Outcome { unit: "pages", took, ..Outcome::ops(self.count) };
        outcome.with_meta(json!({
            "timed_out": self.timed_out,
            "took": self.took,
            "pages": self.count,
            "hits": self.hits,
            "hits_relation": self.hits_relation,
        }))
    }
}
