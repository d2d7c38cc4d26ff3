//! `nested` and `reverse_nested`: from documents to the nested documents inside them, and back.
//!
//! Source: Elasticsearch's `NestedAggregator`, `ReverseNestedAggregator`.

use std::ops::Range;
use std::sync::Arc;

use limber_mapping::{Nested as NestedPath, RequestError, SpaceId};
use limber_segment::nested::{Lineage, LineageCursor};
use limber_segment::{DocId, SegmentView};
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::filter::single_partials;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::values::json;

/// The options of a `nested`: the path of the nested documents that the sub-aggregations run on.
#[derive(Debug, Clone)]
pub struct Nested {
    path: String,
}

/// The options of a `reverse_nested`: the path of the enclosing documents that the sub-aggregations run on.
#[derive(Debug, Clone)]
pub struct ReverseNested {
    /// `None` stands for the root documents.
    path: Option<String>,
}

/// Reads `path`, the only option of both.
fn take_path(options: &mut Options) -> std::result::Result<Option<String>, RequestError> {
    let path = match options.take("path") {
        None => None,
        Some(Value::String(path)) => Some(path),
        Some(other) => return Err(unexpected(options, &other)),
    };
    match options.take_all().values().next() {
        None => Ok(path),
        Some(other) => Err(unexpected(options, other)),
    }
}

fn unexpected(options: &Options, value: &Value) -> RequestError {
    RequestError::parsing(format!("Unexpected token {} in [{}].", json::token(value), options.name))
}

impl Nested {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        match take_path(options)? {
            Some(path) => Ok(Kind::own(Nested { path })),
            None => Err(RequestError::parsing(format!(
                "Missing [path] field for nested aggregation [{}]",
                options.name
            ))),
        }
    }
}

/// Returns the nested object of a path, or one without any documents if nothing is mapped there.
fn object(path: &str, shard: &ShardSnapshot) -> Arc<NestedPath> {
    shard.mapping.nested(path).cloned().unwrap_or_else(|| {
        Arc::new(NestedPath {
            space: SpaceId(u32::MAX),
            path: Arc::from(path),
            parent: SpaceId::ROOT,
            include_in_root: false,
        })
    })
}

impl ReverseNested {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        Ok(Kind::own(ReverseNested { path: take_path(options)? }))
    }
}

impl Request for Nested {
    fn is_single_bucket(&self) -> bool {
        true
    }

    fn scope(&self, _: &Aggregation, shard: &ShardSnapshot) -> Result<Option<ShardSnapshot>> {
        shard.within(&object(&self.path, shard)).map(Some)
    }

    fn may_contain_composite(&self) -> bool {
        true
    }
}

impl Collect for Nested {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, shard, budget, .. } = context;
        let inner = bound.inner.as_ref().expect("bound with its documents");
        Ok(Box::new(NestedCollector {
            path: &self.path,
            shard,
            inner,
            steps: None,
            doc_count: 0,
            out: Out::new(subs, budget),
        }))
    }
}

impl Reduce for Nested {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for Nested {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }
}

impl Request for ReverseNested {
    fn is_single_bucket(&self) -> bool {
        true
    }

    fn scope(&self, own: &Aggregation, shard: &ShardSnapshot) -> Result<Option<ShardSnapshot>> {
        let Some(scope) = &shard.nested else {
            return Err(RequestError::illegal_argument(format!(
                "Reverse nested aggregation [{}] can only be used inside a [nested] aggregation",
                own.name
            ))
            .into());
        };
        let Some(path) = &self.path else { return Ok(Some(shard.outside())) };
        let current = &scope.nested.path;
        let is_around = current.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('.'));
        match shard.mapping.nested(path) {
            Some(nested) if is_around => shard.within(nested).map(Some),
            // If the scope that encloses this one is not mapped either, this one has no documents.
            None if shard.mapping.nested(current).is_none() => shard.within(&object(path, shard)).map(Some),
            _ => Err(RequestError::illegal_argument(format!(
                "Reverse nested path [{path}] is not a parent of the current nested scope [{current}]"
            ))
            .into()),
        }
    }

    fn may_contain_composite(&self) -> bool {
        true
    }
}

impl Collect for ReverseNested {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, shard, budget, .. } = context;
        let outer = bound.inner.as_ref().expect("bound with its documents");
        if let Some(path) = self.path.as_deref().filter(|path| shard.mapping.nested(path).is_none()) {
            // This index has no such objects, so nothing is found.
            return Ok(Box::new(NestedCollector {
                path,
                shard,
                inner: outer,
                steps: None,
                doc_count: 0,
                out: Out::new(subs, budget),
            }));
        }
        let path = &shard.nested.as_ref().expect("checked when it was bound").nested.path;
        Ok(Box::new(ReverseCollector {
            path,
            shard,
            outer,
            parents: None,
            parent: None,
            buckets: Vec::new(),
            score: None,
            out: Out::new(subs, budget),
        }))
    }
}

impl Reduce for ReverseNested {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for ReverseNested {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }
}

/// Returns the segment of `other` that corresponds to a segment of `shard`.
fn counterpart<'s>(
    shard: &ShardSnapshot,
    other: &'s ShardSnapshot,
    view: &SegmentView,
) -> Option<&'s SegmentView> {
    let place = shard.segments.iter().position(|one| Arc::ptr_eq(&one.segment, &view.segment))?;
    other.segments.get(place)
}

/// Number of documents in a window, and the most in a batch.
const WINDOW: u32 = 4096;

/// Buffers (document, bucket) pairs for the sub-aggregations, which must get all documents of a window in one
/// batch.
#[derive(Debug)]
struct Out<'s> {
    subs: Subs<'s>,
    counts: Vec<u64>,
    docs: Vec<DocId>,
    scores: Vec<f32>,
    positions: Vec<u32>,
    buckets: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Out<'s> {
    fn new(subs: Subs<'s>, budget: &'s Budget) -> Out<'s> {
        Out {
            subs,
            counts: Vec::new(),
            docs: Vec::new(),
            scores: Vec::new(),
            positions: Vec::new(),
            buckets: Vec::new(),
            budget,
        }
    }

    fn grow(&mut self, bucket_count: usize) -> Result<()> {
        if bucket_count > self.counts.len() {
            self.budget.spend((bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(bucket_count, 0);
        }
        Ok(())
    }

    /// Adds a pair. Documents must ascend, so the pairs of a document are adjacent.
    #[inline]
    fn push(&mut self, doc: DocId, bucket: u32, score: Option<f32>) -> Result<()> {
        self.counts[bucket as usize] += 1;
        if self.subs.is_empty() {
            return Ok(());
        }
        if self.docs.last() != Some(&doc) {
            if self.docs.last().is_some_and(|last| last / WINDOW != doc / WINDOW) {
                self.flush()?;
            }
            self.docs.push(doc);
            self.scores.extend(score);
        }
        self.positions.push(self.docs.len() as u32 - 1);
        self.buckets.push(bucket);
        Ok(())
    }

    /// Adds a contiguous range of documents, all in the only bucket.
    fn push_all(&mut self, docs: Range<DocId>) -> Result<()> {
        self.counts[0] += docs.len() as u64;
        let mut next = docs.start;
        while next < docs.end && !self.subs.is_empty() {
            if self.docs.last().is_some_and(|last| last / WINDOW != next / WINDOW) {
                self.flush()?;
            }
            let end = docs.end.min(next / WINDOW * WINDOW + WINDOW);
            let first = self.docs.len() as u32;
            self.docs.extend(next..end);
            self.positions.extend(first..self.docs.len() as u32);
            self.buckets.resize(self.docs.len(), 0);
            next = end;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.docs.is_empty() {
            return Ok(());
        }
        self.budget.check()?;
        let is_one_each = self.positions.len() == self.docs.len();
        let is_single = is_one_each && self.counts.len() == 1;
        self.subs.collect(&Entries {
            docs: &self.docs,
            positions: (!is_one_each).then_some(&self.positions),
            buckets: (!is_single).then_some(&self.buckets),
            bucket: 0,
            bucket_count: self.counts.len(),
            scores: &self.scores,
        })?;
        self.docs.clear();
        self.scores.clear();
        self.positions.clear();
        self.buckets.clear();
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.flush()?;
        self.subs.end_segment()
    }
}

#[derive(Debug)]
struct NestedCollector<'s> {
    path: &'s str,
    shard: &'s ShardSnapshot,
    inner: &'s ShardSnapshot,
    /// The nested documents of the current segment; `None` if it has none for the path.
    steps: Option<Lineage<'s>>,
    /// Number of nested documents in the current segment.
    doc_count: u32,
    out: Out<'s>,
}

impl<'s> Collector<'s> for NestedCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.steps = view.segment.lineage(self.path);
        let Some(inner) = counterpart(self.shard, self.inner, view) else { return Ok(()) };
        self.doc_count = inner.doc_count();
        self.out.subs.begin_segment(inner)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.out.grow(entries.bucket_count)?;
        let Some(lineage) = &self.steps else { return Ok(()) };
        if let ([first, .., last], true) = (entries.docs, entries.is_single_bucket())
            && (last - first) as usize + 1 == entries.docs.len()
            && entries.scores.is_empty()
        {
            return self.out.push_all(lineage.inside(*first..last + 1));
        }
        let mut inside = lineage.children_cursor();
        let mut entry = 0;
        while entry < entries.len() {
            let position = entries.position(entry);
            let mut end = entry + 1;
            while end < entries.len() && entries.position(end) == position {
                end += 1;
            }
            let score = entries.scores.get(position).copied();
            for child in inside.children(entries.docs[position]) {
                for other in entry..end {
                    self.out.push(child, entries.bucket(other), score)?;
                }
            }
            entry = end;
        }
        Ok(())
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        self.out.grow(1)?;
        if self.steps.is_some() {
            self.out.counts[0] += u64::from(self.doc_count);
            self.out.subs.collect_whole_segment(self.doc_count)?;
        }
        Ok(true)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.out.end_segment()
    }

    fn settle(&mut self) -> Result<()> {
        self.out.subs.settle()
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.out.subs.order_value_of_single(&self.out.counts, path, value, bucket)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        single_partials(&self.out.counts, &mut self.out.subs, buckets)
    }
}

#[derive(Debug)]
struct ReverseCollector<'s> {
    /// Path of the incoming documents.
    path: &'s str,
    shard: &'s ShardSnapshot,
    outer: &'s ShardSnapshot,
    parents: Option<LineageCursor<'s>>,
    /// The parent of the last incoming document, with its buckets and its score. A batch may end between the
    /// nested documents of a parent.
    parent: Option<DocId>,
    buckets: Vec<u32>,
    score: Option<f32>,
    out: Out<'s>,
}

impl ReverseCollector<'_> {
    /// Adds the current parent once to each of its buckets.
    fn settle_parent(&mut self) -> Result<()> {
        let Some(parent) = self.parent.take() else { return Ok(()) };
        self.buckets.sort_unstable();
        self.buckets.dedup();
        for at in 0..self.buckets.len() {
            self.out.push(parent, self.buckets[at], self.score)?;
        }
        self.buckets.clear();
        Ok(())
    }
}

impl<'s> Collector<'s> for ReverseCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        let Some(outer) = counterpart(self.shard, self.outer, view) else { return Ok(()) };
        self.parents = outer.segment.lineage(self.path).map(|lineage| lineage.cursor());
        self.out.subs.begin_segment(outer)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.out.grow(entries.bucket_count)?;
        let Some(mut parents) = self.parents.take() else { return Ok(()) };
        let mut last = usize::MAX;
        for entry in 0..entries.len() {
            let position = entries.position(entry);
            if position != last {
                last = position;
                let parent = parents.parent(entries.docs[position]);
                if self.parent != Some(parent) {
                    self.settle_parent()?;
                    (self.parent, self.score) = (Some(parent), entries.scores.get(position).copied());
                }
            }
            self.buckets.push(entries.bucket(entry));
        }
        self.parents = Some(parents);
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        self.settle_parent()?;
        self.out.end_segment()
    }

    fn settle(&mut self) -> Result<()> {
        self.out.subs.settle()
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.out.subs.order_value_of_single(&self.out.counts, path, value, bucket)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        single_partials(&self.out.counts, &mut self.out.subs, buckets)
    }
}
