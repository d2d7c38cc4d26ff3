//! Compares segments and merges of segments with the naive model: every accessor returns the same.

mod model;

use std::sync::Arc;

use limber_segment::{DocIdMap, LiveDocs, Segment, SegmentId, SegmentView, StoredCodec, merge};
use limber_store::Directory;
use limber_store::random::SplitMix64;
use model::{Document, assert_holds, documents, memory, open, write};
use proptest::prelude::*;

/// Returns a view of a new segment of `count` documents, of which about one in `delete_one_in` is deleted
/// (0: none), and its documents.
fn view(
    random: &mut SplitMix64,
    directory: &Arc<dyn Directory>,
    id: u64,
    count: usize,
    delete_one_in: u64,
) -> (SegmentView, Vec<Document>) {
    let codec = if id.is_multiple_of(3) { StoredCodec::Zstd } else { StoredCodec::Lz4 };
    let documents = documents(random, id * 10_000, count);
    let meta = write(&documents, &**directory, SegmentId(id), codec);
    let segment = open(directory, &meta).expect("opens");
    assert_holds(&segment, &documents);
    (with_deletes(random, Arc::new(segment), delete_one_in), documents)
}

fn with_deletes(random: &mut SplitMix64, segment: Arc<Segment>, delete_one_in: u64) -> SegmentView {
    let mut live = LiveDocs::all(segment.doc_count());
    for doc in 0..segment.doc_count() {
        if delete_one_in > 0 && random.below(delete_one_in) == 0 {
            live.delete(doc);
        }
    }
    SegmentView { segment, live: (delete_one_in > 0).then(|| Arc::new(live)) }
}

/// Merges the views and compares the result with their live documents in turn.
fn merged(
    directory: &Arc<dyn Directory>,
    id: u64,
    parts: &[(SegmentView, Vec<Document>)],
) -> (Arc<Segment>, Vec<Document>) {
    let views: Vec<SegmentView> = parts.iter().map(|(view, _)| view.clone()).collect();
    let (meta, map) = merge(&views, &**directory, SegmentId(id), StoredCodec::Lz4, None).expect("merges");
    let mut expected = Vec::new();
    for (segment, (view, documents)) in parts.iter().enumerate() {
        for (doc, document) in (0u32..).zip(documents) {
            let new = view.is_live(doc).then_some(expected.len() as u32);
            assert_eq!(map.get(segment, doc), new, "segment {segment} document {doc}");
            if new.is_some() {
                expected.push(document.clone());
            }
        }
    }
    assert_eq!(map.doc_count() as usize, expected.len());
    let seq_nos = expected.iter().map(|document| document.numbers["_seq_no"][0] as u64);
    assert_eq!((meta.min_seq_no, meta.max_seq_no), (seq_nos.clone().min(), seq_nos.max()));
    let segment = open(directory, &meta).expect("opens");
    assert_holds(&segment, &expected);
    (Arc::new(segment), expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn merges_and_merges_of_merges_hold_the_live_documents(
        seed in any::<u64>(),
        counts in prop::collection::vec(0usize..120, 1..5),
        delete_one_in in prop::collection::vec(prop_oneof![Just(0u64), Just(1), Just(2), Just(10)], 5),
    ) {
        let (mut random, directory) = (SplitMix64::new(seed), memory());
        let parts: Vec<_> = counts
            .iter()
            .zip(&delete_one_in)
            .zip(1u64..)
            .map(|((count, delete), id)| view(&mut random, &directory, id, *count, *delete))
            .collect();
        let (first, documents) = merged(&directory, 50, &parts);
        let again = with_deletes(&mut random, first, delete_one_in[4]);
        let more = view(&mut random, &directory, 60, 40, 3);
        merged(&directory, 51, &[more, (again, documents)]);
    }
}

#[test]
fn windows_and_blocks_beyond_the_first() {
    let (mut random, directory) = (SplitMix64::new(7), memory());
    let parts = [view(&mut random, &directory, 1, 4500, 0), view(&mut random, &directory, 2, 700, 4)];
    merged(&directory, 9, &parts);
}

#[test]
fn no_segments_and_empty_segments() {
    let directory = memory();
    merged(&directory, 1, &[]);
    let mut random = SplitMix64::new(3);
    let nothing = view(&mut random, &directory, 2, 0, 0);
    let all_deleted = view(&mut random, &directory, 3, 10, 1);
    let (segment, _) = merged(&directory, 4, &[nothing, all_deleted]);
    assert_eq!(segment.doc_count(), 0);
}

#[test]
fn a_cancelled_merge_leaves_no_file() {
    let (mut random, directory) = (SplitMix64::new(5), memory());
    let (view, _) = view(&mut random, &directory, 1, 50, 0);
    let before = directory.list().expect("lists");
    let cancel = Box::new(|_| Err(limber_segment::Error::Cancelled));
    let result: Result<(_, DocIdMap), _> =
        merge(&[view], &*directory, SegmentId(2), StoredCodec::Lz4, Some(cancel));
    assert!(matches!(result, Err(limber_segment::Error::Cancelled)));
    assert_eq!(directory.list().expect("lists"), before);
}
