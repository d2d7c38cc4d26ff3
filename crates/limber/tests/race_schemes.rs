//! `limber race-schemes` as a user runs it: the built-in track in test mode, tables and sweep.

mod support;

use std::process::Command;

#[test]
fn both_schemes_are_raced_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("sweep.csv");
    let ran = Command::new(support::program())
        .args(["race-schemes", "--test-mode", "--rounds", "1", "--budget", "50", "--sweep", "100,1"])
        .arg("--sweep-file")
        .arg(&csv)
        .env("LIMBER_HOME", folder.path())
        .output()
        .unwrap();
    let (out, log) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{log}");
    for expected in [
        "Write, medians of 1 rounds",
        "Query, medians",
        "memory of the term index, MB",
        "docs/s",
        "TB of this data",
    ] {
        assert!(out.contains(expected), "no [{expected}] in\n{out}");
    }
    assert!(log.contains("Round 1 of 1"), "{log}");
    let csv = std::fs::read_to_string(csv).unwrap();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let races = Command::new(support::program())
        .args(["list", "races", "--user-tags", "scheme:native"])
        .env("LIMBER_HOME", folder.path())
        .output()
        .unwrap();
    let races = String::from_utf8_lossy(&races.stdout);
    assert!(races.contains("segment_memory"), "{races}");
}
