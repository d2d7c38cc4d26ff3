//! Compares postings with the documents they were written from.

use limber_codec::followed::{LANES, PADDING};
use limber_store::FileBytes;
use proptest::prelude::*;

use super::*;
use crate::NO_MORE_DOCS;
use crate::terms::TermInfo;

/// Documents of a term: each one's number and positions.
type Occurrences = Vec<(u32, Vec<u32>)>;

const DOCS: u32 = 200_000;

fn norm_of(doc: u32) -> u8 {
    (doc % 40) as u8 + 1
}

struct Written {
    reader: PostingsReader,
    infos: Vec<TermInfo>,
}

fn write(terms: &[Occurrences], options: IndexOptions) -> Written {
    let norms: Vec<u8> = (0..DOCS).map(norm_of).collect();
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut writer = PostingsWriter::new(options, Some(&norms), &mut postings, &mut positions);
    let mut infos = Vec::new();
    for term in terms {
        // Added in pieces of odd sizes, as a merge does.
        for piece in term.chunks(77) {
            let docs: Vec<u32> = piece.iter().map(|(doc, _)| *doc).collect();
            let freqs: Vec<u32> = piece.iter().map(|(_, positions)| positions.len() as u32).collect();
            let flat: Vec<u32> = piece.iter().flat_map(|(_, positions)| positions.iter().copied()).collect();
            let freqs = if options.frequencies { &freqs[..] } else { &[] };
            let flat = if options.positions { &flat[..] } else { &[] };
            writer.push(&docs, freqs, flat).expect("in memory");
        }
        infos.push(writer.end_term().expect("in memory").expect("documents"));
    }
    writer.finish().expect("in memory");
    assert_eq!(write_occurrences(terms, options, &norms), (postings.clone(), positions.clone()));
    let positions = FileBytes::from_vec(positions);
    let reader =
        PostingsReader::open(FileBytes::from_vec(postings), Some(positions), options, DOCS).expect("sound");
    Written { reader, infos }
}

/// Writes postings and positions as a buffer does.
fn write_occurrences(terms: &[Occurrences], options: IndexOptions, norms: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut writer = PostingsWriter::new(options, Some(norms), &mut postings, &mut positions);
    for term in terms {
        let of_doc = |(doc, positions): &(u32, Vec<u32>)| {
            let doc = u64::from(*doc) << 32;
            positions.iter().map(|&position| doc | u64::from(position)).collect::<Vec<_>>()
        };
        let flat: Vec<u64> = term.iter().flat_map(of_doc).collect();
        writer.push_occurrences(&flat).expect("in memory");
        writer.end_term().expect("in memory").expect("documents");
    }
    writer.finish().expect("in memory");
    (postings, positions)
}

#[track_caller]
fn check(terms: &[Occurrences], options: IndexOptions) {
    let written = write(terms, options);
    for (term, info) in terms.iter().zip(&written.infos) {
        assert_eq!(info.doc_freq as usize, term.len());
        check_next(&written, term, info, options);
        check_advance(&written, term, info);
        check_find(&written, term, info, options);
        check_blocks(&written, term, info, options);
        if options.frequencies {
            check_impacts(&written, term, info);
        }
    }
}

fn check_next(written: &Written, term: &Occurrences, info: &TermInfo, options: IndexOptions) {
    let mut postings = written.reader.postings(info, Want::Positions).expect("sound");
    let mut positions = vec![9];
    for (at, (doc, expected)) in term.iter().enumerate() {
        assert_eq!(postings.doc(), *doc);
        assert_eq!(postings.freq(), if options.frequencies { expected.len() as u32 } else { 1 });
        // The positions of some documents are never requested.
        if at % 3 != 1 {
            postings.positions(&mut positions);
            assert_eq!(&positions, if options.positions { &expected[..] } else { &[] }, "document {doc}");
        }
        postings.next();
    }
    assert_eq!((postings.doc(), postings.next()), (NO_MORE_DOCS, NO_MORE_DOCS));
    postings.status().expect("sound");
}

fn check_advance(written: &Written, term: &Occurrences, info: &TermInfo) {
    let last = term.last().map_or(0, |(doc, _)| *doc);
    for step in [1, 3, 50, 129, 1000, 5000, 40_000] {
        let mut postings = written.reader.postings(info, Want::Freqs).expect("sound");
        let mut target = step / 2;
        let mut positions = Vec::new();
        while target <= last.saturating_add(step) {
            let expected = term.get(term.partition_point(|(doc, _)| *doc < target));
            assert_eq!(postings.advance(target), expected.map_or(NO_MORE_DOCS, |(doc, _)| *doc), "{target}");
            postings.positions(&mut positions);
            assert!(positions.is_empty(), "not wanted");
            target = postings.doc().min(target.saturating_add(100_000)).saturating_add(step);
        }
        postings.status().expect("sound");
    }
}

fn check_find(written: &Written, term: &Occurrences, info: &TermInfo, options: IndexOptions) {
    let last = term.last().map_or(0, |(doc, _)| *doc);
    let mut found = Found::default();
    for (step, want) in
        [1, 2, 7, 100, 3000].into_iter().zip([Want::Docs, Want::Freqs, Want::Positions].into_iter().cycle())
    {
        let mut postings = written.reader.postings(info, want).expect("sound");
        let asked: Vec<u32> = (0..=last.saturating_add(200)).step_by(step).take(20_000).collect();
        let mut lists = vec![9];
        for (turn, docs) in asked.chunks(100).enumerate() {
            // Other ways to move the cursor do not disturb a search.
            match turn % 4 {
                1 => drop(postings.advance(docs[0])),
                3 => drop(postings.shallow_advance(docs[0].max(postings.doc()))),
                _ => {}
            }
            postings.find(docs, want, &mut found);
            let expected = docs.iter().zip(0..).filter_map(|(doc, number)| {
                let at = term.binary_search_by_key(doc, |(doc, _)| *doc).ok()?;
                Some((number, &term[at].1))
            });
            let expected: Vec<(u8, &Vec<u32>)> = expected.collect();
            assert!(found.numbers().iter().eq(expected.iter().map(|(number, _)| number)), "{docs:?}");
            if want == Want::Docs || !options.frequencies {
                continue;
            }
            assert!(
                found
                    .freqs()
                    .iter()
                    .copied()
                    .eq(expected.iter().map(|(_, positions)| positions.len() as u32))
            );
            if want != Want::Positions {
                continue;
            }
            // The positions of some documents are never requested.
            let wanted: Vec<usize> = (0..expected.len()).filter(|number| number % 3 != 1).collect();
            let spots: Vec<Spot> = wanted.iter().map(|at| found.spots()[*at]).collect();
            let freqs: Vec<u32> = wanted.iter().map(|at| found.freqs()[*at]).collect();
            assert_eq!(postings.lists(&spots, &freqs, &mut lists), options.positions);
            let mut from = 0;
            for at in wanted.iter().filter(|_| options.positions) {
                let (list, padded) = (expected[*at].1, expected[*at].1.len().next_multiple_of(LANES));
                assert_eq!(&lists[from..from + list.len()], list);
                assert!(lists[from + list.len()..from + padded].iter().all(|number| *number == PADDING));
                from += padded;
            }
        }
        postings.status().expect("sound");
    }
}

fn check_blocks(written: &Written, term: &Occurrences, info: &TermInfo, options: IndexOptions) {
    let mut postings = written.reader.postings(info, Want::Freqs).expect("sound");
    let mut walked = Vec::new();
    while postings.doc() != NO_MORE_DOCS {
        let docs = postings.block_docs().to_vec();
        walked.extend(docs.into_iter().zip(postings.block_freqs().iter().copied()));
        postings.next_block();
    }
    let freq = |positions: &Vec<u32>| if options.frequencies { positions.len() as u32 } else { 1 };
    assert!(walked.iter().copied().eq(term.iter().map(|(doc, positions)| (*doc, freq(positions)))));

    let mut postings = written.reader.postings(info, Want::Docs).expect("sound");
    let mut walked = Vec::new();
    while postings.doc() != NO_MORE_DOCS {
        let start = postings.doc() / WINDOW_DOCS * WINDOW_DOCS;
        let mut window = [0; 64];
        postings.fill_bitset(start, &mut window);
        assert!(postings.doc() >= start + WINDOW_DOCS);
        walked.extend(
            (0..WINDOW_DOCS).filter(|i| window[*i as usize / 64] >> (i % 64) & 1 == 1).map(|i| start + i),
        );
    }
    assert!(walked.iter().eq(term.iter().map(|(doc, _)| doc)));
}

struct Ratio;

impl Strength for Ratio {
    fn strength(&self, impact: Impact) -> f32 {
        impact.freq as f32 / (impact.norm as f32 + 1.0)
    }

    fn score(&self, strength: f32) -> f32 {
        strength
    }
}

fn check_impacts(written: &Written, term: &Occurrences, info: &TermInfo) {
    for step in [1, 700, 30_000] {
        let mut postings = written.reader.postings(info, Want::Freqs).expect("sound");
        let mut known = KnownBounds::default();
        let mut target = 0;
        loop {
            let last = postings.shallow_advance(target);
            for up_to in [last, last.saturating_add(9000), NO_MORE_DOCS] {
                let most = postings.max_score(up_to, &mut known, &Ratio);
                for (doc, positions) in term.iter().filter(|(doc, _)| (target..=up_to).contains(doc)) {
                    let (freq, norm) = (positions.len() as u32, norm_of(*doc));
                    let bounded = Ratio.strength(Impact { freq, norm }) <= most;
                    assert!(bounded, "document {doc}: {freq}, {norm} by {most}");
                }
            }
            if last == NO_MORE_DOCS {
                break;
            }
            target = last.saturating_add(step);
            if step > 1 {
                postings.advance(target);
            }
        }
        postings.status().expect("sound");
    }
}

/// Makes documents from gaps; the numbers of positions and the gaps between them cycle through small lists.
fn occurrences(gaps: impl IntoIterator<Item = u32>, freqs: &[u32], position_gap: u32) -> Occurrences {
    let mut doc = 0u32;
    let mut term = Vec::new();
    for (at, gap) in gaps.into_iter().enumerate() {
        doc += gap;
        if doc >= DOCS {
            break;
        }
        let freq = freqs[at % freqs.len()];
        term.push((doc, (0..freq).map(|i| at as u32 % 5 + i * position_gap).collect()));
        doc += 1;
    }
    term
}

const ALL: IndexOptions = IndexOptions { frequencies: true, positions: true };
const FREQS: IndexOptions = IndexOptions { frequencies: true, positions: false };
const DOCS_ONLY: IndexOptions = IndexOptions { frequencies: false, positions: false };

#[test]
fn every_shape_of_list() {
    let terms = vec![
        occurrences([5], &[1], 1),
        occurrences([7], &[3], 2),
        occurrences([0, 0], &[1], 1),
        occurrences([1; 127], &[1, 2], 3),
        occurrences([0; 128], &[1], 1),
        occurrences([2; 129], &[1, 1, 1, 40], 100),
        occurrences((0..1000).map(|i| i % 3), &[1, 1, 2, 1, 7, 1, 1], 9),
        occurrences((0..6000).map(|i| if i % 97 == 0 { 900 } else { 0 }), &[1], 1),
        occurrences((0..5000).map(|i| i % 61), &[1, 300, 2], 1),
        occurrences((0..4000).map(|i| if i % 10 == 0 { 20 } else { 0 }), &[1, 1, 1, 2], 1),
        occurrences((0..4000).map(|i| if i % 7 == 0 { i % 31 } else { 0 }), &[1, 2], 7),
        occurrences([40_000, 90_000], &[2], 1_000_000_000),
    ];
    for options in [ALL, FREQS, DOCS_ONLY] {
        check(&terms, options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn reads_what_was_written(
        terms in prop::collection::vec(
            (prop::collection::vec(0u32..40, 1..900), prop::collection::vec(1u32..9, 1..6), 0u32..300), 1..4),
        options in 0usize..3,
    ) {
        let terms: Vec<Occurrences> =
            terms.into_iter().map(|(gaps, freqs, gap)| occurrences(gaps, &freqs, gap)).collect();
        check(&terms, [ALL, FREQS, DOCS_ONLY][options]);
    }
}

/// A block of such documents is packed in parts, so that its positions are never all held in memory.
#[test]
fn documents_with_very_many_positions() {
    let options = IndexOptions { frequencies: true, positions: true };
    let long = |doc: u32, count: u32| (doc, (0..count).map(|n| n * 3 + doc % 2).collect::<Vec<u32>>());
    let term: Occurrences =
        (0..140).map(|doc| long(doc * 5, if doc % 9 == 0 { 70_001 } else { 3 })).collect();
    check(&[term, vec![long(7, 65_536 + 5)], vec![long(9, 1), long(11, 131_072)]], options);
}

#[test]
fn a_short_list_is_these_bytes() {
    let term: Occurrences = vec![(2, vec![4]), (3, vec![0, 9]), (300, vec![1])];
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut writer = PostingsWriter::new(ALL, None, &mut postings, &mut positions);
    for (doc, positions) in &term {
        writer.push(&[*doc], &[positions.len() as u32], positions).expect("in memory");
    }
    writer.end_term().expect("in memory");
    writer.finish().expect("in memory");
    // Gaps - 1 from -1: 2, 0, 296; shifted with "once" in the low bit, else the frequency follows.
    assert_eq!(postings, [2 << 1 | 1, 0, 2, 0xd1, 0x04]);
    // Position gaps 4, 0, 9, 1 at four bits.
    assert_eq!(positions, [4, 0x04, 0x19]);
}

#[test]
fn a_block_is_these_bytes() {
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut writer = PostingsWriter::new(FREQS, None, &mut postings, &mut positions);
    let docs: Vec<u32> = (10..138).collect();
    writer.push(&docs, &[1; 128], &[]).expect("in memory");
    writer.end_term().expect("in memory");
    writer.finish().expect("in memory");
    // 128 documents in a row from 10: the first gap makes packed gaps 64 bytes, the bit set has three words.
    let mut expected = vec![0x40, 3];
    expected.extend_from_slice(&(!0u64 << 10).to_le_bytes());
    expected.extend_from_slice(&(!0u64).to_le_bytes());
    expected.extend_from_slice(&((1u64 << 10) - 1).to_le_bytes());
    expected.extend_from_slice(&[0, 0]); // frequencies - 1
    expected.extend_from_slice(&[137, 28]); // last document, end of the block
    expected.extend_from_slice(&[3, 6]); // end of its impacts and of the group's
    expected.extend_from_slice(&[1, 1, 1, 1, 1, 1]);
    expected.extend_from_slice(&10u32.to_le_bytes());
    expected.extend_from_slice(&[0, 0xff, 0xff, 0xff]); // one byte a number
    assert_eq!(postings, expected);
}

#[test]
fn corrupt_bytes_end_early() {
    let gap = |i: u32| {
        if i < 700 {
            i % 9
        } else if i.is_multiple_of(10) {
            20
        } else {
            0
        }
    };
    let terms = [occurrences((0..1500).map(gap), &[1, 4, 1], 3)];
    let norms: Vec<u8> = (0..DOCS).map(norm_of).collect();
    let (mut postings, mut positions) = (Vec::new(), Vec::new());
    let mut writer = PostingsWriter::new(ALL, Some(&norms), &mut postings, &mut positions);
    for (doc, positions) in &terms[0] {
        writer.push(&[*doc], &[positions.len() as u32], positions).expect("in memory");
    }
    let info = writer.end_term().expect("in memory").expect("documents");
    writer.finish().expect("in memory");
    for at in 0..postings.len() {
        let mut broken = postings.clone();
        broken[at] ^= 0xa5;
        let bytes = FileBytes::from_vec(broken);
        let positions = FileBytes::from_vec(positions.clone());
        let reader = PostingsReader::open(bytes, Some(positions), ALL, DOCS).expect("opens lazily");
        let Ok(mut postings) = reader.postings(&info, Want::Positions) else { continue };
        let mut found = Vec::new();
        let mut previous = None;
        let mut count = 0;
        while postings.doc() != NO_MORE_DOCS && count < 3000 {
            count += 1;
            assert!(Some(postings.doc()) > previous && postings.doc() < DOCS);
            previous = Some(postings.doc());
            postings.positions(&mut found);
            postings.shallow_advance(postings.doc());
            let up_to = postings.doc() + 3000;
            postings.max_score(up_to, &mut KnownBounds::default(), &Ratio);
            if count % 40 == 13 {
                let docs: Vec<u32> = (postings.doc()..).step_by(3).take(100).collect();
                let mut batch = Found::default();
                postings.find(&docs, Want::Positions, &mut batch);
                postings.lists(batch.spots(), batch.freqs(), &mut found);
                postings.advance(docs[99].min(DOCS));
                continue;
            }
            if count % 40 == 7 {
                let start = postings.doc() / WINDOW_DOCS * WINDOW_DOCS;
                let mut window = [0; 64];
                postings.fill_bitset(start, &mut window);
                previous = Some(start + WINDOW_DOCS - 1);
                continue;
            }
            if count % 5 == 0 {
                postings.advance(postings.doc() + 50)
            } else {
                postings.next()
            };
            count += 1;
        }
        assert!(count < 3000, "flipped byte {at}");
    }
}
