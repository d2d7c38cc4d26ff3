//! Collects the categories of the strings in a shard's documents.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use limber_mapping::analysis::Analyzer;
use limber_segment::SegmentView;
use limber_text::pattern::{Pattern, Replacement};

use super::super::answer::partial::{Key, ListBucket, ListPartial, Partial};
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::CollectorContext;
use super::super::terms::TermPool;
use super::super::values::source_texts::{SourceTexts, source_path};
use super::categories::{Categories, Weighed, weight_of};
use super::request::{CategorizeText, key_of};
use super::tokens::{TOKEN_COUNT_MAX, message_tokens};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Sorts the values of a shard's documents into categories.
#[derive(Debug)]
pub struct CategorizeCollector<'s> {
    request: &'s CategorizeText,
    /// The source paths that the strings are read from; empty if the field is not mapped.
    paths: Vec<String>,
    messages: Messages<'s>,
    /// Indexed by parent bucket.
    categories: HashMap<u32, Categories, FixedState>,
    /// The bucket of each (parent, category number).
    table: BucketTable,
    view: Option<View<'s>>,
    shard: &'s ShardSnapshot,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

struct View<'s>(&'s SegmentView);

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("View")
    }
}

/// Splits strings into tokens, and holds those of the current string.
#[derive(Debug)]
struct Messages<'s> {
    filters: &'s [Arc<Pattern>],
    analyzer: Option<Arc<Analyzer>>,
    texts: SourceTexts,
    pool: TermPool,
    /// The tokens of one string.
    tokens: Vec<Weighed>,
    /// The number of characters of that string.
    length: u64,
}

impl Messages<'_> {
    fn cut(&mut self, text: &str, budget: &Budget) -> Result<()> {
        self.tokens.clear();
        self.length = text.chars().count() as u64;
        let mut filtered = None;
        for filter in self.filters {
            let text = filtered.as_deref().unwrap_or(text);
            let without = filter.replace_all(text, &Replacement::parse(""));
            filtered = Some(without.map_err(limber_mapping::RequestError::from)?);
        }
        let text = filtered.as_deref().unwrap_or(text);
        let (pool, tokens, mut failed) = (&mut self.pool, &mut self.tokens, Ok(()));
        let mut add = |token: &str| {
            if failed.is_err() || tokens.len() == TOKEN_COUNT_MAX {
                return;
            }
            // A category is stored as its tokens separated by spaces, so tokens must not contain any.
            for part in token.split(' ').filter(|part| !part.is_empty()) {
                match pool.number(part.as_bytes(), budget) {
                    Ok(token) => tokens.push(Weighed { token, weight: weight_of(part.as_bytes()) }),
                    Err(error) => failed = Err(error),
                }
            }
        };
        match &self.analyzer {
            Some(analyzer) => {
                analyzer.tokens(text, |token| add(token.text));
            }
            None => message_tokens(text, add),
        }
        self.tokens.truncate(TOKEN_COUNT_MAX);
        failed
    }
}

impl<'s> CategorizeCollector<'s> {
    pub(crate) fn new(
        request: &'s CategorizeText,
        analyzer: Option<Arc<Analyzer>>,
        context: CollectorContext<'s>,
    ) -> CategorizeCollector<'s> {
        let field = context.shard.mapping.field(&request.field);
        CategorizeCollector {
            request,
            paths: field.iter().map(|field| source_path(context.shard, field)).collect(),
            messages: Messages {
                filters: &request.filters,
                analyzer,
                texts: SourceTexts::default(),
                pool: TermPool::default(),
                tokens: Vec::new(),
                length: 0,
            },
            categories: HashMap::default(),
            table: BucketTable::default(),
            view: None,
            shard: context.shard,
            subs: context.subs,
            emitted: Emitted::default(),
            budget: context.budget,
        }
    }

    /// Returns the category of the string that was split last.
    fn category(&mut self, parent: u32) -> Result<u32> {
        let similarity = self.request.similarity;
        let categories = self.categories.entry(parent).or_insert_with(|| Categories::new(similarity));
        let number = categories.join(&self.messages.tokens, self.messages.length, self.budget)?;
        self.table.bucket(parent, i64::from(number), self.budget)
    }
}

impl<'s> Collector<'s> for CategorizeCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.view = Some(View(view));
        self.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let Some(View(view)) = &self.view else { return Ok(()) };
        if self.paths.is_empty() {
            return Ok(());
        }
        let source = (&*self.shard.mapping, *view);
        self.emitted.clear();
        let (mut last, mut texts) = (usize::MAX, Vec::new());
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            if position != last {
                last = position;
                self.budget.check()?;
                texts.clear();
                self.messages.texts.each(source, entries.docs[position], &self.paths, |text| {
                    texts.push(text.to_owned());
                    Ok(())
                })?;
            }
            let mut counted: Vec<u32> = Vec::new();
            for text in &texts {
                self.messages.cut(text, self.budget)?;
                let bucket = self.category(entries.bucket(entry))?;
                // A document with several strings of a category counts once.
                if !counted.contains(&bucket) {
                    counted.push(bucket);
                    self.table.counts[bucket as usize] += 1;
                    self.emitted.push(entry, bucket)?;
                }
            }
        }
        if !self.subs.is_empty() && self.table.len() > 0 {
            self.subs.collect(&self.emitted.batch(entries, self.table.len())?)?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.subs.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let least = self.request.shard_min_doc_count;
        let mut lists = self.table.by_parent(parents);
        for list in &mut lists {
            list.retain(|&bucket| self.table.counts[bucket as usize] >= least);
            list.sort_by_key(|&bucket| std::cmp::Reverse(self.table.counts[bucket as usize]));
            list.truncate(self.request.shard_size);
        }
        let kept: Vec<u32> = lists.iter().flatten().copied().collect();
        let mut results = self.subs.finish(&kept)?.into_iter();
        let mut partials = Vec::with_capacity(lists.len());
        for (list, parent) in lists.iter().zip(parents) {
            let mut buckets = Vec::with_capacity(list.len());
            for &bucket in list {
                let category = &self.categories[parent].list[self.table.key(bucket) as usize];
                let key = key_of(category.tokens.iter(), &self.messages.pool);
                self.budget.spend(key.len() as u64 + size_of::<ListBucket>() as u64)?;
                let subs = results.next().unwrap_or_default();
                let doc_count = self.table.counts[bucket as usize];
                buckets.push(ListBucket {
                    score: category.length_max as f64,
                    ..ListBucket::new([Key::Term(key)].into(), doc_count, subs)
                });
            }
            partials.push(Partial::List(ListPartial::of(buckets)));
        }
        Ok(partials)
    }
}
