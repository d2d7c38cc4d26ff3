//! `script`: "run this Painless script on the search". Source: OpenSearch's `ScriptRequestProcessor` and
//! `SearchRequestMap`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::{ContextScript, ContextValue, Script, ScriptContext, Scripts, View};
use limber_search::SearchRequest;
use limber_search::request::TrackTotalHits;
use serde_json::{Map, Value};

use super::ChangesRequest;
use crate::api::Result;
use crate::ingest::{Options, PipelineScript};
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::verbose::ShownBody;

/// The members of a search that a script can read and change, with the Java class of each.
const MEMBERS: [(&str, &str); 10] = [
    ("from", "Integer"),
    ("size", "Integer"),
    ("explain", "Boolean"),
    ("version", "Boolean"),
    ("seq_no_primary_term", "Boolean"),
    ("track_scores", "Boolean"),
    ("track_total_hits", "Integer"),
    ("min_score", "Float"),
    ("terminate_after", "Integer"),
    ("profile", "Boolean"),
];

const SCRIPT_OPTIONS: [&str; 6] = ["id", "source", "inline", "lang", "params", "options"];

struct ScriptProcessor(PipelineScript);

/// Compiles the processor. Options are those of a script.
pub(super) fn parse(options: &mut Options, scripts: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    let given = SCRIPT_OPTIONS.iter().filter_map(|name| Some(((*name).to_owned(), options.take(name)?)));
    let script = Script::parse(&Value::Object(given.collect::<Map<_, _>>()))?;
    let located = |error: RequestError| match error.kind {
        "script_exception" => options.locate(error),
        _ => error,
    };
    let script = PipelineScript::compile(scripts, script, ScriptContext::SearchPipeline).map_err(located)?;
    script.check()?;
    Ok(Box::new(ScriptProcessor(script)))
}

/// Returns a member as the script sees it. What the search does not specify is -1 or null.
fn member(request: &SearchRequest, name: &str) -> ContextValue {
    let whole = |number: i64| ContextValue::number(&number.to_string());
    let given = |number: Option<u32>| whole(number.map_or(-1, i64::from));
    match name {
        "from" => given(request.from),
        "size" => given(request.size),
        "explain" => ContextValue::bool(request.explain),
        "version" => ContextValue::bool(request.version),
        "seq_no_primary_term" => ContextValue::bool(request.seq_no_primary_term),
        "track_scores" => ContextValue::bool(request.track_scores),
        "track_total_hits" => match request.track_total_hits {
            TrackTotalHits::None => whole(-1),
            TrackTotalHits::Exact => whole(i32::MAX.into()),
            up_to if up_to == TrackTotalHits::DEFAULT => ContextValue::null(),
            TrackTotalHits::UpTo(limit) => whole(limit.into()),
        },
        "min_score" => request.min_score.map_or_else(ContextValue::null, ContextValue::float),
        "terminate_after" => whole(request.terminate_after.into()),
        _ => ContextValue::bool(request.profile),
    }
}

fn json_of(value: &ContextValue) -> Value {
    match value.view() {
        View::Bool(flag) => flag.into(),
        View::Number(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
        _ => Value::String(value.java_text()),
    }
}

/// Applies what the script changed.
fn take_over(
    request: &mut SearchRequest,
    script: &ContextScript,
    before: &[(&'static str, ContextValue)],
    after: Vec<(ContextValue, ContextValue)>,
) -> Result<()> {
    let refused = |kind: &'static str, reason: String| script.failed(RequestError::bad_request(kind, reason));
    if after.len() < before.len() {
        let reason = "remove Method not supported in Search pipeline script";
        return Err(refused("unsupported_operation_exception", reason.to_owned()));
    }
    for (key, value) in after {
        let name = key.as_text().unwrap_or_default();
        let Some((name, was)) = before.iter().find(|(known, _)| *known == name) else {
            let reason = format!("Unsupported key: {}", key.java_text());
            return Err(refused("search_request_map_processing_exception", reason));
        };
        if value.equals(was) {
            continue;
        }
        let class = MEMBERS.iter().find(|(known, _)| known == name).map_or("", |(_, class)| *class);
        if value.class() != format!("java.lang.{class}") {
            let found = value.class();
            let reason = format!("class {found} cannot be cast to class java.lang.{class}");
            return Err(refused("class_cast_exception", reason));
        }
        request.put(name, &json_of(&value)).map_err(|error| script.failed(error))?;
    }
    Ok(())
}

impl ChangesRequest for ScriptProcessor {
    fn change(&self, request: &mut SearchRequest, _: &mut PipelineRun) -> Result<()> {
        self.0.with(|script| {
            let before: Vec<_> = MEMBERS.iter().map(|(name, _)| (*name, member(request, name))).collect();
            let members = before.iter().map(|(name, value)| (Arc::from(*name), value.clone()));
            let source = ContextValue::map(members);
            let ctx = ContextValue::map(std::iter::once((Arc::from("_source"), source.clone())));
            // The members of `ctx` live as long as the run.
            let mut run = script.start();
            run.change(ctx)?;
            match source.view() {
                View::Map(after) => take_over(request, script, &before, after),
                _ => Ok(()),
            }
        })
    }

    fn show(&self, request: &SearchRequest, shown: &mut ShownBody) {
        let unset = SearchRequest::default();
        for (name, _) in MEMBERS {
            let value = member(request, name);
            if !value.equals(&member(&unset, name)) {
                shown.set(name, json_of(&value).to_string());
            }
        }
    }
}
