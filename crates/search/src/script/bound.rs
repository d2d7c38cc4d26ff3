//! A script bound to a shard.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::{Compiled, OpenScript, Script, ScriptContext};
use limber_segment::Segment;
use serde_json::{Map, Value as Json};

use super::fields::{BoundFields, SegmentDocuments};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// A script with its parameters on one shard.
#[derive(Debug, Clone)]
pub(crate) struct BoundScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
    fields: BoundFields,
}

impl BoundScript {
    /// Compiles a script of a request and looks up the fields that it reads.
    pub fn bind(script: &Script, context: ScriptContext, shard: &ShardSnapshot) -> Result<BoundScript> {
        BoundScript::bind_below(script, context, shard, &[])
    }

    /// Binds a script like [`BoundScript::bind`], at the end of a chain of runtime fields that depend on
    /// one another.
    pub fn bind_below(
        script: &Script,
        context: ScriptContext,
        shard: &ShardSnapshot,
        chain: &[&str],
    ) -> Result<BoundScript> {
        let compiled = shard.scripts.compile(script, context)?;
        let fields = BoundFields::bind(compiled.fields(), shard, chain);
        compiled.link(&fields.fields, &script.params)?;
        Ok(BoundScript { script: compiled, params: script.params.clone(), fields })
    }

    /// Makes reading a field an error.
    pub fn refuse_field(&mut self, name: &str, error: RequestError) {
        for field in self.fields.fields.iter_mut().filter(|field| *field.name == *name) {
            field.refused = Some(error.clone());
        }
    }

    pub(super) fn compiled(&self) -> &Compiled {
        &self.script
    }

    pub(super) fn fields(&self) -> &BoundFields {
        &self.fields
    }

    /// Whether the script reads `_score`.
    pub fn uses_score(&self) -> bool {
        self.script.uses_score()
    }

    /// Returns its source.
    pub fn source(&self) -> &str {
        self.script.source()
    }

    /// Returns the name of its language, as in requests.
    pub fn language(&self) -> &'static str {
        self.script.language()
    }

    /// Returns the parameters of the request.
    pub fn params(&self) -> &Map<String, Json> {
        &self.params
    }

    /// Opens it on a segment, to run over the segment's documents.
    pub fn open<'a>(&'a self, segment: &'a Segment) -> Result<OpenScript<'a>> {
        let documents = SegmentDocuments::open(&self.fields, segment)?;
        Ok(self.start().over(Box::new(documents)))
    }

    /// Opens the script without documents.
    pub fn start(&self) -> OpenScript<'_> {
        OpenScript::new(&self.script, &self.params)
    }
}
