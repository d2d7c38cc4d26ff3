//! Bodies that are compressed, in other formats, made of garbage lines, or with very many values.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Victim, check_refusal};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn compressed() {
    let mut victim = Victim::start();
    let mut check = |body: &[u8], encoding: &str, status: u16| {
        let answer = victim.send_with("POST", "/_search", &[("content-encoding", encoding)], body);
        check_refusal(&answer, &[status], encoding);
    };
    check(&gzip(&vec![b' '; 101 << 20]), "gzip", 413);
    let whole = gzip(b"{\"query\":{\"match_all\":{}}}");
    check(&whole[..whole.len() - 9], "gzip", 400);
    check(&gzip(&whole), "gzip", 400);
    check(b"not gzip", "gzip", 400);
    check(b"{}", "br", 415);
    check(&whole, "gzip, gzip", 415);
}

#[test]
fn trees_of_very_many_values_are_refused_before_they_grow() {
    let mut victim = Victim::with_documents(1);
    let values = format!("{{\"a\":[{}1]}}", "[],".repeat(8_000_000));
    assert_eq!(victim.refused(&[429], "POST", "/i/_search", &values), "circuit_breaking_exception");
    let doc = format!("{{\"doc\":{values}}}");
    assert_eq!(victim.refused(&[429], "POST", "/i/_update/0", &doc), "circuit_breaking_exception");
    victim.ok("GET", "/i/_search", "");
}

#[test]
fn other_formats() {
    let mut victim = Victim::start();
    let mut check = |content_type: &str, body: &[u8]| {
        let headers = [("content-type", content_type), ("accept", "application/json")];
        let answer = victim.send_with("POST", "/_search", &headers, body);
        check_refusal(&answer, &[400], content_type);
    };
    for opened in ["[", "{", "- ", "? "] {
        check("application/yaml", opened.repeat(20_000).as_bytes());
    }
    let laughs: Vec<String> =
        (1..9).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","))).collect();
    check("application/yaml", format!("a0: &a0 [x]\n{}", laughs.concat()).as_bytes());
    check("application/cbor", &[0x81; 100_000]);
    check("application/cbor", b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff");
    check("application/cbor", b"\x5b\x7f\xff\xff\xff\xff\xff\xff\xff");
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "x", "application/json;;;a"] {
        let answer = victim.send_with("POST", "/_search", &[("content-type", content_type)], "{}");
        check_refusal(&answer, &[406, 415], content_type);
    }
}

#[test]
fn lines() {
    let mut victim = Victim::start();
    for line in ["x\n", "\n", "{}\n", "{\"index\":1}\n", "{\"index\":{\"a\":{}}}\n", "[]\n", "\u{0}\n"] {
        victim.bad("POST", "/i/_bulk", line.repeat(100_000));
    }
    victim.bad(
        "POST",
        "/i/_bulk",
        format!("{{\"index\":{}}}\n{{}}\n", super::nested("{\"a\":", "1", "}", 100_000)),
    );
    victim.bad("POST", "/i/_bulk", "{\"index\":{}}\n{}");
    let answer = victim.ok("POST", "/i/_bulk", "{\"index\":{}}\nx\n".repeat(2_000));
    assert_eq!(answer["errors"], true);
    victim.bad("POST", "/_msearch", "{}\n{}\n".repeat(50_000));
    victim.bad("POST", "/_msearch", "x\n".repeat(100_000));
}

/// An alias stands for as many values as its anchor, and a line of YAML for one value begins with as many
/// spaces as it is deep.
#[test]
fn yaml_is_charged_for_what_it_stands_for() {
    let mut victim = Victim::with_documents(1);
    let (list, aliases) = (vec!["1"; 100_000].join(","), vec!["*a"; 95].join(","));
    let body = format!("a: &a [{list}]\nb: [{aliases}]\n");
    let headers = [("content-type", "application/yaml"), ("accept", "application/json")];
    let answer = victim.send_with("POST", "/_search", &headers, body);
    check_refusal(&answer, &[400, 429], "aliases");
    let deep = super::nested("[", &vec!["1"; 1_500_000].join(","), "]", 110);
    victim.ok("PUT", "/deep", r#"{"mappings":{"enabled":false}}"#);
    victim.ok("PUT", "/deep/_doc/1?refresh=true", format!("{{\"a\":{deep}}}"));
    // The refusal is in YAML too.
    assert_eq!(victim.send("GET", "/deep/_doc/1?format=yaml", "").status, 429);
    victim.ok("GET", "/i/_search?filter_path=**.n", "");
}

/// A source that is stored in part, or is filtered when it is shown, becomes a tree.
#[test]
fn trees_of_documents_are_charged_before_they_are_parsed() {
    let mut victim = Victim::with_documents(1);
    victim.ok("PUT", "/whole", r#"{"mappings":{"enabled":false}}"#);
    victim.ok("PUT", "/part", r#"{"mappings":{"enabled":false,"_source":{"excludes":["z"]}}}"#);
    let document = format!("{{\"a\":[{}1]}}", "[],".repeat(5_000_000));
    victim.ok("PUT", "/whole/_doc/1?refresh=true", &document);
    let breaks = "circuit_breaking_exception";
    assert_eq!(victim.refused(&[429], "PUT", "/part/_doc/1", &document), breaks);
    assert_eq!(victim.refused(&[429], "GET", "/whole/_doc/1?_source_includes=b", ""), breaks);
    let answer = victim.send("POST", "/whole/_search", r#"{"_source":["b"]}"#);
    assert!([200, 429].contains(&answer.status), "{}", answer.status);
    victim.ok("GET", "/whole/_doc/1", "");
    victim.ok("PUT", "/part/_doc/1", r#"{"a":[[],[]],"z":1}"#);
}
