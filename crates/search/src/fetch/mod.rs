//! From winners to hits: "what does this document look like?" Only the documents that are returned are read.

mod explain;
mod fields;
mod function_score;
mod highlighted;
mod inner_hits;
mod nested;
mod percolated;
mod script_fields;
mod source;
mod unmapped;

use std::borrow::Cow;

use limber_mapping::RequestError;
use limber_segment::{Segment, StoredReader};
use limber_store::Charge;
use serde_json::{Map, Value};

use crate::collect::{BoundSort, Hit, SortKey};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result, ShardFailure};
use crate::matcher;
use crate::query::{BoundQuery, Query};
use crate::request::{SearchRequest, SourceFilter, StoredFields};
use crate::response::SearchHit;
use crate::shard::ShardHits;
use crate::source::shown_source;

pub(crate) use fields::{gather, gather_whole};
use highlighted::BoundHighlight;
use nested::Around;
use script_fields::ScriptFields;

pub use fields::stored as stored_values;
pub use source::filter as filter_source;

/// The query as Lucene prints it once bound to a shard (`_validate/query?explain`). Errors where it cannot be bound.
pub fn describe(query: Option<&Query>, shard: &ShardSnapshot, now_millis: i64) -> Result<String> {
    match query {
        Some(query) => Ok(explain::name(&crate::query::bind(query, shard, now_millis)?)),
        None => Ok("*:*".to_owned()),
    }
}

/// Fetches the winners: (index of the shard, hit), in the order in which they are shown. The charge is for as long as they are held.
pub(crate) fn fetch(
    shards: &[ShardSnapshot],
    found: &[(usize, ShardHits)],
    winners: &[(usize, &Hit)],
    request: &SearchRequest,
    shows_sort: bool,
    context: &SearchContext,
) -> Result<(Vec<SearchHit>, Charge)> {
    let plan = Plan::of(request);
    let mut reader = StoredReader::new();
    let mut charge = context.ledger.request.charge(0, "<fetched hits>")?;
    let scripts = match request.script_fields.is_empty() {
        true => Vec::new(),
        false => shards
            .iter()
            .enumerate()
            .map(|(number, shard)| match winners.iter().any(|(winner, _)| *winner == number) {
                true => ScriptFields::bind(request, shard)
                    .map(Some)
                    .map_err(|error| failed_fetch(error, shards, number, context)),
                false => Ok(None),
            })
            .collect::<Result<Vec<_>>>()?,
    };
    let highlights = match &request.highlight {
        None => Vec::new(),
        Some(highlight) => shards
            .iter()
            .map(|shard| BoundHighlight::bind(highlight, shard, context.now_millis))
            .collect::<Result<Vec<_>>>()?,
    };
    // In the order in which documents are stored, so that no block is decompressed twice.
    let mut places: Vec<usize> = (0..winners.len()).collect();
    places.sort_unstable_by_key(|&place| (winners[place].0, winners[place].1.segment, winners[place].1.doc));
    let mut hits = vec![SearchHit::default(); winners.len()];
    for place in places {
        let (number, hit) = winners[place];
        let shard_hits = found.iter().find(|(shard, _)| *shard == number).map(|(_, hits)| hits);
        let shard_hits = shard_hits.expect("a winner's shard was searched");
        let fetched = one(
            &shards[number],
            Searched {
                query: &shard_hits.query,
                post_filter: shard_hits.post_filter.as_ref(),
                sorts: &shard_hits.sorts,
            },
            hit,
            request,
            &plan,
            shows_sort,
            &mut reader,
            scripts.get(number).and_then(Option::as_ref),
            highlights.get(number),
        )
        .map_err(|error| failed_fetch(error, shards, number, context))?;
        let inner: u64 = fetched.inner_hits.iter().map(|inner| inner.hits.len() as u64).sum();
        charge.grow(HIT_BYTES * (1 + inner) + 2 * fetched.source_bytes(), "<fetched hits>")?;
        hits[place] = fetched;
    }
    Ok((hits, charge))
}

/// Fetches hits of one shard that were found by other means than a search's own hits.
pub(crate) fn fetch_hits(
    shard: &ShardSnapshot,
    searched: Searched<'_>,
    hits: &[Hit],
    request: &SearchRequest,
    shows_sort: bool,
) -> Result<Vec<SearchHit>> {
    let plan = Plan::of(request);
    let mut reader = StoredReader::new();
    hits.iter()
        .map(|hit| one(shard, searched, hit, request, &plan, shows_sort, &mut reader, None, None))
        .collect()
}

/// How hits of a shard were found.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'s> {
    pub query: &'s BoundQuery,
    pub post_filter: Option<&'s BoundQuery>,
    pub sorts: &'s [BoundSort],
}

/// A script that fails on a hit fails its shard, and with it the page.
fn failed_fetch(error: Error, shards: &[ShardSnapshot], number: usize, context: &SearchContext) -> Error {
    match error {
        Error::Request(reason) if reason.kind == "script_exception" => {
            let shard = &shards[number];
            let failure = ShardFailure {
                index: shard.index.name.clone(),
                shard: shard.shard,
                node: context.node_id.to_string(),
                reason,
            };
            // One shard is asked for both phases at once.
            let phase = if shards.len() == 1 { "query" } else { "fetch" };
            Error::AllShardsFailed { phase, failures: vec![failure] }
        }
        other => other,
    }
}

/// Of a hit beside its source: names, sort values, and the same as text in the answer. Sources are there twice too.
pub(crate) const HIT_BYTES: u64 = size_of::<SearchHit>() as u64 + 512;

/// What to fetch, decided once a request.
struct Plan {
    id: bool,
    source: SourceFilter,
}

impl Plan {
    fn of(request: &SearchRequest) -> Plan {
        let source = match (&request.source, &request.stored_fields) {
            (Some(filter), _) => filter.clone(),
            (None, Some(StoredFields::Names(names))) if names.iter().any(|name| name == "_source") => {
                SourceFilter::default()
            }
            (None, Some(_)) => SourceFilter::none(),
            (None, None) if !request.script_fields.is_empty() => SourceFilter::none(),
            (None, None) => SourceFilter::default(),
        };
        Plan { id: request.stored_fields != Some(StoredFields::None), source }
    }
}

#[allow(clippy::too_many_arguments)] // What a hit is made from.
fn one(
    shard: &ShardSnapshot,
    searched: Searched<'_>,
    hit: &Hit,
    request: &SearchRequest,
    plan: &Plan,
    shows_sort: bool,
    reader: &mut StoredReader,
    scripts: Option<&ScriptFields<'_>>,
    highlight: Option<&BoundHighlight<'_>>,
) -> Result<SearchHit> {
    let segment = &*shard.segments[hit.segment as usize].segment;
    let around = Around::of(shard, hit.segment, hit.doc)?;
    let mut fetched =
        SearchHit { index: shard.index.name.clone(), shard: shard.shard, ..SearchHit::default() };
    let stored_names = match &request.stored_fields {
        Some(StoredFields::Names(names)) => names.as_slice(),
        _ => &[],
    };
    let needs_values = !request.fields.is_empty()
        || highlight.is_some()
        || stored_names.iter().any(|name| !name.starts_with('_'));
    let needs_source = plan.source.fetch || needs_values;
    let mut parsed: Option<Value> = None;
    let parse = |source: &[u8]| -> Result<Value> {
        Ok(serde_json::from_slice(source).map_err(|error| {
            RequestError::new(
                500,
                "exception",
                format!("the stored source of a document does not parse: {error}"),
            )
        })?)
    };
    if needs_source {
        let document = around.segment.document(around.doc, reader)?;
        let source = shown_source(&shard.mapping, around.segment, around.doc, document.source)?;
        fetched.id = Some(String::from_utf8_lossy(document.id).into_owned());
        fetched.routing = document.routing.map(|routing| String::from_utf8_lossy(routing).into_owned());
        let is_kept = source.is_some();
        let source = source.unwrap_or(Cow::Borrowed(b"{}"));
        if !is_kept {
            // Nothing is shown of it, and its fields have no values.
            parsed = Some(Value::Object(Map::new()));
        } else if !around.steps.is_empty() {
            let value = around.part(&parse(&source)?)?.clone();
            if plan.source.fetch {
                let path = shard.nested.as_ref().map_or("", |scope| &scope.nested.path);
                let shown = source::filter_below(&value, path, &plan.source);
                fetched.source = Some(shown.to_string().into_bytes());
            }
            parsed = Some(value);
        } else if plan.source.is_everything() {
            fetched.source = Some(source.to_vec());
        } else if plan.source.fetch {
            let value = parse(&source)?;
            fetched.source = Some(source::filter(&value, &plan.source).to_string().into_bytes());
            parsed = Some(value);
        }
        if needs_values && parsed.is_none() {
            parsed = Some(parse(&source)?);
        }
    } else if plan.id {
        let (id, routing) = around.segment.id_and_routing(around.doc, reader)?;
        fetched.id = Some(String::from_utf8_lossy(id).into_owned());
        fetched.routing = routing.map(|routing| String::from_utf8_lossy(routing).into_owned());
    }
    if !plan.id {
        (fetched.id, fetched.routing) = (None, None);
    }
    let number = |path: &str| -> Result<u64> {
        match around.segment.numbers(path)? {
            Some(column) => Ok(column.get(around.doc)?.unwrap_or(0) as u64),
            None => Ok(0),
        }
    };
    if request.version {
        fetched.version = Some(number("_version")?);
    }
    if request.seq_no_primary_term {
        fetched.seq_no = Some((number("_seq_no")?, number("_primary_term")?));
    }
    fetched.ignored = ignored(segment, hit.doc)?;
    fetched.fields = fields::collect(shard, segment, hit.doc, request, parsed.as_ref())?;
    if let Some(source) = &parsed
        && !stored_names.is_empty()
    {
        let stored = fields::stored(&shard.mapping, source, stored_names)?;
        if !stored.is_empty() {
            let fields = fetched.fields.get_or_insert_with(|| Value::Object(Map::new()));
            fields.as_object_mut().into_iter().for_each(|fields| fields.extend(stored.clone()));
        }
    }
    if let Some(scripts) = scripts {
        let mut found = Map::new();
        scripts.collect(segment, hit.doc, &mut found)?;
        if !found.is_empty() {
            let fields = fetched.fields.get_or_insert_with(|| Value::Object(Map::new()));
            fields.as_object_mut().into_iter().for_each(|fields| fields.extend(found.clone()));
        }
    }
    if let (Some(highlight), Some(source)) = (highlight, &parsed) {
        fetched.highlight = highlight.collect(searched.query, segment, hit.doc, source, reader)?;
    }
    percolated::slots(searched.query, segment, hit.doc, &mut fetched.fields)?;
    let is_scored =
        request.is_by_score() || request.track_scores || request.sort.iter().any(|sort| sort.is_score());
    if is_scored {
        fetched.score = Some(
            match hit.keys.iter().find_map(|key| match key {
                SortKey::Score(score) => Some(*score),
                _ => None,
            }) {
                Some(score) => score,
                None => hit.score,
            },
        );
    }
    if shows_sort {
        fetched.sort = Some(searched.sorts.iter().zip(&hit.keys).map(|(sort, key)| sort.show(key)).collect());
    }
    let mut named = Vec::new();
    searched.query.named(&mut named);
    searched.post_filter.into_iter().for_each(|filter| filter.named(&mut named));
    for (name, query) in named {
        if !fetched.matched_queries.iter().any(|seen| seen == name)
            && matcher::matches_doc(query, segment, hit.doc)?
        {
            fetched.matched_queries.push(name.to_owned());
        }
    }
    fetched.matched_queries.sort_unstable();
    if request.explain {
        fetched.explanation = Some(explain::explain(searched.query, segment, hit.doc)?);
    }
    let mut inner = Vec::new();
    searched.query.inner_hits(&mut inner)?;
    searched.post_filter.map_or(Ok(()), |filter| filter.inner_hits(&mut inner))?;
    for node in inner {
        fetched.inner_hits.extend(inner_hits::collect(node, segment, hit.segment, hit.doc, reader)?);
    }
    fetched.nested = around.identity();
    Ok(fetched)
}

/// The paths in `_ignored`, sorted.
fn ignored(segment: &Segment, doc: limber_segment::DocId) -> Result<Vec<String>> {
    let (Some(column), Some(terms)) = (segment.ordinals("_ignored")?, segment.terms("_ignored")?) else {
        return Ok(Vec::new());
    };
    let (mut ordinals, mut term, mut paths) = (Vec::new(), Vec::new(), Vec::new());
    column.values(doc, &mut ordinals)?;
    for ordinal in ordinals {
        terms.term(u64::from(ordinal), &mut term)?;
        paths.push(String::from_utf8_lossy(&term).into_owned());
    }
    Ok(paths)
}
