//! One leaf of a definition as a field.

use std::sync::Arc;

use serde_json::Value;

use crate::RequestError;
use crate::analysis::Analyzer;
use crate::completion::Completion;
use crate::date::{DateFormat, Resolution};
use crate::definition::{KEYED, Leaf, script_of};
use crate::field::{Field, FieldId, FieldType, Flattened, RuntimeScript};
use crate::join::Relations;
use crate::range::RangeKind;
use crate::settings::MappingSettings;
use crate::similarity::Similarity;
use crate::tree::scalar_of;
use crate::typed::{OwnedScalar, Shape};

/// Whether a leaf can be built at all: its `null_value` in particular.
pub(crate) fn check_leaf(leaf: &Leaf, path: &str, settings: &MappingSettings) -> Result<(), RequestError> {
    let field = build(leaf, FieldId(0), path, settings)?;
    if let Some(null) = &field.null_value
        && field.kind != FieldType::GeoPoint
    {
        let scalar = OwnedScalar::from_json(null);
        let shape = Shape::of(&field.kind);
        scalar_of(shape, &field, scalar.borrow()).map_err(|cause| {
            let name = path.rsplit('.').next().unwrap_or(path);
            RequestError::new(
                400,
                "mapper_parsing_exception",
                format!("Error parsing [null_value] on field [{name}]: {}", cause.reason),
            )
            .caused_by(*cause)
        })?;
    }
    Ok(())
}

/// The field that a leaf at `path` describes, with this id and without its multi-fields.
///
/// # Errors
/// Formats of dates that are none, types that are not there.
pub(super) fn build(
    leaf: &Leaf,
    id: FieldId,
    path: &str,
    settings: &MappingSettings,
) -> Result<Field, RequestError> {
    let kind = kind_of(leaf)?;
    let (analyzer, search_analyzer) = match kind {
        FieldType::Text => (Some(index_analyzer(leaf, settings)), Some(search_analyzer(leaf, settings))),
        FieldType::Completion(_) => {
            let simple = || settings.analyzers.get("simple").cloned();
            let index = named_analyzer(leaf, "analyzer", settings).or_else(simple);
            let search = named_analyzer(leaf, "search_analyzer", settings).or_else(|| index.clone());
            (index, search)
        }
        _ => (None, None),
    };
    let position_increment_gap = position_gap(leaf, analyzer.as_deref());
    let flattened = flattened_part(leaf);
    let is_shape = matches!(kind, FieldType::GeoShape { .. });
    let is_constant = leaf.kind.name == "constant_keyword";
    let match_only = leaf.kind.name == "match_only_text";
    let is_wildcard = leaf.kind.name == "wildcard";
    let is_query = kind == FieldType::Query;
    let is_join = matches!(kind, FieldType::Join(_));
    let is_completion = matches!(kind, FieldType::Completion(_));
    let index_options = leaf.param("index_options");
    let has_positions = index_options == "positions" || index_options == "offsets";
    let term_vector = leaf.param("term_vector");
    let has_vector_offsets =
        term_vector == "with_positions_offsets" || term_vector == "with_positions_offsets_payloads";
    let explicit = |name: &str, default: bool| match leaf.params.get(name).and_then(Value::as_bool) {
        Some(flag) => flag,
        None => leaf.kind.param(name).is_some() && default,
    };
    Ok(Field {
        id,
        path: Arc::from(path),
        index: match_only || is_wildcard || is_query || is_completion || is_join || leaf.flag("index"),
        doc_values: is_constant || is_wildcard || is_query || is_join || leaf.flag("doc_values"),
        store: leaf.flag("store"),
        match_only,
        is_wildcard,
        norms: leaf.flag("norms"),
        similarity: similarity(leaf, settings),
        positions: has_positions,
        has_offsets: index_options == "offsets" || has_vector_offsets,
        has_vector_offsets,
        frequencies: has_positions || (index_options == "freqs" && flattened.is_none()),
        analyzer,
        search_analyzer,
        normalizer: leaf
            .param("normalizer")
            .as_str()
            .and_then(|name| settings.analyzers.normalizer(name).cloned()),
        flattened,
        splits_queries: leaf.flag("split_queries_on_whitespace"),
        position_increment_gap,
        ignore_above: leaf.params.get("ignore_above").and_then(Value::as_u64).map(|count| count as u32),
        null_value: leaf.params.get("null_value").cloned(),
        coerce: explicit("coerce", if is_shape { settings.coerce_shapes } else { settings.coerce }),
        ignore_malformed: explicit("ignore_malformed", settings.ignore_malformed),
        ignore_z: explicit("ignore_z_value", true),
        copy_to: leaf.copy_to.iter().map(|path| Arc::from(path.as_str())).collect(),
        multi_fields: Vec::new(),
        runtime: is_constant.then(|| RuntimeScript {
            constant: Some(leaf.param("value").as_str().map(Arc::from)),
            ..RuntimeScript::default()
        }),
        script: script_of(leaf),
        kind,
    })
}

fn kind_of(leaf: &Leaf) -> Result<FieldType, RequestError> {
    Ok(match leaf.kind.name {
        _ if leaf.kind == &KEYED => FieldType::Keyword,
        "match_only_text" => FieldType::Text,
        "constant_keyword" | "wildcard" | "flattened" => FieldType::Keyword,
        "scaled_float" => {
            FieldType::ScaledFloat { scaling_factor: leaf.param("scaling_factor").as_f64().unwrap_or(1.0) }
        }
        "date" | "date_nanos" => {
            let format = leaf.param("format");
            FieldType::Date {
                format: Arc::new(DateFormat::parse_list(format.as_str().unwrap_or_default())?),
                resolution: match leaf.kind.name {
                    "date" => Resolution::Millis,
                    _ => Resolution::Nanos,
                },
            }
        }
        "geo_shape" => {
            FieldType::GeoShape { is_clockwise: leaf.params.get("orientation") == Some(&"LEFT".into()) }
        }
        "integer_range" => FieldType::Range(RangeKind::Integer),
        "long_range" => FieldType::Range(RangeKind::Long),
        "float_range" => FieldType::Range(RangeKind::Float),
        "double_range" => FieldType::Range(RangeKind::Double),
        "date_range" => {
            let format = leaf.param("format");
            let format = DateFormat::parse_list(format.as_str().unwrap_or_default())?;
            FieldType::Range(RangeKind::Date { format: Arc::new(format) })
        }
        "ip_range" => FieldType::Range(RangeKind::Ip),
        "completion" => FieldType::Completion(Arc::new(Completion {
            preserve_separators: leaf.flag("preserve_separators"),
            preserve_position_increments: leaf.flag("preserve_position_increments"),
            input_length_max: leaf.param("max_input_length").as_u64().unwrap_or(50) as usize,
            contexts: Completion::parse_contexts(&leaf.param("contexts"))?,
        })),
        "join" => FieldType::Join(Arc::new(Relations::parse(&leaf.param("relations"))?)),
        "percolator" => FieldType::Query,
        other => FieldType::plain(other)
            .ok_or_else(|| RequestError::unsupported(format!("field type [{other}]")))?,
    })
}

/// Which part of a flattened field it is.
fn flattened_part(leaf: &Leaf) -> Option<Flattened> {
    match leaf.kind.name {
        _ if leaf.kind == &KEYED => Some(Flattened::Keyed),
        "flattened" => {
            Some(Flattened::Root { depth_max: leaf.param("depth_limit").as_u64().unwrap_or(0) as u32 })
        }
        _ => None,
    }
}

fn similarity(leaf: &Leaf, settings: &MappingSettings) -> Similarity {
    let name = leaf.param("similarity");
    name.as_str().and_then(|name| settings.similarities.get(name)).unwrap_or_default()
}

/// Positions between two values: as the field says, else as its analyzer does.
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

/// The analyzer that a parameter names.
fn named_analyzer(leaf: &Leaf, parameter: &str, settings: &MappingSettings) -> Option<Arc<Analyzer>> {
    settings.analyzers.get(leaf.param(parameter).as_str()?).cloned()
}
