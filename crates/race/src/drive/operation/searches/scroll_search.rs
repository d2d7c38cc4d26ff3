//! `scroll-search`: reads a result page by page (`runner.py`, `Query._scroll_query`).
//!
//! The weight is the number of pages read, and the unit is `pages`. The scroll is closed at the end, also
//! after an error.

use std::time::Duration;

use serde_json::{Value, json};

use super::search::{body_with_size, search_request};
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady, steady};
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Method, Request};

const KEEP_ALIVE: &str = "10s";

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let pages_max = match plan.mandatory("pages")? {
        Value::String(text) if text == "all" => u64::MAX,
        _ => plan
            .number("pages")?
            .filter(|pages| *pages >= 1.0)
            .ok_or_else(|| Error::parameter("'pages' must be positive or [all]"))? as u64,
    };
    let size = plan.number("results-per-page")?.filter(|size| *size > 0.0).map(|size| size as u64);
    let mut first = search_request(plan, body_with_size(plan)?.as_ref())?
        .query("sort", "_doc")
        .query("scroll", KEEP_ALIVE);
    if let Some(size) = size {
        first = first.query("size", &size.to_string());
    }
    let with_type = |builder: crate::http::RequestBuilder| {
        builder.header("content-type", &plan.protocol.content_json).build()
    };
    Ok(steady(ScrollSearch {
        first: first.build(),
        next: with_type(plan.request(Method::Get, "/_search/scroll")?),
        clear: with_type(plan.request(Method::Delete, "/_search/scroll")?.ignore_statuses(&[404])),
        timeout: plan.timeout()?,
        pages_max,
        size,
    }))
}

struct ScrollSearch {
    first: Request,
    next: Request,
    clear: Request,
    timeout: Option<Duration>,
    pages_max: u64,
    size: Option<u64>,
}

#[derive(Default)]
struct Scrolled {
    id: Option<String>,
    pages: u64,
    hits: u64,
    hits_relation: Option<String>,
    timed_out: bool,
    took: u64,
}

impl Steady for ScrollSearch {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut scrolled = Scrolled::default();
            let result = self.pages(exchange, &mut scrolled).await;
            if let Some(id) = &scrolled.id {
                let body = json!({ "scroll_id": [id] }).to_string();
                // A scroll that cannot be closed ends by itself after its keep-alive. The pages were read
                // anyway.
                let _ = exchange.send_body(&self.clear, body.as_bytes(), self.timeout).await;
            }
            result?;
            let took = Some(Duration::from_millis(scrolled.took));
            let outcome = Outcome { unit: "pages", took, ..Outcome::ops(scrolled.pages) };
            Ok(outcome.with_meta(json!({
                "pages": scrolled.pages,
                "hits": scrolled.hits,
                "hits_relation": scrolled.hits_relation,
                "timed_out": scrolled.timed_out,
                "took": scrolled.took,
            })))
        })
    }
}

impl ScrollSearch {
    async fn pages(&self, exchange: &mut Exchange, scrolled: &mut Scrolled) -> Result<(), Failure> {
        while scrolled.pages < self.pages_max {
            let is_last = match scrolled.pages {
                0 => self.first_page(exchange, scrolled).await?,
                _ => self.next_page(exchange, scrolled).await?,
            };
            scrolled.pages += 1;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    async fn first_page(&self, exchange: &mut Exchange, scrolled: &mut Scrolled) -> Result<bool, Failure> {
        let response = exchange.send(&self.first, self.timeout).await?;
        let text = response.text()?;
        let [id, total, value, relation, timed_out, took] = probe(
            &text,
            ["_scroll_id", "hits.total", "hits.total.value", "hits.total.relation", "timed_out", "took"],
        );
        let count = |found: Option<Found<'_>>| found.and_then(Found::as_u64);
        scrolled.id = id.and_then(Found::as_string);
        scrolled.hits = count(value).or(count(total)).unwrap_or(0);
        scrolled.hits_relation = Some(relation.and_then(Found::as_string).unwrap_or_else(|| "eq".into()));
        scrolled.timed_out = timed_out.and_then(Found::as_bool).unwrap_or(false);
        scrolled.took = count(took).unwrap_or(0);
        if scrolled.id.is_none() {
            return Err(Failure::Transport { description: "search response without [_scroll_id]".into() });
        }
        Ok(scrolled.hits == 0 || self.size.is_some_and(|size| scrolled.hits < size))
    }

    async fn next_page(&self, exchange: &mut Exchange, scrolled: &mut Scrolled) -> Result<bool, Failure> {
        let body = json!({ "scroll_id": scrolled.id, "scroll": KEEP_ALIVE }).to_string();
        let response = exchange.send_body(&self.next, body.as_bytes(), self.timeout).await?;
        let text = response.text()?;
        let [timed_out, took, hits] = probe(&text, ["timed_out", "took", "hits.hits"]);
        scrolled.timed_out |= timed_out.and_then(Found::as_bool).unwrap_or(false);
        scrolled.took += took.and_then(Found::as_u64).unwrap_or(0);
        Ok(matches!(hits, Some(Found::Array { is_empty: true })))
    }
}
