//! A server in the test's own process that gives the test's answers and remembers the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    /// Path with its query string.
    pub target: String,
    /// Header lines in lower case.
    pub headers: Vec<String>,
    pub body: String,
}

impl Asked {
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

pub type Responder = dyn Fn(&Asked) -> Option<(u16, String)> + Send + Sync;

pub struct Stub {
    pub host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stub {
    /// Starts the stub. `responder` is asked first; if it returns `None`, the stub's own answers apply, with
    /// which a race succeeds.
    pub fn start(responder: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static) -> Stub {
        Stub::listen(None, responder)
    }

    /// Starts a stub like [`Stub::start`] that speaks TLS.
    pub fn start_tls(
        config: rustls::ServerConfig,
        responder: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> Stub {
        Stub::listen(Some(Arc::new(config)), responder)
    }

    fn listen(
        tls: Option<Arc<rustls::ServerConfig>>,
        responder: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let responder: Arc<Responder> = Arc::new(responder);
        let shared = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), asked, responder) = (stream, Arc::clone(&shared), Arc::clone(&responder))
                else {
                    return;
                };
                stream.set_nodelay(true).unwrap();
                let tls = tls.clone();
                std::thread::spawn(move || match tls {
                    None => serve(stream, &asked, &*responder),
                    Some(config) => {
                        let session = rustls::ServerConnection::new(config).unwrap();
                        serve(rustls::StreamOwned::new(session, stream), &asked, &*responder);
                    }
                });
            }
        });
        Stub { host, asked }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn lines(&self) -> Vec<String> {
        self.asked().iter().map(Asked::line).collect()
    }
}

fn serve(stream: impl Read + Write, asked: &Mutex<Vec<Asked>>, responder: &Responder) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        asked.lock().unwrap().push(request.clone());
        let (status, body) = responder(&request).unwrap_or_else(|| default_answer(&request));
        // Status 0 means that the server closes the connection without an answer.
        if status == 0 {
            return;
        }
        let shown = if request.method == "HEAD" { "" } else { &body };
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
        let stream = reader.get_mut();
        if stream.write_all(format!("{head}{shown}").as_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut parts = line.split_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|count| *count > 0)?;
        match header.trim_end() {
            "" => break,
            header => headers.push(header.to_lowercase()),
        }
    }
    let length =
        headers.iter().find_map(|header| header.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    if headers.iter().any(|header| header == "content-encoding: gzip") {
        let packed = std::mem::take(&mut body);
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut body).ok()?;
    }
    Some(Asked { method, target, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

/// Returns what a healthy Elasticsearch would answer, as far as a race reads it.
pub fn default_answer(request: &Asked) -> (u16, String) {
    let path = request.target.split('?').next().unwrap_or_default();
    let body = match (request.method.as_str(), path) {
        ("GET", "/") => {
            r#"{"cluster_name":"stub","version":{"number":"8.14.3","build_hash":"abc"},"tagline":"x"}"#
        }
        ("PUT", "/_bulk") => r#"{"errors":false,"took":1,"items":[]}"#,
        ("GET", "/_cluster/settings") => {
            r#"{"persistent":{},"transient":{"action.destructive_requires_name":"true"}}"#
        }
        ("GET", path) if path.starts_with("/_cluster/health") => {
            r#"{"status":"green","relocating_shards":0}"#
        }
        ("HEAD", _) => return (404, String::new()),
        ("GET", path) if path.ends_with("/_search") => {
            r#"{"took":2,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"total":{"value":3,"relation":"eq"},"hits":[]}}"#
        }
        _ => "{}",
    };
    (200, body.to_owned())
}
