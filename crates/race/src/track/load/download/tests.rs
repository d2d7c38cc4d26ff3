//! Tests of downloads from a server that breaks off, loses or changes its file, and stalls.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;

const CONTENT: &[u8] = b"0123456789";
const IMPATIENT: Patience = Patience {
    stall: Duration::from_millis(300),
    pause: Duration::ZERO,
    attempts: 3,
    report_every: Duration::ZERO,
};

/// One answer: the text after the status line's version, and whether the connection stays open afterwards.
struct Script(&'static str, bool);

/// Serves the answers in turn, one per connection. Returns the server's address and the heads of the
/// requests.
fn server(answers: Vec<Script>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heads = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut open: Vec<TcpStream> = Vec::new();
        for Script(answer, stays) in answers {
            let mut stream = listener.accept().unwrap().0;
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            heads.lock().unwrap().push(head.join("\n").to_lowercase());
            stream.write_all(format!("HTTP/1.1 {answer}").as_bytes()).unwrap();
            if stays {
                open.push(stream);
            }
        }
        // Simulates a server that does not answer any more but keeps its connections open.
        if !open.is_empty() {
            std::thread::sleep(Duration::from_secs(5));
        }
    });
    (format!("http://{address}/corpus/documents.json.bz2"), asked)
}

struct Outcome {
    result: Result<Vec<u8>, String>,
    asked: Vec<String>,
    log: String,
    left: Vec<String>,
}

/// Downloads into a folder that already contains `before`.
fn download(
    answers: Vec<Script>,
    before: &[(&str, &str)],
    expected_bytes: Option<u64>,
    sha256: Option<&str>,
) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in before {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let (url, asked) = server(answers);
    let target = folder.path().join("f");
    let advice_if_missing = Some("no test mode");
    let download = Download { url: &url, target: &target, expected_bytes, sha256, advice_if_missing };
    let mut log = Vec::new();
    let result = fetch(&download, &IMPATIENT, &mut log);
    let mut left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let asked = asked.lock().unwrap().clone();
    Outcome {
        result: result.map(|()| std::fs::read(&target).unwrap()).map_err(|error| error.to_string()),
        asked,
        log: String::from_utf8(log).unwrap(),
        left,
    }
}

const WHOLE: Script = Script("200 OK\r\ncontent-length: 10\r\netag: \"a\"\r\n\r\n0123456789", false);

#[test]
fn a_file_is_fetched_whole() {
    let outcome = download(vec![WHOLE], &[], Some(10), None);
    assert_eq!(outcome.result.unwrap(), CONTENT);
    assert_eq!(outcome.left, ["f"]);
    assert!(outcome.asked[0].starts_with("get /corpus/documents.json.bz2 http/1.1"), "{}", outcome.asked[0]);
    assert!(outcome.log.contains("[INFO] Downloaded 10B of 10B (100.0 %, 0 s left)"), "{}", outcome.log);
    let unsized_answer = Script("200 OK\r\nconnection: close\r\n\r\n0123456789", false);
    assert_eq!(download(vec![unsized_answer], &[], None, None).result.unwrap(), CONTENT);
}

#[test]
fn what_broke_off_is_continued() {
    let broken = Script("200 OK\r\ncontent-length: 10\r\netag: \"a\"\r\n\r\n0123", false);
    let rest = Script(
        "206 Partial Content\r\ncontent-length: 6\r\ncontent-range: bytes 4-9/10\r\netag: \"a\"\r\n\r\n456789",
        false,
    );
    let outcome = download(
        vec![broken, Script("503 Busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", false), rest],
        &[],
        Some(10),
        None,
    );
    assert_eq!(outcome.result.unwrap(), CONTENT);
    assert!(
        outcome.log.contains("[WARNING] The download broke off at 4B: HTTP status 503"),
        "{}",
        outcome.log
    );
    for head in &outcome.asked[1..] {
        assert!(head.contains("range: bytes=4-\n") || head.ends_with("range: bytes=4-"), "{head}");
        assert!(head.contains("if-range: \"a\""), "{head}");
    }
}

#[test]
fn an_interrupted_run_is_continued_by_the_next() {
    let rest = || {
        Script("206 Partial Content\r\ncontent-length: 6\r\ncontent-range: bytes 4-9/10\r\n\r\n456789", false)
    };
    let before = [("f.part", "0123"), ("f.part.validator", "\"a\"")];
    let outcome = download(vec![rest()], &before, None, None);
    assert_eq!((outcome.result.unwrap().as_slice(), outcome.left), (CONTENT, vec!["f".to_owned()]));
    // The server's file has changed, or this is not known: the whole file is downloaded again.
    for before in [
        &before[..],
        &[("f.part", "xxxx")],
        &[("f.part", "longer than it should be"), ("f.part.validator", "\"a\"")],
    ] {
        let outcome = download(vec![WHOLE], before, Some(10), None);
        assert_eq!(outcome.result.unwrap(), CONTENT);
    }
    let changed = Script("416 Range Not Satisfiable\r\ncontent-length: 0\r\n\r\n", false);
    assert_eq!(download(vec![changed, WHOLE], &before, None, None).result.unwrap(), CONTENT);
}

#[test]
fn a_stalled_server_is_left_and_asked_again() {
    let stalled = Script("200 OK\r\ncontent-length: 10\r\netag: \"a\"\r\n\r\n0123", true);
    let rest = Script(
        "206 Partial Content\r\ncontent-length: 6\r\ncontent-range: bytes 4-9/10\r\n\r\n456789",
        false,
    );
    assert_eq!(download(vec![stalled, rest], &[], Some(10), None).result.unwrap(), CONTENT);
}

#[test]
fn what_cannot_be_had_is_told() {
    #[track_caller]
    fn check(
        answers: Vec<Script>,
        expected_bytes: Option<u64>,
        sha256: Option<&str>,
        expected: &str,
        left: &[&str],
    ) {
        let outcome = download(answers, &[], expected_bytes, sha256);
        let error = outcome.result.unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert_eq!(outcome.left, left, "{error}");
    }
    let missing = Script("404 Not Found\r\ncontent-length: 0\r\n\r\n", false);
    check(vec![missing], None, None, "no test mode", &[]);
    let refused = Script("403 Forbidden\r\ncontent-length: 0\r\n\r\n", false);
    check(vec![refused], None, None, "(HTTP status: 403, reason: Forbidden)", &[]);
    let busy = || Script("503 Busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", false);
    check(vec![busy(), busy(), busy()], None, None, "start again to continue", &[]);
    check(vec![WHOLE], Some(11), None, "has [10] bytes but the track says [11]", &[]);
    check(vec![WHOLE], None, Some(&"0".repeat(64)), "Its SHA-256 is not 000", &[]);
    check(vec![], None, Some("abc"), "[abc] is no SHA-256 checksum", &[]);
    let other = Script(
        "200 OK\r\ncontent-length: 10\r\nx-goog-hash: md5=AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n0123456789",
        false,
    );
    check(vec![other], None, None, "Its MD5 is not 000", &[]);
}
