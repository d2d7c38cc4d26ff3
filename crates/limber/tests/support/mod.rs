//! A server process under test and a blocking HTTP client for it.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod small_disk;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Returns the program under test: `$LIMBER` if set (such as a release build), else the one that cargo built
/// for the tests.
pub fn program() -> PathBuf {
    std::env::var_os("LIMBER").map_or_else(|| env!("CARGO_BIN_EXE_limber").into(), PathBuf::from)
}

/// A separate `limber serve` process, killed on drop.
pub struct ServerProcess {
    child: Child,
    pub address: SocketAddr,
}

impl ServerProcess {
    /// Starts on a free port with the data folder `data` and waits until it listens.
    pub fn start(data: &Path, extra: &[&str]) -> ServerProcess {
        ServerProcess::start_as(Command::new(program()), data, extra)
    }

    /// Like [`ServerProcess::start`], after `ulimit` with these arguments, such as `-n 128`.
    pub fn start_with_limit(ulimit: &str, data: &Path, extra: &[&str]) -> ServerProcess {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit {ulimit} && exec \"$0\" \"$@\"")]).arg(program());
        ServerProcess::start_as(command, data, extra)
    }

    /// Like [`ServerProcess::start`], with all log lines in the file `log`.
    pub fn start_logging(log: &Path, data: &Path, extra: &[&str]) -> ServerProcess {
        let mut command = Command::new(program());
        command.env("LIMBER_LOG", "trace");
        let log = std::fs::File::create(log).expect("a file");
        ServerProcess::start_with(command, log.into(), data, extra)
    }

    fn start_as(command: Command, data: &Path, extra: &[&str]) -> ServerProcess {
        ServerProcess::start_with(command, Stdio::inherit(), data, extra)
    }

    fn start_with(mut command: Command, log: Stdio, data: &Path, extra: &[&str]) -> ServerProcess {
        let child = command
            .args(["serve", "--http", "127.0.0.1:0", "--memory-limit", "512mb", "--data"])
            .arg(data)
            // The free space on the machine's own disk must not affect tests.
            .args(["-E", "cluster.routing.allocation.disk.threshold_enabled=false"])
            .args(extra)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        ServerProcess::listening(child)
    }

    /// Waits until the process prints the address on which it listens.
    fn listening(mut child: Child) -> ServerProcess {
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        stdout.read_line(&mut line).expect("the server says where it listens");
        let address = line
            .trim()
            .strip_prefix("listening on ")
            .and_then(|address| address.parse().ok())
            .unwrap_or_else(|| panic!("unexpected first line: {line:?}"));
        ServerProcess { child, address }
    }

    /// Kills the process with SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process ends");
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("the process can be asked").is_none()
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A response: status, headers (with lower-case names) and body.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {:?}", String::from_utf8_lossy(&self.body)))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the body is text")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// One keep-alive connection.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let stream =
            TcpStream::connect_timeout(&address, Duration::from_secs(5)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
        stream.set_nodelay(true).expect("nodelay can be set");
        Client { stream: BufReader::new(stream) }
    }

    /// Sends a request and waits for the response. Returns the I/O error if the connection breaks because the
    /// server died.
    pub fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n", body.len());
        if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
            request.push_str("content-type: application/json\r\n");
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        self.stream.get_mut().write_all(&bytes)?;
        self.read(method == "HEAD")
    }

    fn read(&mut self, no_body: bool) -> std::io::Result<Answer> {
        let broken = |what: &str| std::io::Error::other(what.to_owned());
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status =
            line.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or_else(|| broken("no status line"))?;
        let (mut headers, mut length) = (Vec::new(), 0);
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
            if name == "content-length" {
                length = value.parse().map_err(|_| broken("bad content-length"))?;
            }
            headers.push((name, value));
        }
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = match chunked && !no_body {
            true => self.read_chunks()?,
            false => {
                let mut body = vec![0; if no_body { 0 } else { length }];
                self.stream.read_exact(&mut body)?;
                body
            }
        };
        Ok(Answer { status, headers, body })
    }

    fn read_chunks(&mut self) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
            let start = body.len();
            body.resize(start + length, 0);
            self.stream.read_exact(&mut body[start..])?;
            line.clear();
            self.stream.read_line(&mut line)?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    pub fn send(&mut self, method: &str, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.try_send(method, path, &[], body.as_ref())
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends JSON and expects `status`. Returns the response's JSON.
    pub fn expect(&mut self, status: u16, method: &str, path: &str, body: Value) -> Value {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let answer = self.send(method, path, bytes);
        assert_eq!(answer.status, status, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }
}
