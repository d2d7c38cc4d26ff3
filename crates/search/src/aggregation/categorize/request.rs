//! The options of `categorize_text`, and the reduce of the shards' categories.
//!
//! Source: Elasticsearch's documentation of the categorize text aggregation.

use std::sync::Arc;

use limber_mapping::analysis::{Analyzer, AnalyzerParts};
use limber_mapping::{ObjectParser, RequestError};
use limber_text::pattern::Pattern;
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListBucket, ListPartial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::buckets::list::Group;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::Options;
use super::super::terms::{TermPool, count, positive};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::categories::{Categories, Weighed, weight_of};
use super::collector::CategorizeCollector;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::values::json;

const SIZE: i32 = 10;
const SIMILARITY_PERCENT: i32 = 70;
/// Largest number of patterns of one request.
const FILTER_COUNT_MAX: usize = 100;

/// The aggregation `categorize_text`, as the request gives it.
#[derive(Debug, Clone)]
pub struct CategorizeText {
    pub field: String,
    /// The share of two strings that must be equal, from 0 to 1.
    pub similarity: f64,
    /// Patterns of what is removed from a string before it is split into tokens.
    pub filters: Vec<Arc<Pattern>>,
    analyzer: Option<CutBy>,
    size: usize,
    pub shard_size: usize,
    min_doc_count: u64,
    pub shard_min_doc_count: u64,
}

/// The analyzer that splits strings, if the request names one.
#[derive(Debug, Clone)]
enum CutBy {
    Named(String),
    Parts(Box<AnalyzerParts>),
}

impl CategorizeText {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let field = options.text("field")?;
        let percent = options.int("similarity_threshold")?.unwrap_or(SIMILARITY_PERCENT);
        if !(1..=100).contains(&percent) {
            let reason = format!(
                "[similarity_threshold] must be in the range [1, 100]. Found [{percent}] in [{}]",
                options.name
            );
            return Err(options.refused("similarity_threshold", reason));
        }
        // These options limited memory before version 8.3; since then they have no effect.
        for limit in ["max_unique_tokens", "max_matched_tokens"] {
            positive(options, limit, 1)?;
        }
        let filters = filters(options)?;
        let analyzer = analyzer(options)?;
        if analyzer.is_some() && !filters.is_empty() {
            return Err(RequestError::illegal_argument(format!(
                "[categorization_filters] cannot be used with [categorization_analyzer] - instead specify them as \
                 pattern_replace char_filters in the analyzer in [{}]",
                options.name
            )));
        }
        let size = positive(options, "size", SIZE)?;
        let shard_size = match options.has("shard_size") {
            true => positive(options, "shard_size", -1)?,
            // Elasticsearch's `BucketUtils.suggestShardSideQueueSize`.
            false => size + size / 2 + 10,
        };
        let min_doc_count = count(options, "min_doc_count", 1)?;
        let shard_min_doc_count = count(options, "shard_min_doc_count", 0)?;
        options.finish()?;
        let field = field.filter(|field| !field.is_empty()).ok_or_else(|| {
            RequestError::illegal_argument("Required one of fields [field], but none were specified. ")
        })?;
        Ok(Kind::own(CategorizeText {
            field,
            similarity: f64::from(percent) / 100.0,
            filters,
            analyzer,
            size,
            shard_size: shard_size.max(size),
            min_doc_count,
            shard_min_doc_count,
        }))
    }

    /// Returns the analyzer for the strings of a shard; `None` stands for [`super::tokens::message_tokens`].
    fn bound_analyzer(&self, shard: &ShardSnapshot) -> Result<Option<Arc<Analyzer>>> {
        let analyzers = &shard.mapping.settings().analyzers;
        Ok(match &self.analyzer {
            None => None,
            Some(CutBy::Parts(parts)) => Some(Arc::new(analyzers.ad_hoc(parts)?)),
            Some(CutBy::Named(name)) => Some(analyzers.get(name).cloned().ok_or_else(|| {
                RequestError::illegal_argument(format!("failed to find global analyzer [{name}]"))
            })?),
        })
    }
}

fn filters(options: &mut Options) -> std::result::Result<Vec<Arc<Pattern>>, RequestError> {
    const NAME: &str = "categorization_filters";
    let list = match options.take(NAME) {
        None => Vec::new(),
        Some(Value::Array(list)) if list.len() <= FILTER_COUNT_MAX => list,
        Some(one @ Value::String(_)) => vec![one],
        Some(other) => return Err(options.wrong_type(NAME, &other)),
    };
    let filter = |value: &Value| {
        let text = json::scalar_text(value).ok_or_else(|| options.wrong_type(NAME, value))?;
        let wrong = |reason: String| options.refused(NAME, format!("[{text}] is no pattern: {reason}"));
        Pattern::parse(&text).map(Arc::new).map_err(wrong)
    };
    list.iter().map(filter).collect()
}

fn analyzer(options: &mut Options) -> std::result::Result<Option<CutBy>, RequestError> {
    const NAME: &str = "categorization_analyzer";
    match options.take(NAME) {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some(CutBy::Named(name))),
        Some(Value::Object(custom)) => {
            let known = ["char_filter", "tokenizer", "filter"];
            if let Some(other) = custom.keys().find(|name| !known.contains(&name.as_str())) {
                return Err(options.refused(NAME, format!("[{NAME}] {}", ObjectParser::unknown_words(other))));
            }
            if !custom.contains_key("tokenizer") {
                return Err(options.refused(NAME, format!("[{NAME}] must have a [tokenizer]")));
            }
            let parts = AnalyzerParts::of_request(&custom).map_err(|cause| options.failed(NAME, cause))?;
            Ok(Some(CutBy::Parts(Box::new(parts))))
        }
        Some(other) => Err(options.wrong_type(NAME, &other)),
    }
}

impl Request for CategorizeText {
    fn is_mapped(&self, shard: &ShardSnapshot) -> bool {
        shard.mapping.field(&self.field).is_some()
    }

    fn check_on_shard(&self, _: &Bound, shard: &ShardSnapshot) -> Result<()> {
        if shard.nested.is_some() {
            return Err(RequestError::unsupported("[categorize_text] on nested documents").into());
        }
        let Some(field) = shard.mapping.field(&self.field) else { return Ok(()) };
        if field.representation() == limber_mapping::Representation::Number {
            return Err(RequestError::illegal_argument(format!(
                "categorize_text agg [{}] only works on text and keyword fields. Cannot aggregate field type [{}]",
                self.field,
                field.type_name()
            ))
            .into());
        }
        self.bound_analyzer(shard).map(|_| ())
    }
}

impl Collect for CategorizeText {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let analyzer = self.bound_analyzer(context.shard)?;
        Ok(Box::new(CategorizeCollector::new(self, analyzer, context)))
    }
}

/// Returns the tokens of a category that a shard found.
fn tokens_of(bucket: &ListBucket) -> impl Iterator<Item = &[u8]> {
    let text = match &bucket.keys[0] {
        Key::Term(text) => &**text,
        _ => &[],
    };
    text.split(|byte| *byte == b' ').filter(|token| !token.is_empty())
}

impl Reduce for CategorizeText {
    type Finding = ListPartial;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let mut buckets: Vec<ListBucket> = parts.into_iter().flat_map(|list| list.buckets).collect();
        // The sort is stable: among equal counts, those of the first shard come first.
        buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.doc_count));
        let budget = Budget::new(reducer.context())?;
        let (mut pool, mut categories) = (TermPool::default(), Categories::new(self.similarity));
        let mut groups: Vec<Group> = Vec::new();
        for mut bucket in buckets {
            let weighed =
                |token| Ok(Weighed { token: pool.number(token, &budget)?, weight: weight_of(token) });
            let tokens: Vec<Weighed> = tokens_of(&bucket).map(weighed).collect::<Result<_>>()?;
            let number = categories.join(&tokens, bucket.score as u64, &budget)? as usize;
            let subs = std::mem::take(&mut bucket.subs);
            match groups.get_mut(number) {
                Some(group) => {
                    group.bucket.doc_count += bucket.doc_count;
                    group.parts.push(subs);
                }
                None => groups.push(Group { bucket, parts: vec![subs] }),
            }
        }
        for (group, category) in groups.iter_mut().zip(&categories.list) {
            group.bucket.keys = [Key::Term(key_of(category.tokens.iter(), &pool))].into();
            group.bucket.score = category.length_max as f64;
        }
        groups.retain(|group| group.bucket.doc_count >= self.min_doc_count);
        groups.sort_by_key(|group| std::cmp::Reverse(group.bucket.doc_count));
        groups.truncate(self.size);
        Ok(ListPartial::of(reducer.buckets_of(own, groups)?))
    }
}

/// Joins the tokens of a category with spaces.
pub fn key_of<'t>(tokens: impl Iterator<Item = &'t Weighed>, pool: &TermPool) -> Box<[u8]> {
    let tokens: Vec<&[u8]> = tokens.map(|token| pool.term(token.token)).collect();
    tokens.join(&b' ').into()
}

/// Makes `regex`: the tokens in their order, with anything between them.
fn regex_of(key: &str) -> String {
    if key.is_empty() {
        return ".*".to_owned();
    }
    let quoted: Vec<String> = key.split(' ').map(quoted).collect();
    format!(".*?{}.*?", quoted.join(".+?"))
}

/// Escapes the characters of a token that have a meaning in a regular expression.
fn quoted(token: &str) -> String {
    let mut out = String::with_capacity(token.len());
    for character in token.chars() {
        if r"\.[]{}()<>*+-=!?^$|".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

impl Render for CategorizeText {
    fn typed_name(&self, own: &Aggregation, _: &ListPartial, _: &Shape) -> String {
        own.type_name.to_owned()
    }

    fn render(&self, finding: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.bucket_list(&finding.buckets, |bucket, out| {
            let key = match &bucket.keys[0] {
                Key::Term(key) => claimed::term(key)?,
                _ => String::new(),
            };
            out.insert("doc_count", &bucket.doc_count)?;
            out.insert("regex", &regex_of(&key))?;
            // A tenth more than the longest string, so that somewhat longer ones match, too.
            let length = bucket.score as u64;
            out.insert("max_matching_length", &(length * 11 / 10))?;
            out.insert("key", &key)?;
            renderer.subs(&bucket.subs, out)
        })
    }
}
