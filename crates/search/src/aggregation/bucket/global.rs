//! `global`: all documents of the index, whatever the query. Source: Elasticsearch's
//! `GlobalAggregationBuilder`, `GlobalAggregator`.

use limber_mapping::RequestError;
use limber_segment::SegmentView;

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
use crate::context::ShardSnapshot;
use crate::error::Result;

/// `global`: one bucket of all documents, whatever the query matches. It has no options.
#[derive(Debug, Clone)]
pub struct Global;

impl Global {
    pub(crate) fn parse(_: &mut Options) -> std::result::Result<Kind, RequestError> {
        Ok(Kind::own(Global))
    }
}

impl Request for Global {
    fn sees_all_docs(&self) -> bool {
        true
    }

    fn is_single_bucket(&self) -> bool {
        true
    }

    fn check_place(
        &self,
        own: &Aggregation,
        parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        match parents.is_empty() {
            true => Ok(()),
            false => Err(RequestError::bad_request(
                "aggregation_execution_exception",
                format!(
                    "Aggregation [{}] cannot have a global sub-aggregation [{}]. Global aggregations can only be defined as top level \
                     aggregations",
                    parents[parents.len() - 1].name,
                    own.name
                ),
            )),
        }
    }
}

impl Collect for Global {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(GlobalCollector { shard: context.shard, subs: context.subs, budget: context.budget }))
    }
}

impl Reduce for Global {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for Global {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }
}

/// Ignores the documents that the query matches, and walks the whole shard at the end.
#[derive(Debug)]
struct GlobalCollector<'s> {
    shard: &'s ShardSnapshot,
    subs: Subs<'s>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for GlobalCollector<'s> {
    fn begin_segment(&mut self, _: &'s SegmentView) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self, _: &Entries<'_>) -> Result<()> {
        Ok(())
    }

    fn collect_whole_segment(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        let mut doc_count = 0;
        let mut docs = Vec::with_capacity(WINDOW as usize);
        let scores = [1.0; WINDOW as usize];
        for view in &self.shard.segments {
            doc_count += u64::from(view.live_count());
            if self.subs.is_empty() {
                continue;
            }
            self.subs.begin_segment(view)?;
            let end = view.segment.doc_count();
            for start in (0..end).step_by(WINDOW as usize) {
                self.budget.check()?;
                docs.clear();
                let is_live = |doc: &u32| view.live.as_ref().is_none_or(|live| live.is_live(*doc));
                docs.extend((start..end.min(start + WINDOW)).filter(is_live));
                if !docs.is_empty() {
                    self.subs.collect(&Entries { scores: &scores[..docs.len()], ..Entries::of(&docs) })?;
                }
            }
            self.subs.end_segment()?;
        }
        let results = self.subs.finish(parents)?;
        Ok(results.into_iter().map(|subs| Partial::Single(Bucket::new(doc_count, subs))).collect())
    }
}

/// Number of documents in a batch.
const WINDOW: u32 = 4096;
