//! Parameters of field types: names, defaults, checks, and whether an update may change them.
//!
//! Source: the `getParameters` lists of Elasticsearch's `TextFieldMapper`, `KeywordFieldMapper`,
//! `NumberFieldMapper`, `DateFieldMapper`, `BooleanFieldMapper`, `IpFieldMapper`, `ScaledFloatFieldMapper`;
//! `GET _mapping` prints in this order.

/// How a parameter's value is checked and converted to normal form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Check {
    Bool,
    /// Printed whenever it was given, even if it equals the default.
    ExplicitBool,
    /// A non-negative integer.
    Count,
    Number,
    /// `no`, `yes`, `with_positions`, ...
    TermVector,
    /// `docs`, `freqs`.
    IndexOptions,
    /// `docs`, `freqs`, `positions`, `offsets`.
    TextIndexOptions,
    Analyzer,
    Normalizer,
    Similarity,
    DateFormat,
    /// The language of names in dates, stored as Java prints it.
    Locale,
    /// A scalar that the type itself must be able to read.
    NullValue,
    /// A point in any notation, stored as `{"lat", "lon"}`.
    NullPoint,
    /// A point of a plane in any notation, stored as `{"x", "y"}`.
    NullCartesianPoint,
    /// The orientation of outer rings, stored as `RIGHT` or `LEFT`.
    Orientation,
    Meta,
    /// `none`, `arrays` or `all`.
    Keep,
    /// A string or number, stored as a string.
    Constant,
    /// A boolean that not every type supports.
    Dimension,
    /// A time series metric.
    Metric,
    /// A time series metric of geo points.
    PositionMetric,
    /// A time series metric of summaries.
    GaugeMetric,
    /// A list of the metrics of a summary, stored in their order.
    SummaryMetrics,
    /// A metric of a summary.
    SummaryMetric,
    /// A script, stored in its long form.
    Script,
    /// `fail` or `continue`.
    ScriptError,
    /// Contexts of a completion, stored as they are shown.
    Contexts,
    /// Relations of a join, stored as they are shown.
    Relations,
    /// Minimum and maximum length of prefixes, stored with their defaults.
    Prefixes,
    /// Minimum and maximum frequency of the terms that `fielddata` reads, stored with their defaults.
    FrequencyFilter,
    /// A parameter of Elasticsearch for which only the default is accepted here.
    OnlyDefault,
    /// A list of names.
    Dimensions,
}

/// Whether an update may change the parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Update {
    Never,
    Always,
    /// From true to false only (`norms`).
    Off,
    /// Once given, it cannot change (`value`).
    Once,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Param {
    pub name: &'static str,
    pub check: Check,
    pub update: Update,
    /// The default as JSON; empty for none.
    pub default: &'static str,
}

/// Creates a parameter of a type.
pub(crate) const fn param(name: &'static str, check: Check, update: Update, default: &'static str) -> Param {
    Param { name, check, update, default }
}

pub(crate) const INDEX: Param = param("index", Check::Bool, Update::Never, "true");
pub(crate) const DOC_VALUES: Param = param("doc_values", Check::Bool, Update::Never, "true");
pub(crate) const STORE: Param = param("store", Check::Bool, Update::Never, "false");
pub(crate) const META: Param = param("meta", Check::Meta, Update::Always, "");
/// Elasticsearch 7's and OpenSearch's: scores of matches in the field are multiplied by it.
pub(crate) const BOOST: Param = param("boost", Check::Number, Update::Always, "1.0");
/// OpenSearch's: whether a column has a list to skip by. Both values mean the same, because columns have one.
pub(crate) const SKIP_LIST: Param = param("skip_list", Check::Bool, Update::Never, "false");
pub(crate) const IGNORE_MALFORMED: Param = param("ignore_malformed", Check::ExplicitBool, Update::Always, "");
pub(crate) const COERCE: Param = param("coerce", Check::ExplicitBool, Update::Always, "");
pub(crate) const NULL_VALUE: Param = param("null_value", Check::NullValue, Update::Never, "");
pub(crate) const SCRIPT: Param = param("script", Check::Script, Update::Never, "null");
pub(crate) const ON_SCRIPT_ERROR: Param =
    param("on_script_error", Check::ScriptError, Update::Always, "\"fail\"");
pub(crate) const DIMENSION: Param = param("time_series_dimension", Check::Dimension, Update::Never, "false");
pub(crate) const METRIC: Param = param("time_series_metric", Check::Metric, Update::Never, "null");
pub(crate) const KEEP: Param = param("synthetic_source_keep", Check::Keep, Update::Always, "");
pub(crate) const SIMILARITY: Param = param("similarity", Check::Similarity, Update::Never, "\"BM25\"");
/// Both values mean the same: ordinals are written at flush, and when they are built is not observable.
pub(crate) const EAGER_ORDINALS: Param = param("eager_global_ordinals", Check::Bool, Update::Always, "false");
pub(crate) const IGNORE_ABOVE: Param = param("ignore_above", Check::Count, Update::Always, "2147483647");
pub(crate) const KEYWORD_INDEX_OPTIONS: Param =
    param("index_options", Check::IndexOptions, Update::Never, "\"docs\"");
pub(crate) const SPLITS_QUERIES: Param =
    param("split_queries_on_whitespace", Check::Bool, Update::Always, "false");
pub(crate) const IGNORE_Z: Param = param("ignore_z_value", Check::ExplicitBool, Update::Always, "");
pub(crate) const LOCALE: Param = param("locale", Check::Locale, Update::Never, "\"en\"");
