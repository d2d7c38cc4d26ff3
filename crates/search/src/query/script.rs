//! `script`: documents for which a script says `true`.

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext};
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoundQuery, Node, ScriptNode};
use super::parse::{Common, Parser, Query, QueryNode};
use crate::error::Error;
use crate::script::BoundScript;

#[derive(Debug)]
struct ScriptQuery {
    script: Script,
}

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut script = None;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("script", _) if script.is_some() => {
                return Err(RequestError::parsing("[script] query does not support an array of scripts"));
            }
            ("script", Value::Array(_)) => {
                return Err(RequestError::parsing("[script] query does not support an array of scripts"));
            }
            ("script", value) => script = Some(Script::parse(value)?),
            (key, value) if !value.is_object() && common.take(key, value)? => {}
            (key, _) => {
                return Err(RequestError::parsing(format!("[script] query does not support [{key}]")));
            }
        }
    }
    let script =
        script.ok_or_else(|| RequestError::parsing("script must be provided with a [script] filter"))?;
    Ok(common.query(ScriptQuery { script }))
}

impl QueryNode for ScriptQuery {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        binder.check_expensive("[script] queries")?;
        let script = BoundScript::bind(&self.script, ScriptContext::Filter, binder.shard())?;
        Ok(Node::Script(ScriptNode { script, boost }).into())
    }
}
