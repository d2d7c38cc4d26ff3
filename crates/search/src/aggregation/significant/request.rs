//! The common parts of `significant_terms` and `significant_text`: options, selection on a shard, reduce and
//! rendering.
//!
//! Source: Elasticsearch's `SignificantTermsAggregationBuilder`, `InternalSignificantTerms`.

use limber_mapping::RequestError;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListBucket, ListPartial};
use super::super::answer::reduce::{Reducer, check_one_type};
use super::super::answer::render::Renderer;
use super::super::buckets::list::{groups, key_json, push_key};
use super::super::options::Options;
use super::super::source::Source;
use super::super::terms::{Include, count, positive};
use super::super::tree::Aggregation;
use super::super::values::format::{Format, double};
use super::super::values::given_script::FoundScript;
use super::heuristic::{Frequencies, Heuristic};
use crate::error::Result;
use crate::query::Query;
use crate::request::read_query;

const SIZE: i32 = 10;
const MIN_DOC_COUNT: i64 = 3;

/// The options that `significant_terms` and `significant_text` have in common.
#[derive(Debug, Clone)]
pub struct Significance {
    pub size: usize,
    pub shard_size: usize,
    pub min_doc_count: u64,
    pub shard_min_doc_count: u64,
    pub include: Option<Include>,
    pub exclude: Option<Include>,
    pub background_filter: Option<Query>,
    pub heuristic: Heuristic,
}

/// A bucket that a shard may select.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    pub bucket: u32,
    pub doc_count: u64,
    pub background: u64,
    pub score: f64,
}

impl Significance {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Significance, RequestError> {
        let size = positive(options, "size", SIZE)?;
        let shard_size = match options.has("shard_size") {
            true => Some(positive(options, "shard_size", -1)?),
            false => None,
        };
        let min_doc_count = count(options, "min_doc_count", MIN_DOC_COUNT)?;
        let shard_min_doc_count = count(options, "shard_min_doc_count", 0)?;
        let include = Include::parse(options, "include")?;
        let exclude = Include::parse(options, "exclude")?;
        let background_filter = match options.take("background_filter") {
            None => None,
            Some(query) => Some(read_query(&query)?),
        };
        let heuristic = Heuristic::parse(options)?;
        Ok(Significance {
            size,
            // Twice Elasticsearch's `BucketUtils.suggestShardSideQueueSize`.
            shard_size: shard_size.unwrap_or(2 * (size + size / 2 + 10)).max(size),
            min_doc_count,
            shard_min_doc_count: shard_min_doc_count.min(min_doc_count),
            include,
            exclude,
            background_filter,
            heuristic,
        })
    }

    /// Selects the values of a shard's result, the most significant first. `found` has the bucket, the
    /// document count and the background count of each value. `script` is the stored script that scores.
    pub fn select(
        &self,
        script: Option<&FoundScript>,
        found: impl Iterator<Item = (u32, u64, u64)>,
        size: u64,
        background_size: u64,
        compare_keys: impl Fn(u32, u32) -> std::cmp::Ordering,
    ) -> Result<Vec<Candidate>> {
        let mut scoring = self.heuristic.scoring(script)?;
        let scored = found.filter(|&(_, doc_count, _)| doc_count >= self.shard_min_doc_count.max(1));
        let mut candidates: Vec<Candidate> = scored
            .map(|(bucket, doc_count, background)| {
                let counts =
                    Frequencies { found: doc_count, size, background_found: background, background_size };
                Ok(Candidate { bucket, doc_count, background, score: scoring.score(counts)? })
            })
            .collect::<Result<_>>()?;
        let compare = |left: &Candidate, right: &Candidate| {
            right.score.total_cmp(&left.score).then_with(|| compare_keys(left.bucket, right.bucket))
        };
        if candidates.len() > self.shard_size {
            candidates.select_nth_unstable_by(self.shard_size, compare);
            candidates.truncate(self.shard_size);
        }
        candidates.sort_unstable_by(compare);
        Ok(candidates)
    }

    /// Merges the terms of all shards, scores them again and keeps the best.
    pub fn reduce(
        &self,
        own: &Aggregation,
        lists: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let keys = lists.iter().flat_map(|list| &list.buckets).filter_map(|bucket| bucket.keys.first());
        check_one_type(own, keys.map(|key| matches!(key, Key::Term(_))))?;
        let doc_count = lists.iter().map(|list| list.doc_count).sum();
        let background = lists.iter().map(|list| list.background).sum();
        let mut all = groups(lists.into_iter().flat_map(|list| list.buckets));
        let script = reducer.shape().and_then(|shape| shape.stored_script.clone());
        let mut scoring = self.heuristic.scoring(script.as_ref())?;
        for group in &mut all {
            group.bucket.score = scoring.score(Frequencies {
                found: group.bucket.doc_count,
                size: doc_count,
                background_found: group.bucket.background,
                background_size: background,
            })?;
        }
        all.retain(|group| group.bucket.score > 0.0 && group.bucket.doc_count >= self.min_doc_count);
        // The sort is stable: ties stay in the order of keys.
        all.sort_by(|left, right| right.bucket.score.total_cmp(&left.bucket.score));
        all.truncate(self.size);
        let buckets = reducer.buckets_of(own, all)?;
        Ok(ListPartial { buckets, doc_count, background, ..ListPartial::default() })
    }

    /// Renders the counts of both sets of documents, and the buckets.
    pub fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        if renderer.shape.is_mapped {
            out.insert("doc_count", &list.doc_count)?;
            out.insert("bg_count", &list.background)?;
        }
        let source = renderer.shape.sources.first();
        out.bucket_list(&list.buckets, |bucket: &ListBucket, out| {
            match (source, &bucket.keys[0]) {
                // Elasticsearch shows booleans as `true` and `false` here.
                (Some(Source { format: format @ Format::Boolean, .. }), key @ Key::Long(value)) => {
                    out.insert("key", &key_json(key, format)?)?;
                    out.insert("key_as_string", &(*value != 0))?;
                }
                (source, key) => push_key(out, key, source)?,
            }
            out.insert("doc_count", &bucket.doc_count)?;
            out.insert("score", &double(bucket.score))?;
            out.insert("bg_count", &bucket.background)?;
            renderer.subs(&bucket.subs, out)
        })
    }
}
