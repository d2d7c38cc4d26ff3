//! One Python process: starting it, sending requests, and ending it.
//!
//! Frames are sent in both directions: header length and payload length (4 bytes each, little endian), a JSON
//! header, the payload. Three threads serve a process: one writes, so that no caller waits for a full pipe;
//! one reads and passes each answer to the caller that waits for it; one reads what the plugin prints. When a
//! process ends, all waiting callers get an error.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::PluginError;
use super::interpreter::{ADVICE, PythonSettings};
use super::scripts::Scripts;

/// The process ends itself when it is stuck in Python code. This additional wait is for code that never lets
/// Python's other threads run.
const GRACE: Duration = Duration::from_secs(10);
/// Number of lines printed by the plugin that an error about its end shows.
const LAST_LINES: usize = 20;
const LAST_WORDS_WAITS: u32 = 50;
const LAST_WORDS_PAUSE: Duration = Duration::from_millis(20);
/// Frames are never larger. A larger length means that the bytes are not a frame.
const FRAME_BYTES_MAX: usize = 1 << 30;

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub header: Value,
    pub payload: Vec<u8>,
}

impl Answer {
    /// Returns the plugin's exception as an error, if the answer is one.
    fn checked(self) -> Result<Answer, PluginError> {
        match self.header.get("error").and_then(Value::as_str) {
            None => Ok(self),
            Some(error) => Err(PluginError::Raised {
                error: error.to_owned(),
                traceback: self.header["traceback"].as_str().unwrap_or_default().to_owned(),
            }),
        }
    }
}

enum Listener {
    Thread(mpsc::Sender<Answer>),
    Task(UnboundedSender<Answer>),
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<HashMap<u64, Listener>>,
    /// Why there will be no more answers; `None` while the process runs.
    end: Mutex<Option<String>>,
    printed: Mutex<VecDeque<String>>,
}

pub(crate) struct Process {
    outgoing: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
    next_seq: AtomicU64,
    child: Mutex<Child>,
    time_limit: Duration,
    /// Kept until the last process is gone, because Python reads modules when they are imported.
    _scripts: Arc<Scripts>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Process").finish_non_exhaustive()
    }
}

impl Process {
    pub(crate) fn start(settings: &PythonSettings, scripts: Arc<Scripts>) -> Result<Process, PluginError> {
        let program = settings.program();
        let mut child = Command::new(&program)
            // Write no compiled files into the track's folder.
            .arg("-B")
            .arg(scripts.worker())
            .arg(scripts.shims())
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The race handles an interrupt at the terminal, so the process gets its own group.
            .process_group(0)
            .spawn()
            .map_err(|error| {
                PluginError::Python(format!("cannot start [{}]: {error}. {ADVICE}", program.display()))
            })?;
        let (Some(input), Some(output), Some(printed)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(PluginError::Python("the pipes to Python are missing".into()));
        };
        let shared = Arc::new(Shared::default());
        let (outgoing, frames) = mpsc::channel();
        let (for_reader, for_printed) = (Arc::clone(&shared), Arc::clone(&shared));
        std::thread::spawn(move || write_frames(input, &frames));
        let printing = std::thread::spawn(move || take_printed(printed, &for_printed));
        std::thread::spawn(move || read_frames(output, &for_reader, printing));
        Ok(Process {
            outgoing,
            shared,
            next_seq: AtomicU64::new(1),
            child: Mutex::new(child),
            time_limit: settings.time_limit,
            _scripts: scripts,
        })
    }

    pub(crate) fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Sends a request and blocks until the answer arrives. `limit` is `None` for requests without a time
    /// limit.
    pub(crate) fn ask(
        &self,
        header: Value,
        payload: &[u8],
        limit: Option<Duration>,
    ) -> Result<Answer, PluginError> {
        let (sender, receiver) = mpsc::channel();
        let seq = self.begin(header, payload, Listener::Thread(sender))?;
        let answer = match limit {
            None => receiver.recv().ok(),
            Some(limit) => match receiver.recv_timeout(limit + GRACE) {
                Ok(answer) => Some(answer),
                Err(mpsc::RecvTimeoutError::Disconnected) => None,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    self.kill();
                    return Err(PluginError::Ended(format!(
                        "the track's plugin did not answer within {} s",
                        limit.as_secs_f64()
                    )));
                }
            },
        };
        lock(&self.shared.waiting).remove(&seq);
        answer.ok_or_else(|| self.ended())?.checked()
    }

    /// Sends a request. The answers are awaited from the conversation.
    pub(crate) fn converse(
        self: &Arc<Self>,
        header: Value,
        payload: &[u8],
    ) -> Result<Conversation, PluginError> {
        let (sender, receiver) = unbounded_channel();
        let seq = self.begin(header, payload, Listener::Task(sender))?;
        Ok(Conversation { process: Arc::clone(self), seq, receiver })
    }

    /// Sends a message that has no answer, or one that answers the conversation `seq`.
    pub(crate) fn tell(&self, header: &Value, payload: &[u8]) {
        // If the writer has ended, waiting for the answer fails.
        let _ = self.outgoing.send(frame(header, payload));
    }

    fn begin(&self, mut header: Value, payload: &[u8], listener: Listener) -> Result<u64, PluginError> {
        let seq = self.next_seq.fetch_add(1, Ordering::Relaxed);
        header["seq"] = json!(seq);
        lock(&self.shared.waiting).insert(seq, listener);
        // Check this after the insertion. Then either the end is seen here, or the reader sees the listener
        // and drops it.
        if lock(&self.shared.end).is_some() {
            lock(&self.shared.waiting).remove(&seq);
            return Err(self.ended());
        }
        self.tell(&header, payload);
        Ok(seq)
    }

    fn ended(&self) -> PluginError {
        let reason = lock(&self.shared.end).clone();
        let mut message =
            reason.unwrap_or_else(|| "the Python process of the track's plugin does not answer".into());
        if let Ok(Some(status)) = lock(&self.child).try_wait()
            && !status.success()
            && !message.contains("has not come to an end")
        {
            message.push_str(&format!(" ({status})"));
        }
        let printed = lock(&self.shared.printed);
        if !printed.is_empty() {
            message.push_str("\nIts last words:\n");
            message.push_str(&printed.iter().map(String::as_str).collect::<Vec<_>>().join("\n"));
        }
        PluginError::Ended(message)
    }

    fn kill(&self) {
        let mut child = lock(&self.child);
        // The process may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A request with one or more answers.
pub(crate) struct Conversation {
    process: Arc<Process>,
    seq: u64,
    receiver: UnboundedReceiver<Answer>,
}

impl Conversation {
    /// Returns the next answer. The header of the last one has `done`.
    pub(crate) async fn next(&mut self) -> Result<Answer, PluginError> {
        match self.receiver.recv().await {
            Some(answer) => answer.checked(),
            None => {
                // The exit status is known a moment after the pipes are closed.
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(self.process.ended())
            }
        }
    }

    /// Returns the next answer if it has already arrived.
    pub(crate) fn try_next(&mut self) -> Option<Result<Answer, PluginError>> {
        self.receiver.try_recv().ok().map(Answer::checked)
    }

    /// Sends a message to the process within this conversation.
    pub(crate) fn reply(&self, mut header: Map<String, Value>, payload: &[u8]) {
        header.insert("seq".into(), json!(self.seq));
        self.process.tell(&Value::Object(header), payload);
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        lock(&self.process.shared.waiting).remove(&self.seq);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn frame(header: &Value, payload: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let mut frame = Vec::with_capacity(8 + header.len() + payload.len());
    frame.extend_from_slice(&(header.len() as u32).to_le_bytes());
    frame.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    frame.extend_from_slice(header.as_bytes());
    frame.extend_from_slice(payload);
    frame
}

fn write_frames(mut input: ChildStdin, frames: &mpsc::Receiver<Vec<u8>>) {
    while let Ok(frame) = frames.recv() {
        if input.write_all(&frame).is_err() {
            return;
        }
    }
}

fn read_frames(output: impl Read, shared: &Shared, printing: std::thread::JoinHandle<()>) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let reason = loop {
        let answer = match read_frame(&mut output) {
            Ok(answer) => answer,
            Err(error) => break error.to_string(),
        };
        if let Some(reason) = answer.header["fatal"].as_str() {
            break reason.to_owned();
        }
        let Some(seq) = answer.header["seq"].as_u64() else { continue };
        match lock(&shared.waiting).get(&seq) {
            Some(Listener::Thread(sender)) => drop(sender.send(answer)),
            Some(Listener::Task(sender)) => drop(sender.send(answer)),
            // The caller has gone, because the race was interrupted.
            None => {}
        }
    };
    // The last printed lines belong to the error. Do not wait forever: a child of the process may keep the
    // pipe open.
    for _ in 0..LAST_WORDS_WAITS {
        if printing.is_finished() {
            break;
        }
        std::thread::sleep(LAST_WORDS_PAUSE);
    }
    *lock(&shared.end) = Some(reason);
    lock(&shared.waiting).clear();
}

/// Reads a frame. Errors: why there is none.
fn read_frame(output: &mut impl Read) -> Result<Answer, PluginError> {
    let ended = |_| PluginError::Ended("the Python process of the track's plugin ended".to_owned());
    let mut lengths = [0; 8];
    output.read_exact(&mut lengths).map_err(ended)?;
    let length = |at: usize| {
        let bytes: [u8; 4] = lengths[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    };
    let (header_bytes, payload_bytes) = (length(0), length(4));
    if header_bytes > FRAME_BYTES_MAX || payload_bytes > FRAME_BYTES_MAX {
        return Err(PluginError::Ended(
            "the Python process of the track's plugin sent what is no answer".to_owned(),
        ));
    }
    let mut header = vec![0; header_bytes];
    output.read_exact(&mut header).map_err(ended)?;
    let mut payload = vec![0; payload_bytes];
    output.read_exact(&mut payload).map_err(ended)?;
    let header = serde_json::from_slice(&header).map_err(|error| {
        PluginError::Ended(format!(
            "the Python process of the track's plugin sent what is no answer: {error}"
        ))
    })?;
    Ok(Answer { header, payload })
}

/// Shows what the plugin prints, and keeps the last lines.
fn take_printed(printed: impl Read, shared: &Shared) {
    for line in BufReader::new(printed).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        eprintln!("[track.py] {line}");
        let mut kept = lock(&shared.printed);
        if kept.len() == LAST_LINES {
            kept.pop_front();
        }
        kept.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let bytes = [frame(&json!({"a": "ü"}), b"xyz"), frame(&json!({}), b"")].concat();
        assert_eq!(&bytes[..8], [10, 0, 0, 0, 3, 0, 0, 0]);
        let mut input = &bytes[..];
        let first = read_frame(&mut input).unwrap();
        assert_eq!((first.header, &first.payload[..]), (json!({"a": "ü"}), &b"xyz"[..]));
        assert_eq!(read_frame(&mut input).unwrap().header, json!({}));
        assert!(read_frame(&mut input).unwrap_err().to_string().contains("ended"));
        assert!(read_frame(&mut &[0xff; 16][..]).unwrap_err().to_string().contains("no answer"));
    }
}
