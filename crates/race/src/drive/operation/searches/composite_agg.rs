//! `composite-agg`: reads all buckets of a composite aggregation page by page (`runner.py`,
//! `Query._composite_agg`).
//!
//! The weight is the number of pages read, and the unit is `pages`. Every run starts with the first page.

use serde_json::{Value, json};

use super::paging::{PageSource, Pages};
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Plan, Steady, steady};
use crate::error::Error;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let mut body = plan.mandatory("body")?.clone();
    let mut paths = Vec::new();
    composite_paths(&body, &mut Vec::new(), &mut paths);
    let [path] = &paths[..] else { return Err(Error::parameter("Unique path to composite agg required")) };
    let path = path.clone();
    if let Some(size) = plan.number("results-per-page")?.filter(|size| *size > 0.0) {
        composite(&mut body, &path)["size"] = json!(size as u64);
    }
    if let (true, Some(body)) = (plan.param("with-point-in-time-from").is_some(), body.as_object_mut()) {
        for name in ["index", "routing", "preference"] {
            body.shift_remove(name);
        }
    }
    Ok(steady(CompositeAgg { body, path, source: PageSource::plan(plan, Some(u64::MAX))? }))
}

/// Collects the path of each composite aggregation: the names of the aggregations around it and its own.
fn composite_paths(around: &Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let Some(aggregations) = aggregations(around).and_then(Value::as_object) else { return };
    for (name, aggregation) in aggregations {
        path.push(name.clone());
        if aggregation.get("composite").is_some_and(Value::is_object) {
            paths.push(path.clone());
        }
        composite_paths(aggregation, path, paths);
        path.pop();
    }
}

fn aggregations(around: &Value) -> Option<&Value> {
    AGGREGATIONS.iter().find_map(|name| around.get(name))
}

const AGGREGATIONS: [&str; 2] = ["aggs", "aggregations"];

/// Returns the object `composite` at a path that [`composite_paths`] found in the same body.
fn composite<'v>(body: &'v mut Value, path: &[String]) -> &'v mut Value {
    let mut at = body;
    for name in path {
        let key = if at.get(AGGREGATIONS[0]).is_some() { AGGREGATIONS[0] } else { AGGREGATIONS[1] };
        at = &mut at[key][name.as_str()];
    }
    &mut at["composite"]
}

struct CompositeAgg {
    body: Value,
    path: Vec<String>,
    source: PageSource,
}

impl Steady for CompositeAgg {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut body = self.body.clone();
            let mut pages = Pages::default();
            while pages.count < self.source.pages_max {
                let answer = self.source.page(exchange, &body.to_string(), None, &mut pages).await?;
                let after = after_key(&answer, &self.path);
                let Some(after) = after.filter(Value::is_object) else { break };
                composite(&mut body, &self.path)["after"] = after;
            }
            Ok(pages.outcome())
        })
    }
}

/// Returns the `after_key` of the aggregation at `path`; `None` on the last page, or if the answer is not
/// JSON.
fn after_key(answer: &[u8], path: &[String]) -> Option<Value> {
    let mut answer: Value = serde_json::from_slice(answer).ok()?;
    let aggregations = answer.get_mut("aggregations")?;
    let found = path.iter().try_fold(aggregations, |at, name| at.get_mut(name))?;
    found.get_mut("after_key").map(Value::take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_to_composite_aggregations() {
        #[track_caller]
        fn check(body: Value, expected: &[&[&str]]) {
            let mut paths = Vec::new();
            composite_paths(&body, &mut Vec::new(), &mut paths);
            assert_eq!(paths, expected);
        }
        let composite_of = |name: &str| json!({ name: { "composite": {} } });
        check(json!({ "aggs": composite_of("a") }), &[&["a"]]);
        check(json!({ "aggregations": { "f": { "aggs": composite_of("b") } } }), &[&["f", "b"]]);
        check(
            json!({ "aggs": { "a": { "composite": {}, "aggs": composite_of("b") } } }),
            &[&["a"], &["a", "b"]],
        );
        check(json!({ "aggs": { "a": { "max": {} } } }), &[]);
        let mut body = json!({ "aggs": { "f": { "filter": {}, "aggregations": composite_of("b") } } });
        composite(&mut body, &["f".into(), "b".into()])["size"] = json!(2);
        assert_eq!(body["aggs"]["f"]["aggregations"]["b"], json!({ "composite": { "size": 2 } }));
    }
}
