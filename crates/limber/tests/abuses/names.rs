//! Names that have a meaning for a file system, a URL or a list.

use super::Victim;

#[test]
fn of_indices_aliases_and_templates() {
    let mut victim = Victim::with_documents(1);
    let (long, long_in_bytes) = ("x".repeat(256), "%C3%A9".repeat(128));
    let names = [
        "..",
        ".",
        "%2e%2e",
        "%2e%2e%2f",
        "%2e%2e%2f%2e%2e%2fetc",
        "..%5c..",
        "a%00b",
        "a%0ab",
        "a%2fb",
        "a%5Cb",
        "a%23b",
        "a:b",
        "a%3Fb",
        "a%22b",
        "a%3Cb%3E",
        "a%7Cb",
        "%20",
        "a%20b",
        "-x",
        "+x",
        &long,
        &long_in_bytes,
        "a%FF",
        "%ED%A0%80",
        "%",
        "%zz",
        "a%2",
    ];
    for name in names {
        victim.bad("PUT", &format!("/{name}"), "");
        victim.bad("PUT", &format!("/i/_alias/{name}"), "");
        victim.refused(&[400, 404], "PUT", &format!("/{name}/_doc/1"), "{}");
        victim.refused(&[400, 404], "DELETE", &format!("/{name}"), "");
        // Templates are entries of a catalog, not files, so some of these names are allowed, as in
        // Elasticsearch.
        for kind in ["_index_template", "_template"] {
            let status =
                victim.send("PUT", &format!("/{kind}/{name}"), r#"{"index_patterns":["never*"]}"#).status;
            assert!(matches!(status, 200 | 400), "{kind} {name}: {status}");
        }
    }
    victim.bad("PUT", "/UPPER", "");
    victim.bad("PUT", "/_x", "");
    let lines = "{\"index\":{\"_index\":\"../x\"}}\n{}\n{\"index\":{\"_index\":\"A\"}}\n{}\n{\"index\":{\"_index\":\"a\\u0000\"}}\n{}\n";
    let answer = victim.ok("POST", "/_bulk", lines);
    for item in answer["items"].as_array().expect("items") {
        assert_eq!(item["index"]["status"], 400, "{item}");
    }
}

/// An expression that means "everything", however it is padded, deletes nothing unless that is stated
/// explicitly.
#[test]
fn of_everything() {
    let mut victim = Victim::with_documents(1);
    for everything in
        ["%20", "%20_all", "_all%20", ",", "%20,", "a,%20", "%20*", "*", "_all", "%2A", "-*", "*,-x"]
    {
        victim.refused(&[400, 404], "DELETE", &format!("/{everything}"), "");
    }
    victim.ok("GET", "/i", "");
}
