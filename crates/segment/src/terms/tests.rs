//! Compares a dictionary with a sorted map.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use limber_store::term_index::{Scheme, TermIndexCache};
use limber_store::{Directory, FileBytes, FsDirectory, Pool};
use proptest::prelude::*;

use super::*;
use crate::Result;
use crate::index_options::IndexOptions;

type Model = BTreeMap<Vec<u8>, (u32, u64, TermLocation)>;

/// Returns the sections `TermDirectory`, `Terms` and `TermIndex` of the model's terms.
fn write(model: &Model, options: IndexOptions) -> [Vec<u8>; 3] {
    let (mut terms, mut index) = (Vec::new(), Vec::new());
    let mut writer = TermDictionaryWriter::new(options, &mut terms, &mut index);
    for (term, &(doc_freq, total_term_freq, location)) in model {
        writer.add(term, &TermInfo { ord: 0, doc_freq, total_term_freq, location }).expect("in memory");
    }
    let directory = writer.finish(7).expect("in memory");
    [directory, terms, index]
}

struct Opened {
    dictionary: TermDictionary,
    _folder: tempfile::TempDir,
}

/// Caches for every page, for two pages and for none; with the last, lookups search the blocks.
fn caches() -> [Arc<TermIndexCache>; 3] {
    let cached = |bytes| TermIndexCache::new(Pool::new("segment_memory", bytes), Scheme::Cached);
    [TermIndexCache::native(), cached(600 << 10), cached(0)]
}

fn open(sections: &[Vec<u8>; 3]) -> Result<Opened> {
    open_in(TermIndexCache::native(), sections)
}

fn open_in(cache: Arc<TermIndexCache>, [directory, terms, index]: &[Vec<u8>; 3]) -> Result<Opened> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = FsDirectory::open(folder.path())?;
    let mut file = files.create("index")?;
    file.write_all(b"before")?;
    file.write_all(index)?;
    file.finish()?;
    let pages = IndexPages {
        directory: Arc::new(files),
        file: "index".into(),
        offset: 6,
        len: index.len() as u64,
        mapped: None,
        cache,
        segment_core: 1,
        field: 0,
    };
    let dictionary = TermDictionary::open(directory, FileBytes::from_vec(terms.clone()), pages)?;
    Ok(Opened { dictionary, _folder: folder })
}

/// Returns what the dictionary should say about a term of the model.
fn expected(model: &Model, ord: usize, options: IndexOptions) -> (Vec<u8>, TermInfo) {
    let (term, &(doc_freq, total_term_freq, location)) =
        model.iter().nth(ord).expect("an ordinal of the model");
    let total_term_freq = if options.frequencies { total_term_freq } else { doc_freq as u64 };
    let mut location = location;
    if doc_freq == 1 {
        (location.postings_offset, location.postings_len) = (0, 0);
    } else {
        location.single_doc = 0;
    }
    if !options.positions {
        (location.positions_offset, location.positions_len) = (0, 0);
    }
    (term.clone(), TermInfo { ord: ord as u64, doc_freq, total_term_freq, location })
}

#[track_caller]
fn check(model: &Model, options: IndexOptions, probes: &[Vec<u8>]) {
    let sections = write(model, options);
    for cache in caches() {
        let opened = open_in(cache, &sections).expect("sound");
        check_opened(&opened.dictionary, model, options, probes);
    }
}

#[track_caller]
fn check_opened(dictionary: &TermDictionary, model: &Model, options: IndexOptions, probes: &[Vec<u8>]) {
    assert_eq!((dictionary.len(), dictionary.doc_count_with_field()), (model.len() as u64, 7));
    let all: Vec<_> = (0..model.len()).map(|ord| expected(model, ord, options)).collect();
    let mut cursor = dictionary.cursor();
    for (term, info) in &all {
        assert_eq!(cursor.next().expect("sound"), Some((&term[..], *info)));
        assert_eq!(dictionary.get(term).expect("sound"), Some(*info), "{term:?}");
        assert_eq!(dictionary.info(info.ord).expect("sound"), *info);
        let mut by_ord = vec![1];
        dictionary.term(info.ord, &mut by_ord).expect("sound");
        assert_eq!(&by_ord, term);
    }
    assert_eq!(cursor.next().expect("sound"), None);
    assert!(dictionary.info(model.len() as u64).is_err());
    let position = |probe: &Vec<u8>| all.partition_point(|(term, _)| term < probe);
    for probe in probes {
        let at = position(probe);
        let found = all.get(at).is_some_and(|(term, _)| term == probe);
        assert_eq!(dictionary.get(probe).expect("sound").is_some(), found, "{probe:?}");
        let ordinal = if found { Ok(at as u64) } else { Err(at as u64) };
        assert_eq!(dictionary.ordinal(probe).expect("sound"), ordinal, "{probe:?}");
        let mut cursor = dictionary.cursor();
        cursor.seek(probe).expect("sound");
        let next = cursor.next().expect("sound").map(|(_, info)| info.ord as usize);
        assert_eq!(next, (at < all.len()).then_some(at));
    }
    // Some of the terms, some values between them, and some duplicates.
    let mut wanted: Vec<&Vec<u8>> =
        probes.iter().chain(all.iter().map(|(term, _)| term).step_by(7)).collect();
    wanted.sort();
    for step in [1, 5, 300] {
        let mut lookup = dictionary.ascending();
        for term in wanted.iter().step_by(step) {
            let at = position(term);
            let found = all.get(at).filter(|(found, _)| found == *term).map(|(_, info)| *info);
            assert_eq!(lookup.get(term).expect("sound"), found, "{term:?}");
        }
    }
    for pair in probes.windows(2) {
        let mut cursor =
            dictionary.range(Bound::Excluded(&pair[0]), Bound::Included(&pair[1])).expect("sound");
        let mut found = Vec::new();
        while let Some((term, _)) = cursor.next().expect("sound") {
            found.push(term.to_vec());
        }
        let inside = all.iter().map(|(term, _)| term).filter(|term| **term > pair[0] && **term <= pair[1]);
        assert!(found.iter().eq(inside), "{pair:?}");
    }
}

fn model_of(terms: impl IntoIterator<Item = Vec<u8>>) -> Model {
    let (mut postings, mut positions) = (0, 0);
    let unique: std::collections::BTreeSet<Vec<u8>> = terms.into_iter().collect();
    let number = |(at, term): (usize, Vec<u8>)| {
        let doc_freq = if at % 3 == 0 { 5 + at as u32 % 7 } else { 1 };
        let total_term_freq = doc_freq as u64 + at as u64 % 4;
        let (postings_len, positions_len) =
            (if doc_freq > 1 { 10 + at as u64 % 5 } else { 0 }, at as u64 % 3);
        let location = TermLocation {
            single_doc: at as u32 * 3,
            postings_offset: postings,
            postings_len,
            positions_offset: positions,
            positions_len,
        };
        postings += postings_len;
        positions += positions_len;
        (term, (doc_freq, total_term_freq, location))
    };
    unique.into_iter().enumerate().map(number).collect()
}

const OPTIONS: [IndexOptions; 3] = [
    IndexOptions { frequencies: false, positions: false },
    IndexOptions { frequencies: true, positions: false },
    IndexOptions { frequencies: true, positions: true },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn finds_what_a_map_finds(
        terms in prop::collection::vec(prop::collection::vec(0u8..4, 0..9), 0..400),
        probes in prop::collection::vec(prop::collection::vec(0u8..4, 0..10), 0..40),
        options in 0usize..3,
    ) {
        check(&model_of(terms), OPTIONS[options], &probes);
    }
}

/// Terms that are each in one document: `documents` after the place of the term.
fn model_of_ids(ids: impl IntoIterator<Item = Vec<u8>>, documents: impl Fn(usize) -> u32) -> Model {
    let unique: std::collections::BTreeSet<Vec<u8>> = ids.into_iter().collect();
    let location = |at| TermLocation { single_doc: documents(at), ..TermLocation::default() };
    unique.into_iter().enumerate().map(|(at, id)| (id, (1, 1, location(at)))).collect()
}

fn id(start: &[u8], number: u64, len: usize) -> Vec<u8> {
    let mut id = start.to_vec();
    limber_codec::ordered64::encode(number, len, &mut id);
    id
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn ids_that_count_are_found(
        runs in prop::collection::vec(
            (prop::collection::vec(b'x'..b'z', 0..14), 0u64..1 << 24, 1usize..300, 1u64..70),
            1..5,
        ),
        len in 1usize..10,
        order in prop::sample::select(vec![1u32, 3, 31]),
        others in prop::collection::vec("[-a-z~ ]{0,12}", 0..20),
        options in 0usize..2,
    ) {
        let ids = runs.iter().flat_map(|(start, first, count, step)| {
            (0..*count as u64).map(move |n| id(start, first + n * step, len))
        });
        let ids: Vec<Vec<u8>> = ids.chain(others.iter().map(|id| id.clone().into_bytes())).collect();
        let mut probes = Vec::new();
        for id in ids.iter().step_by(7) {
            probes.push(id[..id.len().saturating_sub(1)].to_vec());
            for end in [b"-", b"\x00", b"\xff", b"~"] {
                probes.push([&id[..], end].concat());
                probes.push([&id[..id.len().saturating_sub(1)], end].concat());
            }
        }
        check(&model_of_ids(ids, |at| at as u32 * order % 100_003), OPTIONS[options], &probes);
    }
}

#[test]
fn ids_that_count_take_less_than_a_byte() {
    let ids = (0..2_000u64).map(|n| id(b"OHwnx7RcQe1-b", 1 << 20 | n, 7));
    let model = model_of_ids(ids, |at| at as u32);
    let [_, terms, _] = write(&model, OPTIONS[0]);
    assert!(terms.len() < 1_600, "{}", terms.len());
    check(&model, OPTIONS[0], &[id(b"OHwnx7RcQe1-b", 1 << 21, 7), id(b"OHwnx7RcQe1-b", 5, 7)]);
}

#[test]
fn ids_are_these_bytes() {
    let model = model_of_ids((0..34).map(|n| id(b"start", 100 + n * 2, 3)), |at| 7 + at as u32);
    let [_, terms, _] = write(&model, OPTIONS[0]);
    #[rustfmt::skip]
    let expected: &[u8] = &[
        0x80 | 32, // terms
        0, 8, 2, // no model, length, characters of the numbers
        b's', b't', b'a', b'r', b't', b'-',
        0, 4, 200, 1, // numbers: width 0, slope 2, base 100
        0, 2, 14, // documents: width 0, slope 1, base 7
        0x80 | 2,
        17, 8, 1, 6, // bytes back, length, characters of the numbers, bytes shared
        b'1',
        0, 4, 72, // from 36
        0, 2, 78, // from 39
        0, 0, 0, 0, 0, 17, 0, 0, 0, 0, // block table
    ];
    assert_eq!(terms, expected);
}

#[test]
fn many_blocks_go_through_an_fst() {
    let terms =
        (0..5000u32).map(|i| format!("{:07}", i.wrapping_mul(2_654_435_761) % 10_000_000).into_bytes());
    let probes: Vec<Vec<u8>> = (0..200u32).map(|i| format!("{:06}", i * 4999).into_bytes()).collect();
    check(&model_of(terms), OPTIONS[0], &probes);
}

#[test]
fn long_terms_fill_several_pages() {
    // Separators of 20 KB: a page ends after about thirteen of them.
    let terms = (0..1200u32).map(|i| {
        let mut term = vec![b'x'; 20_000];
        term.extend_from_slice(&i.to_be_bytes());
        term
    });
    let model = model_of(terms);
    let sections = write(&model, OPTIONS[2]);
    for cache in caches() {
        let opened = open_in(cache.clone(), &sections).expect("sound");
        let mut page_count = 0;
        cache.enumerate(|field| page_count += field.page_count);
        assert!(page_count > 2, "several pages");
        for (ord, term) in model.keys().enumerate().step_by(7) {
            assert_eq!(opened.dictionary.ordinal(term).expect("sound"), Ok(ord as u64));
        }
        let stats = cache.stats();
        assert!(cache.loads_at_open() || stats.resident_bytes <= stats.budget_bytes);
        assert_eq!(stats.bypass_count > 0, stats.budget_bytes == 0);
    }
}

#[test]
fn empty_field_and_empty_term() {
    check(&model_of([]), OPTIONS[0], &[b"".to_vec(), b"a".to_vec()]);
    check(&model_of([b"".to_vec()]), OPTIONS[2], &[b"".to_vec(), b"a".to_vec()]);
}

#[test]
fn terms_are_these_bytes() {
    let single = |doc| TermLocation { single_doc: doc, ..TermLocation::default() };
    let many = TermLocation { postings_offset: 9, postings_len: 6, ..TermLocation::default() };
    let model: Model = [
        (b"apple".to_vec(), (1, 1, single(4))),
        (b"apply".to_vec(), (3, 3, many)),
        (b"b".to_vec(), (1, 1, single(6))),
    ]
    .into();
    let [directory, terms, index] = write(&model, OPTIONS[0]);
    assert_eq!(directory, [0, 3, 1, 5, 5, 7, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert!(index.is_empty());
    #[rustfmt::skip]
    let expected: &[u8] = &[
        3, // terms
        3, 1, 0b00_100_100, 0b0, // lengths 5, 5, 1
        3, 0, 0b000_100, // shared 4, 0
        2, 0, 0b00_10_00, // doc_freq - 1: 0, 2, 0
        2, 4, 0b10_00, // single documents 4, 6
        9, 0, 6, // postings of "apply"
        b'a', b'p', b'p', b'l', b'e', b'y', b'b',
        0, 0, 0, 0, 0, // block table
    ];
    assert_eq!(terms, expected);
}

#[test]
fn corrupt_ids_are_errors() {
    let model = model_of_ids((0..500).map(|n| id(b"start", n * 3 + n % 2, 4)), |at| at as u32 * 7 % 501);
    let sections = write(&model, OPTIONS[0]);
    for (at, bit) in (0..sections[1].len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut broken = sections.clone();
        broken[1][at] ^= 1 << bit;
        let Ok(opened) = open(&broken) else { continue };
        let mut cursor = opened.dictionary.cursor();
        while let Ok(Some(_)) = cursor.next() {}
        for term in model.keys().step_by(11) {
            let _ = (opened.dictionary.get(term), opened.dictionary.ordinal(&term[..6]));
        }
    }
}

#[test]
fn corrupt_bytes_are_errors() {
    let model = model_of((0..200u32).map(|i| format!("term {i:05}").into_bytes()));
    let sections = write(&model, OPTIONS[2]);
    for at in (0..sections[1].len()).step_by(3) {
        let mut broken = sections.clone();
        broken[1][at] ^= 0xff;
        let Ok(opened) = open(&broken) else { continue };
        let mut cursor = opened.dictionary.cursor();
        while let Ok(Some(_)) = cursor.next() {}
        for term in model.keys().step_by(11) {
            let _ = opened.dictionary.get(term);
        }
    }
    for at in 0..sections[0].len() {
        let mut broken = sections.clone();
        broken[0][at] ^= 0x55;
        if let Ok(opened) = open(&broken) {
            let _ = opened.dictionary.get(b"term 00042");
        }
    }
    let mut broken = sections.clone();
    broken[2][10] ^= 1;
    assert!(open(&broken).is_err(), "pages are checked when they are loaded");
}
