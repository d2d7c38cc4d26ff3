//! `limber import` from a running server imports everything that the server has acknowledged.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
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

#[test]
fn wrong_servers_and_documents_are_named_as_what_they_are() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
    let server = ServerProcess::start(folders[0].path(), &[]);
    server.client().expect(201, "PUT", "/books/_doc/1", json!({"title": "one"}));
    let refused = folders[1].path().join("books.ndjson");
    std::fs::write(&refused, "no document\n").expect("written");
    let import = |source: &str, arguments: &[&str]| {
        let imported = Command::new(program())
            .env("LIMBER_HOME", folders[1].path())
            .args(["import", source, "--target-host", &server.address.to_string()])
            .args(arguments)
            .output()
            .expect("limber runs");
        assert_eq!(imported.status.code(), Some(1));
        let [out, told] = [imported.stdout, imported.stderr];
        format!("{}{}", String::from_utf8_lossy(&out), String::from_utf8_lossy(&told))
    };
    let same = import(&format!("http://{}", server.address), &[]);
    assert!(same.contains("are one server"), "{same}");
    // An index that no document has created is not asked for.
    let nothing = import(refused.to_str().expect("text"), &["--index", "none", "--format", "ndjson"]);
    assert!(
        nothing.contains("0 documents imported, 1 refused") && !nothing.contains("_refresh"),
        "{nothing}"
    );
}

#[test]
fn another_program_is_not_imported_from_or_into() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let other = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                line.clear();
            }
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: 11";
            let _ = (&stream).write_all(format!("{head}\r\n\r\n<h1>hi</h1>").as_bytes());
        }
    });
    let file = folder.path().join("books.ndjson");
    std::fs::write(&file, "{\"title\": \"one\"}\n").expect("written");
    let told = |source: &str, target: &str| {
        let imported = Command::new(program())
            .env("LIMBER_HOME", folder.path())
            .args(["import", source, "--index", "books", "--target-host", target])
            .output()
            .expect("limber runs");
        assert_eq!(imported.status.code(), Some(1));
        String::from_utf8_lossy(&imported.stderr).into_owned()
    };
    let into = told(file.to_str().expect("text"), &other);
    assert!(into.contains("(--target-host): ") && into.contains("not as Limber, Elasticsearch"), "{into}");
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(data.path(), &[]);
    let from = told(&format!("http://{other}"), &server.address.to_string());
    assert!(from.contains("not as Limber, Elasticsearch") && !from.contains("<h1>"), "{from}");
}

/// An OpenSearch with one index of six documents, which it hands out by a scroll. It loses the response to
/// the second page once.
struct FakeSource {
    next_page: AtomicUsize,
    has_lost: AtomicBool,
}

impl FakeSource {
    fn start() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let source =
            Arc::new(FakeSource { next_page: AtomicUsize::new(0), has_lost: AtomicBool::new(false) });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let source = source.clone();
                std::thread::spawn(move || source.serve(&stream));
            }
        });
        address
    }

    /// Answers one request and closes the connection.
    fn serve(&self, mut stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).expect("a request");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).expect("a body");
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let Some((status, body)) = self.answer(method, path) else { return };
        let (body, kind) = (body.to_string(), "content-type: application/json\r\nconnection: close");
        let head = format!("HTTP/1.1 {status} x\r\n{kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        let _ = stream.write_all((head + &body).as_bytes());
    }

    fn answer(&self, method: &str, path: &str) -> Option<(u16, Value)> {
        let body = match (method, path) {
            (_, "/") => json!({"version": {"number": "2.11.0", "distribution": "opensearch"}}),
            ("GET", "/books") => json!({"books": {"settings": {"index": {}}, "mappings": {}, "aliases": {}}}),
            ("POST", "/_search/scroll") => {
                let page = self.page();
                if !self.has_lost.swap(true, Ordering::SeqCst) {
                    return None;
                }
                page
            }
            (_, path) if path.starts_with("/_data_stream") => return Some((404, json!({}))),
            (_, path) if path.starts_with("/books/_settings") => {
                json!({"books": {"settings": {"index": {"uuid": "u"}}}})
            }
            (_, path) if path.starts_with("/books/_count") => json!({"count": 6}),
            (_, path) if path.starts_with("/books/_search") => {
                self.next_page.store(0, Ordering::SeqCst);
                self.page()
            }
            _ => json!({}),
        };
        Some((200, body))
    }

    fn page(&self) -> Value {
        let page = self.next_page.fetch_add(1, Ordering::SeqCst);
        let ids = if page < 3 { 2 * page..2 * page + 2 } else { 0..0 };
        let hits: Vec<Value> =
            ids.map(|id| json!({"_index": "books", "_id": id.to_string(), "_source": {"n": id}})).collect();
        let hits = json!({"total": {"value": 6, "relation": "eq"}, "hits": hits});
        json!({"_scroll_id": "s", "timed_out": false, "_shards": {"failed": 0}, "hits": hits})
    }
}

#[test]
fn a_page_that_a_scroll_has_passed_is_not_missed() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
    let source = FakeSource::start();
    let target = ServerProcess::start(folders[0].path(), &[]);
    let import = || -> Output {
        Command::new(program())
            .env("LIMBER_HOME", folders[1].path())
            .args(["import", &format!("http://{source}"), "--indices", "books"])
            .args(["--target-host", &target.address.to_string()])
            .output()
            .expect("limber runs")
    };
    let first = import();
    assert!(!first.status.success(), "{}", String::from_utf8_lossy(&first.stdout));
    let second = import();
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    let found = target.client().expect(200, "GET", "/books/_count", json!({}));
    assert_eq!(found["count"], 6);
}
