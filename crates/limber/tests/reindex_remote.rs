//! `_reindex` from another server: from a second `limber serve`, whose scroll API is Elasticsearch's, and
//! from misbehaving servers.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Client, ServerProcess};

const ALLOWED: &str = "reindex.remote.whitelist=127.0.0.1:*, localhost:*";

struct Pair {
    _folders: [tempfile::TempDir; 2],
    remote: ServerProcess,
    here: ServerProcess,
}

fn pair() -> Pair {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
    let remote = ServerProcess::start(folders[0].path(), &[]);
    let here = ServerProcess::start(folders[1].path(), &["-E", ALLOWED]);
    Pair { remote, here, _folders: folders }
}

fn here() -> (tempfile::TempDir, ServerProcess) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(folder.path(), &["-E", ALLOWED]);
    (folder, server)
}

fn fill(client: &mut Client, index: &str, count: usize) {
    let settings = json!({"settings": {"number_of_shards": 2, "number_of_replicas": 0}});
    client.expect(200, "PUT", &format!("/{index}"), settings);
    let lines: String = (0..count)
        .map(|number| {
            let routing = if number % 10 == 0 { r#","routing":"r1""# } else { "" };
            format!("{{\"index\":{{\"_id\":\"{number}\"{routing}}}}}\n{{\"n\":{number},\"t\":\"text {number}\", \"f\": 1.10}}\n")
        })
        .collect();
    let answer = client.send("POST", &format!("/{index}/_bulk?refresh=true"), lines);
    assert_eq!(answer.json()["errors"], json!(false));
}

fn from(address: SocketAddr, index: &str, to: &str) -> Value {
    json!({
        "source": {"remote": {"host": format!("http://{address}")}, "index": index, "size": 100},
        "dest": {"index": to},
    })
}

/// Returns the ids, routings and sources of an index, sorted.
fn documents(client: &mut Client, index: &str) -> Vec<String> {
    let found = client.expect(200, "POST", &format!("/{index}/_search"), json!({"size": 10_000}));
    let hits = found["hits"]["hits"].as_array().expect("hits").iter();
    let mut all: Vec<String> =
        hits.map(|hit| format!("{} {} {}", hit["_id"], hit["_routing"], hit["_source"])).collect();
    all.sort_unstable();
    all
}

#[test]
fn documents_come_with_ids_routings_and_sources() {
    let pair = pair();
    let (mut remote, mut here) = (pair.remote.client(), pair.here.client());
    fill(&mut remote, "from", 1_234);
    let answer = here.expect(200, "POST", "/_reindex?refresh=true", from(pair.remote.address, "from", "to"));
    assert_eq!(
        (&answer["total"], &answer["created"], &answer["batches"]),
        (&json!(1_234), &json!(1_234), &json!(13))
    );
    assert_eq!((&answer["failures"], &answer["timed_out"]), (&json!([]), &json!(false)));
    assert_eq!(documents(&mut remote, "from"), documents(&mut here, "to"));
    // The scroll on the remote is closed.
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let stats = remote.expect(200, "GET", "/from/_stats/search", Value::Null);
        if stats["_all"]["primaries"]["search"]["scroll_current"] == json!(0) {
            break;
        }
        assert!(Instant::now() < patience, "{stats}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Repeated with `op_type: create`, every document is a conflict.
    let mut again = from(pair.remote.address, "from", "to");
    again["dest"]["op_type"] = "create".into();
    again["conflicts"] = "proceed".into();
    let answer = here.expect(200, "POST", "/_reindex", again.clone());
    assert_eq!((&answer["version_conflicts"], &answer["created"]), (&json!(1_234), &json!(0)));
    again["conflicts"] = "abort".into();
    let answer = here.expect(409, "POST", "/_reindex", again);
    assert_eq!(answer["version_conflicts"], json!(100), "the first batch is the last");
}

#[test]
fn query_fields_order_scripts_pipelines_and_limits_are_obeyed() {
    let pair = pair();
    let (mut remote, mut here) = (pair.remote.client(), pair.here.client());
    fill(&mut remote, "a,b".split(',').next().expect("a"), 300);
    fill(&mut remote, "b", 50);
    let pipeline = json!({"processors": [{"set": {"field": "via", "value": "pipeline"}}]});
    here.expect(200, "PUT", "/_ingest/pipeline/p", pipeline);
    let mut body = from(pair.remote.address, "a", "to");
    body["source"]["index"] = json!(["a", "b"]);
    body["source"]["query"] = json!({"range": {"n": {"gte": 40}}});
    body["source"]["_source"] = json!(["n", "t"]);
    body["source"]["sort"] = json!([{"n": {"order": "desc"}}]);
    body["max_docs"] = json!(150);
    body["dest"]["pipeline"] = "p".into();
    body["dest"]["routing"] = "discard".into();
    body["script"] =
        json!({"source": "if (ctx._source.n == 299) { ctx.op = 'noop' } else { ctx._source.n += 1000 }"});
    let answer = here.expect(200, "POST", "/_reindex?refresh=true", body);
    assert_eq!(
        (&answer["total"], &answer["created"], &answer["noops"]),
        (&json!(150), &json!(149), &json!(1))
    );
    let all = documents(&mut here, "to");
    assert!(all.iter().all(|line| line.contains("null")
        && line.contains(r#""via":"pipeline""#)
        && !line.contains(r#""f""#)));
    let found = here.expect(200, "POST", "/to/_search", json!({"aggs": {"min": {"min": {"field": "n"}}}}));
    assert_eq!(found["aggregations"]["min"]["value"], json!(1150.0), "the last 150 of 300");
    // The source's versions decide.
    let mut versioned = from(pair.remote.address, "b", "versions");
    versioned["dest"]["version_type"] = "external".into();
    here.expect(200, "POST", "/_reindex", versioned.clone());
    versioned["conflicts"] = "proceed".into();
    let answer = here.expect(200, "POST", "/_reindex", versioned);
    assert_eq!(answer["version_conflicts"], json!(50));
}

#[test]
fn what_elasticsearch_refuses_is_refused_in_its_words() {
    let pair = pair();
    let mut here = pair.here.client();
    let address = pair.remote.address;
    let mut check = |change: &dyn Fn(&mut Value), path: &str, expected: &str| {
        let mut body = from(address, "none", "to");
        change(&mut body);
        let answer = here.send("POST", path, body.to_string());
        assert!((400..500).contains(&answer.status), "{}", answer.text());
        assert!(answer.text().contains(expected), "{expected} in {}", answer.text());
    };
    let plain = "/_reindex";
    check(
        &|body| body["source"]["remote"]["host"] = "http://evil.example.com:9200".into(),
        plain,
        "[evil.example.com:9200] not whitelisted in reindex.remote.whitelist",
    );
    check(
        &|body| body["source"]["remote"]["host"] = "evil".into(),
        plain,
        "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [evil]",
    );
    check(&|body| body["source"]["remote"] = json!({}), plain, "[host] is required");
    check(
        &|body| body["source"]["remote"]["junk"] = 1.into(),
        plain,
        "Unsupported fields in [remote]: [junk]",
    );
    check(
        &|_| {},
        "/_reindex?slices=3",
        "reindex from remote sources doesn't support slices > 1 but was [3]",
    );
    check(
        &|_| {},
        "/_reindex?slices=auto",
        "reindex from remote sources doesn't support slices > 1 but was [0]",
    );
    check(&|body| body["source"]["query"] = "q".into(), plain, "Expected [query] to be an object");
    check(
        &|body| body["source"]["slice"] = json!({"id": 0, "max": 2}),
        plain,
        "[slice] of a remote source in [reindex] is not supported",
    );
    check(
        &|body| body["source"]["runtime_mappings"] = json!({}),
        plain,
        "[runtime_mappings] of a remote source in [reindex] is not supported",
    );
    check(
        &|body| body["source"]["sort"] = json!({"_geo_distance": {"p": [0, 0]}}),
        plain,
        "Unsupported sort",
    );
    check(&|_| {}, plain, "no such index [none]");
    check(&|body| body["source"]["query"] = json!({"nonsense": {}}), plain, "unknown query [nonsense]");
    // Without a list no server is allowed.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let closed = ServerProcess::start(folder.path(), &[]);
    let answer = closed.client().expect(400, "POST", plain, from(address, "a", "b"));
    assert_eq!(answer["error"]["type"], "illegal_argument_exception");
    assert_eq!(answer["error"]["reason"], format!("[{address}] not whitelisted in reindex.remote.whitelist"));
}

/// Starts a server whose responses `answer` returns, given the number of the request: the raw bytes of a
/// response, or `None` to cut the connection.
fn fake(
    answer: impl Fn(usize, &str) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (count, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), count, answer) = (stream, counted.clone(), answer.clone()) else { return };
            std::thread::spawn(move || {
                let (head, mut stream) = read_request(stream);
                if head.starts_with("DELETE") {
                    return;
                }
                if let Some(bytes) = answer(count.fetch_add(1, Ordering::SeqCst), &head) {
                    let _ = stream.write_all(&bytes);
                }
            });
        }
    });
    (address, count)
}

/// Reads head and body of a request as a string.
fn read_request<S: Read>(stream: S) -> (String, S) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    head.push_str(&String::from_utf8_lossy(&body));
    (head, reader.into_inner())
}

fn http(status: &str, body: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Some([head.as_bytes(), body].concat())
}

const MAIN: &str = r#"{"version":{"number":"8.14.3"}}"#;

/// Returns a page of documents with these ids, out of `total`.
fn page(total: usize, ids: std::ops::Range<usize>) -> Option<Vec<u8>> {
    let hits: Vec<Value> =
        ids.map(|id| json!({"_index": "i", "_id": id.to_string(), "_source": {"n": id}})).collect();
    http("200 OK", json!({"_scroll_id": "s", "timed_out": false, "hits": {"total": {"value": total, "relation": "eq"}, "hits": hits}}).to_string())
}

fn status(answer: &Value) -> u64 {
    answer["status"].as_u64().unwrap_or(200)
}

fn reindex(client: &mut Client, body: &Value) -> Value {
    client.send("POST", "/_reindex", body.to_string()).json()
}

#[test]
fn requests_are_sent_again_unless_that_could_lose_a_page() {
    let (_folder, server) = here();
    let mut client = server.client();
    // Refused requests and cut connections before the scroll advances, refused requests afterwards.
    let (address, count) = fake(|number, _| match number {
        0 => http("503 Service Unavailable", ""),
        1 => http("200 OK", MAIN),
        2 => http("429 Too Many Requests", "{}"),
        3 => None,
        4 => page(4, 0..2),
        5 => http("429 Too Many Requests", "{}"),
        _ => page(4, 2..4),
    });
    let answer = reindex(&mut client, &from(address, "i", "retried"));
    assert_eq!((status(&answer), &answer["created"]), (200, &json!(4)), "{answer}");
    assert_eq!(answer["retries"]["search"], json!(4));
    assert_eq!(count.load(Ordering::SeqCst), 7);

    // The response to a scroll request is lost. The remote may have advanced the scroll, so the page is not
    // requested again.
    let (address, count) = fake(|number, _| match number {
        0 => http("200 OK", MAIN),
        1 => page(4, 0..2),
        2 => None,
        _ => page(4, 2..4),
    });
    let answer = reindex(&mut client, &from(address, "i", "lost"));
    assert_eq!((status(&answer), &answer["error"]["type"]), (500, &json!("i_o_exception")), "{answer}");
    assert_eq!(count.load(Ordering::SeqCst), 3);

    // The search ends before its last document.
    let (address, _) = fake(|number, _| match number {
        0 => http("200 OK", MAIN),
        1 => page(4, 0..2),
        _ => page(4, 0..0),
    });
    let answer = reindex(&mut client, &from(address, "i", "short"));
    assert_eq!(answer["error"]["reason"], "the remote search found [4] documents but handed out [2]");
}

#[test]
fn servers_that_misbehave_end_the_request_with_a_reason() {
    let (_folder, server) = here();
    let mut client = server.client();
    let mut check = |second: fn() -> Option<Vec<u8>>, expected_status: u64, expected: &str| {
        let (address, _) = fake(move |number, _| if number == 0 { http("200 OK", MAIN) } else { second() });
        let mut body = from(address, "i", "to");
        body["source"]["remote"]["socket_timeout"] = "1s".into();
        let started = Instant::now();
        let answer = reindex(&mut client, &body);
        assert_eq!(status(&answer), expected_status, "{expected}: {answer}");
        assert!(answer.to_string().contains(expected), "{expected} in {answer}");
        assert!(started.elapsed() < Duration::from_secs(60));
    };
    check(|| http("200 OK", "<html>no</html>"), 500, "remote is likely not an Elasticsearch instance");
    check(|| http("401 Unauthorized", "who are you"), 401, "body=who are you");
    check(|| http("302 Found\r\nlocation: http://127.0.0.1:1/", "{}"), 500, "answered with status [302]");
    check(|| http("400 Bad Request", "x".repeat(1 << 20)), 400, "body=xxx");
    check(|| page(3, 0..101), 500, "remote is likely not an Elasticsearch instance");
    check(
        || {
            std::thread::sleep(Duration::from_secs(5));
            page(1, 0..1)
        },
        500,
        "1000 milliseconds timeout on connection",
    );
    // An endless response: the memory for it is bounded and released.
    let endless = || {
        let mut bytes =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"x\":\""
                .to_vec();
        bytes.resize(150 << 20, b'x');
        Some(bytes)
    };
    let (address, _) = fake(move |number, _| if number == 0 { http("200 OK", MAIN) } else { endless() });
    let answer = reindex(&mut client, &from(address, "i", "to"));
    let reason = answer["error"]["reason"].as_str().unwrap_or_default();
    let is_bounded =
        reason.contains("Remote responded with a chunk that was too large. Use a smaller batch size.");
    assert!(is_bounded || answer["error"]["type"] == "circuit_breaking_exception", "{answer}");
    let stats = client.expect(200, "GET", "/_nodes/stats/limber", Value::Null).to_string();
    let used = stats
        .split(r#""request":{"used_in_bytes":"#)
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .map(str::parse::<u64>);
    assert!(used.is_some_and(|used| used.is_ok_and(|used| used < 1 << 20)), "{stats}");
    // No server listens there.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let answer = reindex(&mut client, &from(free, "i", "to"));
    assert_eq!((status(&answer), &answer["error"]["type"]), (500, &json!("connect_exception")), "{answer}");
    assert_eq!(client.send("HEAD", "/to", "").status, 404, "nothing was written");
}

#[test]
fn a_task_shows_its_progress_no_secret_and_ends_when_it_is_cancelled() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let server = ServerProcess::start_logging(&log, &folder.path().join("data"), &["-E", ALLOWED]);
    let mut client = server.client();
    let (give, seen) = std::sync::mpsc::channel::<String>();
    let give = std::sync::Mutex::new(give);
    let (address, _) = fake(move |number, head| {
        give.lock().expect("no panic").send(head.to_owned()).expect("somebody listens");
        match number {
            0 => http("200 OK", MAIN),
            1 => page(4, 0..2),
            // The third response never comes.
            _ => {
                std::thread::sleep(Duration::from_secs(600));
                None
            }
        }
    });
    let mut body = from(address, "i", "to");
    body["source"]["remote"]["username"] = "admin".into();
    body["source"]["remote"]["password"] = "opensesame".into();
    body["source"]["remote"]["headers"] = json!({"x-token": "s3cr3t"});
    body["source"]["query"] = json!({"term": {"n": 7}});
    let started = client.expect(200, "POST", "/_reindex?wait_for_completion=false", body);
    let task = started["task"].as_str().expect("a task").to_owned();
    let heads: Vec<String> =
        (0..3).map(|_| seen.recv_timeout(Duration::from_secs(60)).expect("a request")).collect();
    assert!(heads[0].starts_with("GET / HTTP/1.1\r\n"), "{}", heads[0]);
    assert!(heads[1].starts_with("POST /i/_search?scroll=300000ms&size=100&version=true&sort=_doc&allow_partial_search_results=false HTTP/1.1\r\n"));
    assert!(
        heads[1].ends_with(r#"{"query":{"term":{"n":7}}}"#)
            && heads[2].ends_with(r#"{"scroll":"300000ms","scroll_id":"s"}"#)
    );
    // base64 of admin:opensesame
    assert!(heads.iter().all(|head| head.contains("authorization: Basic YWRtaW46b3BlbnNlc2FtZQ==")
        && head.contains("x-token: s3cr3t")));
    let state = client.expect(200, "GET", &format!("/_tasks/{task}"), Value::Null);
    assert_eq!(state["task"]["status"]["total"], json!(4));
    let expected = format!(
        "reindex from [host=127.0.0.1 port={} username=admin password=<<>> query={{\"term\":{{\"n\":7}}}}][i] to [to]",
        address.port()
    );
    assert_eq!(state["task"]["description"], expected);
    client.expect(200, "POST", &format!("/_tasks/{task}/_cancel"), Value::Null);
    let patience = Instant::now() + Duration::from_secs(20);
    let end = loop {
        let state = client.expect(200, "GET", &format!("/_tasks/{task}"), Value::Null);
        if state["completed"] == json!(true) {
            break state;
        }
        assert!(Instant::now() < patience, "{state}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(
        (&end["response"]["canceled"], &end["response"]["created"]),
        (&json!("by user request"), &json!(2))
    );

    // A server that echoes the request.
    let (address, _) = fake(|_, head| http("403 Forbidden", head));
    let remote = json!({"host": format!("http://{address}"), "username": "admin", "password": "opensesame", "headers": {"x-token": "s3cr3t"}});
    let body = json!({"source": {"remote": remote, "index": "i"}, "dest": {"index": "to"}});
    let answer = client.expect(403, "POST", "/_reindex", body).to_string();
    assert!(answer.contains("x-token: <<>>") && answer.contains("Basic <<>>"), "{answer}");
    drop(server);
    let logged = std::fs::read_to_string(&log).expect("a log");
    for secret in ["opensesame", "s3cr3t", "YWRtaW46b3BlbnNlc2FtZQ=="] {
        assert!(
            !answer.contains(secret) && !end.to_string().contains(secret) && !logged.contains(secret),
            "{secret}"
        );
    }
}

#[test]
fn versions_before_6_3_are_not_asked_for_what_they_do_not_know() {
    let (_folder, server) = here();
    let (give, seen) = std::sync::mpsc::channel::<String>();
    let give = std::sync::Mutex::new(give);
    let (address, _) = fake(move |number, head| {
        give.lock().expect("no panic").send(head.to_owned()).expect("somebody listens");
        match number {
            0 => http("200 OK", r#"{"version":{"number":"6.2.4"}}"#),
            _ => http(
                "200 OK",
                r#"{"_scroll_id":"s","hits":{"total":1,"hits":[{"_index":"i","_type":"t","_id":"1","_version":5,"_source":{"a": 1}}]}}"#,
            ),
        }
    });
    let mut body = from(address, "<logs-{now/d}>,b c", "to");
    body["source"]["remote"]["host"] = format!("http://{address}/prefix/").into();
    let answer = reindex(&mut server.client(), &body);
    assert_eq!(answer["created"], json!(1), "{answer}");
    let heads: Vec<String> =
        (0..2).map(|_| seen.recv_timeout(Duration::from_secs(60)).expect("a request")).collect();
    assert!(heads[0].starts_with("GET /prefix/ HTTP/1.1\r\n"));
    assert!(heads[1].starts_with("POST /prefix/%3Clogs-%7Bnow%2Fd%7D%3E,b%20c/_search?scroll=300000ms&size=100&version=true&sort=_doc HTTP/1.1\r\n"), "{}", heads[1]);
}

/// Starts a fake remote that speaks TLS with a certificate for `localhost`, and writes the certificate of its
/// authority to `ca`.
fn fake_behind_tls(ca: &std::path::Path) -> SocketAddr {
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().expect("a key");
    let authority = params.self_signed(&authority_key).expect("a certificate");
    std::fs::write(ca, authority.pem()).expect("written");
    let issuer = rcgen::Issuer::new(params, authority_key);
    let key = rcgen::KeyPair::generate().expect("a key");
    let params = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    let secret = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], secret)
            .expect("a chain");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let connection = rustls::ServerConnection::new(config.clone()).expect("a connection");
            std::thread::spawn(move || {
                let (head, mut stream) = read_request(rustls::StreamOwned::new(connection, stream));
                let answer = if head.starts_with("GET / ") { http("200 OK", MAIN) } else { page(2, 0..2) };
                let _ = stream.write_all(&answer.expect("an answer"));
                stream.conn.send_close_notify();
                let _ = stream.flush();
            });
        }
    });
    address
}

#[test]
fn tls_trusts_whom_the_settings_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ca = folder.path().join("ca.pem");
    let address = fake_behind_tls(&ca);
    let authorities = format!("reindex.ssl.certificate_authorities={}", ca.display());
    let check = |name: &str, host: &str, settings: &[&str], is_trusted: bool| {
        let data = tempfile::tempdir().expect("a temporary folder");
        let settings: Vec<&str> =
            [ALLOWED].iter().chain(settings).flat_map(|setting| ["-E", *setting]).collect();
        let server = ServerProcess::start(data.path(), &settings);
        let remote = json!({"host": format!("https://{host}:{}", address.port())});
        let body = json!({"source": {"remote": remote, "index": "i"}, "dest": {"index": "to"}});
        let answer = reindex(&mut server.client(), &body);
        match is_trusted {
            true => assert_eq!(answer["created"], json!(2), "{name}: {answer}"),
            false => assert_eq!(answer["error"]["type"], "s_s_l_handshake_exception", "{name}: {answer}"),
        }
    };
    check("an authority that is trusted", "localhost", &[&authorities], true);
    check("an authority that nobody knows", "localhost", &[], false);
    check("another name than the certificate's", "127.0.0.1", &[&authorities], false);
    check("everyone is believed", "127.0.0.1", &["reindex.ssl.verification_mode=none"], true);
}
