//! Fields at the start of every mapping: "which fields are metadata of a document?"
//!
//! The buffer feeds `_id`, `_routing`, `_seq_no`, `_primary_term` and `_version` from the document's
//! metadata, and texts without a token to `_field_names`; the walker feeds `_ignored`, `_field_names` and
//! `_doc_count`.

use std::sync::Arc;

use crate::field::{Field, FieldId, FieldType, IntegerWidth, RuntimeScript, ValueKind};
use crate::field_type::{ConstantKeyword, Keyword, Whole};

/// `_id` of the document; terms.
pub const ID: FieldId = FieldId(0);
/// `_routing`, if the document was sent with one; terms.
pub const ROUTING: FieldId = FieldId(1);
/// Paths of fields whose value was left out (`ignore_above`, `ignore_malformed`).
pub const IGNORED: FieldId = FieldId(2);
/// Paths of fields of this document that have neither doc values nor norms (Lucene's
/// `FieldNamesFieldMapper`), and of texts without a token.
pub const FIELD_NAMES: FieldId = FieldId(3);
/// `_seq_no`, the sequence number of the write within its shard.
pub const SEQ_NO: FieldId = FieldId(4);
/// `_primary_term`, in which the write was made.
pub const PRIMARY_TERM: FieldId = FieldId(5);
/// `_version` of the document.
pub const VERSION: FieldId = FieldId(6);

/// How many documents the document stands for beyond itself (`_doc_count` less one). No search can name it.
pub const DOC_COUNT: FieldId = FieldId(7);

/// Names of the reserved fields, in the order of their ids.
pub const NAMES: [&str; 8] =
    ["_id", "_routing", "_ignored", "_field_names", "_seq_no", "_primary_term", "_version", "_doc_count"];

/// Names of metadata fields that neither a definition nor a document may have at its root.
///
/// Source: `IndicesModule#getBuiltInMetadataMappers`.
pub(crate) const METADATA: [&str; 14] = [
    "_id",
    "_index",
    "_source",
    "_routing",
    "_ignored",
    "_ignored_source",
    "_field_names",
    "_seq_no",
    "_version",
    "_nested_path",
    "_tier",
    "_tsid",
    "_ts_routing_hash",
    "_data_stream_timestamp",
];

/// Whether this is the name of a metadata field, and so not of a field that users made. Their names may begin
/// with `_` too.
pub fn is_metadata(name: &str) -> bool {
    METADATA.contains(&name) || NAMES.contains(&name) || name == "_feature"
}

/// Number of reserved fields, which is also the id of the first user field.
pub const COUNT: usize = NAMES.len();

/// Returns the reserved fields, by id.
pub(crate) fn fields() -> Vec<Arc<Field>> {
    NAMES
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let is_term = number < SEQ_NO.0 as usize;
            let id = FieldId(number as u32);
            let (of, values): (&'static dyn FieldType, _) = match is_term {
                true => (&Keyword, ValueKind::Keyword),
                false => (&Whole(IntegerWidth::Long), ValueKind::Long(IntegerWidth::Long)),
            };
            Arc::new(Field {
                // Peer recovery searches for ranges of `_seq_no`. Other numbers are only read.
                index: is_term || id == SEQ_NO,
                // `_id` is read from the stored document; a column would double its cost.
                doc_values: !matches!(id, ID | FIELD_NAMES),
                store: matches!(id, ID | ROUTING),
                is_hidden: id == DOC_COUNT,
                ..Field::bare(id, Arc::from(*name), of, values)
            })
        })
        .collect()
}

/// Metadata fields without values by document, which sorts, aggregations and `docvalue_fields` may not name.
pub const WITHOUT_COLUMN: [&str; 9] = [
    "_data_stream_timestamp",
    "_doc_count",
    "_field_names",
    "_ignored_source",
    "_nested_path",
    "_routing",
    "_source",
    "_tier",
    "_ts_routing_hash",
];

/// Returns `_index`, a field that has the index's name as its value in all documents.
pub(crate) fn index_field(index: &str) -> Arc<Field> {
    Arc::new(Field {
        doc_values: true,
        runtime: Some(RuntimeScript { constant: Some(Some(Arc::from(index))), ..RuntimeScript::default() }),
        ..Field::bare(FieldId(u32::MAX), Arc::from("_index"), &ConstantKeyword, ValueKind::Keyword)
    })
}
