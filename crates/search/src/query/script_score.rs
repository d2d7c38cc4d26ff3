//! `script_score`: the documents of a query, scored by a script.
//!
//! Source: Elasticsearch's `ScriptScoreQueryBuilder`.

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoundQuery, Node, ScriptScoreNode};
use super::parse::{Common, Parser, Query, QueryNode};
use crate::error::Error;
use crate::json;
use crate::script::BoundScript;

#[derive(Debug)]
struct ScriptScore {
    query: Query,
    script: Script,
    min_score: Option<f32>,
}

fn malformed(what: String) -> RequestError {
    RequestError::new(400, "x_content_parse_exception", format!("[script_score] {what}"))
}

pub(super) fn parse(members: &Map<String, Value>, parser: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut query, mut script, mut min_score) = (None, None, None);
    for (key, value) in members {
        let failed =
            |cause: RequestError| malformed(format!("failed to parse field [{key}]")).caused_by(cause);
        match (key.as_str(), value) {
            ("query", Value::Object(_)) => query = Some(parser.query(value).map_err(failed)?),
            ("script", Value::Object(_)) => script = Some(Script::parse(value).map_err(failed)?),
            ("query" | "script", other) => {
                return Err(malformed(format!(
                    "{key} doesn't support values of type: {}",
                    json::token(other)
                )));
            }
            ("min_score", value) => min_score = Some(json::float(value).map_err(failed)?),
            (key, value) if common.take(key, value).map_err(failed)? => {}
            (key, _) => return Err(malformed(format!("unknown field [{key}]"))),
        }
    }
    match (query, script) {
        (Some(query), Some(script)) => Ok(common.query(ScriptScore { query, script, min_score })),
        (None, None) => Err(RequestError::illegal_argument("Required [query, script]")),
        (None, _) => Err(RequestError::illegal_argument("Required [query]")),
        (_, None) => Err(RequestError::illegal_argument("Required [script]")),
    }
}

impl QueryNode for ScriptScore {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        binder.check_expensive("[script score] queries")?;
        let script = BoundScript::bind(&self.script, ScriptContext::Score, binder.shard())?;
        let query = binder.query(&self.query, 1.0)?;
        if query.is_nothing() {
            return Ok(query);
        }
        let node = ScriptScoreNode { query: Box::new(query), script, boost, min_score: self.min_score };
        Ok(Node::ScriptScore(node).into())
    }
}
