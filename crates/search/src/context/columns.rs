//! Columns of fields: "may the values of this field be read by document?"

use limber_mapping::{Field, Mapping, Representation, RequestError, reserved};

use crate::context::ShardSnapshot;
use crate::error::Result;

/// Whether the terms of a text field can be read by document (`fielddata`).
pub(crate) fn has_fielddata(field: &Field, mapping: &Mapping) -> bool {
    field.is_analyzed()
        && field.index
        && !field.match_only
        && mapping.parameter(&field.path, "fielddata") == Some(serde_json::Value::Bool(true))
}

/// Refuses fields without a column, and those whose values have no order.
pub(crate) fn check_sortable(field: &Field, shard: &ShardSnapshot) -> Result<()> {
    check_column(field, shard)?;
    Ok(field.check_sortable()?)
}

/// Refuses names of metadata without values by document, whether or not the mapping has such a field.
pub(crate) fn check_name(name: &str) -> Result<()> {
    match reserved::WITHOUT_COLUMN.contains(&name) {
        false => Ok(()),
        true => Err(RequestError::illegal_argument(format!(
            "Fielddata is not supported on field [{name}] of type [{name}]"
        ))
        .into()),
    }
}

/// Refuses fields without a column, in Elasticsearch's words.
pub(crate) fn check_column(field: &Field, shard: &ShardSnapshot) -> Result<()> {
    let path = &field.path;
    check_name(path)?;
    field.check_column()?;
    if field.match_only {
        return Err(RequestError::illegal_argument(
            "match_only_text fields do not support sorting and aggregations",
        )
        .into());
    }
    if field.representation() == Representation::Text {
        if has_fielddata(field, &shard.mapping) {
            return Ok(());
        }
        return Err(RequestError::illegal_argument(format!(
            "Fielddata is disabled on [{path}] in [{}]. Text fields are not optimised for operations that require per-document field data \
             like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead. Alternatively, \
             set fielddata=true on [{path}] in order to load field data by uninverting the inverted index. Note that this can use \
             significant memory.",
            shard.index.name
        ))
        .into());
    }
    if !field.doc_values {
        return Err(RequestError::illegal_argument(format!(
            "Can't load fielddata on [{path}] because fielddata is unsupported on fields of type [{}]. Use doc values instead.",
            field.type_name()
        ))
        .into());
    }
    Ok(())
}
