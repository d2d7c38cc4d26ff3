//! A runtime field bound to a shard.

use std::sync::Arc;

use limber_mapping::{Field, Mapping, RequestError, RuntimeScript, ValueKind};
use limber_script::{Emits, Script, ScriptContext, Scripts, StoredScript};
use limber_segment::Segment;

use super::fielddata::LastTable;
use super::reader::RuntimeReader;
use crate::context::ShardSnapshot;
use crate::context::columns::has_fielddata;
use crate::context::seen::Seen;
use crate::error::Result;
use crate::script::bound::BoundScript;

/// The metadata field of ids.
pub(crate) const ID: &str = "_id";

/// Longest chain of runtime fields that depend on one another (`AbstractScriptFieldType`'s limit).
const CHAIN_MAX: usize = 5;

/// A field that no segment stores, on one shard.
#[derive(Debug)]
pub(crate) struct RuntimeField {
    pub field: Arc<Field>,
    /// `None` if the values come from the source.
    pub(super) script: Option<BoundScript>,
    /// The mapping with which sources are parsed.
    pub(super) mapping: Arc<Mapping>,
    /// The table of a text field with `fielddata`.
    pub(super) table: LastTable,
}

/// Returns the context of a field's script, which decides what it must emit.
pub(crate) fn context_of(field: &Field) -> ScriptContext {
    let is_part = field.runtime.as_ref().is_some_and(|runtime| runtime.part.is_some());
    ScriptContext::RuntimeField(match field.values {
        _ if is_part => Emits::Composite,
        ValueKind::Bool => Emits::Boolean,
        ValueKind::Date { .. } => Emits::Date,
        ValueKind::Double(_) => Emits::Double,
        ValueKind::Point => Emits::GeoPoint,
        ValueKind::Ip => Emits::Ip,
        ValueKind::Long(_) => Emits::Long,
        _ => Emits::Keyword,
    })
}

/// Returns the script of a field as it was written.
pub(crate) fn script_of(field: &Field) -> std::result::Result<Option<Script>, RequestError> {
    let computed = field.runtime.as_ref().or(field.script.as_ref());
    match computed.and_then(|computed| computed.script.as_ref()) {
        None => Ok(None),
        Some(script) => Script::parse(script).map(Some),
    }
}

/// Returns the field of this name. Sorts, aggregations, scripts and `docvalue_fields` may read `_id` as a
/// keyword that is computed, as in Elasticsearch 7 and OpenSearch (`indices.id_field_data.enabled`).
pub(crate) fn field_or_id(mapping: &Mapping, path: &str) -> Option<Arc<Field>> {
    if path != ID {
        return mapping.field(path);
    }
    let ids = RuntimeScript::default();
    let field = limber_mapping::field_of_type(ID, "keyword")?;
    Some(Arc::new(field.made_at_search(Some(ids))))
}

/// Compiles the scripts of all runtime fields of a mapping, and those that run when documents are written.
///
/// # Errors
/// `script_exception` of the first script that does not compile.
pub fn check_scripts(mapping: &Mapping, scripts: &Scripts) -> std::result::Result<(), RequestError> {
    for field in mapping.runtime_fields().chain(mapping.scripted()) {
        let Some(script) = script_of(field)? else { continue };
        if let limber_script::Code::Inline { language, source } = script.code {
            if language != "painless" {
                return Err(RequestError::illegal_argument(format!(
                    "script_lang not supported [{language}]"
                )));
            }
            let script = StoredScript { language, source, content_type: None };
            scripts.check(&script, Some(context_of(field)))?;
        }
    }
    Ok(())
}

impl RuntimeField {
    /// Binds a runtime field; `None` for a field that segments store.
    pub fn bind(field: &Arc<Field>, shard: &ShardSnapshot) -> Result<Option<Arc<RuntimeField>>> {
        RuntimeField::bind_below(field, shard, &[])
    }

    /// Binds a field like [`RuntimeField::bind`]; the fields of `chain` depend on it.
    pub fn bind_below(
        field: &Arc<Field>,
        shard: &ShardSnapshot,
        chain: &[&str],
    ) -> Result<Option<Arc<RuntimeField>>> {
        if has_fielddata(field, &shard.mapping) {
            let (field, mapping) = (field.clone(), shard.mapping.clone());
            return Ok(Some(Arc::new(RuntimeField {
                field,
                script: None,
                mapping,
                table: LastTable::default(),
            })));
        }
        if field.runtime.is_none() {
            return Ok(None);
        }
        let mut chain = chain.to_vec();
        let is_cycle = chain.contains(&&*field.path);
        chain.push(&field.path);
        if is_cycle {
            return Err(RequestError::illegal_argument(format!(
                "Cyclic dependency detected while resolving runtime fields: {}",
                chain.join(" -> ")
            ))
            .into());
        }
        if chain.len() > CHAIN_MAX {
            return Err(RequestError::illegal_argument(format!(
                "Field requires resolving too many dependent fields: {}",
                chain.join(" -> ")
            ))
            .into());
        }
        let script = match script_of(field)? {
            None => None,
            Some(script) => Some(BoundScript::bind_below(&script, context_of(field), shard, &chain)?),
        };
        let mapping = shard.mapping.clone();
        Ok(Some(Arc::new(RuntimeField {
            field: field.clone(),
            script,
            mapping,
            table: LastTable::default(),
        })))
    }

    /// Returns which documents of a segment the field's script may read in order to select documents.
    pub fn seen_in(&self, segment: &Segment) -> Seen {
        self.script.as_ref().map_or(Seen::All, |script| script.seen_in(segment))
    }

    /// Opens the field on a segment: its script is run for each document that is read.
    pub fn open<'a>(&'a self, segment: &'a Segment) -> Result<RuntimeReader<'a>> {
        RuntimeReader::open(self, segment)
    }
}
