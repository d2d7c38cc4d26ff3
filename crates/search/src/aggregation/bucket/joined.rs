//! `children` and `parent`: from documents to their children or parents by a join field.
//!
//! Source: Elasticsearch's `ParentJoinAggregator`. First the documents of one side are collected, as their
//! parents' ids with the buckets that they are in; then the documents of the other side are walked.

use std::collections::HashMap;
use std::fmt;

use limber_mapping::RequestError;
use limber_segment::columns::OrdinalColumn;
use limber_segment::terms::TermDictionary;
use limber_segment::{DocId, Segment, SegmentView};
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::buckets::entries::{Emitted, Entries};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::filter::single_partials;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::values::json;

/// The options of `children` and `parent`: the relation on whose documents the sub-aggregations run, instead
/// of those on the other side of the join.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The relation of the children.
    kind: String,
    to_children: bool,
}

impl Joined {
    pub(crate) fn parse_children(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        Joined::parse(options, "children", true)
    }

    pub(crate) fn parse_parent(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        Joined::parse(options, "parent", false)
    }

    fn parse(
        options: &mut Options,
        name: &str,
        to_children: bool,
    ) -> std::result::Result<Kind, RequestError> {
        let mut kind = None;
        for (option, value) in options.take_all() {
            match (option.as_str(), value) {
                ("type", Value::String(text)) => kind = Some(text),
                (option, Value::String(_)) => {
                    return Err(RequestError::parsing(format!(
                        "Unknown key for a VALUE_STRING in [{}]: [{option}].",
                        options.name
                    )));
                }
                (_, other) => {
                    let token = json::token(&other);
                    return Err(RequestError::parsing(format!(
                        "Unexpected token {token} in [{}].",
                        options.name
                    )));
                }
            }
        }
        match kind {
            Some(kind) => Ok(Kind::own(Joined { kind, to_children })),
            None => Err(RequestError::parsing(format!(
                "Missing [child_type] field for {name} aggregation [{}]",
                options.name
            ))),
        }
    }

    /// Resolves both sides on a shard; `None` if there is no such relation.
    fn sides(&self, shard: &ShardSnapshot) -> Option<Sides> {
        let fields = shard.mapping.fields();
        let (join, relations) = fields.iter().find_map(|field| Some((field, field.relations.as_ref()?)))?;
        let parent = relations.parent_of(&self.kind)?;
        let (from, to) = match self.to_children {
            true => (parent, self.kind.as_str()),
            false => (self.kind.as_str(), parent),
        };
        Some(Sides {
            join: join.path.to_string(),
            ids: relations.ids_path(&join.path, parent),
            from: from.to_owned(),
            to: to.to_owned(),
        })
    }
}

impl Request for Joined {
    fn is_single_bucket(&self) -> bool {
        true
    }
}

impl Collect for Joined {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(JoinedCollector {
            sides: self.sides(context.shard),
            shard: context.shard,
            open: None,
            owners: HashMap::new(),
            bucket_count: 0,
            counts: Vec::new(),
            is_walked: false,
            subs: context.subs,
            emitted: Emitted::default(),
            budget: context.budget,
        }))
    }
}

impl Reduce for Joined {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for Joined {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }

    fn java_name(&self, _: &Bucket, _: Option<&str>) -> &'static str {
        if self.to_children { "InternalChildren" } else { "InternalParent" }
    }
}

/// The fields and the relations of a join.
#[derive(Debug)]
struct Sides {
    /// The field that holds the names of the relations.
    join: String,
    /// The field that holds the parents' ids.
    ids: String,
    /// The relation of the documents that are collected; `to`: that of the documents that are walked.
    from: String,
    to: String,
}

/// One side of the join on a segment.
struct OpenSide<'s> {
    relations: OrdinalColumn<'s>,
    /// The ordinal of the side's relation.
    relation: u32,
    ids: OrdinalColumn<'s>,
    terms: &'s TermDictionary,
    ordinals: Vec<u32>,
    term: Vec<u8>,
}

impl fmt::Debug for OpenSide<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "documents of the relation with the ordinal {}", self.relation)
    }
}

impl<'s> OpenSide<'s> {
    /// Opens the side on a segment; `None` if the segment has no document of the relation.
    fn open(sides: &Sides, relation: &str, segment: &'s Segment) -> Result<Option<OpenSide<'s>>> {
        let (Some(names), Some(relations)) = (segment.terms(&sides.join)?, segment.ordinals(&sides.join)?)
        else {
            return Ok(None);
        };
        let (Some(terms), Some(ids)) = (segment.terms(&sides.ids)?, segment.ordinals(&sides.ids)?) else {
            return Ok(None);
        };
        let Ok(relation) = names.ordinal(relation.as_bytes())? else { return Ok(None) };
        let (ordinals, term) = (Vec::new(), Vec::new());
        Ok(Some(OpenSide { relations, relation: relation as u32, ids, terms, ordinals, term }))
    }

    /// Returns the parent id of a document, if the document is on this side.
    fn parent_of(&mut self, doc: DocId) -> Result<Option<&[u8]>> {
        self.ordinals.clear();
        self.relations.values(doc, &mut self.ordinals)?;
        if !self.ordinals.contains(&self.relation) {
            return Ok(None);
        }
        self.ordinals.clear();
        self.ids.values(doc, &mut self.ordinals)?;
        let Some(first) = self.ordinals.first() else { return Ok(None) };
        self.terms.term(u64::from(*first), &mut self.term)?;
        Ok(Some(&self.term))
    }
}

#[derive(Debug)]
struct JoinedCollector<'s> {
    sides: Option<Sides>,
    shard: &'s ShardSnapshot,
    /// The side that is collected, on the current segment.
    open: Option<OpenSide<'s>>,
    /// The buckets of each parent id, ascending.
    owners: HashMap<Box<[u8]>, Vec<u32>>,
    bucket_count: usize,
    counts: Vec<u64>,
    is_walked: bool,
    subs: Subs<'s>,
    emitted: Emitted,
    budget: &'s Budget,
}

/// Number of documents in a batch.
const WINDOW: u32 = 4096;

/// Estimated bytes that a parent takes beyond its id.
const OWNER_BYTES: u64 = 80;

impl<'s> JoinedCollector<'s> {
    /// Collects the documents of the other side in the sub-aggregations.
    fn walk(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_walked, true) {
            return Ok(());
        }
        self.budget.spend(self.bucket_count as u64 * 8)?;
        self.counts.resize(self.bucket_count, 0);
        let Some(sides) = self.sides.take().filter(|_| !self.owners.is_empty()) else { return Ok(()) };
        let shard = self.shard;
        for view in &shard.segments {
            let Some(mut side) = OpenSide::open(&sides, &sides.to, &view.segment)? else { continue };
            self.subs.begin_segment(view)?;
            let end = view.segment.doc_count();
            for start in (0..end).step_by(WINDOW as usize) {
                self.budget.check()?;
                self.window(view, start..end.min(start + WINDOW), &mut side)?;
            }
            self.subs.end_segment()?;
        }
        Ok(())
    }

    fn window(
        &mut self,
        view: &SegmentView,
        docs: std::ops::Range<DocId>,
        side: &mut OpenSide<'_>,
    ) -> Result<()> {
        let (mut found, mut buckets_of): (Vec<DocId>, Vec<(usize, u32)>) = (Vec::new(), Vec::new());
        for doc in docs.filter(|doc| view.is_live(*doc)) {
            let Some(id) = side.parent_of(doc)? else { continue };
            let Some(buckets) = self.owners.get(id) else { continue };
            for &bucket in buckets {
                self.counts[bucket as usize] += 1;
                buckets_of.push((found.len(), bucket));
            }
            found.push(doc);
        }
        if self.subs.is_empty() || found.is_empty() {
            return Ok(());
        }
        self.emitted.clear();
        buckets_of.iter().try_for_each(|&(entry, bucket)| self.emitted.push(entry, bucket))?;
        // Documents that are found by a join have no score of their own.
        let scores = vec![1.0; found.len()];
        let all = Entries { scores: &scores, ..Entries::of(&found) };
        self.subs.collect(&self.emitted.batch(&all, self.bucket_count)?)
    }
}

impl<'s> Collector<'s> for JoinedCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.open = match &self.sides {
            Some(sides) => OpenSide::open(sides, &sides.from, &view.segment)?,
            None => None,
        };
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.bucket_count = self.bucket_count.max(entries.bucket_count);
        let Some(side) = &mut self.open else { return Ok(()) };
        for entry in 0..entries.len() {
            let doc = entries.docs[entries.position(entry)];
            let Some(id) = side.parent_of(doc)? else { continue };
            let bucket = entries.bucket(entry);
            match self.owners.get_mut(id) {
                None => {
                    self.budget.spend(OWNER_BYTES + id.len() as u64)?;
                    self.owners.insert(id.into(), vec![bucket]);
                }
                Some(buckets) => {
                    if let Err(place) = buckets.binary_search(&bucket) {
                        self.budget.spend(size_of::<u32>() as u64)?;
                        buckets.insert(place, bucket);
                    }
                }
            }
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.walk()?;
        self.subs.settle()
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.subs.order_value_of_single(&self.counts, path, value, bucket)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.walk()?;
        single_partials(&self.counts, &mut self.subs, buckets)
    }
}
