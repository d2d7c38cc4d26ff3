//! Rebuilds a lost commit: "which of the segments in this folder made up the shard?"
//!
//! Segments describe themselves. Segments that a merge has replaced stay until the next commit, so a document
//! may be in several segments: the one with the highest sequence number is used, and among equals that in the
//! newest segment. It is unknown which documents of a left-over segment were deleted after its last live docs
//! were written; they may come back, and the report says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_segment::file::Lane;
use limber_segment::{LiveDocs, Segment, SegmentId, SegmentMeta, StoredReader};
use limber_store::Directory;
use limber_store::term_index::TermIndexCache;

use crate::shard::{Commit, CommittedSegment};
use crate::translog;

/// What was found in place of a commit.
pub(super) struct Rebuilt {
    pub commit: Commit,
    /// Live docs that must be written first.
    pub live: Vec<(SegmentId, u64, LiveDocs)>,
    pub documents: u64,
    /// Files that look like segments but are not.
    pub unreadable: Vec<String>,
}

/// One segment, with its documents that are used.
struct Candidate {
    meta: SegmentMeta,
    live: LiveDocs,
    /// Id and sequence number of each document.
    documents: Vec<(Vec<u8>, u64)>,
}

/// Builds a commit from the segments that pass verification.
pub(super) fn rebuild(
    directory: &Arc<dyn Directory>,
    cache: &Arc<TermIndexCache>,
) -> limber_segment::Result<Rebuilt> {
    let names = directory.list()?;
    let (mut candidates, mut unreadable): (Vec<Candidate>, Vec<String>) = Default::default();
    let main_end = format!(".{}", Lane::Main.extension());
    let (mut next_segment, mut generation) = (0, 0);
    for name in &names {
        let Some(id) = SegmentId::of_file(name) else { continue };
        next_segment = next_segment.max(id.0 + 1);
        generation = generation.max(live_generation(name, id).unwrap_or(0));
        if name.ends_with(&main_end) {
            match candidate(directory, cache, id, &names) {
                Ok(found) => candidates.push(found),
                Err(error) => unreadable.push(format!("{name}: {error}")),
            }
        }
    }
    candidates.sort_by_key(|candidate| candidate.meta.id);
    keep_newest(&mut candidates);
    candidates.retain(|candidate| candidate.live.live_count() > 0);
    let log = translog::describe(&**directory)?;
    let of_segments = candidates.iter().filter_map(|candidate| candidate.meta.max_seq_no).max();
    let generation = generation + 1;
    let mut rebuilt = Rebuilt {
        commit: Commit {
            generation,
            segments: Vec::new(),
            translog_generation: log.first_generation,
            // Everything in the translog is replayed. Operations that are in segments too are skipped by
            // their sequence numbers.
            max_seq_no: match log.min_seq_no {
                Some(first) => first.checked_sub(1),
                None => of_segments,
            },
            primary_term: log.max_primary_term,
            history: format!("{:032x}", u128::from_be_bytes(log.history)),
            next_segment,
        },
        live: Vec::new(),
        documents: 0,
        unreadable,
    };
    for Candidate { meta, live, .. } in candidates {
        rebuilt.documents += u64::from(live.live_count());
        let has_deletes = live.deleted_count() > 0;
        rebuilt.commit.segments.push(CommittedSegment {
            live_generation: has_deletes.then_some(generation),
            live_doc_count: Some(live.live_count()),
            meta: meta.clone(),
        });
        if has_deletes {
            rebuilt.live.push((meta.id, generation, live));
        }
    }
    Ok(rebuilt)
}

/// Returns the generation of a live docs file.
fn live_generation(name: &str, id: SegmentId) -> Option<u64> {
    let text = name.strip_prefix(&format!("_{id}_"))?.strip_suffix(".live")?;
    u64::from_str_radix(text, 36).ok()
}

fn candidate(
    directory: &Arc<dyn Directory>,
    cache: &Arc<TermIndexCache>,
    id: SegmentId,
    names: &[String],
) -> limber_segment::Result<Candidate> {
    let mut meta = SegmentMeta::of_files(&**directory, id)?;
    let segment = Segment::open(directory, &meta, cache)?;
    if let Some(problem) = segment.check().problems.first() {
        let message = format!("{} {}", problem.field, problem.message);
        return Err(limber_store::Error::Corrupt {
            file: problem.file.clone(),
            offset: 0,
            expected: "a sound segment".to_owned(),
            found: message,
        }
        .into());
    }
    let mut generations: Vec<u64> = names.iter().filter_map(|name| live_generation(name, id)).collect();
    generations.sort_unstable();
    let newest = generations
        .iter()
        .rev()
        .find_map(|generation| LiveDocs::open(&**directory, id, *generation, meta.doc_count).ok());
    let live = newest.unwrap_or_else(|| LiveDocs::all(meta.doc_count));
    let seq_nos = segment.numbers("_seq_no")?;
    let (mut documents, mut reader) = (Vec::with_capacity(meta.doc_count as usize), StoredReader::new());
    for doc in 0..meta.doc_count {
        let seq_no = match &seq_nos {
            Some(seq_nos) => seq_nos.get(doc)?.unwrap_or(0) as u64,
            None => 0,
        };
        documents.push((segment.id_and_routing(doc, &mut reader)?.0.to_vec(), seq_no));
    }
    meta.min_seq_no = documents.iter().map(|(_, seq_no)| *seq_no).min();
    meta.max_seq_no = documents.iter().map(|(_, seq_no)| *seq_no).max();
    Ok(Candidate { meta, live, documents })
}

/// Deletes all documents with the same id except the newest.
fn keep_newest(candidates: &mut [Candidate]) {
    let mut newest: BTreeMap<Vec<u8>, (u64, usize, u32)> = BTreeMap::new();
    let mut doomed = Vec::new();
    for (place, candidate) in candidates.iter().enumerate() {
        for doc in candidate.live.iter() {
            let (id, seq_no) = &candidate.documents[doc as usize];
            let this = (*seq_no, place, doc);
            match newest.get_mut(id) {
                None => drop(newest.insert(id.clone(), this)),
                Some(other) => doomed.push(if this > *other { std::mem::replace(other, this) } else { this }),
            }
        }
    }
    for (_, place, doc) in doomed {
        candidates[place].live.delete(doc);
    }
}
