//! A script bound to a shard.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::{Compiled, OpenScript, Script, ScriptContext};
use limber_segment::Segment;
use serde_json::{Map, Value as Json};

use super::fields::{BoundFields, SegmentDocuments};
use crate::context::ShardSnapshot;
use crate::context::seen::{Seen, SeenDocs};
use crate::error::Result;

/// A script with its parameters on one shard.
#[derive(Debug, Clone)]
pub(crate) struct BoundScript {
    script: Arc<Compiled>,
    params: Map<String, Json>,
    fields: BoundFields,
    seen: SeenDocs,
}

/// Up to this many mapped fields, a script that computes names can read all of them.
const ALL_FIELDS_MAX: usize = 256;
/// Most fields that a script can read by computed names.
const COMPUTED_FIELDS_MAX: usize = 1024;

/// Adds the fields that a script may name: those whose names occur in it or in its parameters, and all others
/// that have values in columns, if there are few.
fn add_possible(names: &mut Vec<Arc<str>>, possible: Vec<Arc<str>>, shard: &ShardSnapshot) {
    let mut add = |name: Arc<str>| {
        if names.len() < COMPUTED_FIELDS_MAX && !names.contains(&name) {
            names.push(name);
        }
    };
    possible.into_iter().for_each(&mut add);
    let all: Vec<Arc<str>> = shard
        .mapping
        .matching("*")
        .filter(|field| field.doc_values && field.runtime.is_none())
        .map(|field| field.path.clone())
        .take(ALL_FIELDS_MAX + 1)
        .collect();
    if all.len() <= ALL_FIELDS_MAX {
        all.into_iter().for_each(add);
    }
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
        let mut names = compiled.fields().to_vec();
        if compiled.computes_names() {
            add_possible(&mut names, compiled.possible_names(&script.params), shard);
        }
        let fields = BoundFields::bind(&names, shard, chain);
        compiled.link(&fields.fields, &script.params)?;
        let seen = SeenDocs::of(shard);
        Ok(BoundScript { script: compiled, params: script.params.clone(), fields, seen })
    }

    /// Returns which documents of a segment the script may read in order to select documents.
    pub fn seen_in(&self, segment: &Segment) -> Seen {
        self.seen.within(segment)
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
