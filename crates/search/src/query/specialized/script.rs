//! `script`: documents for which a script returns `true`.

use limber_mapping::RequestError;
use limber_script::{OpenScript, Script, ScriptContext};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::matcher::{AskedDocs, Bits, BoxedMatcher, BoxedScorer, ValueTest};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, boosted, constant_scorer};
use crate::query::compound::function::script_name;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::score::Explanation;
use crate::script::BoundScript;

#[derive(Debug)]
struct ScriptQuery {
    script: Script,
}

/// Documents for which a script returns `true`, with a constant score.
#[derive(Debug)]
pub(crate) struct ScriptNode {
    pub script: BoundScript,
    pub boost: f32,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
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
        Ok(ScriptNode { script, boost }.into())
    }
}

impl BoundNode for ScriptNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let matches = ScriptDocs { script: self.script.open(segment)?, flags: Vec::new() };
        Ok(Box::new(AskedDocs::new(matches, segment.doc_count(), self.script.seen_in(segment))))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        constant_scorer(self, self.boost, segment, is_known)
    }

    fn common_score(&self) -> Option<f32> {
        Some(self.boost)
    }

    fn explain(&self, _: &Segment, _: DocId) -> Result<Explanation> {
        Ok(Explanation::leaf(self.boost, boosted(&self.text(), self.boost)))
    }

    fn class(&self) -> &'static str {
        "ScriptQuery"
    }

    fn text(&self) -> String {
        format!("ScriptQuery({})", script_name(&self.script))
    }
}

/// Matches documents for which a script returns `true`.
struct ScriptDocs<'a> {
    script: OpenScript<'a>,
    flags: Vec<bool>,
}

impl ValueTest for ScriptDocs<'_> {
    fn matches(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()> {
        self.script.flags(docs, &mut self.flags)?;
        bits.set_flagged(docs, start, &self.flags);
        Ok(())
    }
}
