//! One hit: "what does this document look like?"

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use limber_mapping::RequestError;
use limber_segment::{DocId, Segment, StoredReader};
use limber_work as work;
use serde_json::{Map, Value};

use super::highlighted::{BoundHighlight, SegmentHighlight};
use super::nested::Around;
use super::opened::{Opened, Parts};
use super::plan::Plan;
use super::script_fields::ScriptFields;
use super::timed::{FetchStep, FetchTimes};
use super::{fields, inner_hits, metadata, rescored};
use crate::collect::{BoundSort, Hit};
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::BoundQuery;
use crate::request::{SearchRequest, StoredFields};
use crate::response::SearchHit;
use crate::shard::bound_search::InnerSearch;
use crate::shard::rescore::BoundRescore;
use crate::source::{SourceFilter, filter_below, filter_parsed, filter_source, read_document, shown_source};
use crate::values::sort_key::SortKey;

/// How hits of a shard were found.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'s> {
    /// The query that found them.
    pub query: &'s BoundQuery,
    /// The filter that they passed after counting and aggregating.
    pub post_filter: Option<&'s BoundQuery>,
    /// How they were sorted; empty if by score.
    pub sorts: &'s [BoundSort],
    /// The rescorings of their scores.
    pub rescores: &'s [BoundRescore],
    /// The inner hits to fetch for each of them.
    pub inner: &'s [InnerSearch<'s>],
}

impl<'s> Searched<'s> {
    /// Returns all queries that a hit may match.
    pub fn queries(self) -> impl Iterator<Item = &'s BoundQuery> {
        let rescores = self.rescores.iter().map(|rescore| &rescore.query);
        std::iter::once(self.query).chain(self.post_filter).chain(rescores)
    }
}

/// Panic message for a caller that reads hits of a segment without [`Fetcher::open`].
const OPENED: &str = "the segment of a hit is opened before it is read";

/// Reads hits of one shard; a segment is opened before its hits are read.
pub(super) struct Fetcher<'a> {
    pub shard: &'a ShardSnapshot,
    /// The name of the shard's index.
    index: Arc<str>,
    pub searched: Searched<'a>,
    pub request: &'a SearchRequest,
    pub plan: &'a Plan,
    pub shows_sort: bool,
    /// `None` if nothing is highlighted.
    pub highlight: Option<&'a BoundHighlight<'a>>,
    pub reader: &'a mut StoredReader,
    /// `None` if the search is not profiled.
    pub times: Option<FetchTimes>,
    scripts: Option<ScriptFields<'a>>,
    parts: Parts<'a>,
    /// Whether `fields` are read from the source, which is parsed before it is filtered then.
    reads_fields: bool,
    /// The segment whose hits are read.
    opened: Option<(Opened<'a>, Option<SegmentHighlight<'a>>)>,
    /// The kept values of stored fields for the current hit, if these differ from its source.
    stored: Option<Value>,
    /// The source that the last nested hit is a part of, and its segment and document: a document may have
    /// ten thousand nested hits.
    whole: Option<((usize, DocId), Value)>,
}

impl<'a> Fetcher<'a> {
    /// Creates a fetcher for the hits of one shard.
    ///
    /// # Errors
    /// Those of scripts in `script_fields`; `fields` names an internal field.
    pub fn new(
        shard: &'a ShardSnapshot,
        searched: Searched<'a>,
        request: &'a SearchRequest,
        plan: &'a Plan,
        shows_sort: bool,
        reader: &'a mut StoredReader,
    ) -> Result<Fetcher<'a>> {
        metadata::check(&request.fields)?;
        Ok(Fetcher {
            shard,
            index: shard.index.name.as_str().into(),
            searched,
            request,
            plan,
            shows_sort,
            highlight: None,
            reader,
            times: None,
            scripts: ScriptFields::of(request, shard)?,
            parts: Parts::of(searched, request.named_scores),
            reads_fields: fields::read_source(&shard.mapping, request),
            opened: None,
            stored: None,
            whole: None,
        })
    }

    /// Opens a segment: the next hits are these documents of it, ascending.
    pub fn open(&mut self, segment: u32, docs: &[DocId]) -> Result<()> {
        let started = self.times.is_some().then(Instant::now);
        let opened = self.parts.open(&self.shard.segments[segment as usize].segment, docs)?;
        let highlight = match self.highlight {
            Some(highlight) => Some(highlight.open(self.searched.query, segment, docs)?),
            None => None,
        };
        self.opened = Some((opened, highlight));
        self.note(FetchStep::NextReader, started);
        Ok(())
    }

    /// Fetches a hit of the open segment.
    pub fn hit(&mut self, hit: &Hit) -> Result<SearchHit> {
        let shard = self.shard;
        let segment = &*shard.segments[hit.segment as usize].segment;
        let around = Around::of(shard, hit.segment, hit.doc)?;
        let mut fetched = SearchHit {
            index: self.index.clone(),
            shard: shard.shard,
            nested: around.identity().map(Box::new),
            ..SearchHit::default()
        };
        let mut started = self.times.is_some().then(Instant::now);
        let (opened, _) = self.opened.as_ref().expect(OPENED);
        if !matches!(self.request.stored_fields, Some(StoredFields::None)) {
            opened.ignored.collect(hit.doc, &mut fetched.ignored)?;
            fetched.ignored.retain(|path| shard.mapping.shows(path));
        }
        let source = self.read_document(&around, &mut fetched)?;
        started = self.note(FetchStep::StoredFields, started);
        self.read_versions(&around, &mut fetched)?;
        started = self.note(FetchStep::Versions, started);
        self.collect_fields(segment, hit.doc, source.as_ref(), &mut fetched)?;
        started = self.note(FetchStep::Fields, started);
        let (opened, highlight) = self.opened.as_mut().expect(OPENED);
        if let (Some(highlight), Some(source)) = (highlight, &source) {
            let shown = highlight.collect(hit.doc, source, &mut opened.percolations, self.reader)?;
            fetched.highlight = shown.map(Box::new);
        }
        opened.percolations.add_slots(hit.doc, &mut fetched.fields)?;
        (fetched.matched_queries, fetched.named_scores) = opened.matched_queries(hit.doc);
        started = self.note(FetchStep::Highlight, started);
        self.rank(hit, &mut fetched)?;
        if self.request.explain {
            let explanation = self.searched.query.explain(segment, hit.doc)?;
            let explanation = rescored::explain(explanation, self.searched.rescores, segment, hit.doc)?;
            fetched.explanation = Some(Box::new(explanation));
        }
        started = self.note(FetchStep::Explain, started);
        self.collect_inner_hits(segment, hit, &mut fetched)?;
        self.note(FetchStep::InnerHits, started);
        Ok(fetched)
    }

    /// Records the duration of a step if the search is profiled; returns the time when it ended.
    fn note(&mut self, step: FetchStep, started: Option<Instant>) -> Option<Instant> {
        Some(self.times.as_mut()?.add(step, started?))
    }

    /// Returns the fields requested by `stored_fields`.
    fn stored_names(&self) -> &[String] {
        match &self.request.stored_fields {
            Some(StoredFields::Names(names)) => names,
            _ => &[],
        }
    }

    /// Whether values are read from the source.
    fn needs_values(&self) -> bool {
        !self.request.fields.is_empty()
            || self.highlight.is_some()
            || self.stored_names().iter().any(|name| !name.starts_with('_'))
    }

    /// Reads id, routing and `_source`. Returns the hit's own part of the source if values are read from
    /// it.
    fn read_document(&mut self, around: &Around<'_>, fetched: &mut SearchHit) -> Result<Option<Value>> {
        let needs_values = self.needs_values();
        let mut parsed = None;
        if self.plan.source.fetch || needs_values {
            let document = read_document(around.segment, around.doc, self.reader)?;
            let mapping = &self.shard.mapping;
            if self.request.is_reindexed && mapping.synthetic().is_some() {
                around.segment.verify_columns()?;
            }
            let is_apart = !mapping.stored_beside_source().is_empty() && !document.source.is_empty();
            self.stored = match is_apart && needs_values {
                true => Some(parse(document.source)?),
                false => None,
            };
            let source = shown_source(mapping, around.segment, around.doc, document.source)?;
            fetched.id = Some(String::from_utf8_lossy(document.id).into_owned());
            fetched.routing = document.routing.map(|routing| String::from_utf8_lossy(routing).into_owned());
            parsed = match source {
                // Nothing of it is shown, and its fields have no values.
                None => Some(Value::Object(Map::new())),
                Some(source) if around.steps.is_empty() => {
                    let filter = if self.reads_fields { filter_parsed } else { filter_source };
                    show_source(self.plan, source, needs_values, filter, fetched)?
                }
                Some(source) => {
                    let place = (std::ptr::from_ref(around.segment) as usize, around.doc);
                    if self.whole.as_ref().is_none_or(|(of, _)| *of != place) {
                        self.whole = Some((place, parse(&source)?));
                    }
                    let whole = self.whole.as_ref().map_or(&Value::Null, |(_, whole)| whole);
                    Some(show_part(self.shard, self.plan, around.part(whole)?, fetched)?)
                }
            };
        } else if self.plan.id {
            let (id, routing) = around.segment.id_and_routing(around.doc, self.reader)?;
            fetched.id = Some(String::from_utf8_lossy(id).into_owned());
            fetched.routing = routing.map(|routing| String::from_utf8_lossy(routing).into_owned());
        }
        if !self.plan.id {
            (fetched.id, fetched.routing) = (None, None);
        }
        Ok(parsed)
    }

    /// Reads `_version`, `_seq_no` and `_primary_term`.
    fn read_versions(&self, around: &Around<'_>, fetched: &mut SearchHit) -> Result<()> {
        let number = |path: &str| -> Result<u64> {
            match around.segment.numbers(path)? {
                Some(column) => Ok(column.get(around.doc)?.unwrap_or(0) as u64),
                None => Ok(0),
            }
        };
        if self.request.version {
            fetched.version = Some(number("_version")?);
        }
        if self.request.seq_no_primary_term {
            fetched.seq_no = Some((number("_seq_no")?, number("_primary_term")?));
        }
        Ok(())
    }

    /// Collects `fields`, `docvalue_fields`, `stored_fields` and `script_fields`.
    fn collect_fields(
        &self,
        segment: &Segment,
        doc: DocId,
        source: Option<&Value>,
        fetched: &mut SearchHit,
    ) -> Result<()> {
        let fields::Collected { mut values, ignored } =
            fields::collect(self.shard, segment, doc, self.request, source)?;
        values.extend(metadata::collect(&self.request.fields, segment, doc, fetched)?);
        let boxed = |found: Map<String, Value>| (!found.is_empty()).then(|| Box::new(Value::Object(found)));
        (fetched.fields, fetched.ignored_field_values) = (boxed(values), boxed(ignored));
        let stored_names = self.stored_names();
        if let Some(stored) = self.stored.as_ref().or(source).filter(|_| !stored_names.is_empty()) {
            add_fields(fetched, fields::stored(&self.shard.mapping, stored, stored_names)?);
        }
        if let Some(scripts) = &self.scripts {
            let mut found = Map::new();
            scripts.collect(segment, doc, &mut found)?;
            add_fields(fetched, found);
        }
        Ok(())
    }

    /// Sets the score and the sort values.
    fn rank(&self, hit: &Hit, fetched: &mut SearchHit) -> Result<()> {
        let request = self.request;
        let is_scored =
            request.is_by_score() || request.track_scores || request.sort.iter().any(|sort| sort.is_score());
        if is_scored {
            let key = hit.keys.iter().find_map(|key| match key {
                SortKey::Score(score) => Some(*score),
                _ => None,
            });
            fetched.score = Some(key.unwrap_or(hit.score));
        }
        if self.shows_sort {
            let bytes = |key: &SortKey| match key {
                SortKey::Term(Some(term)) => term.len() as u64,
                _ => 0,
            };
            work::claim(hit.keys.iter().map(bytes).sum())?;
            let shown = self.searched.sorts.iter().zip(&hit.keys).map(|(sort, key)| sort.show(key));
            fetched.sort = Some(shown.collect());
        }
        Ok(())
    }

    fn collect_inner_hits(&mut self, segment: &Segment, hit: &Hit, fetched: &mut SearchHit) -> Result<()> {
        for search in self.searched.inner {
            let found = inner_hits::collect(search, segment, hit.segment, hit.doc, self.reader)?;
            fetched.inner_hits.push(found);
        }
        let mut joined = Vec::new();
        self.searched.query.joined_hits(&mut joined)?;
        for hits in joined {
            let parent = hits.parent_of(segment, hit.doc)?;
            let hits: Arc<dyn std::any::Any + Send + Sync> = hits;
            fetched.joined.0.push((hits, parent));
        }
        Ok(())
    }
}

/// Stores the nested hit's part of a source, filtered, in the hit. Returns the part.
fn show_part(shard: &ShardSnapshot, plan: &Plan, part: &Value, fetched: &mut SearchHit) -> Result<Value> {
    if plan.source.fetch {
        let path = shard.nested.as_ref().map_or("", |scope| &scope.nested.path);
        let shown = filter_below(part, path, &plan.source)?;
        fetched.source = Some(shown.to_string().into_bytes());
    }
    Ok(part.clone())
}

/// Stores the source, filtered, in the hit. Returns it if it was parsed for that, or because values are
/// needed.
fn show_source(
    plan: &Plan,
    source: Cow<'_, [u8]>,
    needs_values: bool,
    filter: fn(&Value, &SourceFilter) -> std::result::Result<Value, work::Stop>,
    fetched: &mut SearchHit,
) -> Result<Option<Value>> {
    let is_filtered = plan.source.fetch && !plan.source.is_everything();
    let parsed = match is_filtered || needs_values {
        true => Some(parse(&source)?),
        false => None,
    };
    match &parsed {
        Some(value) if is_filtered => {
            fetched.source = Some(filter(value, &plan.source)?.to_string().into_bytes());
        }
        _ if plan.source.is_everything() => fetched.source = Some(source.into_owned()),
        _ => {}
    }
    Ok(parsed)
}

fn parse(source: &[u8]) -> Result<Value> {
    limber_mapping::claim_parsed(source)?;
    Ok(limber_mapping::parse_source(source).map_err(|error| {
        RequestError::internal(
            "exception",
            format!("the stored source of a document does not parse: {error}"),
        )
    })?)
}

fn add_fields(fetched: &mut SearchHit, found: Map<String, Value>) {
    if found.is_empty() {
        return;
    }
    if let Value::Object(fields) =
        &mut **fetched.fields.get_or_insert_with(|| Box::new(Value::Object(Map::new())))
    {
        fields.extend(found);
    }
}
