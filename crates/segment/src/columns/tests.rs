use proptest::prelude::*;

use super::format::{BLOCK, GROUP};
use super::*;

fn encode(docs: &[Vec<i64>]) -> (Vec<u8>, ColumnSummary) {
    let (mut writer, mut bytes) = (ColumnWriter::new(), Vec::new());
    for (doc, values) in (0u32..).zip(docs) {
        writer.push(doc, values, &mut bytes).expect("memory");
    }
    let summary = writer.finish(docs.len() as u32, &mut bytes).expect("memory");
    (bytes, summary)
}

#[track_caller]
fn check(docs: &[Vec<i64>]) -> usize {
    let (bytes, summary) = encode(docs);
    let column = NumberColumn::open(&bytes).expect("opens");
    column.check(None).expect("sound");
    assert_eq!(column.cardinality(), summary.cardinality);
    let all: Vec<u32> = (0..docs.len() as u32).collect();
    let mut batch = Batch::default();
    column.gather(&all, &mut batch).expect("reads");
    let expected: Vec<(usize, i64)> = docs
        .iter()
        .enumerate()
        .flat_map(|(doc, values)| values.iter().map(move |value| (doc, *value)))
        .collect();
    assert_eq!(batch.iter().collect::<Vec<_>>(), expected);
    let mut values = Vec::new();
    for doc in all.iter().filter(|doc| *doc % 17 == 3) {
        column.values(*doc, &mut values).expect("reads");
        assert_eq!(values, docs[*doc as usize]);
    }
    bytes.len()
}

fn single(values: impl Iterator<Item = i64>) -> Vec<Vec<i64>> {
    values.map(|value| vec![value]).collect()
}

/// Numbers of every kind: few distinct, multiples, narrow, the whole range.
fn values() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => prop::sample::select(vec![200i64, 304, 404, 500_000]),
        4 => (-50i64..50).prop_map(|value| value * 1000),
        2 => -3i64..3,
        1 => any::<i64>(),
        1 => prop::sample::select(vec![i64::MIN, i64::MAX, 0]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_documents_come_back(
        mut docs in prop::collection::vec(prop::collection::vec(values(), 0..4), 0..400),
        shape in 0usize..3,
    ) {
        for values in &mut docs {
            match shape {
                0 => values.resize(1, 7),
                1 => values.truncate(1),
                _ => values.sort_unstable(),
            }
        }
        check(&docs);
    }
}

#[test]
fn some_documents_of_a_group_come_back() {
    // From one document in 300 up to nine in ten are read, so that values are picked, blocks are decoded and
    // groups are decoded.
    for docs in [
        single((0..10_000).map(|value| value * 7 % 5_000 - 40)),
        (0..10_000).map(|doc| (0..doc % 3).collect()).collect(),
        (0..10_000).map(|doc| (doc % 4 > 0).then_some(doc).into_iter().collect()).collect(),
        single((0..10_000).map(|doc| 1_700_000_000_000 + doc * 12_857 / 1000 * 1000 + doc % 3 * 1000)),
    ] {
        let (bytes, _) = encode(&docs);
        let column = NumberColumn::open(&bytes).expect("opens");
        let mut batch = Batch::default();
        for (step, rest) in [(300, 1), (40, 1), (9, 1), (3, 2), (10, 9)] {
            let wanted: Vec<u32> = (0..10_000).filter(|doc| doc % step < rest).collect();
            column.gather(&wanted, &mut batch).expect("reads");
            let own = |(at, doc): (usize, &u32)| {
                docs[*doc as usize].iter().map(move |value| (at, *value)).collect::<Vec<_>>()
            };
            let expected: Vec<(usize, i64)> = wanted.iter().enumerate().flat_map(own).collect();
            assert_eq!(batch.iter().collect::<Vec<_>>(), expected, "{rest} of {step}");
        }
    }
}

#[test]
fn windows_of_every_kind_of_presence() {
    // Windows of kind none, full, list and bits, and a last window that is not whole.
    let has = |doc: usize| match doc / GROUP {
        0 => false,
        1 => true,
        2 => doc.is_multiple_of(100),
        _ => !doc.is_multiple_of(3),
    };
    let docs: Vec<Vec<i64>> =
        (0..4 * GROUP + 77).map(|doc| vec![doc as i64; usize::from(has(doc))]).collect();
    check(&docs);
    let (bytes, _) = encode(&docs);
    let column = NumberColumn::open(&bytes).expect("opens");
    assert_eq!(column.window_range(0).expect("reads"), None);
    let mut bits = [0; 64];
    for window in 0..5 {
        column.presence().fill_window(window, &mut bits).expect("reads");
        for place in 0..GROUP {
            let doc = window * GROUP + place;
            let is = bits[place / 64] >> (place % 64) & 1 != 0;
            assert_eq!(is, doc < docs.len() && has(doc), "{doc}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn values_near_lines_come_back(
        first in prop::sample::select(vec![0i64, -7, 1_700_000_000_000, i64::MAX - (1 << 50), i64::MIN]),
        factor in prop::sample::select(vec![1i64, 3, 1000, 1 << 17]),
        slopes in prop::collection::vec(0i64..400_000, 1..4),
        noise in prop::collection::vec(0i64..9, 1..50),
        count in 1usize..9000,
    ) {
        // Steps of thousandths, with jumps between parts of another slope.
        let mut place = 0;
        let docs = single((0..count).map(|doc| {
            place += slopes[doc / 3000 % slopes.len()];
            first.wrapping_add((place / 1000 + noise[doc % noise.len()]) * factor)
        }));
        check(&docs);
    }
}

#[test]
fn lines_take_little() {
    let count = 16 * GROUP as i64;
    let bits_a_value =
        |values: &dyn Fn(i64) -> i64| check(&single((0..count).map(values))) as f64 * 8.0 / count as f64;
    let sequence = bits_a_value(&|n| n + 12_345);
    assert!(sequence < 1.2, "{sequence}");
    let times = bits_a_value(&|n| (n * 12_857 / 1000 + n % 2) * 1000);
    assert!(times < 3.3, "{times}");
    // The form's bytes: 256 values of steps of 5, in two blocks.
    let (bytes, _) = encode(&single((0..256).map(|n| 7 + n * 5)));
    let mut expected = vec![0, 0, 0, 0]; // ends of blocks of 0 bits
    expected.extend_from_slice(&[0, 128, 127, 255]); // minima and maxima
    expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 1, 0, 128, 0, 0, 0, 0, 0, 1, 0]); // lines: first, slope
    // Its directory: offset, minimum, maximum, factor, kind, width.
    expected.extend_from_slice(&0u64.to_le_bytes());
    expected.extend_from_slice(&7u64.to_le_bytes());
    expected.extend_from_slice(&1282u64.to_le_bytes());
    expected.extend_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[..expected.len()], expected);
}

#[test]
fn sizes_follow_the_shape_of_the_values() {
    let random = |n: i64| (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    let count = 16 * GROUP as i64;
    let bits_a_value = |docs: Vec<Vec<i64>>| check(&docs) as f64 * 8.0 / count as f64;
    let constant = bits_a_value(single((0..count).map(|_| 7)));
    assert!(constant < 0.3, "{constant}");
    let seconds = bits_a_value(single((0..count).map(|n| (n / 50) * 1000)));
    assert!(seconds < 2.6, "a second's multiples, ascending: {seconds}");
    let status = bits_a_value(single((0..count).map(|n| [200, 304, 404, 100_500][random(n) as usize % 4])));
    assert!(status < 2.9, "four values far apart: {status}");
    let sixteen = bits_a_value(single((0..count).map(|n| (random(n) & 0xffff) as i64)));
    assert!((16.0..16.8).contains(&sixteen), "{sixteen}");
}

#[test]
fn bytes_of_tiny_columns() {
    let (bytes, _) = encode(&single([5, 5].into_iter()));
    let mut expected = vec![0, 0]; // a body of one block of 0 bits
    expected.extend_from_slice(&0u64.to_le_bytes()); // its directory entry: offset,
    expected.extend_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]); // minimum, maximum,
    expected.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // factor, kind, widths
    for number in [2u64, 2, 0, 0, 0, 5, 5] {
        expected.extend_from_slice(&number.to_le_bytes());
    }
    expected.extend_from_slice(&[2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes, expected);

    let (bytes, summary) = encode(&[vec![], vec![10, 30]]);
    assert_eq!(summary.cardinality, Cardinality::Multi);
    let mut expected = vec![1, 0, 0, 1]; // one block of one bit: indexes 0 to 1
    let mut packed = [0u8; 16];
    packed[4] = 1; // value 1 of the block is the first of the second lane
    expected.extend_from_slice(&packed);
    expected.extend_from_slice(&0u64.to_le_bytes());
    expected.extend_from_slice(&[10, 0, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend_from_slice(&[20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    // Offsets 0 and 2 in the same form.
    expected.extend_from_slice(&[1, 0, 0, 1]);
    expected.extend_from_slice(&packed);
    expected.extend_from_slice(&0u64.to_le_bytes());
    expected.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    // Presence: a list of document 1, then two directory entries.
    expected.extend_from_slice(&[1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0]);
    for number in [2u64, 20, 60, 20, 18, 10, 30] {
        expected.extend_from_slice(&number.to_le_bytes());
    }
    expected.extend_from_slice(&[2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes, expected);
}

#[test]
fn ordinals_are_decoded_to_32_bits() {
    let docs = single((0..1000).map(|n| n * 37 % 113));
    let (bytes, _) = encode(&docs);
    let column = OrdinalColumn::open(&bytes).expect("opens");
    column.check(Some(113)).expect("sound");
    assert!(column.check(Some(112)).is_err());
    let mut block = [0u32; BLOCK];
    let len = column.read_block(7, &mut block).expect("reads");
    assert!(len == 1000 - 7 * BLOCK && block[..len].iter().zip(896..).all(|(ord, n)| *ord == n * 37 % 113));
}

#[test]
fn forged_columns_are_refused_or_read_without_panic() {
    let docs: Vec<Vec<i64>> =
        (0..300).map(|n| vec![n * 1000, n * 1000 + 7][..n as usize % 3 % 2 + 1].to_vec()).collect();
    forge(&docs);
    forge(&single((0..300).map(|n| n * 1286 / 100 * 1000)));
}

fn forge(docs: &[Vec<i64>]) {
    let (bytes, _) = encode(docs);
    for bit in (0..bytes.len() * 8).step_by(3) {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(column) = NumberColumn::open(&forged) {
            let mut batch = Batch::default();
            let _ = (column.check(None), column.gather(&[0, 1, 2, 50, 51, 299], &mut batch), column.get(77));
            let _ = (column.moments(0..200, true), column.extremes(3..200));
        }
    }
    for len in 0..bytes.len() {
        assert!(
            NumberColumn::open(&bytes[..len]).and_then(|column| column.check(None)).is_err(),
            "{len} bytes"
        );
    }
}
