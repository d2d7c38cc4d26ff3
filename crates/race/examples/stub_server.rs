//! A server that does nothing as fast as it can, to measure load generators with.
//!
//! It answers every search with the same few bytes, and every bulk with one item for each two lines, in the
//! same length as Elasticsearch's answer. It also answers the requests that `limber race` and `esrally` send
//! around a race. It has one thread and one runtime: give it a core of its own.
//!
//! `cargo run --release -p limber-race --example stub_server -- 127.0.0.1:19200`

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const READ_BYTES: usize = 1 << 20;

const INFO: &str = r#"{"name":"stub","cluster_name":"stub","cluster_uuid":"stub","version":{"number":"8.14.3","build_flavor":"default","build_hash":"stub"},"tagline":"You Know, for Search"}"#;
const SEARCH: &str = r#"{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":10000,"relation":"gte"},"max_score":1.0,"hits":[{"_index":"logs","_id":"1","_score":1.0,"_source":{"a":1}}]}}"#;
const BULK_START: &str = r#"{"errors":false,"took":1,"items":["#;
const BULK_ITEM: &str = r#"{"index":{"_index":"logs","_id":"AZpXh3sBq0ZfT1xkLm9c","_version":1,"result":"created","_shards":{"total":1,"successful":1,"failed":0},"_seq_no":1234567,"_primary_term":1,"status":201}},"#;
const BULK_END: &str = "]}";
const HEALTH: &str =
    r#"{"cluster_name":"stub","status":"green","timed_out":false,"number_of_nodes":1,"relocating_shards":0}"#;
const NODES_STATS: &str = r#"{"cluster_name":"stub","nodes":{"n":{"name":"stub","host":"127.0.0.1","jvm":{"gc":{"collectors":{}},"mem":{"pools":{}}},"ingest":{"total":{"count":0,"time_in_millis":0,"current":0,"failed":0},"pipelines":{}}}}}"#;
const NODES: &str = r#"{"cluster_name":"stub","nodes":{"n":{"name":"stub","host":"127.0.0.1","os":{"name":"Linux","version":"1","available_processors":1},"jvm":{"vm_vendor":"none","version":"0"},"plugins":[]}}}"#;
const STATE: &str = r#"{"master_node":"n"}"#;
const SETTINGS: &str = r#"{"persistent":{},"transient":{}}"#;

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(&address).await?;
        println!("{}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream));
        }
    })
}

/// Buffer of a connection. The requests that were received start at its beginning, without gaps.
struct Requests {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

impl Requests {
    /// Reads more bytes. Returns an error when the client has closed the connection.
    async fn fill(&mut self) -> io::Result<()> {
        match self.stream.read(&mut self.buffer[self.filled..]).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.filled += count;
                Ok(())
            }
        }
    }

    fn drop_first(&mut self, bytes: usize) {
        self.buffer.copy_within(bytes..self.filled, 0);
        self.filled -= bytes;
    }

    /// Skips the body that follows a head, piece by piece, and returns its number of lines.
    async fn skip_body(&mut self, bytes: usize) -> io::Result<usize> {
        let (mut left, mut lines) = (bytes, 0);
        while left > 0 {
            if self.filled == 0 {
                self.fill().await?;
            }
            let here = left.min(self.filled);
            lines += memchr::memchr_iter(b'\n', &self.buffer[..here]).count();
            self.drop_first(here);
            left -= here;
        }
        Ok(lines)
    }
}

async fn serve(stream: TcpStream) -> io::Result<()> {
    let mut requests = Requests { stream, buffer: vec![0; READ_BYTES], filled: 0 };
    let mut response = Vec::new();
    loop {
        let Some(end) = memchr::memmem::find(&requests.buffer[..requests.filled], b"\r\n\r\n") else {
            requests.fill().await?;
            continue;
        };
        let head = requests.buffer[..end].to_vec();
        requests.drop_first(end + 4);
        let body_lines = requests.skip_body(content_length(&head)).await?;
        response.clear();
        answer(&head, body_lines, &mut response);
        requests.stream.write_all(&response).await?;
    }
}

fn content_length(head: &[u8]) -> usize {
    head.split(|byte| *byte == b'\n')
        .filter(|line| line.len() > 15 && line[..15].eq_ignore_ascii_case(b"content-length:"))
        .find_map(|line| std::str::from_utf8(&line[15..]).ok()?.trim().parse().ok())
        .unwrap_or(0)
}

fn answer(head: &[u8], body_lines: usize, out: &mut Vec<u8>) {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    let body = match path {
        b"/" => INFO,
        b"/_bulk" => &bulk(body_lines / 2),
        b"/_cluster/settings" => SETTINGS,
        b"/_nodes/_all" => NODES,
        path if path.ends_with(b"/_search") => SEARCH,
        path if path.starts_with(b"/_cluster/health") => HEALTH,
        path if path.starts_with(b"/_cluster/state") => STATE,
        path if path.starts_with(b"/_nodes/stats") => NODES_STATS,
        path if path.starts_with(b"/_nodes/") => NODES,
        _ => "{}",
    };
    let shown = if method == b"HEAD" { "" } else { body };
    out.extend_from_slice(
        b"HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\n",
    );
    out.extend_from_slice(format!("content-length: {}\r\n\r\n{shown}", body.len()).as_bytes());
}

fn bulk(documents: usize) -> String {
    let items = BULK_ITEM.repeat(documents);
    [BULK_START, items.strip_suffix(',').unwrap_or_default(), BULK_END].concat()
}
