//! The purposes of scripts.

use crate::types::Type;

/// What a script is for; decides what it may name and what it must return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScriptContext {
    /// `script_score`: returns a score.
    Score,
    /// `script_fields`: returns any value.
    Field,
    /// The `script` query: returns whether a document matches.
    Filter,
    /// `_script` sort of type `number`.
    NumberSort,
    /// `_script` sort of type `string`.
    StringSort,
    /// Values of an aggregation.
    Aggregation,
    /// `_update`.
    Update,
    /// `_update_by_query`.
    UpdateByQuery,
    /// `_reindex`.
    Reindex,
    /// The `script` processor of pipelines.
    Ingest,
    /// `if` of a processor.
    IngestCondition,
    /// `bucket_script`: a number from other buckets' numbers.
    BucketScript,
    /// `bucket_selector`: whether a bucket stays.
    BucketSelector,
    /// `moving_fn`: a number from those of a window.
    MovingFunction,
    /// `init_script` of `scripted_metric`, once per shard.
    MetricInit,
    /// `map_script`, once per document.
    MetricMap,
    /// `combine_script`, once per shard.
    MetricCombine,
    /// `reduce_script`, over what the shards returned.
    MetricReduce,
    /// The values of a runtime field, or of a field that is computed when a document is written.
    RuntimeField(Emits),
    /// The `script` filter of an `intervals` query.
    Interval,
    /// The script of a token filter (a predicate over tokens).
    TokenFilter,
    /// `script` of a scripted similarity: the score of a term in a document.
    Similarity,
    /// `weight_script` of a scripted similarity: what the scores of a term have in common.
    SimilarityWeight,
    /// The `script` processor of search pipelines: changes a search.
    SearchPipeline,
    /// A script that is tried out with its parameters only.
    Test,
}

/// The numbers of a similarity's scripts (`org.elasticsearch.index.similarity.ScriptedSimilarity`): those of
/// the query, the field and the term, and then those of a document.
const SIMILARITY_NUMBERS: &[(&str, Type)] = &[
    ("query.boost", Type::Float),
    ("field.docCount", Type::Long),
    ("field.sumDocFreq", Type::Long),
    ("field.sumTotalTermFreq", Type::Long),
    ("term.docFreq", Type::Long),
    ("term.totalTermFreq", Type::Long),
    ("weight", Type::Double),
    ("doc.length", Type::Int),
    ("doc.freq", Type::Float),
];

/// What the script of a runtime field emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Emits {
    /// `boolean`.
    Boolean,
    /// Values of any kind by name.
    Composite,
    /// `date`: milliseconds since 1970.
    Date,
    /// `double`.
    Double,
    /// `geo_point`: latitude and longitude.
    GeoPoint,
    /// `ip`, as text.
    Ip,
    /// `keyword`.
    Keyword,
    /// `long`.
    Long,
}

impl ScriptContext {
    /// Returns Elasticsearch's name.
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
            ScriptContext::MovingFunction => "moving-function",
            ScriptContext::MetricInit => "aggs_init",
            ScriptContext::MetricMap => "aggs_map",
            ScriptContext::MetricCombine => "aggs_combine",
            ScriptContext::MetricReduce => "aggs_reduce",
            ScriptContext::Interval => "interval",
            ScriptContext::TokenFilter => "analysis",
            ScriptContext::Similarity => "similarity",
            ScriptContext::SimilarityWeight => "similarity_weight",
            ScriptContext::SearchPipeline => "search",
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

    /// Returns the type that the script must return.
    pub fn returns(self) -> Type {
        match self {
            ScriptContext::Score
            | ScriptContext::NumberSort
            | ScriptContext::MovingFunction
            | ScriptContext::Similarity
            | ScriptContext::SimilarityWeight => Type::Double,
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
            | ScriptContext::SearchPipeline
            | ScriptContext::MetricInit
            | ScriptContext::MetricMap
            | ScriptContext::RuntimeField(_) => Type::Void,
        }
    }

    /// Whether the script may name `doc`.
    pub fn has_doc(self) -> bool {
        !matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
                | ScriptContext::IngestCondition
                | ScriptContext::SearchPipeline
                | ScriptContext::BucketScript
                | ScriptContext::BucketSelector
                | ScriptContext::MovingFunction
                | ScriptContext::MetricInit
                | ScriptContext::MetricCombine
                | ScriptContext::MetricReduce
                | ScriptContext::Interval
                | ScriptContext::TokenFilter
                | ScriptContext::Similarity
                | ScriptContext::SimilarityWeight
                | ScriptContext::Test
        )
    }

    /// Whether the script may name `ctx`.
    pub fn has_ctx(self) -> bool {
        matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
                | ScriptContext::IngestCondition
                | ScriptContext::SearchPipeline
        )
    }

    /// Whether the script may call `metadata`: it writes the document.
    pub fn has_metadata(self) -> bool {
        matches!(
            self,
            ScriptContext::Update
                | ScriptContext::UpdateByQuery
                | ScriptContext::Reindex
                | ScriptContext::Ingest
        )
    }

    /// Whether the script may call `field` and `$` for the fields of a document in `ctx`.
    pub fn has_fields(self) -> bool {
        self.has_metadata() || self == ScriptContext::IngestCondition
    }

    /// Whether `ctx` itself is the document, instead of having it as `_source`.
    pub fn ctx_is_document(self) -> bool {
        matches!(self, ScriptContext::Ingest | ScriptContext::IngestCondition)
    }

    /// Returns the variable that the script is given in its first slot.
    pub fn given(self) -> Option<(&'static str, Type)> {
        match self {
            ScriptContext::MetricInit | ScriptContext::MetricMap | ScriptContext::MetricCombine => {
                Some(("state", Type::Object("java.util.Map")))
            }
            ScriptContext::MetricReduce => Some(("states", Type::Object("java.util.List"))),
            ScriptContext::Interval => Some(("interval", Type::Def)),
            ScriptContext::MovingFunction => Some(("values", Type::Def)),
            ScriptContext::TokenFilter => Some(("token", Type::Def)),
            _ => None,
        }
    }

    /// Returns the numbers that the script is given in its first slots, by the names with which it reads
    /// them: `weight`, or a member of an object such as `doc.freq`.
    pub fn given_numbers(self) -> &'static [(&'static str, Type)] {
        match self {
            ScriptContext::Similarity => SIMILARITY_NUMBERS,
            // The weight is what this script computes, before there is a document.
            ScriptContext::SimilarityWeight => &SIMILARITY_NUMBERS[..SIMILARITY_NUMBERS.len() - 3],
            _ => &[],
        }
    }

    /// Whether `script.max_compilations_rate` applies. It does not for pipelines, token filters and
    /// similarities: pipelines are compiled when they are stored and when the node starts, the others with
    /// their index.
    pub fn is_rate_limited(self) -> bool {
        !matches!(
            self,
            ScriptContext::Ingest
                | ScriptContext::IngestCondition
                | ScriptContext::TokenFilter
                | ScriptContext::Similarity
                | ScriptContext::SimilarityWeight
        )
    }

    /// Whether the script may name `_score`.
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
