//! The hits of a page: "what do these winners look like?"

use limber_segment::{DocId, StoredReader};
use limber_store::Charge;

use super::highlighted::BoundHighlight;
use super::hit::{Fetcher, Searched};
use super::plan::Plan;
use crate::collect::Hit;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result, ShardFailure};
use crate::request::SearchRequest;
use crate::response::SearchHit;
use crate::shard::ShardHits;

/// Of a hit beside its source: names, sort values, and the same as text in the answer. Sources are there twice too.
pub(crate) const HIT_BYTES: u64 = size_of::<SearchHit>() as u64 + 512;

/// Hits of one segment that are opened together.
const HITS_AT_ONCE: usize = 512;

/// What was fetched.
pub(crate) struct Fetched {
    /// In the order in which they are shown.
    pub hits: Vec<SearchHit>,
    /// For as long as they are held.
    pub charge: Charge,
    /// The time was over before all hits were read: the others are left out, as Elasticsearch leaves them out.
    pub timed_out: bool,
}

/// Fetches the winners: (index of the shard, hit), in the order in which they are shown.
pub(crate) fn fetch(
    shards: &[ShardSnapshot],
    found: &[(usize, ShardHits)],
    winners: &[(usize, &Hit)],
    request: &SearchRequest,
    shows_sort: bool,
    context: &SearchContext,
) -> Result<Fetched> {
    let highlights = bind_highlights(shards, request, context)?;
    let charge = context.ledger.request.charge(0, "<fetched hits>")?;
    let mut page = Page { winners, hits: vec![None; winners.len()], charge, context };
    let (plan, mut reader) = (Plan::of(request), StoredReader::new());
    // In the order in which documents are stored, so that no block is decompressed twice.
    let mut places: Vec<usize> = (0..winners.len()).collect();
    places.sort_unstable_by_key(|&place| (winners[place].0, winners[place].1.segment, winners[place].1.doc));
    let mut timed_out = false;
    for of_shard in places.chunk_by(|&left, &right| winners[left].0 == winners[right].0) {
        let number = winners[of_shard[0]].0;
        let shard_hits = found.iter().find(|(shard, _)| *shard == number).map(|(_, hits)| hits);
        let shard_hits = shard_hits.expect("a winner's shard was searched");
        let searched = Searched {
            query: &shard_hits.query,
            post_filter: shard_hits.post_filter.as_ref(),
            sorts: &shard_hits.sorts,
            rescores: &shard_hits.rescores,
        };
        let fetcher = Fetcher::new(&shards[number], searched, request, &plan, shows_sort, &mut reader);
        let outcome = fetcher.and_then(|mut fetcher| {
            fetcher.highlight = highlights.get(number);
            page.read(of_shard, fetcher)
        });
        match outcome {
            Err(Error::TimedOut) => {
                timed_out = true;
                break;
            }
            outcome => outcome.map_err(|error| failed(error, shards, number, context))?,
        }
    }
    Ok(Fetched { hits: page.hits.into_iter().flatten().collect(), charge: page.charge, timed_out })
}

/// Fetches hits of one shard that were found by other means than a search's own hits, in their order.
pub(crate) fn fetch_hits(
    shard: &ShardSnapshot,
    searched: Searched<'_>,
    hits: &[Hit],
    request: &SearchRequest,
    shows_sort: bool,
) -> Result<Vec<SearchHit>> {
    let (plan, mut reader) = (Plan::of(request), StoredReader::new());
    let mut fetcher = Fetcher::new(shard, searched, request, &plan, shows_sort, &mut reader)?;
    let mut places: Vec<usize> = (0..hits.len()).collect();
    places.sort_unstable_by_key(|&place| (hits[place].segment, hits[place].doc));
    let mut fetched = vec![SearchHit::default(); hits.len()];
    for run in places.chunk_by(|&left, &right| hits[left].segment == hits[right].segment) {
        let docs: Vec<DocId> = run.iter().map(|&place| hits[place].doc).collect();
        fetcher.open(hits[run[0]].segment, &docs)?;
        for &place in run {
            fetched[place] = fetcher.hit(&hits[place])?;
        }
    }
    Ok(fetched)
}

/// By shard; empty where nothing is highlighted.
fn bind_highlights<'r>(
    shards: &'r [ShardSnapshot],
    request: &'r SearchRequest,
    context: &SearchContext,
) -> Result<Vec<BoundHighlight<'r>>> {
    let Some(highlight) = &request.highlight else { return Ok(Vec::new()) };
    shards.iter().map(|shard| BoundHighlight::bind(highlight, shard, context)).collect()
}

/// Hits that are being read.
struct Page<'a> {
    winners: &'a [(usize, &'a Hit)],
    /// By place among the winners.
    hits: Vec<Option<SearchHit>>,
    charge: Charge,
    context: &'a SearchContext,
}

impl Page<'_> {
    /// Reads the winners at `places`, all of one shard, in the order in which they are stored.
    fn read(&mut self, places: &[usize], mut fetcher: Fetcher<'_>) -> Result<()> {
        let winners = self.winners;
        let segment_of = |place: usize| winners[place].1.segment;
        let of_segments = places.chunk_by(|&left, &right| segment_of(left) == segment_of(right));
        for run in of_segments.flat_map(|run| run.chunks(HITS_AT_ONCE)) {
            self.context.check()?;
            let docs: Vec<DocId> = run.iter().map(|&place| winners[place].1.doc).collect();
            fetcher.open(segment_of(run[0]), &docs)?;
            for &place in run {
                self.context.check()?;
                let fetched = fetcher.hit(winners[place].1)?;
                let inner: u64 = fetched.inner_hits.iter().map(|inner| inner.hits.len() as u64).sum();
                self.charge.grow(HIT_BYTES * (1 + inner) + 2 * fetched.source_bytes(), "<fetched hits>")?;
                self.hits[place] = Some(fetched);
            }
        }
        Ok(())
    }
}

/// A request that fails on a hit, by a script or by its own fault, fails the hit's shard, and with it the page.
fn failed(error: Error, shards: &[ShardSnapshot], number: usize, context: &SearchContext) -> Error {
    match error {
        Error::Request(reason)
            if matches!(reason.kind, "script_exception" | "illegal_argument_exception") =>
        {
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
