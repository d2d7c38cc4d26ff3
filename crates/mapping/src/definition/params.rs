//! The table of field types and their parameters: names, defaults, checks, and whether an update may change them.
//!
//! Source: the `getParameters` lists of Elasticsearch's `TextFieldMapper`, `KeywordFieldMapper`, `NumberFieldMapper`,
//! `DateFieldMapper`, `BooleanFieldMapper`, `IpFieldMapper`, `ScaledFloatFieldMapper`; `GET _mapping` prints in this order.

use serde_json::{Value, json};

/// How a parameter's value is checked and brought into normal form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Check {
    Bool,
    /// Printed whenever it was given, even when equal to the default.
    ExplicitBool,
    /// An integer that is not negative.
    Count,
    Number,
    /// `no`, `yes`, `with_positions`, ...
    TermVector,
    /// `docs`, `freqs`, `positions`, `offsets`.
    IndexOptions,
    Analyzer,
    Normalizer,
    Similarity,
    DateFormat,
    /// A scalar that the type itself must be able to read.
    NullValue,
    /// A point in any notation, kept as `{"lat", "lon"}`.
    NullPoint,
    /// How outer rings run, kept as `RIGHT` or `LEFT`.
    Orientation,
    Meta,
    /// `none`, `arrays` or `all`.
    Keep,
    /// A text or number, kept as a text.
    Constant,
    /// A flag that not every type can have.
    Dimension,
    /// What is measured.
    Metric,
    /// A script, kept in its long form.
    Script,
    /// `fail` or `continue`.
    ScriptError,
    /// Contexts of a completion, kept as they are shown.
    Contexts,
    /// Relations of a join, kept as they are shown.
    Relations,
    /// Least and most characters of prefixes, kept with their defaults.
    Prefixes,
    /// Known to Elasticsearch; here only its default may be given.
    OnlyDefault,
}

/// Whether an update may change the parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Update {
    Never,
    Always,
    /// From true to false only (`norms`).
    Off,
    /// Once it is given it stays (`value`).
    Once,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Param {
    pub name: &'static str,
    pub check: Check,
    pub update: Update,
    /// JSON text of the default; empty for none.
    pub default: &'static str,
}

/// A field type of the table.
#[derive(Debug, PartialEq)]
pub(crate) struct Kind {
    pub name: &'static str,
    pub params: &'static [Param],
}

impl Kind {
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }

    pub fn default_of(&self, name: &str) -> Value {
        match self.param(name).map_or("", |param| param.default) {
            "" => Value::Null,
            "true" => json!(true),
            "false" => json!(false),
            text => serde_json::from_str(text).unwrap_or(Value::Null),
        }
    }
}

const fn param(name: &'static str, check: Check, update: Update, default: &'static str) -> Param {
    Param { name, check, update, default }
}

const INDEX: Param = param("index", Check::Bool, Update::Never, "true");
const DOC_VALUES: Param = param("doc_values", Check::Bool, Update::Never, "true");
const STORE: Param = param("store", Check::Bool, Update::Never, "false");
const META: Param = param("meta", Check::Meta, Update::Always, "");
const IGNORE_MALFORMED: Param = param("ignore_malformed", Check::ExplicitBool, Update::Always, "");
const COERCE: Param = param("coerce", Check::ExplicitBool, Update::Always, "");
const NULL_VALUE: Param = param("null_value", Check::NullValue, Update::Never, "");
const SCRIPT: Param = param("script", Check::Script, Update::Never, "null");
const ON_SCRIPT_ERROR: Param = param("on_script_error", Check::ScriptError, Update::Always, "\"fail\"");
const DIMENSION: Param = param("time_series_dimension", Check::Dimension, Update::Never, "false");
const METRIC: Param = param("time_series_metric", Check::Metric, Update::Never, "null");
const KEEP: Param = param("synthetic_source_keep", Check::Keep, Update::Always, "");
const SIMILARITY: Param = param("similarity", Check::Similarity, Update::Never, "\"BM25\"");
/// When ordinals are built is not observable: here they are written at flush, so both values mean the same.
const EAGER_ORDINALS: Param = param("eager_global_ordinals", Check::Bool, Update::Always, "false");

static TEXT: &[Param] = &[
    INDEX,
    STORE,
    param("index_options", Check::IndexOptions, Update::Never, "\"positions\""),
    param("norms", Check::Bool, Update::Off, "true"),
    // Terms are made anew for `_termvectors`: it tells which fields are shown unasked, and what of them.
    param("term_vector", Check::TermVector, Update::Never, "\"no\""),
    param("analyzer", Check::Analyzer, Update::Never, ""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("search_quote_analyzer", Check::OnlyDefault, Update::Always, "null"),
    SIMILARITY,
    param("position_increment_gap", Check::Count, Update::Never, "100"),
    EAGER_ORDINALS,
    // Kept and answered by `Mapping::parameter`; whoever aggregates over text must look at it.
    param("fielddata", Check::Bool, Update::Always, "false"),
    param("fielddata_frequency_filter", Check::OnlyDefault, Update::Always, "null"),
    // Elasticsearch keeps terms of their own for both, so that prefixes and phrases are found sooner; here the field's own terms and
    // positions find the same documents.
    param("index_prefixes", Check::Prefixes, Update::Never, "null"),
    param("index_phrases", Check::Bool, Update::Never, "false"),
    META,
    KEEP,
];

static MATCH_ONLY_TEXT: &[Param] = &[META, KEEP];

static KEYWORD: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    NULL_VALUE,
    EAGER_ORDINALS,
    param("ignore_above", Check::Count, Update::Always, "2147483647"),
    param("index_options", Check::IndexOptions, Update::Never, "\"docs\""),
    param("norms", Check::Bool, Update::Off, "false"),
    SIMILARITY,
    param("normalizer", Check::Normalizer, Update::Never, "null"),
    param("split_queries_on_whitespace", Check::Bool, Update::Always, "false"),
    SCRIPT,
    ON_SCRIPT_ERROR,
    META,
    DIMENSION,
    KEEP,
];

static WILDCARD: &[Param] =
    &[param("ignore_above", Check::Count, Update::Always, "2147483647"), NULL_VALUE, META, KEEP];

static CONSTANT_KEYWORD: &[Param] = &[param("value", Check::Constant, Update::Once, ""), META, KEEP];

static NUMBER: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    COERCE,
    NULL_VALUE,
    SCRIPT,
    ON_SCRIPT_ERROR,
    META,
    DIMENSION,
    METRIC,
    KEEP,
];

static UNSIGNED_LONG: &[Param] =
    &[INDEX, DOC_VALUES, STORE, IGNORE_MALFORMED, NULL_VALUE, META, DIMENSION, METRIC, KEEP];

static SCALED_FLOAT: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    META,
    param("scaling_factor", Check::Number, Update::Never, ""),
    COERCE,
    NULL_VALUE,
    METRIC,
    KEEP,
];

static DATE: &[Param] = &date_params("\"strict_date_optional_time||epoch_millis\"");

static DATE_NANOS: &[Param] = &date_params("\"strict_date_optional_time_nanos||epoch_millis\"");

/// Of dates whose `format` is this where the mapping gives none.
const fn date_params(format: &'static str) -> [Param; 11] {
    [
        INDEX,
        DOC_VALUES,
        STORE,
        param("format", Check::DateFormat, Update::Never, format),
        param("locale", Check::OnlyDefault, Update::Never, "\"en\""),
        NULL_VALUE,
        IGNORE_MALFORMED,
        SCRIPT,
        ON_SCRIPT_ERROR,
        META,
        KEEP,
    ]
}

static BOOLEAN: &[Param] =
    &[META, DOC_VALUES, INDEX, NULL_VALUE, STORE, SCRIPT, ON_SCRIPT_ERROR, DIMENSION, IGNORE_MALFORMED, KEEP];

static IP: &[Param] =
    &[INDEX, DOC_VALUES, STORE, IGNORE_MALFORMED, NULL_VALUE, SCRIPT, ON_SCRIPT_ERROR, META, DIMENSION, KEEP];

static GEO_POINT: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    param("ignore_z_value", Check::ExplicitBool, Update::Always, ""),
    param("null_value", Check::NullPoint, Update::Never, ""),
    SCRIPT,
    ON_SCRIPT_ERROR,
    META,
    DIMENSION,
    METRIC,
    KEEP,
];

static GEO_SHAPE: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    param("ignore_z_value", Check::ExplicitBool, Update::Always, ""),
    COERCE,
    param("orientation", Check::Orientation, Update::Always, ""),
    META,
    KEEP,
];

/// Parameters of shapes as prefix trees, which Elasticsearch has refused for new indices since 8.0.
pub(crate) static PREFIX_TREE_PARAMS: &[&str] =
    &["strategy", "tree", "tree_levels", "precision", "distance_error_pct", "points_only"];

static RANGE: &[Param] = &[INDEX, DOC_VALUES, STORE, COERCE, META, KEEP];

static DATE_RANGE: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    COERCE,
    param("format", Check::DateFormat, Update::Never, "\"strict_date_optional_time||epoch_millis\""),
    param("locale", Check::OnlyDefault, Update::Never, "\"en\""),
    META,
    KEEP,
];

static BINARY: &[Param] = &[STORE, param("doc_values", Check::Bool, Update::Never, "false"), META, KEEP];

static COMPLETION: &[Param] = &[
    param("analyzer", Check::Analyzer, Update::Never, "\"simple\""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("preserve_separators", Check::ExplicitBool, Update::Never, "true"),
    param("preserve_position_increments", Check::ExplicitBool, Update::Never, "true"),
    param("max_input_length", Check::Count, Update::Always, "50"),
    param("contexts", Check::Contexts, Update::Never, "null"),
    META,
];

static JOIN: &[Param] = &[
    param("eager_global_ordinals", Check::ExplicitBool, Update::Always, "true"),
    param("relations", Check::Relations, Update::Always, "{}"),
    META,
];

/// The ids of parents beside a join; no mapping names it.
pub(crate) static PARENT_IDS: Kind = Kind { name: "keyword", params: KEYWORD };

static PERCOLATOR: &[Param] = &[META];

static FLATTENED: &[Param] = &[
    INDEX,
    DOC_VALUES,
    param("depth_limit", Check::Count, Update::Always, "20"),
    NULL_VALUE,
    EAGER_ORDINALS,
    param("ignore_above", Check::Count, Update::Always, "2147483647"),
    // Frequencies are never written, as in Elasticsearch.
    param("index_options", Check::IndexOptions, Update::Never, "\"docs\""),
    SIMILARITY,
    param("split_queries_on_whitespace", Check::Bool, Update::Always, "false"),
    META,
    param("time_series_dimensions", Check::OnlyDefault, Update::Never, "[]"),
    KEEP,
];

/// The keyed terms of a field of type `flattened`; no mapping names it.
pub(crate) static KEYED: Kind = Kind { name: "flattened keys", params: FLATTENED };

/// Every leaf type there is.
pub(crate) static KINDS: &[Kind] = &[
    Kind { name: "text", params: TEXT },
    Kind { name: "match_only_text", params: MATCH_ONLY_TEXT },
    Kind { name: "keyword", params: KEYWORD },
    Kind { name: "wildcard", params: WILDCARD },
    Kind { name: "constant_keyword", params: CONSTANT_KEYWORD },
    Kind { name: "long", params: NUMBER },
    Kind { name: "unsigned_long", params: UNSIGNED_LONG },
    Kind { name: "integer", params: NUMBER },
    Kind { name: "short", params: NUMBER },
    Kind { name: "byte", params: NUMBER },
    Kind { name: "double", params: NUMBER },
    Kind { name: "float", params: NUMBER },
    Kind { name: "half_float", params: NUMBER },
    Kind { name: "scaled_float", params: SCALED_FLOAT },
    Kind { name: "boolean", params: BOOLEAN },
    Kind { name: "date", params: DATE },
    Kind { name: "date_nanos", params: DATE_NANOS },
    Kind { name: "ip", params: IP },
    Kind { name: "geo_point", params: GEO_POINT },
    Kind { name: "geo_shape", params: GEO_SHAPE },
    Kind { name: "integer_range", params: RANGE },
    Kind { name: "long_range", params: RANGE },
    Kind { name: "float_range", params: RANGE },
    Kind { name: "double_range", params: RANGE },
    Kind { name: "date_range", params: DATE_RANGE },
    Kind { name: "ip_range", params: RANGE },
    Kind { name: "binary", params: BINARY },
    Kind { name: "completion", params: COMPLETION },
    Kind { name: "join", params: JOIN },
    Kind { name: "percolator", params: PERCOLATOR },
    Kind { name: "flattened", params: FLATTENED },
];

/// Types of Elasticsearch that are not here yet: refused by name, unlike a type nobody knows.
pub(crate) static KINDS_MISSING: &[&str] = &[
    "aggregate_metric_double",
    "alias",
    "annotated_text",
    "counted_keyword",
    "dense_vector",
    "histogram",
    "icu_collation_keyword",
    "murmur3",
    "passthrough",
    "point",
    "rank_feature",
    "rank_features",
    "rank_vectors",
    "search_as_you_type",
    "semantic_text",
    "shape",
    "sparse_vector",
    "token_count",
    "version",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_json() {
        for kind in KINDS {
            for param in kind.params {
                if !param.default.is_empty() {
                    serde_json::from_str::<Value>(param.default).unwrap();
                }
            }
        }
    }
}
