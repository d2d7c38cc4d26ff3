//! `packaging/archive` packs everything that belongs to a release.

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use support::program;

/// What is in an archive besides the manual pages of the commands and the licences of the crates.
const PARTS: &[&str] = &[
    "bin/limber",
    "share/man/man1/limber.1",
    "share/man/man1/limber-serve.1",
    "share/bash-completion/completions/limber",
    "share/zsh/site-functions/_limber",
    "share/fish/vendor_completions.d/limber.fish",
    "share/doc/limber/LICENSE",
    "share/doc/limber/NOTICE",
    "share/doc/limber/limber.yml",
    "share/doc/limber/limber.service",
];

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The program of tests has gigabytes of symbols, so a script that calls it is packed instead.
#[test]
fn an_archive_has_all_parts_and_is_made_again_byte_by_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let caller = folder.path().join("limber");
    let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", program().display());
    std::fs::write(&caller, text).expect("written");
    std::fs::set_permissions(&caller, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/archive");
    let made = |name: &str| {
        let target = folder.path().join(name);
        let told = run(Command::new(&script).arg(&target).env("PROGRAM", &caller));
        let (sum, archive) = told.trim_end().split_once("  ").expect("a sum and a name");
        (sum.to_owned(), target.join(archive))
    };
    let (sum, archive) = made("first");
    assert_eq!(sum, made("second").0);

    let name = format!("limber-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    assert!(archive.ends_with(format!("{name}.tar.gz")), "{}", archive.display());
    let listed = run(Command::new("tar").arg("-tzf").arg(&archive));
    for part in PARTS {
        assert!(listed.lines().any(|line| line == format!("{name}/{part}")), "[{part}] is not in {listed}");
    }
    assert!(listed.contains("/share/doc/limber/licences/serde-1."), "{listed}");
}
