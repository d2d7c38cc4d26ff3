//! `sql`: sends an SQL query and reads as many of its pages as the operation asks for (`runner.py`, `Sql`).

use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady, steady};
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Method, Request, Response};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let body = plan.mandatory("body")?;
    if body.get("query").is_none_or(Value::is_null) {
        return Err(Error::parameter("mandatory parameter 'body.query' is missing"));
    }
    let request = |body: &Value| -> Result<_, Error> {
        Ok(plan.with_request_params(plan.request_with_body(Method::Post, "/_sql", Some(body))?)?.build())
    };
    Ok(steady(Sql {
        first: request(body)?,
        next: request(&json!({}))?,
        pages: plan.number("pages")?.unwrap_or(1.0).max(1.0) as u64,
        timeout: plan.timeout()?,
    }))
}

struct Sql {
    first: Request,
    /// The request for a later page, whose body is the cursor.
    next: Request,
    pages: u64,
    timeout: Option<Duration>,
}

impl Steady for Sql {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut cursor = self.read(exchange.send(&self.first, self.timeout).await?)?;
            for page in 1..self.pages {
                let exhausted = || {
                    Failure::from(Error::Failed(format!(
                        "Result set has been exhausted before all pages have been fetched, {} page(s) remaining.",
                        self.pages - page
                    )))
                };
                let body = json!({ "cursor": cursor.ok_or_else(exhausted)? }).to_string();
                cursor = self.read(exchange.send_body(&self.next, body.as_bytes(), self.timeout).await?)?;
            }
            Ok(Outcome::ops(self.pages))
        })
    }
}

impl Sql {
    /// Returns the cursor for the next page. It is searched for only if another page is wanted.
    fn read(&self, response: Response<'_>) -> Result<Option<String>, Failure> {
        if self.pages == 1 {
            return Ok(None);
        }
        let text = response.text()?;
        let [cursor] = probe(&text, ["cursor"]);
        Ok(cursor.and_then(Found::as_string).filter(|cursor| !cursor.is_empty()))
    }
}
