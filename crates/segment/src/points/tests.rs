use super::*;
use crate::columns::{ColumnWriter, NumberColumn};

/// Returns the points section of documents with these values, and the column if one is written.
fn encode(docs: &[Vec<i64>], with_column: bool) -> (Vec<u8>, Vec<u8>) {
    let (mut column, mut column_bytes) = (ColumnWriter::new(), Vec::new());
    let (mut points, mut bytes) = (PointsWriter::default(), Vec::new());
    for (doc, values) in (0u32..).zip(docs) {
        column.push(doc, values, &mut column_bytes).expect("memory");
        values.iter().for_each(|value| points.push(doc, *value));
    }
    let doc_count = docs.len() as u32;
    let summary = column.finish(doc_count, &mut column_bytes).expect("memory");
    points.finish(doc_count, with_column.then_some(&summary), &mut bytes).expect("memory");
    (bytes, column_bytes)
}

#[track_caller]
fn check(docs: &[Vec<i64>], with_column: bool) -> usize {
    let (bytes, column) = encode(docs, with_column);
    let points = Points::open(&bytes, Some(NumberColumn::open(&column).expect("opens"))).expect("opens");
    points.check().expect("sound");
    let mut all: Vec<i64> = docs.iter().flatten().copied().collect();
    all.sort_unstable();
    for (start, end) in [(0, 1), (1, 3), (2, 5), (0, 9), (8, 9), (4, 4)] {
        let value = |tenth: usize| all.get(all.len() * tenth / 10).copied().unwrap_or(0);
        let range = value(start)..=value(end);
        let expected = all.iter().filter(|value| range.contains(value)).count() as u64;
        assert_eq!(points.count(range.clone()).expect("counts"), expected);
        let mut bits = vec![0; docs.len().div_ceil(64)];
        points.fill_bits(range.clone(), &mut bits).expect("reads");
        for (doc, values) in docs.iter().enumerate() {
            let is = values.iter().any(|value| range.contains(value));
            assert_eq!(bits[doc / 64] >> (doc % 64) & 1 != 0, is, "{doc}");
        }
    }
    #[allow(clippy::reversed_empty_ranges)]
    let nothing = points.count(5..=3);
    assert_eq!(nothing.expect("counts"), 0);
    bytes.len()
}

fn random(n: usize) -> i64 {
    ((n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as i64
}

#[test]
fn ranges_of_every_shape() {
    for count in [0, 1, 511, 512, 513, 5000] {
        let docs = |value: fn(usize) -> Vec<i64>| (0..count).map(value).collect::<Vec<_>>();
        for with_column in [false, true] {
            check(&docs(|n| vec![random(n)]), with_column);
            check(&docs(|n| vec![n as i64 * 1000]), with_column);
            check(&docs(|n| vec![[200, 304, 404][random(n) as usize % 3]]), with_column);
            check(&docs(|n| vec![random(n) % 50; n % 3]), with_column);
            check(&docs(|n| vec![i64::MIN, random(n), i64::MAX]), with_column);
            // These values leave no bits in a word for the document, neither when they are all different
            // nor when they are few that differ in their lowest bits.
            check(&docs(|n| vec![(n as i64).wrapping_mul(-7_046_029_254_386_353_131)]), with_column);
            check(&docs(|n| vec![(random(n) % 3).wrapping_mul(1 << 61) + random(n + 7) % 50]), with_column);
        }
    }
}

#[test]
fn sizes_follow_the_shape_of_the_values() {
    let count = 50_000;
    let bytes_a_doc = |value: fn(usize) -> i64, with_column| {
        let docs: Vec<Vec<i64>> = (0..count).map(|n| vec![value(n)]).collect();
        check(&docs, with_column) as f64 / count as f64
    };
    let ascending = bytes_a_doc(|n| n as i64 / 3 * 1000, true);
    assert!(ascending < 0.01, "the column is the index: {ascending}");
    let status = bytes_a_doc(|n| [200, 200, 200, 304, 404][random(n) as usize % 5], false);
    assert!(status < 0.5, "{status}");
    let spread = bytes_a_doc(|n| random(n) & 0xffff, false);
    assert!(spread < 3.0, "{spread}");
}

#[test]
fn bytes_of_a_tiny_index() {
    let (bytes, _) = encode(&[vec![10], vec![], vec![5]], false);
    let mut expected = vec![1, 1, 5, 0]; // one bit a value, documents as bits, in units of 5, first document 0
    expected.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // document 0: 5 + 5, document 2: 5
    expected.extend_from_slice(&[0b101, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]);
    expected.extend_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes, expected);
}

#[test]
fn forged_points_are_refused_or_read_without_panic() {
    let docs: Vec<Vec<i64>> = (0..700).map(|n| vec![random(n) % 1000; n % 2 + 1]).collect();
    let (bytes, _) = encode(&docs, false);
    for bit in (0..bytes.len() * 8).step_by(11) {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(points) = Points::open(&forged, None) {
            let _ = (points.check(), points.count(10..=500), points.fill_bits(10..=500, &mut [0; 11]));
        }
    }
    for len in 0..bytes.len() {
        assert!(Points::open(&bytes[..len], None).and_then(|points| points.check()).is_err(), "{len} bytes");
    }
}
