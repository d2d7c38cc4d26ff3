//! Values of script fields: the scripts of a request, bound to one shard.

use limber_script::{ScriptContext, refused};
use limber_segment::{DocId, Segment};
use limber_work as work;
use serde_json::{Map, Value as Json};

use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::request::SearchRequest;
use crate::script::BoundScript;

/// Largest nesting of a script's value in the answer.
const DEPTH_MAX: u32 = 100;

/// The script fields of a request on one shard.
pub(super) struct ScriptFields<'r>(Vec<(&'r str, BoundScript, bool)>);

impl<'r> ScriptFields<'r> {
    /// Binds the script fields; `None` if the request has none.
    pub fn of(request: &'r SearchRequest, shard: &ShardSnapshot) -> Result<Option<ScriptFields<'r>>> {
        if request.script_fields.is_empty() {
            return Ok(None);
        }
        let bind = |field: &'r crate::request::ScriptField| {
            let script = BoundScript::bind(&field.script, ScriptContext::Field, shard)?;
            Ok((field.name.as_str(), script, field.ignore_failure))
        };
        Ok(Some(ScriptFields(request.script_fields.iter().map(bind).collect::<Result<_>>()?)))
    }

    /// Adds the values of a document. A list becomes several values; an empty list leaves the field out.
    pub fn collect(&self, segment: &Segment, doc: DocId, found: &mut Map<String, Json>) -> Result<()> {
        for (name, script, ignore_failure) in &self.0 {
            work::check_beyond_deadline()?;
            let mut shown = Json::Null;
            let outcome = script.open(segment).and_then(|mut script| {
                script.values(&[doc], &[], |value| {
                    shown = value.to_json(DEPTH_MAX).map_err(|failure| Error::Request(refused(failure)))?;
                    Ok(())
                })
            });
            match outcome {
                Err(Error::Request(_)) if *ignore_failure => continue,
                other => other?,
            }
            match shown {
                Json::Array(items) if items.is_empty() => {}
                Json::Array(items) => {
                    found.insert((*name).to_owned(), items.into());
                }
                single => {
                    found.insert((*name).to_owned(), vec![single].into());
                }
            }
        }
        Ok(())
    }
}
