//! `limber import` from a running server imports everything that the server has acknowledged.

mod support;

use std::process::Command;

use serde_json::json;
use support::{ServerProcess, program};

#[test]
fn documents_that_the_source_has_not_refreshed_come_too() {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a temporary folder"));
    let source = ServerProcess::start(folders[0].path(), &[]);
    let target = ServerProcess::start(folders[1].path(), &[]);
    let (mut there, mut here) = (source.client(), target.client());
    let settings =
        json!({"settings": {"number_of_replicas": 0, "refresh_interval": "-1"}, "aliases": {"library": {}}});
    there.expect(200, "PUT", "/books", settings);
    there.expect(201, "PUT", "/books/_doc/1", json!({"title": "one"}));
    let imported = Command::new(program())
        .env("LIMBER_HOME", folders[2].path())
        .args(["import", &format!("http://{}", source.address), "--indices", "library,books,no-such-*"])
        .args(["--target-host", &target.address.to_string()])
        .output()
        .expect("limber runs");
    let told = String::from_utf8_lossy(&imported.stderr);
    assert!(imported.status.success(), "{told}");
    assert!(told.contains("[books]: made; 1 document\n"), "{told}");
    assert!(told.contains("[no-such-*]: ") && !told.contains("[library]: "), "{told}");
    let found = here.expect(200, "GET", "/books/_count", json!({}));
    assert_eq!(found["count"], 1);
}
