//! What a script is for.

use crate::types::Type;

/// What a script is for: what it may name, and what it has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptContext {
    Score,
    Field,
    Filter,
    NumberSort,
    StringSort,
    Aggregation,
    Update,
    UpdateByQuery,
    Reindex,
    Ingest,
    IngestCondition,
    BucketScript,
    BucketSelector,
    /// The four scripts of `scripted_metric`.
    MetricInit,
    MetricMap,
    MetricCombine,
    MetricReduce,
    RuntimeField(Emits),
    /// Of a filter of intervals.
    Interval,
    /// Of a filter of tokens.
    TokenFilter,
    /// Tried out with its parameters alone.
    Test,
}

/// What the script of a runtime field emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Emits {
    Boolean,
    /// Values of any kind by name.
    Composite,
    Date,
    Double,
    GeoPoint,
    Ip,
    Keyword,
    Long,
}

impl ScriptContext {
    /// Elasticsearch's name.
    pub fn name(self) -> &'static str {
        match self {
            ScriptContext::Score => "score",
            ScriptContext::Field => "field",
            ScriptContext::Filter => "filter",
            ScriptContext::NumberSort => "number_sort",
            ScriptContext::StringSort => "string_sort",
            ScriptContext::Aggregation => "aggs",
            ScriptContext::Update => "update",
            ScriptContext::UpdateByQuery => "update_by_query",
            ScriptContext::Reindex => "reindex",
            ScriptContext::Ingest => "ingest",
            ScriptContext::IngestCondition => "processor_conditional",
            ScriptContext::BucketScript => "bucket_aggregation",
            ScriptContext::BucketSelector => "aggregation_selector",
            ScriptContext::MetricInit => "aggs_init",
            ScriptContext::MetricMap => "aggs_map",
            ScriptContext::MetricCombine => "aggs_combine",
            ScriptContext::MetricReduce => "aggs_reduce",
            ScriptContext::Interval => "interval",
            ScriptContext::TokenFilter => "analysis",
            ScriptContext::Test => "painless_test",
            ScriptContext::RuntimeField(emits) => match emits {
                Emits::Boolean => "boolean_field",
                Emits::Composite => "composite_field",
                Emits::Date => "date_field",
                Emits::Double => "double_field",
                Emits::GeoPoint => "geo_point_field",
                Emits::Ip => "ip_field",
                Emits::Keyword => "keyword_field",
                Emits::Long => "long_field",
            },
        }
    }

    pub fn returns(self) -> Type {
        match self {
            ScriptContext::Score | ScriptContext::NumberSort => Type::Double,
            ScriptContext::Filter
            | ScriptContext::Interval
            | ScriptContext::TokenFilter
            | ScriptContext::IngestCondition
            | ScriptContext::BucketSelector => Type::Bool,
            ScriptContext::StringSort => Type::Str,
            ScriptContext::Field
            | ScriptContext::Aggregation
            | ScriptContext::MetricCombine
            | ScriptContext::MetricReduce
            | ScriptContext::Test => Type::Def,
            ScriptContext::BucketScript => Type::Object("java.lang.Number"),
            ScriptContext::Update
            | ScriptContext::UpdateByQuery
            | ScriptContext::Reindex
            | ScriptContext::Ingest
            | ScriptContext::MetricInit
            | ScriptContext::MetricMap
            | ScriptContext::RuntimeField(_) => Type::Void,
        }
    }

    pub fn has_doc(self) -> bool {
        !matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
                | ScriptContext::IngestCondition
                | ScriptContext::BucketScript
                | ScriptContext::BucketSelector
                | ScriptContext::MetricInit
                | ScriptContext::MetricCombine
                | ScriptContext::MetricReduce
                | ScriptContext::Interval
                | ScriptContext::TokenFilter
                | ScriptContext::Test
        )
    }

    pub fn has_ctx(self) -> bool {
        matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
                | ScriptContext::IngestCondition
        )
    }

    /// A variable that the script is given in its first slot.
    pub fn given(self) -> Option<(&'static str, Type)> {
        match self {
            ScriptContext::MetricInit | ScriptContext::MetricMap | ScriptContext::MetricCombine => {
                Some(("state", Type::Object("java.util.Map")))
            }
            ScriptContext::MetricReduce => Some(("states", Type::Object("java.util.List"))),
            ScriptContext::Interval => Some(("interval", Type::Def)),
            ScriptContext::TokenFilter => Some(("token", Type::Def)),
            _ => None,
        }
    }

    /// Whether `script.max_compilations_rate` holds: not for pipelines, which are compiled when they are put and when the node starts.
    pub fn is_rate_limited(self) -> bool {
        !matches!(self, ScriptContext::Ingest | ScriptContext::IngestCondition | ScriptContext::TokenFilter)
    }

    pub fn has_score(self) -> bool {
        matches!(
            self,
            ScriptContext::Score
                | ScriptContext::NumberSort
                | ScriptContext::StringSort
                | ScriptContext::Aggregation
                | ScriptContext::MetricMap
        )
    }
}
