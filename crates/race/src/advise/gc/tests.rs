//! Tests with logs of real JVMs, also truncated and corrupted ones.
//!
//! `fixtures/*.log` were written by Java 17 and 25 while running a program that allocates (`es-9.4.3.log` by
//! Elasticsearch), and cut down to a few collections. A script computed the figures expected here from them.
//! `openj9.xml` follows OpenJ9's documentation.

use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{GcFigures, GcLogError, read};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/advise/gc/fixtures").join(name)
}

fn figures(name: &str) -> GcFigures {
    GcFigures::of(&read(&[fixture(name)]).unwrap()).unwrap()
}

/// `pauses`: count, sum, median and maximum in ms. `promoted`: bytes.
#[track_caller]
fn check(name: &str, collector: &str, pauses: (usize, f64, f64, f64), promoted: Option<f64>) -> GcFigures {
    let found = figures(name);
    assert_eq!(found.collector.as_deref(), Some(collector));
    assert_eq!(found.unrecognized_line_count, 0);
    let (count, sum, median, most) = pauses;
    assert_eq!(found.pause_count, count);
    assert!((found.pause_millis - sum).abs() < 1e-6, "{}", found.pause_millis);
    assert_eq!(found.percentile_millis(50.0), median);
    assert_eq!(found.pause_max_millis, most);
    assert!((found.pause_percent - sum / 10.0 / found.span_s).abs() < 1e-9);
    let bytes = found.promotion_rate.map(|rate| (rate * found.span_s).round());
    assert_eq!(bytes, promoted);
    found
}

#[test]
fn g1() {
    let found = check("g1-17.log", "G1", (8, 118.020, 6.787, 31.046), Some(26_624.0 * 1024.0));
    assert!((found.span_s - 0.942).abs() < 1e-9);
    assert_eq!((found.full_count, found.evacuation_failures), (0, 0));
    assert_eq!(found.capacity_bytes, Some(128 << 20));
    assert_eq!(found.has_compressed_oops, Some(true));

    let found = check("g1-25-full.log", "G1", (23, 155.738, 3.347, 43.459), Some(80_896.0 * 1024.0));
    assert_eq!((found.full_count, found.evacuation_failures), (1, 2));
    assert!(found.safepoint_count > 0 && found.safepoint_percent >= found.pause_percent);

    let found = check("es-9.4.3.log", "G1", (11, 481.106, 29.298, 144.904), Some(16_384.0 * 1024.0));
    assert!(found.safepoint_count > 0);
}

#[test]
fn parallel_and_serial() {
    let found = check("parallel-17.log", "Parallel", (18, 294.539, 12.369, 41.851), Some(80_110.0 * 1024.0));
    assert_eq!(found.full_count, 1);
    // The first two collections found 32M and, after 4M were left, 37M.
    assert!(found.allocation_rate > 0.0);
    let found = check("serial-17.log", "Serial", (19, 186.599, 9.126, 17.529), Some(72_236.0 * 1024.0));
    assert!((found.span_s - 1.766).abs() < 0.01, "{}", found.span_s);
}

#[test]
fn concurrent_collectors() {
    let found = check("zgc-17.log", "The Z Garbage Collector", (16, 0.210, 0.014, 0.024), None);
    assert_eq!(found.stall_count, 3);
    assert!((found.stall_millis - 33.549).abs() < 1e-6);
    assert_eq!(found.capacity_bytes, Some(128 << 20));
    let found = check("zgc-25.log", "The Z Garbage Collector", (13, 0.127, 0.010, 0.017), Some(0.0));
    assert_eq!(found.after_bytes, Some(17.0 * 1048576.0), "8M and 26M after the first two cycles");
    let found = check("shenandoah-17.log", "Shenandoah", (9, 0.337, 0.028, 0.071), None);
    // A cycle cleans up twice; the bytes left after the second time count.
    assert_eq!(found.after_bytes_max.map(|bytes| bytes >> 20), Some(21));
}

#[test]
fn openj9() {
    let found = figures("openj9.xml");
    assert_eq!(found.collector.as_deref(), Some("gencon"));
    assert_eq!((found.pause_count, found.full_count, found.pause_millis), (2, 1, 98.5));
    assert_eq!(found.span_s, 10.0);
    assert_eq!(found.allocation_rate, 13_421_772.8);
    assert_eq!(found.promotion_rate, Some(52_428.8));
    assert_eq!(found.capacity_bytes, Some(512 << 20));
    assert_eq!(found.after_bytes, Some((31_457_280.0 + 29_360_128.0) / 2.0));
    assert_eq!(found.has_compressed_oops, Some(true));
}

#[test]
fn rotated_and_compressed_logs_are_one() {
    let text = std::fs::read_to_string(fixture("g1-25-full.log")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    // This is how unified logging rotates: the current file has the bare name, and the oldest may have any
    // number.
    std::fs::write(file("gc.log.1"), lines[..60].join("\n") + "\n").unwrap();
    let packed = std::fs::File::create(file("gc.log.0.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all((lines[60..120].join("\n") + "\n").as_bytes()).unwrap();
    packed.finish().unwrap();
    std::fs::write(file("gc.log"), lines[120..].join("\n") + "\n").unwrap();
    std::fs::write(file("gc.logger"), "not a log").unwrap();

    let whole = figures("g1-25-full.log");
    let named = GcFigures::of(&read(&[file("gc.log")]).unwrap()).unwrap();
    assert_eq!(named, whole);
    std::fs::remove_file(file("gc.logger")).unwrap();
    assert_eq!(GcFigures::of(&read(&[folder.path().to_owned()]).unwrap()).unwrap(), whole);
    // A file that is named twice is read once.
    assert_eq!(GcFigures::of(&read(&[file("gc.log.1"), file("gc.log")]).unwrap()).unwrap(), whole);
}

#[test]
fn other_formats_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gc.log");
    std::fs::write(&file, "2015-05-26T14:45:37.987-0200: 151.126: [GC (Allocation Failure) 629119K->69354K(1619584K), 0.0584157 secs]\n")
        .unwrap();
    let error = read(&[file]).unwrap_err();
    assert!(matches!(error, GcLogError::Unknown(_)));
    assert!(error.to_string().contains("Java 8's -XX:+PrintGCDetails is not"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(read(&[empty.path().to_owned()]), Err(GcLogError::EmptyFolder(_))));
}

#[test]
fn every_decoration_tells_the_time() {
    #[track_caller]
    fn check(first: &str, last: &str, expected_s: f64) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gc.log");
        let text = format!(
            "{first} GC(0) Pause Young (Normal) 4M->1M(9M) 1.000ms\n{last} GC(1) Pause Young (Normal) 4M->1M(9M) 2,500ms\n"
        );
        std::fs::write(&file, text).unwrap();
        let found = GcFigures::of(&read(&[file]).unwrap()).unwrap();
        assert!((found.span_s - expected_s).abs() < 1e-6, "{}", found.span_s);
        assert_eq!((found.pause_count, found.pause_millis), (2, 3.5));
    }
    check("[0.500s][gc]", "[2.000s][gc]", 1.5);
    check("[0,500s][gc]", "[2,000s][gc]", 1.5);
    check("[500ms][gc]", "[2000ms][gc]", 1.5);
    check("[500000000ns]", "[2000000000ns]", 1.5);
    check("[2026-11-22T13:00:00.000+0100][0.1s]", "[2026-11-22T13:00:02.500+0100][0.2s]", 2.5);
    check("[1795355423809ms][info ][gc          ]", "[1795355433809ms][info ][gc          ]", 10.0);
}

#[test]
fn time_between_two_runs_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gc.log");
    let run = |hour: u32| {
        format!(
            "[2026-11-22T{hour}:00:00.000+0000][gc,init] Version: 25 (release)\n\
             [2026-11-22T{hour}:00:05.000+0000][gc] GC(0) Pause Young (Normal) 4M->1M(9M) 1.000ms\n"
        )
    };
    std::fs::write(&file, run(10) + &run(12)).unwrap();
    let found = GcFigures::of(&read(&[file]).unwrap()).unwrap();
    assert_eq!(found.span_s, 10.0);
    assert_eq!(
        found.allocation_rate, 0.0,
        "nothing is known of what was allocated before the first collection"
    );
}

/// Checks that the figures are printable numbers, whatever the log contains.
fn check_sane(bytes: &[u8], name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    let Ok(events) = read(&[file]) else { return };
    let Some(found) = GcFigures::of(&events) else { return };
    assert!(found.pause_percent.is_finite() && found.pause_percent >= 0.0);
    assert!(
        found.pause_millis.is_finite()
            && found.safepoint_percent.is_finite()
            && found.stall_millis.is_finite()
    );
    assert!(found.pause_percentiles_millis.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert!(found.pause_percentiles_millis.iter().all(|(_, millis)| *millis <= found.pause_max_millis));
    assert!(found.allocation_rate.is_finite() && found.promotion_rate.is_none_or(f64::is_finite));
    assert!(found.full_count <= found.pause_count);
    serde_json::to_string(&found.to_json()).unwrap();
}

const FIXTURES: &[&str] = &[
    "g1-17.log",
    "g1-25-full.log",
    "parallel-17.log",
    "serial-17.log",
    "zgc-17.log",
    "zgc-25.log",
    "shenandoah-17.log",
    "openj9.xml",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn logs_cut_and_scribbled_on_are_read(
        name in proptest::sample::select(FIXTURES),
        from in 0.0..1.0f64,
        to in 0.0..1.0f64,
        scribbles in proptest::collection::vec((0.0..1.0f64, any::<u8>()), 0..40),
    ) {
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        let length = bytes.len() as f64;
        for (at, byte) in scribbles {
            bytes[(at * length) as usize] = byte;
        }
        let (from, to) = ((from.min(to) * length) as usize, (from.max(to) * length) as usize);
        check_sane(&bytes[from..to], "gc.log");
    }

    #[test]
    fn garbage_is_read(
        lines in proptest::collection::vec("(\\[[0-9]{1,20}\\.?[0-9]{0,3}(s|ms|ns)\\]|\\[gc\\]|<[a-z-]{1,12}( [a-z]{1,8}=\"[0-9.T:-]{0,25}\")*)?(GC\\([0-9]{1,22}\\) )?(Pause (Young|Full|Remark)|Old regions: |Tenured: |Safepoint \"x\", Total: |Promoted: )?[ -~é]{0,40}[0-9]{0,25}(M->|K\\(|ms| ns)?[0-9]{0,25}M?", 0..30),
    ) {
        check_sane(lines.join("\n").as_bytes(), "gc.log");
    }

    #[test]
    fn broken_archives_are_errors_or_ends(cut in 0.0..1.0f64) {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&std::fs::read(fixture("serial-17.log")).unwrap()).unwrap();
        let packed = packed.finish().unwrap();
        check_sane(&packed[..(cut * packed.len() as f64) as usize], "gc.log.gz");
    }
}
