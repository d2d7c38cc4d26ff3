//! `paginated-search`: reads a result page by page with `search_after` (`runner.py`,
//! `Query._search_after_query`).
//!
//! The weight is the number of pages read, and the unit is `pages`. Every run starts with the first page.
//! Rally instead continues where the previous run stopped if `pages` cut that run short, so that later runs
//! search other pages than earlier ones.

use super::paging::{PageSource, Pages};
use super::search::body_with_size;
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Plan, Steady, steady};
use crate::error::Error;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let size = plan
        .number("results-per-page")?
        .filter(|size| *size >= 1.0)
        .ok_or_else(|| Error::missing("results-per-page"))?;
    let mut body = body_with_size(plan)?.ok_or_else(|| Error::missing("body"))?;
    if let (true, Some(body)) = (plan.param("with-point-in-time-from").is_some(), body.as_object_mut()) {
        // The point in time has them; a server refuses a request with both.
        for name in ["index", "routing", "preference"] {
            body.shift_remove(name);
        }
    }
    let source = PageSource::plan(plan, None)?;
    Ok(steady(PaginatedSearch { body: body.to_string(), size: size.trunc(), source }))
}

struct PaginatedSearch {
    body: String,
    /// Number of hits per page.
    size: f64,
    source: PageSource,
}

impl Steady for PaginatedSearch {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut pages = Pages::default();
            let mut after: Option<String> = None;
            while pages.count < self.source.pages_max {
                let answer = self.source.page(exchange, &self.body, after.as_deref(), &mut pages).await?;
                let no_total = || {
                    Failure::from(Error::Answer(
                        "the answer has no [hits.total], which a paginated search needs".into(),
                    ))
                };
                let hits = pages.hits.ok_or_else(no_total)?;
                if hits as f64 / self.size <= pages.count as f64 {
                    break;
                }
                let sort = last_sort(&answer).unwrap_or("null");
                after = Some(format!(r#""search_after":{sort}"#));
            }
            Ok(pages.outcome())
        })
    }
}

/// Returns the last array after a key `sort`, as written: the sort values of the page's last hit.
fn last_sort(answer: &[u8]) -> Option<&str> {
    memchr::memmem::rfind_iter(answer, b"\"sort\"").find_map(|at| {
        let rest = answer[at + b"\"sort\"".len()..].trim_ascii_start().strip_prefix(b":")?;
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Vec<serde::de::IgnoredAny>>();
        values.next()?.ok()?;
        std::str::from_utf8(&rest[..values.byte_offset()]).ok().map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_values_of_the_last_hit() {
        #[track_caller]
        fn check(answer: &str, expected: Option<&str>) {
            assert_eq!(last_sort(answer.as_bytes()), expected);
        }
        check(
            r#"{"hits":{"hits":[{"sort":[1]},{"sort" : [2,"a]\"b",null] }]}}"#,
            Some(r#"[2,"a]\"b",null]"#),
        );
        check(r#"{"hits":{"hits":[{"sort":[1.50]}]},"x":{"sort":"no"}}"#, Some("[1.50]"));
        check(r#"{"hits":{"hits":[]}}"#, None);
        check(r#"{"sort":[1,"#, None);
    }
}
