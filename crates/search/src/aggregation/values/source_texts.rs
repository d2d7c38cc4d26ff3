//! Reads the strings of a field from the source of documents.

use limber_mapping::{Field, Mapping, RequestError};
use limber_segment::{DocId, SegmentView, StoredReader};
use serde_json::Value;

use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::source::read_source;
use crate::values::json;

/// Returns the path of a field's values in the source; that of a multi-field is its parent's.
pub fn source_path(shard: &ShardSnapshot, field: &Field) -> String {
    let parent = field.path.rsplit_once('.').map(|(parent, _)| parent);
    let holds = |parent: &&str| {
        shard.mapping.field(parent).is_some_and(|parent| parent.multi_fields.contains(&field.id))
    };
    parent.filter(holds).unwrap_or(&field.path).to_owned()
}

/// Reads one source after the other.
#[derive(Default)]
pub struct SourceTexts {
    reader: StoredReader,
}

impl std::fmt::Debug for SourceTexts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SourceTexts")
    }
}

impl SourceTexts {
    /// Calls `seen` with every string at one of these paths.
    ///
    /// # Errors
    /// Fails if the source cannot be read, or if `seen` fails.
    pub fn each(
        &mut self,
        (mapping, view): (&Mapping, &SegmentView),
        doc: DocId,
        paths: &[String],
        mut seen: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let source = read_source(mapping, &view.segment, doc, &mut self.reader)?;
        limber_mapping::claim_parsed(&source)?;
        let source: Value = limber_mapping::parse_source(&source).map_err(|error| {
            RequestError::internal(
                "exception",
                format!("the stored source of a document does not parse: {error}"),
            )
        })?;
        let mut values = Vec::new();
        paths.iter().for_each(|path| crate::values::gather::gather(&source, path, &mut values));
        values.into_iter().filter_map(json::scalar_text).try_for_each(|text| seen(&text))
    }
}
