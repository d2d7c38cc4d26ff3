//! Builds a field from one leaf of a definition.

use std::sync::Arc;

use limber_work as work;
use serde_json::Value;

use crate::analysis::Analyzer;
use crate::definition::field_script::script_of;
use crate::field::{Field, FieldId, Leaf, OwnedScalar, TextParts, ValueKind, check_scalar};
use crate::settings::MappingSettings;
use crate::similarity::Similarity;
use crate::{RequestError, field_type};

/// Checks that a leaf can be built, in particular that its `null_value` is valid.
pub(crate) fn check_leaf(leaf: &Leaf, path: &str, settings: &MappingSettings) -> Result<(), RequestError> {
    let field = build(leaf, FieldId(0), path, settings)?;
    if let Some(null) = &field.null_value
        && !field.is_point()
        && !field.is_cartesian_point()
    {
        let scalar = OwnedScalar::from_json(null);
        check_scalar(&field, scalar.borrow()).map_err(|cause| {
            if matches!(field.values, ValueKind::Double(_)) {
                return *cause;
            }
            let name = path.rsplit('.').next().unwrap_or(path);
            RequestError::bad_request(
                "mapper_parsing_exception",
                format!("Error parsing [null_value] on field [{name}]: {}", cause.reason),
            )
            .caused_by(*cause)
        })?;
    }
    Ok(())
}

/// Values of `term_vector` that keep where a term stands in the text.
const VECTORS_WITH_OFFSETS: [&str; 2] = ["with_positions_offsets", "with_positions_offsets_payloads"];

/// Builds the field that the leaf at `path` describes, with this id and without its multi-fields.
///
/// # Errors
/// A date format is invalid, or the type does not exist.
pub(crate) fn build(
    leaf: &Leaf,
    id: FieldId,
    path: &str,
    settings: &MappingSettings,
) -> Result<Field, RequestError> {
    work::check()?;
    let values = leaf.kind.values(leaf)?;
    let is_analyzed = values == ValueKind::Text || leaf.kind.param("analyzer").is_some();
    let (analyzer, search_analyzer) = match is_analyzed {
        true => (Some(index_analyzer(leaf, settings)), Some(search_analyzer(leaf, settings))),
        false => (None, None),
    };
    let position_increment_gap = position_gap(leaf, analyzer.as_deref());
    let is_shape = matches!(values, ValueKind::Shape { .. } | ValueKind::CartesianShape { .. });
    let index_options = leaf.param("index_options");
    let has_positions = index_options == "positions" || index_options == "offsets";
    let term_vector = leaf.param("term_vector");
    let has_vector_offsets = VECTORS_WITH_OFFSETS.iter().any(|name| term_vector == *name);
    let explicit = |name: &str, default: bool| match leaf.params.get(name).and_then(Value::as_bool) {
        Some(flag) => flag,
        None => leaf.kind.param(name).is_some() && default,
    };
    let mut field = Field {
        of: leaf.kind,
        values,
        id,
        path: Arc::from(path),
        index: leaf.flag("index"),
        doc_values: leaf.flag("doc_values"),
        store: leaf.flag("store"),
        match_only: false,
        is_wildcard: false,
        norms: leaf.flag("norms"),
        similarity: similarity(leaf, settings),
        boost: leaf.param("boost").as_f64().unwrap_or(1.0) as f32,
        positions: has_positions,
        has_offsets: index_options == "offsets" || has_vector_offsets,
        has_vector_offsets,
        frequencies: has_positions || index_options == "freqs",
        analyzer,
        search_analyzer,
        search_quote_analyzer: quote_analyzer(leaf, settings),
        normalizer: leaf
            .param("normalizer")
            .as_str()
            .and_then(|name| settings.analyzers.normalizer(name).cloned()),
        relations: None,
        completion: None,
        feature: None,
        flattened: None,
        summary: None,
        splits_queries: leaf.flag("split_queries_on_whitespace"),
        position_increment_gap,
        ignore_above: ignore_above(leaf, settings),
        null_value: leaf.params.get("null_value").cloned(),
        coerce: explicit("coerce", if is_shape { settings.coerce_shapes } else { settings.coerce }),
        ignore_malformed: explicit("ignore_malformed", settings.ignore_malformed),
        ignore_z: explicit("ignore_z_value", true),
        copy_to: leaf.copy_to.iter().map(|path| Arc::from(path.as_str())).collect(),
        multi_fields: Vec::new(),
        parts: TextParts::default(),
        is_part: false,
        is_hidden: false,
        runtime: None,
        script: script_of(leaf),
    };
    leaf.kind.finish(leaf, &mut field);
    Ok(field)
}

/// Returns the parameter, or what the index sets for all types that have it.
fn ignore_above(leaf: &Leaf, settings: &MappingSettings) -> Option<u32> {
    match leaf.params.get("ignore_above").and_then(Value::as_u64) {
        Some(count) => Some(count as u32),
        None => settings.ignore_above.filter(|_| leaf.kind.param("ignore_above").is_some()),
    }
}

/// Returns a field of the named type with default parameters, outside of any mapping. `None` if the type does
/// not exist.
pub fn field_of_type(path: &str, type_name: &str) -> Option<Field> {
    let leaf = Leaf::of(field_type::find(type_name)?);
    build(&leaf, FieldId(u32::MAX), path, &MappingSettings::default()).ok()
}

fn similarity(leaf: &Leaf, settings: &MappingSettings) -> Similarity {
    let name = leaf.param("similarity");
    name.as_str().and_then(|name| settings.similarities.get(name)).unwrap_or_default()
}

/// Returns the number of positions between two values: the field's own parameter, else the analyzer's.
fn position_gap(leaf: &Leaf, analyzer: Option<&Analyzer>) -> u32 {
    let own = leaf.params.get("position_increment_gap").and_then(Value::as_u64);
    let of_analyzer = || analyzer.map_or(0, |analyzer| analyzer.position_increment_gap);
    own.map_or_else(of_analyzer, |gap| gap as u32)
}

fn index_analyzer(leaf: &Leaf, settings: &MappingSettings) -> Arc<Analyzer> {
    named_analyzer(leaf, "analyzer", settings).unwrap_or_else(|| settings.analyzers.default_index())
}

fn search_analyzer(leaf: &Leaf, settings: &MappingSettings) -> Arc<Analyzer> {
    named_analyzer(leaf, "search_analyzer", settings)
        .or_else(|| named_analyzer(leaf, "analyzer", settings))
        .unwrap_or_else(|| settings.analyzers.default_search())
}

/// Returns the analyzer of phrases; `None` if it is that of other query texts.
fn quote_analyzer(leaf: &Leaf, settings: &MappingSettings) -> Option<Arc<Analyzer>> {
    let named = ["search_quote_analyzer", "search_analyzer", "analyzer"]
        .map(|parameter| named_analyzer(leaf, parameter, settings));
    match named {
        [None, None, None] => {
            let default = settings.analyzers.get("default_search_quoted");
            default.filter(|_| matches!(leaf.kind.values(leaf), Ok(ValueKind::Text))).cloned()
        }
        [quoted, ..] => quoted,
    }
}

/// Returns the analyzer that a parameter names.
fn named_analyzer(leaf: &Leaf, parameter: &str, settings: &MappingSettings) -> Option<Arc<Analyzer>> {
    settings.analyzers.get(leaf.param(parameter).as_str()?).cloned()
}
