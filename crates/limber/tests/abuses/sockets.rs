//! Raw bytes on sockets: wrong lengths, endless headers, connections that do nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use super::Victim;

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout can be set");
    stream
}

/// Sends `bytes` and reads until the server closes the connection or is silent. Returns the response's text.
fn exchange(address: SocketAddr, bytes: &[u8], half_close: bool) -> String {
    let mut stream = connect(address);
    // The server may refuse and close before everything has been sent.
    let _ = stream.write_all(bytes);
    if half_close {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn post(headers: &str, body: &str) -> Vec<u8> {
    format!("POST /_search HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}\r\n{body}").into_bytes()
}

fn get(line: &str, headers: &str) -> Vec<u8> {
    format!("{line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

#[test]
fn lengths_headers_and_methods() {
    let mut victim = Victim::start();
    let address = victim.server.address;
    let mut check = |name: &str, bytes: &[u8], statuses: &[&str]| {
        let answer = exchange(address, bytes, false);
        let status = answer.get(9..12).unwrap_or("");
        assert!(
            statuses.contains(&status),
            "{name}: {statuses:?} expected, not {:?}",
            answer.chars().take(300).collect::<String>()
        );
        victim.check_health(name);
    };
    for length in ["-5", "abc", "99999999999999999999999", "2\r\ncontent-length: 3"] {
        check(length, &post(&format!("content-length: {length}\r\n"), "{}"), &["400"]);
    }
    check("10 GB promised", &post("content-length: 9999999999\r\n", "{}"), &["413"]);
    let chunked = "transfer-encoding: chunked\r\n";
    check("trailers", &post(chunked, "2\r\n{}\r\n0\r\nx-trailer: 1\r\n\r\n"), &["200"]);
    check("a chunk of zz", &post(chunked, "zz\r\n{}\r\n0\r\n\r\n"), &["400"]);
    check(
        "a long chunk extension",
        &post(chunked, &format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(100_000))),
        &["400"],
    );
    check(
        "endless trailers",
        &post(chunked, &format!("2\r\n{{}}\r\n0\r\n{}\r\n", "a: b\r\n".repeat(20_000))),
        &["200", "400", "431"],
    );
    for method in ["OPTIONS", "PATCH", "TRACE", "PROPFIND", "get", "FOO"] {
        check(method, &get(&format!("{method} /"), ""), &["405", "200"]);
    }
    check("an expectation", &get("GET /", "expect: 200-ok\r\n"), &["417"]);
    check("a continuation", &get("GET /", "expect: 100-continue\r\n"), &["200", "100"]);
    check("HEAD", &get("HEAD /", ""), &["200"]);
    check("many headers", &get("GET /", &"h: x\r\n".repeat(5_000)), &["400", "431"]);
    check("a long header", &get("GET /", &format!("x: {}\r\n", "a".repeat(20_000))), &["400"]);
    check("a huge header", &get("GET /", &format!("x: {}\r\n", "a".repeat(1 << 20))), &["400", "431"]);
    check("a long line", &get(&format!("GET /{}", "a".repeat(5_000)), ""), &["400"]);
    check("a huge line", &get(&format!("GET /{}", "a".repeat(1 << 20)), ""), &["400", "414", "431"]);
    check("many parameters", &get(&format!("GET /_search?{}", "a=b&".repeat(900)), ""), &["400"]);
    check(
        "filter_path",
        &get(&format!("GET /_cluster/state?filter_path={}x", "**.".repeat(1_000)), ""),
        &["200"],
    );
    check("another protocol", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", &["400"]);
    check("no host", b"GET / HTTP/1.1\r\n\r\n", &["400"]);
    check("two hosts", b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", &["400"]);
    check("no host in an older version", b"GET / HTTP/1.0\r\n\r\n", &["200"]);
    check("a version", b"GET / HTTP/9.9\r\n\r\n", &["400"]);
}

/// Requests whose end two readers could see at different positions are refused, and so is whatever follows
/// them on the connection.
#[test]
fn smuggled_requests() {
    let mut victim = Victim::start();
    let address = victim.server.address;
    let hidden = "GET /hidden HTTP/1.1\r\nhost: a\r\n\r\n";
    for headers in [
        "content-length: 2\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 2",
        "content-length: 2\r\ncontent-length: 2",
        "content-length: 2\r\ncontent-length: 3",
        "content-length: 2, 2",
        "content-length: +2",
        "content-length : 2",
        "content-length:\r\n 2",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding: identity, chunked",
        "transfer-encoding: xchunked",
        "transfer-encoding:\x0bchunked",
        "x: y\ncontent-length: 2",
        "x: y\r\n folded: z",
    ] {
        for before in ["", "GET / HTTP/1.1\r\nhost: a\r\n\r\n"] {
            let request =
                format!("{before}POST /_search HTTP/1.1\r\nhost: a\r\n{headers}\r\n\r\n{{}}{hidden}");
            let answer = exchange(address, request.as_bytes(), false);
            let statuses: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
            let expected = if before.is_empty() { vec!["400"] } else { vec!["200", "400"] };
            assert_eq!(statuses, expected, "{headers:?}: {answer}");
        }
    }
    for chunks in [
        "2\n{}\r\n0\r\n\r\n",
        "2;a\nb\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}X0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "-2\r\n{}",
    ] {
        let answer =
            exchange(address, &post("transfer-encoding: chunked\r\n", &format!("{chunks}{hidden}")), false);
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{chunks:?}: {answer}");
        assert!(answer.starts_with("HTTP/1.1 400"), "{chunks:?}: {answer}");
    }
    victim.check_health("smuggled requests");
    victim.ok("GET", "/", "");
}

/// The response to a refused request arrives although its body is still being sent, and the connection serves
/// the next request.
#[test]
fn bodies_of_refused_requests_are_read() {
    let mut victim = Victim::start();
    let address = victim.server.address;
    let body = "x".repeat(3 << 20);
    let refused =
        format!("POST /_nowhere/a/b/c HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let answer = exchange(address, &[refused.into_bytes(), get("GET /", "")].concat(), false);
    let statuses: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
    assert!(statuses.len() == 2 && statuses[0].starts_with('4') && statuses[1] == "200", "{statuses:?}");
    victim.check_health("a refused body");
    for (name, line, headers) in
        [("OPTIONS with a body", "OPTIONS /", ""), ("an expectation", "POST /_search", "expect: more\r\n")]
    {
        let request =
            format!("{line} HTTP/1.1\r\nhost: a\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
        let answer = exchange(address, &[request.into_bytes(), get("GET /", "")].concat(), false);
        let statuses: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
        assert!(statuses.len() == 2 && statuses[1] == "200", "{name}: {statuses:?}");
    }
}

#[test]
fn pipelining_and_half_closed_sockets() {
    let mut victim = Victim::start();
    let address = victim.server.address;
    let many = [b"GET /i/_doc/1 HTTP/1.1\r\nhost: a\r\n\r\n".repeat(200), get("GET /", "")].concat();
    assert_eq!(exchange(address, &many, false).matches("HTTP/1.1 ").count(), 201);
    let short = exchange(address, &post("content-length: 20\r\n", "{}"), true);
    assert!(short.is_empty() || short.starts_with("HTTP/1.1 400"), "{short}");
    victim.check_health("a short body");
    victim.ok("GET", "/", "");
}

#[test]
fn connections_that_do_nothing() {
    let mut victim = Victim::start();
    let address = victim.server.address;
    let mut held = Vec::new();
    for number in 0..2_000 {
        let mut stream = connect(address);
        let head = b"GET / HTTP/1.1\r\nhost: a\r\nx: y";
        let _ = stream.write_all(&head[..number % head.len()]);
        held.push(stream);
    }
    victim.ok("GET", "/_cluster/health", "");
    drop(held);
    // Bodies that are announced and not sent take no memory from others.
    let mut promised = Vec::new();
    for _ in 0..500 {
        let mut stream = connect(address);
        stream.write_all(&post("content-length: 100000000\r\n", "{")).expect("the server reads");
        promised.push(stream);
    }
    victim.ok("POST", "/i/_doc?refresh=true", "{\"a\":1}");
    victim.ok("POST", "/i/_search", "{\"query\":{\"match_all\":{}}}");
}
