//! Fetches the hits of a page: "what do these documents look like?"

use std::collections::HashSet;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_segment::{DocId, StoredReader};
use limber_store::Charge;
use limber_work as work;

use super::highlighted::BoundHighlight;
use super::hit::{Fetcher, Searched};
use super::plan::Plan;
use super::script_fields::ScriptFields;
use super::timed::FetchTimes;
use crate::collect::Hit;
use crate::context::columns::{check_column, check_name};
use crate::context::failures::{Failures, failure, time_exceeded};
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result};
use crate::request::SearchRequest;
use crate::response::SearchHit;
use crate::script::field_or_id;
use crate::shard::bound_search::bind_inner_hits;
use crate::shard::hits::ShardHits;

/// Maximum number of hits of one segment that are opened together.
const HITS_AT_ONCE: usize = 512;

/// The fetched hits.
pub(crate) struct Fetched {
    /// The hits in the order in which they are shown.
    pub hits: Vec<SearchHit>,
    /// Memory of the hits, charged while they are held.
    pub charge: Charge,
    /// Whether the time was over before all hits were read. The others are left out, as in Elasticsearch.
    pub timed_out: bool,
    /// Cost of the fetch, by the shard's index, if the search is profiled.
    pub profiles: Vec<(usize, FetchTimes)>,
}

/// The hits to fetch.
pub(crate) struct BestHits<'w> {
    pub shards: &'w [ShardSnapshot],
    /// What the shards found, with the index of each shard.
    pub found: &'w [(usize, ShardHits)],
    /// (Index of the shard, hit), in the order in which they are shown.
    pub hits: &'w [(usize, &'w Hit)],
    pub shows_sort: bool,
    /// Whether a shard that runs out of time keeps its hits; otherwise it counts as failed.
    pub allows_partial: bool,
}

/// Refuses what Elasticsearch refuses on every shard before it searches: it binds these parts of a request
/// together with the query.
///
/// # Errors
/// More `docvalue_fields` or `script_fields` than the index allows; those of scripts in `script_fields`, and
/// of the queries of `highlight`.
pub(crate) fn check(shard: &ShardSnapshot, request: &SearchRequest, context: &SearchContext) -> Result<()> {
    check_column_count(shard, request)?;
    if request.size() > 0 {
        let count = request.script_fields.len();
        check_count("script_fields", count, shard.settings.max_script_fields, "index.max_script_fields")?;
        ScriptFields::of(request, shard)?;
    }
    match &request.highlight {
        Some(highlight) => BoundHighlight::bind(highlight, shard, context).map(drop),
        None => Ok(()),
    }
}

/// Refuses `docvalue_fields` that select more fields than the index allows. Source: `FetchDocValuesContext`.
fn check_column_count(shard: &ShardSnapshot, request: &SearchRequest) -> Result<()> {
    let wanted = &request.docvalue_fields;
    let names: HashSet<Arc<str>> = wanted
        .iter()
        .flat_map(|one| shard.mapping.matching_names(&one.field))
        .map(|(name, _)| name)
        .collect();
    let most = shard.settings.max_docvalue_fields;
    check_count("docvalue_fields", names.len(), most, "index.max_docvalue_fields_search")
}

fn check_count(key: &str, count: usize, most: usize, setting: &str) -> Result<()> {
    match count <= most {
        true => Ok(()),
        false => Err(RequestError::illegal_argument(format!(
            "Trying to retrieve too many {key}. Must be less than or equal to: [{most}] but was [{count}]. This limit can be set by \
             changing the [{setting}] index level setting."
        ))
        .into()),
    }
}

/// Fetches the hits. A shard that fails is added to `failures`, and none of its hits is shown.
///
/// # Errors
/// All shards failed, or one where no partial answer is accepted ([`Failures::check`]); the request was
/// cancelled.
pub(crate) fn fetch(
    page: &BestHits<'_>,
    request: &SearchRequest,
    failures: &mut Failures,
    context: &SearchContext,
) -> Result<Fetched> {
    let &BestHits { shards, found, hits: winners, shows_sort, allows_partial } = page;
    let charge = context.ledger.request.charge(0, "<fetched hits>")?;
    let mut page = Page { winners, hits: vec![None; winners.len()], charge, context };
    let (plan, mut reader) = (Plan::of(request), StoredReader::with_recent(context.recent_blocks.clone()));
    // In the order in which documents are stored, so that no block is decompressed twice.
    let mut places: Vec<usize> = (0..winners.len()).collect();
    places.sort_unstable_by_key(|&place| (winners[place].0, winners[place].1.segment, winners[place].1.doc));
    let (mut timed_out, mut profiles) = (false, Vec::new());
    for of_shard in places.chunk_by(|&left, &right| winners[left].0 == winners[right].0) {
        let number = winners[of_shard[0]].0;
        let shard_hits = found.iter().find(|(shard, _)| *shard == number).map(|(_, hits)| hits);
        let shard_hits = shard_hits.expect("a winner's shard was searched");
        let shard = &shards[number];
        let times = context.profiles.then(FetchTimes::start);
        let bound = request.highlight.as_ref().map(|wanted| BoundHighlight::bind(wanted, shard, context));
        let outcome = bound.transpose().and_then(|highlight| {
            for wanted in &request.docvalue_fields {
                check_name(&wanted.field)?;
                if let Some(field) = field_or_id(&shard.mapping, &wanted.field) {
                    check_column(&field, shard)?;
                }
            }
            let (query, post_filter) = (&shard_hits.query, shard_hits.post_filter.as_ref());
            let inner = bind_inner_hits(std::iter::once(query).chain(post_filter), context)?;
            let (sorts, rescores) = (&shard_hits.sorts, &shard_hits.rescores);
            let searched = Searched { query, post_filter, sorts, rescores, inner: &inner };
            let mut fetcher = Fetcher::new(shard, searched, request, &plan, shows_sort, &mut reader)?;
            fetcher.highlight = highlight.as_ref();
            fetcher.times = times;
            let times = page.read(of_shard, fetcher)?;
            profiles.extend(times.map(|times| (number, times.finish())));
            Ok(())
        });
        let outcome = shard.intact().map_err(Error::from).and(outcome);
        let error = match outcome {
            Ok(()) => continue,
            Err(Error::TimedOut) if allows_partial => {
                timed_out = true;
                break;
            }
            Err(Error::TimedOut) => time_exceeded().into(),
            Err(error) if error.is_of_one_shard() => error,
            Err(error) => return Err(error),
        };
        of_shard.iter().for_each(|&place| page.hits[place] = None);
        failures.add(number, failure(shard, &error, context));
    }
    // With a single shard, Elasticsearch runs both phases in one request, and names the query phase.
    let phase = if shards.len() == 1 { "query" } else { "fetch" };
    failures.check(phase, shards.len(), allows_partial)?;
    // `filter_map` works in place, while `flatten` makes a new list.
    #[expect(clippy::filter_map_identity)]
    let hits = page.hits.into_iter().filter_map(|hit| hit).collect();
    Ok(Fetched { hits, charge: page.charge, timed_out, profiles })
}

/// Fetches hits of one shard that are not a search's own hits, in their order. A document that occurs
/// repeatedly, as in several buckets of an aggregation, is read once.
pub(crate) fn fetch_hits(
    shard: &ShardSnapshot,
    searched: Searched<'_>,
    hits: &[Hit],
    request: &SearchRequest,
    shows_sort: bool,
    context: &SearchContext,
) -> Result<Vec<SearchHit>> {
    let (plan, mut reader) = (Plan::of(request), StoredReader::with_recent(context.recent_blocks.clone()));
    let highlight = request.highlight.as_ref();
    let highlight = highlight.map(|wanted| BoundHighlight::bind(wanted, shard, context)).transpose()?;
    let mut fetcher = Fetcher::new(shard, searched, request, &plan, shows_sort, &mut reader)?;
    fetcher.highlight = highlight.as_ref();
    let document = |place: usize| (hits[place].segment, hits[place].doc);
    let mut places: Vec<usize> = (0..hits.len()).collect();
    places.sort_unstable_by_key(|&place| document(place));
    let mut fetched = vec![SearchHit::default(); hits.len()];
    for run in places.chunk_by(|&left, &right| hits[left].segment == hits[right].segment) {
        let mut docs: Vec<DocId> = run.iter().map(|&place| hits[place].doc).collect();
        docs.dedup();
        fetcher.open(hits[run[0]].segment, &docs)?;
        for same in run.chunk_by(|&left, &right| document(left) == document(right)) {
            work::check_beyond_deadline()?;
            let hit = fetcher.hit(&hits[same[0]])?;
            for &again in &same[1..] {
                work::claim(hit.source_bytes())?;
                fetched[again] = hit.clone();
            }
            fetched[same[0]] = hit;
        }
    }
    Ok(fetched)
}

/// Hits that are being fetched.
struct Page<'a> {
    winners: &'a [(usize, &'a Hit)],
    /// The hits, in the order of `winners`.
    hits: Vec<Option<SearchHit>>,
    charge: Charge,
    context: &'a SearchContext,
}

impl Page<'_> {
    /// Fetches the hits at `places`, all of one shard, in the order in which they are stored.
    fn read(&mut self, places: &[usize], mut fetcher: Fetcher<'_>) -> Result<Option<FetchTimes>> {
        let winners = self.winners;
        let segment_of = |place: usize| winners[place].1.segment;
        let of_segments = places.chunk_by(|&left, &right| segment_of(left) == segment_of(right));
        for run in of_segments.flat_map(|run| run.chunks(HITS_AT_ONCE)) {
            self.context.check()?;
            let docs: Vec<DocId> = run.iter().map(|&place| winners[place].1.doc).collect();
            fetcher.open(segment_of(run[0]), &docs)?;
            self.charge.grow(SearchHit::HIT_BYTES * run.len() as u64, "<fetched hits>")?;
            for &place in run {
                self.context.check()?;
                let fetched = self.hits[place].insert(fetcher.hit(winners[place].1)?);
                let inner: u64 = fetched.inner_hits.iter().map(|inner| inner.hits.len() as u64).sum();
                let more_bytes = SearchHit::HIT_BYTES * inner + 2 * fetched.source_bytes();
                if more_bytes > 0 {
                    self.charge.grow(more_bytes, "<fetched hits>")?;
                }
            }
        }
        Ok(fetcher.times)
    }
}
